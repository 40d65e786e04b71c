//! Asks one replica which plans it knows: one GET, within bounds of time and size. What it says is hostile until it is read.

use std::net::SocketAddr;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::{Request, StatusCode, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::admission::{KNOWN_BYTES_MAX, KNOWN_PATH, Known};

/// A replica answers from memory, within milliseconds.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// Our own heads take a hundred bytes.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// What it knows.
///
/// # Errors
/// Why that is not known, as a sentence about it; none of its own words.
pub async fn ask(address: SocketAddr) -> Result<Known, String> {
    let answer = timeout(ANSWER_MAX, exchange(address)).await;
    answer.unwrap_or_else(|_| Err(format!("it did not answer within {} ms", ANSWER_MAX.as_millis())))
}

async fn exchange(address: SocketAddr) -> Result<Known, String> {
    let stream = TcpStream::connect(address).await.map_err(|error| format!("it cannot be reached: {error}"))?;
    let broken = |_: hyper::Error| "it broke off".to_owned();
    let builder = http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).clone();
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // Ends with this set.
    let mut driving = JoinSet::new();
    driving.spawn(connection);
    let request = Request::get(KNOWN_PATH)
        .header(header::HOST, address.to_string())
        .header(header::CONNECTION, "close")
        .body(Body::empty())
        .map_err(|error| format!("it cannot be asked: {error}"))?;
    let answer = sender.send_request(request).await.map_err(broken)?;
    match answer.status() {
        StatusCode::OK => {}
        StatusCode::NOT_FOUND => return Err("it is of a version that does not tell".to_owned()),
        other => return Err(format!("it answers {}", other.as_u16())),
    }
    let (mut body, mut all) = (answer.into_body(), Vec::new());
    while let Some(frame) = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        if all.len() + data.len() > KNOWN_BYTES_MAX {
            return Err(format!("its answer is longer than {KNOWN_BYTES_MAX} bytes"));
        }
        all.extend_from_slice(&data);
    }
    Known::read(&all).ok_or_else(|| "its answer cannot be read".to_owned())
}
