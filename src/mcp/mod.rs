//! The MCP server: an agent asks, the daemon answers.
//!
//! Tools are thin calls to the daemon's HTTP API. Every agent session has a server of its own, which
//! keeps nothing. Standard output carries the frames of the protocol and nothing else.

mod caller;
mod server;
mod tools;
mod transport;
mod upstream;

use std::io;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

pub use caller::Caller;
pub use upstream::Upstream;

use server::Server;

/// Serves the agent that holds our standard input and output, until it closes them.
pub fn serve(caller: Caller, upstream: Upstream) -> io::Result<()> {
    let daemon = upstream.clone();
    std::thread::Builder::new().spawn(move || daemon.prepare())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        match Server::new(caller, upstream).serve(transport::stdio()).await {
            Ok(server) => server.waiting().await.map(drop).map_err(io::Error::other),
            // The agent went away before it said what it wanted.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // A read of standard input can't be taken back, and nobody needs what it may bring.
    runtime.shutdown_background();
    ended
}
