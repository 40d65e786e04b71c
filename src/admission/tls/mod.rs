//! TLS of the webhook: 1.3 only, one provider, certificates that are exchanged while connections stay.
//!
//! `issue` makes certificates, `rotate` says which step is due; both take the time as an argument.

pub mod issue;
pub mod rotate;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{RootCertStore, ServerConfig};

use crate::units::Timestamp;

/// What went wrong with a certificate, as a fragment after "failed to".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsError(pub String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TlsError {}

fn failed(what: &str) -> impl Fn(&dyn fmt::Display) -> TlsError {
    move |error| TlsError(format!("{what}: {error}"))
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A certificate chain and its key, checked to belong together.
#[derive(Debug, Clone)]
pub struct Identity {
    key: Arc<CertifiedKey>,
}

impl Identity {
    /// Reads a chain (the leaf first) and its private key.
    ///
    /// # Errors
    /// When either cannot be read, or they do not belong together.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(chain)?;
        if chain.is_empty() {
            return Err(TlsError("read the certificate: there is none in it".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| failed("read the private key")(&error))?;
        let key = CertifiedKey::from_der(chain, key, &provider())
            .map_err(|error| failed("use the certificate with its key")(&error))?;
        Ok(Self { key: Arc::new(key) })
    }

    /// Whether clients that trust this bundle will accept it under that name at that time.
    #[must_use]
    pub fn is_trusted(&self, bundle: &[u8], name: &str, at: Timestamp) -> bool {
        self.verify(bundle, name, at).is_ok()
    }

    fn verify(&self, bundle: &[u8], name: &str, at: Timestamp) -> Result<(), TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(bundle)? {
            // A root past its time counts for nothing with Go's verifier, whatever rustls would say.
            if validity(&certificate)?.contains(at) {
                roots.add(certificate).map_err(|error| failed("read the bundle")(&error))?;
            }
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
            .build()
            .map_err(|error| failed("use the bundle")(&error))?;
        let (leaf, others) =
            self.key.cert.split_first().ok_or_else(|| TlsError("read the certificate: there is none".to_owned()))?;
        let name = ServerName::try_from(name.to_owned()).map_err(|error| failed("use the name")(&error))?;
        let seconds = u64::try_from(at.0).unwrap_or(0);
        let now = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let verified = verifier.verify_server_cert(leaf, others, &name, &[], now);
        verified.map(|_| ()).map_err(|error| failed("verify the certificate")(&error))
    }

    /// When the leaf ends.
    ///
    /// # Errors
    /// When the certificate cannot be read.
    pub fn ends(&self) -> Result<Timestamp, TlsError> {
        let leaf = self.key.cert.first().ok_or_else(|| TlsError("read the certificate: there is none".to_owned()))?;
        Ok(validity(leaf)?.to)
    }
}

/// The time in which a certificate holds, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Validity {
    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at <= self.to
    }
}

/// What a certificate says about its time.
///
/// # Errors
/// When it is no certificate.
pub fn validity(certificate: &[u8]) -> Result<Validity, TlsError> {
    let (_, parsed) =
        x509_parser::parse_x509_certificate(certificate).map_err(|error| failed("read the certificate")(&error))?;
    let validity = parsed.validity();
    Ok(Validity { from: Timestamp(validity.not_before.timestamp()), to: Timestamp(validity.not_after.timestamp()) })
}

/// All certificates of a PEM text, in order.
///
/// # Errors
/// When one cannot be read.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    all.map_err(|error| failed("read the certificates")(&error))
}

/// The identity that is served; it can be exchanged at any time. Connections that stand keep theirs.
#[derive(Debug)]
pub struct Served(RwLock<Identity>);

impl Served {
    #[must_use]
    pub fn new(identity: Identity) -> Arc<Self> {
        Arc::new(Self(RwLock::new(identity)))
    }

    pub fn exchange(&self, identity: Identity) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = identity;
    }

    #[must_use]
    pub fn identity(&self) -> Identity {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl ResolvesServerCert for Served {
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.identity().key)
    }
}

/// The server's side of TLS. The API server speaks HTTP/1.1 to webhooks, so nothing else is offered.
///
/// # Errors
/// When the provider does not know TLS 1.3, which would be a build without it.
pub fn server(served: Arc<Served>) -> Result<ServerConfig, TlsError> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|error| failed("set up TLS")(&error))?
        .with_no_client_auth()
        .with_cert_resolver(served);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
