//! Systems on which we know of no safe way to ask whose a socket is.

use std::net::SocketAddrV4;

use crate::platform::SocketOwner;

/// Whose the socket is that is connected from `local` to `remote`; not told here.
pub fn socket_owner(_local: SocketAddrV4, _remote: SocketAddrV4) -> SocketOwner {
    SocketOwner::Untold
}

/// Whose the socket is that takes connections to `local`; not told here.
pub fn listener_owner(_local: SocketAddrV4) -> SocketOwner {
    SocketOwner::Untold
}
