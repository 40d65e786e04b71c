//! A webhook on a loopback port, and a client that speaks to it as the API server does.

use std::net::SocketAddr;
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use stagger::admission::server::{Phase, Webhook, serve, serve_probes};
use stagger::admission::tls::issue::{self, Issued};
use stagger::admission::tls::{Identity, Served, TlsError, certificates};
use stagger::units::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

pub const NAME: &str = "stagger-webhook.stagger-system.svc";

/// Certificates are verified against the machine's clock by the client, so they are issued by it here.
pub fn now() -> Timestamp {
    stagger::clock::now()
}

pub fn names() -> Vec<String> {
    issue::names("stagger-webhook", "stagger-system")
}

pub fn identity(leaf: &Issued) -> Identity {
    Identity::from_pem(leaf.certificate.as_bytes(), leaf.key.as_bytes()).unwrap()
}

pub struct Running {
    pub webhook: Arc<Webhook>,
    pub authority: Issued,
    pub phase: watch::Sender<Phase>,
    pub serving: JoinHandle<Result<(), TlsError>>,
    pub reviews: SocketAddr,
    pub probes: SocketAddr,
}

pub async fn start() -> Running {
    let authority = issue::authority(now()).unwrap();
    let leaf = issue::leaf(&authority, &names(), now()).unwrap();
    let webhook = Webhook::new(Served::new(identity(&leaf)), NAME, now);
    webhook.publish(authority.certificate.clone().into_bytes());
    let (phase, watched) = watch::channel(Phase::Serving);
    let (reviews, probes) =
        (TcpListener::bind("127.0.0.1:0").await.unwrap(), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let addresses = (reviews.local_addr().unwrap(), probes.local_addr().unwrap());
    let serving = tokio::spawn(serve(reviews, Arc::clone(&webhook), watched.clone()));
    tokio::spawn(serve_probes(probes, Arc::clone(&webhook), watched));
    Running { webhook, authority, phase, serving, reviews: addresses.0, probes: addresses.1 }
}

impl Running {
    /// A connection of a client that trusts a bundle.
    pub async fn connect(&self, bundle: &str) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(bundle.as_bytes()).unwrap() {
            roots.add(certificate).unwrap();
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.reviews).await?;
        TlsConnector::from(Arc::new(config)).connect(ServerName::try_from(NAME).unwrap(), stream).await
    }

    pub async fn trusted(&self) -> TlsStream<TcpStream> {
        self.connect(&self.authority.certificate).await.unwrap()
    }

    /// Posts one review on a connection of its own.
    pub async fn post(&self, body: &[u8]) -> (u16, String) {
        post(&mut self.trusted().await, body).await
    }

    pub async fn probe(&self, path: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.probes).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
        answer(&mut stream).await
    }
}

pub async fn post<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, body: &[u8]) -> (u16, String) {
    let head = format!(
        "POST /admit?timeout=2s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // An answer may come before the body is through.
    let _cut_short = stream.write_all(body).await;
    let _cut_short = stream.flush().await;
    answer(stream).await
}

/// Status and body of one answer.
pub async fn answer<S: AsyncRead + Unpin>(stream: &mut S) -> (u16, String) {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&all).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return (head[9..12].parse().unwrap(), body.to_owned());
            }
        }
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the connection ended in the middle of an answer: {text}");
        all.extend_from_slice(&buffer[..read]);
    }
}
