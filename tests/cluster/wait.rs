//! Waiting for a condition, with a bound.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Asks until the answer is `Ok`; panics with the last reason when `bound` is over.
pub async fn until<T>(what: &str, bound: Duration, mut probe: impl AsyncFnMut() -> Result<T, String>) -> T {
    let begin = Instant::now();
    loop {
        match probe().await {
            Ok(found) => return found,
            Err(reason) => assert!(begin.elapsed() < bound, "not within {bound:?}: {what}; last: {reason}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The body of a plain HTTP answer of status 200, or what was answered instead.
pub async fn http(address: &str, path: &str) -> Result<String, String> {
    let mut stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let mut text = String::new();
    stream.read_to_string(&mut text).await.map_err(|error| error.to_string())?;
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    if head.starts_with("HTTP/1.1 200") {
        Ok(body.to_owned())
    } else {
        Err(format!("{}: {body}", head.lines().next().unwrap_or("")))
    }
}
