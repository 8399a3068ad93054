//! Standard input and output as a transport.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;

/// Frames on standard input and output, a line each.
pub(super) fn stdio() -> impl Transport<RoleServer> {
    let (input, output) = rmcp::transport::stdio();
    Opening { frames: AsyncRwTransport::new_server(input, output), opened: false }
}

/// Passes on only requests until one opens the session.
///
/// The SDK takes anything else before that as a reason to end; but an agent may cancel an early
/// request, such as Claude Code's `server/discover`.
struct Opening<T> {
    frames: T,
    opened: bool,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Opening<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.frames.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.frames.receive().await?;
            if let JsonRpcMessage::Request(request) = &message {
                self.opened |= matches!(request.request, ClientRequest::InitializeRequest(_));
                return Some(message);
            }
            if self.opened {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.frames.close().await
    }
}
