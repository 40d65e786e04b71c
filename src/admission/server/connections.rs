//! Connections: how many there may be, how long each part may take, how they end.
//!
//! One at a time per connection, HTTP/1.1, kept open for the next request but not for ever, so that a new replica gets
//! its share.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// An API server keeps a handful; the rest is for several of them, probes, and room for a slow client.
pub const CONNECTIONS_MAX: usize = 512;
/// A handshake takes milliseconds.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Between requests, and until a request's head is complete. The API server keeps idle connections for a while.
const HEAD_MAX: Duration = Duration::from_secs(90);
/// The API server's heads take a few hundred bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// After this a connection is closed once its request is answered.
const AGE_MAX: Duration = Duration::from_mins(5);
/// What was begun is answered well within this.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Where the process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Serving,
    /// Not ready any more, still answering: endpoints are removed later than the signal comes.
    Leaving,
    /// No new connections; those that stand end with their answer.
    Stopping,
}

/// Accepts until the phase is `Stopping`.
pub async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router, phase: watch::Receiver<Phase>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut stopping = phase.clone();
    loop {
        // Beyond the limit new connections wait in the kernel, not in our memory.
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await.ok()?;
            Some((listener.accept().await, permit))
        };
        tokio::select! {
            () = stopped(&mut stopping) => break,
            accepted = next => match accepted {
                Some((Ok((stream, _)), permit)) => {
                    connections.spawn(connection(stream, tls.clone(), router.clone(), phase.clone(), permit));
                }
                // Out of descriptors, mostly: what is open must end first.
                Some((Err(_), _)) => sleep(Duration::from_millis(50)).await,
                None => break,
            },
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    let all = async { while connections.join_next().await.is_some() {} };
    if timeout(DRAIN_MAX, all).await.is_err() {
        connections.shutdown().await;
    }
}

/// Ends when the process stops, or with whoever would have said so.
async fn stopped(phase: &mut watch::Receiver<Phase>) {
    drop(phase.wait_for(|phase| *phase == Phase::Stopping).await);
}

async fn connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    phase: watch::Receiver<Phase>,
    _permit: OwnedSemaphorePermit,
) {
    // Without it a small answer may wait for an acknowledgement.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(HANDSHAKE_MAX, tls.accept(stream)).await {
                answer(stream, router, phase).await;
            }
        }
        None => answer(stream, router, phase).await,
    }
}

async fn answer<S>(stream: S, router: Router, mut phase: watch::Receiver<Phase>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut served = std::pin::pin!(served);
    let mut old = std::pin::pin!(sleep(AGE_MAX));
    let mut ending = false;
    loop {
        tokio::select! {
            // A client that breaks off is its own matter.
            _ = served.as_mut() => return,
            () = old.as_mut(), if !ending => ending = true,
            () = stopped(&mut phase), if !ending => ending = true,
        }
        served.as_mut().graceful_shutdown();
    }
}
