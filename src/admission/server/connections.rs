//! Connections: how many there may be, how long each part may take, how they end.
//!
//! One at a time per connection, HTTP/1.1, kept open for the next request but not for ever, so that a new replica gets
//! its share. Who is to go elsewhere is told so in an answer: a client that sends into a connection which is closed at that
//! moment loses its request, and the API server does not send a review twice.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// An API server keeps a handful; the rest is room for those who only hold connections. An idle one takes some 30 KB.
pub const CONNECTIONS_MAX: usize = 2048;
/// Beyond so many, connections are given little time: the port is open to every pod, and whoever only holds connections
/// must not keep the API server out.
pub const PATIENT_UP_TO: usize = 512;

/// How long a connection may keep us waiting.
#[derive(Debug, Clone, Copy)]
struct Waits {
    /// A handshake takes milliseconds.
    handshake: Duration,
    /// Between requests, and until a request's head is complete. The API server closes what is idle for 90 s: before us.
    head: Duration,
}

const PATIENT: Waits = Waits { handshake: Duration::from_secs(10), head: Duration::from_mins(2) };
const CROWDED: Waits = Waits { handshake: Duration::from_secs(2), head: Duration::from_secs(5) };

/// The API server's heads take a few hundred bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// After this a connection is closed with its next answer.
const AGE_MAX: Duration = Duration::from_mins(5);
/// What was begun is answered well within this.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// Where the process is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    Serving,
    /// Not ready any more, still answering, and closing each connection with an answer: endpoints are removed later than the
    /// signal comes.
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
                    let crowded = CONNECTIONS_MAX - room.available_permits() > PATIENT_UP_TO;
                    let waits = if crowded { CROWDED } else { PATIENT };
                    connections.spawn(connection(stream, tls.clone(), router.clone(), phase.clone(), (waits, permit)));
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
    (waits, _permit): (Waits, OwnedSemaphorePermit),
) {
    // Without it a small answer may wait for an acknowledgement.
    if stream.set_nodelay(true).is_err() {
        return;
    }
    match tls {
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(waits.handshake, tls.accept(stream)).await {
                answer(stream, router, phase, waits).await;
            }
        }
        None => answer(stream, router, phase, waits).await,
    }
}

async fn answer<S>(stream: S, router: Router, mut phase: watch::Receiver<Phase>, waits: Waits)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let begun = Instant::now();
    let told = phase.clone();
    let service = TowerToHyperService::new(router);
    let service = service_fn(move |request| {
        let answer = service.call(request);
        // Asked when the answer is there: it may have taken a while.
        let goes = {
            let told = told.clone();
            move || *told.borrow() >= Phase::Leaving || begun.elapsed() >= AGE_MAX
        };
        async move {
            let mut answer = answer.await?;
            if goes() {
                answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(answer)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(waits.head)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        // A client that breaks off is its own matter.
        _ = served.as_mut() => return,
        () = stopped(&mut phase) => served.as_mut().graceful_shutdown(),
    }
    // What was begun is answered.
    let _ended = served.await;
}
