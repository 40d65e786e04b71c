//! Requests over TLS, as fast as they are answered or at fixed times.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use stagger::admission::tls::certificates;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::process::cpu_micros;

/// A server that answers reviews.
pub struct Target {
    pub name: &'static str,
    host: String,
    path: String,
    tls: Arc<ClientConfig>,
    pid: u32,
}

/// In microseconds.
pub struct Waits {
    pub p50: f64,
    pub p99: f64,
}

pub struct Busy {
    pub cpu_micros_each: f64,
}

impl Target {
    pub fn new(name: &'static str, address: &str, authority: &str, pid: u32) -> Self {
        let (host, path) = address.trim_start_matches("https://").split_once('/').expect("an address has a path");
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authority.as_bytes()).expect("an authority is PEM") {
            roots.add(certificate).expect("an authority can be trusted");
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let tls = tls.expect("versions are known").with_root_certificates(roots).with_no_client_auth();
        Self { name, host: host.to_owned(), path: format!("/{path}"), tls: Arc::new(tls), pid }
    }

    async fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.host).await.expect("the server listens");
        stream.set_nodelay(true).expect("a socket has options");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await.expect("it is trusted");
        Connection { stream, buffer: Vec::new() }
    }
}

struct Connection {
    stream: TlsStream<TcpStream>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Posts a review and reads the whole answer, which must say `allowed`.
    async fn ask(&mut self, target: &Target, body: &[u8]) {
        let head = format!(
            "POST {}?timeout=10s HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            target.path,
            target.host,
            body.len()
        );
        self.stream.write_all(head.as_bytes()).await.expect("a request is taken");
        self.stream.write_all(body).await.expect("a request is taken");
        self.stream.flush().await.expect("a request is taken");
        self.buffer.clear();
        let end = loop {
            if let Some(at) = self.buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            self.more().await;
        };
        let head = String::from_utf8_lossy(&self.buffer[..end]).to_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{}: {head}", target.name);
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
        match length {
            Some(length) => {
                while self.buffer.len() < end + length {
                    self.more().await;
                }
            }
            None => {
                while !self.buffer.ends_with(b"0\r\n\r\n") {
                    self.more().await;
                }
            }
        }
    }

    async fn more(&mut self) {
        let read = self.stream.read_buf(&mut self.buffer).await.expect("an answer comes");
        assert!(read > 0, "the connection ended in the middle of an answer");
    }
}

/// Every connection asks as soon as it is answered.
pub async fn closed(target: &Target, body: &[u8], connections: usize, span: Duration) -> Busy {
    let mut open = Vec::new();
    for _ in 0..connections {
        open.push(target.connect().await);
    }
    let (begun, before) = (Instant::now(), cpu_micros(target.pid));
    let asking = open.into_iter().map(|mut connection| async move {
        let mut answers = 0_u64;
        while begun.elapsed() < span {
            connection.ask(target, body).await;
            answers += 1;
        }
        answers
    });
    let answers: u64 = futures::future::join_all(asking).await.into_iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "a measurement has few digits")]
    let each = (cpu_micros(target.pid) - before) as f64 / answers as f64;
    Busy { cpu_micros_each: each }
}

/// A request at each of `rate` times a second, on whatever connection is free; late ones count from when they were due.
pub async fn open(target: &Target, body: &[u8], rate: u32, span: Duration, connections: usize) -> Waits {
    let mut free = Vec::new();
    for _ in 0..connections {
        free.push(target.connect().await);
    }
    let number = u32::try_from(span.as_millis()).expect("a span is short") * rate / 1000;
    let next = Mutex::new(0_u32);
    let begun = Instant::now() + Duration::from_millis(20);
    let asking = free.into_iter().map(|mut connection| {
        let next = &next;
        async move {
            let mut waits = Vec::new();
            loop {
                let at = {
                    let mut next = next.lock().await;
                    *next += 1;
                    *next - 1
                };
                if at >= number {
                    return waits;
                }
                let due = begun + Duration::from_secs(1) * at / rate;
                // A timer that goes off late is not the server's fault; a connection that is not free in time is.
                let since = if Instant::now() < due {
                    tokio::time::sleep_until(due.into()).await;
                    Instant::now()
                } else {
                    due
                };
                connection.ask(target, body).await;
                waits.push(since.elapsed().as_secs_f64() * 1e6);
            }
        }
    });
    let mut waits: Vec<f64> = futures::future::join_all(asking).await.into_iter().flatten().collect();
    waits.sort_by(f64::total_cmp);
    let at = |percent: usize| waits[(waits.len() * percent / 100).min(waits.len() - 1)];
    Waits { p50: at(50), p99: at(99) }
}
