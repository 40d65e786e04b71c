//! The webhook as a process: HTTPS for the API server, plain HTTP for probes and metrics.
//!
//! Every answer is HTTP 200 with the request's uid, or an error that leaves the choice to the failure policy. Nothing is
//! queued past its time, every wait has a bound, and a panic costs one answer. Everything it needs to know is in memory.

mod admit;
mod connections;
mod metrics;
mod probes;

use std::sync::{Arc, PoisonError, RwLock};

use tokio::net::TcpListener;
use tokio::sync::watch;

pub use admit::BODY_BYTES_MAX;
pub use connections::{CONNECTIONS_MAX, Phase};
pub use metrics::Metrics;

use super::tls::{self, Served, TlsError};
use super::world::World;
use crate::units::Timestamp;

/// What all requests share.
#[derive(Debug)]
pub struct Webhook {
    /// `None` until the caches are complete.
    world: RwLock<Option<Arc<World>>>,
    pub served: Arc<Served>,
    /// The bundles that the configurations carry; none: nobody says, so that only the leaf's own time is judged.
    bundles: RwLock<Vec<Vec<u8>>>,
    /// What the caches wait for.
    missing: RwLock<Vec<String>>,
    /// The name under which the API server calls.
    name: String,
    pub metrics: Metrics,
    now: fn() -> Timestamp,
}

/// Why it is not ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unready {
    /// The caches are not complete.
    Cold,
    /// The certificate that is served would not be accepted.
    Certificate,
    /// It is about to end.
    Leaving,
}

impl Webhook {
    #[must_use]
    pub fn new(served: Arc<Served>, name: &str, now: fn() -> Timestamp) -> Arc<Self> {
        Arc::new(Self {
            world: RwLock::new(None),
            served,
            bundles: RwLock::default(),
            missing: RwLock::default(),
            name: name.to_owned(),
            metrics: Metrics::default(),
            now,
        })
    }

    /// Puts what is known in the place of what was.
    pub fn learn(&self, world: World) {
        *self.world.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(world));
    }

    #[must_use]
    pub fn world(&self) -> Option<Arc<World>> {
        self.world.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes the bundle that was seen in the configurations.
    pub fn publish(&self, bundle: Vec<u8>) {
        self.publish_all(vec![bundle]);
    }

    /// The same of several, each of which must accept what is served.
    pub fn publish_all(&self, bundles: Vec<Vec<u8>>) {
        *self.bundles.write().unwrap_or_else(PoisonError::into_inner) = bundles;
    }

    /// When the first of the published bundles ends for good; of one bundle the longest lasting authority counts.
    #[must_use]
    pub fn published_ends(&self) -> Option<Timestamp> {
        let bundles = self.bundles.read().unwrap_or_else(PoisonError::into_inner);
        let end = |bundle: &Vec<u8>| {
            let all = tls::certificates(bundle).ok()?;
            all.iter().filter_map(|one| tls::validity(one).ok()).map(|validity| validity.to).max()
        };
        bundles.iter().filter_map(end).min()
    }

    /// Notes what the caches still wait for.
    pub fn wait_for(&self, missing: Vec<String>) {
        *self.missing.write().unwrap_or_else(PoisonError::into_inner) = missing;
    }

    /// What the caches still wait for, where that is known.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        self.missing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the API server may send requests.
    ///
    /// # Errors
    /// Why not.
    pub fn ready(&self) -> Result<(), Unready> {
        let (identity, now) = (self.served.identity(), (self.now)());
        let bundles = self.bundles.read().unwrap_or_else(PoisonError::into_inner).clone();
        let in_time = identity.ends().is_ok_and(|ends| now <= ends);
        let trusted = in_time && bundles.iter().all(|bundle| identity.is_trusted(bundle, &self.name, now));
        match (trusted, self.world()) {
            (false, _) => Err(Unready::Certificate),
            (true, None) => Err(Unready::Cold),
            (true, Some(_)) => Ok(()),
        }
    }
}

/// Serves reviews over TLS until the phase says otherwise, then lets what was begun be answered.
///
/// # Errors
/// When TLS cannot be set up.
pub async fn serve(
    listener: TcpListener,
    webhook: Arc<Webhook>,
    phase: watch::Receiver<Phase>,
) -> Result<(), TlsError> {
    let tls = Arc::new(tls::server(Arc::clone(&webhook.served))?);
    connections::accept(listener, Some(tls.into()), admit::router(webhook), phase).await;
    Ok(())
}

/// Serves `/healthz`, `/readyz`, `/metrics` and which plans are known, without TLS.
pub async fn serve_probes(listener: TcpListener, webhook: Arc<Webhook>, phase: watch::Receiver<Phase>) {
    connections::accept(listener, None, probes::router(webhook, phase.clone()), phase).await;
}
