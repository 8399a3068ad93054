//! The HTTP server: accepts connections until it is told to end, then lets them finish.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::daemon::routes::Routes;

/// How many connections are served at once: fewer than the files that macOS lets a process open.
const MAX_CONNECTIONS: usize = 128;

/// The age from which a connection makes room for a further one. A hook that is served takes less,
/// and one that waits has more.
const OLD: Duration = Duration::from_millis(200);

/// How long a connection may take to send the head of its request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a connection may last: for one request and its answer, read or not.
const LIFETIME: Duration = Duration::from_secs(3);

/// How long requests in flight may take to finish when the daemon ends.
const GRACE: Duration = Duration::from_secs(2);

/// The pause after a connection that could not be accepted, doubled with each further one.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Serves `routes` on `listener` until `shutdown` completes.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Arc<Routes>,
    shutdown: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let mut acceptor = Acceptor::new(listener);
    let mut shutdown = pin!(shutdown);
    loop {
        let (stream, caller, slot) = tokio::select! {
            () = &mut shutdown => break,
            accepted = acceptor.accept() => accepted,
        };
        let routes = Arc::clone(&routes);
        let service = service_fn(move |request| {
            let routes = Arc::clone(&routes);
            async move { Ok::<_, Infallible>(routes.respond(request, caller).await) }
        });
        let connection = http1::Builder::new()
            .keep_alive(false)
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        acceptor.serve(async move {
            match tokio::time::timeout(LIFETIME, connection).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a connection broke off"),
                Err(_) => tracing::debug!("a connection lasted too long"),
            }
            drop(slot);
        });
    }
    drop(acceptor);
    if tokio::time::timeout(GRACE, connections.shutdown()).await.is_err() {
        tracing::warn!("requests in flight did not finish in time and were cut off");
    }
}

struct Acceptor {
    listener: TcpListener,
    slots: Arc<Semaphore>,
    /// The connections, oldest first, with the moment from which they make room.
    served: VecDeque<(Instant, AbortHandle)>,
}

impl Acceptor {
    fn new(listener: TcpListener) -> Self {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        Self { listener, slots, served: VecDeque::new() }
    }

    fn serve(&mut self, connection: impl Future<Output = ()> + Send + 'static) {
        self.served.retain(|(_, connection)| !connection.is_finished());
        let connection = tokio::spawn(connection).abort_handle();
        self.served.push_back((Instant::now() + OLD, connection));
    }

    /// The next connection, once there is room for it.
    ///
    /// To accept fails for reasons that pass, such as too many open files, so it is tried again.
    async fn accept(&mut self) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.try_accept().await {
                Ok(accepted) => return accepted,
                Err(error) => tracing::warn!(%error, "a connection was not accepted"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn try_accept(&mut self) -> io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)> {
        let (stream, caller) = self.listener.accept().await?;
        let slot = self.slot().await.map_err(io::Error::other)?;
        // Answers are small, and somebody waits for each.
        stream.set_nodelay(true)?;
        Ok((stream, caller, slot))
    }

    /// Room for one more. Connections that nobody uses must not keep a hook waiting.
    async fn slot(&mut self) -> Result<OwnedSemaphorePermit, AcquireError> {
        loop {
            let slot = Arc::clone(&self.slots).acquire_owned();
            let Some((old, oldest)) = self.served.front() else {
                return slot.await;
            };
            match tokio::time::timeout_at(*old, slot).await {
                Ok(slot) => return slot,
                Err(_) => oldest.abort(),
            }
            self.served.pop_front();
            // The slot is free when the task has ended.
            tokio::task::yield_now().await;
        }
    }
}
