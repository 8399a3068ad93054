//! Whose a TCP socket is, from Linux's `sock_diag(7)`: one question and one answer over netlink.
//!
//! `/proc/net/tcp` tells the same, but walks the table of all connections for it, which takes
//! milliseconds on a machine with much memory; this takes microseconds.

use std::net::SocketAddrV4;
use std::os::fd::OwnedFd;

use rustix::io::Result;
use rustix::net::netlink::{SOCK_DIAG, SocketAddrNetlink};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv, sendto,
    socket_with,
};

use crate::platform::SocketOwner;

/// `SOCK_DIAG_BY_FAMILY`, the type of the question and of its answer.
const BY_FAMILY: u16 = 20;
/// `NLMSG_ERROR`, the type of an answer that there is none, and the code for no such socket.
const ERROR: u16 = 2;
const NO_ENTRY: i32 = -2;
/// `NLM_F_REQUEST`.
const REQUEST: u16 = 1;
/// The length of the question: `nlmsghdr` and `inet_diag_req_v2`.
const QUESTION_BYTES: u32 = 16 + 56;
/// Where in the answer, `nlmsghdr` and `inet_diag_msg`, the ports, the user and the inode begin.
const PORTS: usize = 16 + 4;
const USER: usize = 16 + 64;
const INODE: usize = 16 + 68;

/// Whose the socket is that is connected from `local` to `remote`, both on this machine.
pub fn socket_owner(local: SocketAddrV4, remote: SocketAddrV4) -> SocketOwner {
    owner(local, Some(remote))
}

/// Whose the socket is that takes connections to `local`.
pub fn listener_owner(local: SocketAddrV4) -> SocketOwner {
    owner(local, None)
}

fn owner(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> SocketOwner {
    match ask(&question(local, remote)) {
        Ok(answer) => read(&answer, local, remote),
        Err(_) => SocketOwner::Untold,
    }
}

fn ask(question: &[u8]) -> Result<Vec<u8>> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket: OwnedFd =
        socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(SOCK_DIAG))?;
    sendto(&socket, question, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    // The kernel has answered when `sendto` returns.
    let mut answer = [0; 1024];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    Ok(answer.get(..length).unwrap_or_default().to_vec())
}

/// Numbers are in the order of the machine, ports and addresses in that of the network.
fn question(local: SocketAddrV4, remote: Option<SocketAddrV4>) -> Vec<u8> {
    let mut question = Vec::new();
    question.extend(QUESTION_BYTES.to_ne_bytes());
    question.extend(BY_FAMILY.to_ne_bytes());
    question.extend(REQUEST.to_ne_bytes());
    // A number for the answer and our port: there is one of each.
    question.extend([0; 8]);
    question.extend([family(), protocol(), 0, 0]);
    let every_state = u32::MAX;
    question.extend(every_state.to_ne_bytes());
    question.extend(local.port().to_be_bytes());
    question.extend(remote.map_or(0, |remote| remote.port()).to_be_bytes());
    for address in [Some(local), remote] {
        question.extend(address.map_or([0; 4], |address| address.ip().octets()));
        question.extend([0; 12]);
    }
    // Any interface, and no cookie.
    question.extend([0; 4]);
    question.extend([0xff; 8]);
    question
}

fn family() -> u8 {
    u8::try_from(AddressFamily::INET.as_raw()).unwrap_or_default()
}

fn protocol() -> u8 {
    u8::try_from(ipproto::TCP.as_raw().get()).unwrap_or_default()
}

/// The kernel answers with a listener where no connection matches, so the ports are looked at.
fn read(answer: &[u8], local: SocketAddrV4, remote: Option<SocketAddrV4>) -> SocketOwner {
    let number = |at: usize| bytes(answer, at).map(u32::from_ne_bytes);
    let port = |at: usize| bytes(answer, at).map(u16::from_be_bytes);
    match bytes(answer, 4).map(u16::from_ne_bytes) {
        Some(BY_FAMILY) => {}
        Some(ERROR) if bytes(answer, 16).map(i32::from_ne_bytes) == Some(NO_ENTRY) => {
            return SocketOwner::Nobody;
        }
        _ => return SocketOwner::Untold,
    }
    let is_asked_for = port(PORTS) == Some(local.port())
        && port(PORTS + 2) == Some(remote.map_or(0, |remote| remote.port()));
    match (number(USER), number(INODE)) {
        // No process holds a socket without an inode: it is closed, and its user is not kept.
        (Some(user), Some(1..)) if is_asked_for => SocketOwner::User(user),
        (Some(_), Some(_)) => SocketOwner::Nobody,
        _ => SocketOwner::Untold,
    }
}

fn bytes<const N: usize>(answer: &[u8], at: usize) -> Option<[u8; N]> {
    answer.get(at..)?.first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};

    use super::*;
    use crate::platform::current_user;

    fn v4(address: SocketAddr) -> SocketAddrV4 {
        match address {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(address) => panic!("{address}"),
        }
    }

    #[test]
    fn a_socket_is_its_users_until_it_is_closed() {
        let own = SocketOwner::User(current_user());
        for address in [Ipv4Addr::LOCALHOST, Ipv4Addr::UNSPECIFIED] {
            let listener = TcpListener::bind((address, 0)).unwrap();
            let port = listener.local_addr().unwrap().port();
            let server = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
            assert_eq!(listener_owner(server), own);
            let client = TcpStream::connect(server).unwrap();
            let (_accepted, peer) = listener.accept().unwrap();
            let peer = v4(peer);
            assert_eq!(socket_owner(peer, server), own);
            client.shutdown(Shutdown::Both).unwrap();
            assert_eq!(socket_owner(peer, server), own);
            drop(client);
            assert_eq!(socket_owner(peer, server), SocketOwner::Nobody);
            drop(listener);
            assert_eq!(listener_owner(server), SocketOwner::Nobody);
        }
    }

    #[test]
    fn a_listener_is_not_taken_for_a_connection_that_is_gone() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let local = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let remote = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        assert_eq!(socket_owner(local, remote), SocketOwner::Nobody);
    }

    #[test]
    fn an_answer_that_is_cut_off_tells_nothing() {
        let local = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 1);
        let mut answer = vec![0; 16];
        answer.splice(4..6, BY_FAMILY.to_ne_bytes());
        for answer in [&[][..], &answer, &[0; 124]] {
            assert_eq!(read(answer, local, None), SocketOwner::Untold);
        }
    }
}
