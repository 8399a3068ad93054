//! The HTTP server: accepts connections until it is told to end, then lets them finish.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::daemon::routes::Routes;

/// How many connections are served at once; further ones wait to be accepted.
const MAX_CONNECTIONS: usize = 256;

/// How long a connection may be silent before a request, and between two.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);

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
        let (stream, slot) = tokio::select! {
            () = &mut shutdown => break,
            accepted = acceptor.accept() => accepted,
        };
        let routes = Arc::clone(&routes);
        let service = service_fn(move |request| {
            let routes = Arc::clone(&routes);
            async move { Ok::<_, Infallible>(routes.respond(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
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
}

impl Acceptor {
    fn new(listener: TcpListener) -> Self {
        Self { listener, slots: Arc::new(Semaphore::new(MAX_CONNECTIONS)) }
    }

    /// The next connection, once there is room for it.
    ///
    /// To accept fails for reasons that pass, such as too many open files, so it is tried again.
    async fn accept(&mut self) -> (TcpStream, OwnedSemaphorePermit) {
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

    async fn try_accept(&mut self) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(io::Error::other)?;
        let (stream, _) = self.listener.accept().await?;
        // Answers are small, and somebody waits for each.
        stream.set_nodelay(true)?;
        Ok((stream, slot))
    }
}
