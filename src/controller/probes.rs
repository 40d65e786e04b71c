//! `/healthz`, `/readyz` and `/metrics` over HTTP.
//!
//! Alive is who goes on turning; ready is who knows the cluster. Neither asks the API server: an outage there must not
//! take down what will be needed when it ends. A follower is ready.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use axum::Router;
use axum::http::StatusCode;
use axum::routing::get;
use tokio::net::TcpListener;

use super::metrics::Metrics;
use crate::clock::Stopwatch;

/// A loop that has not turned for this long hangs.
const TURN_MILLIS_MAX: u64 = 120_000;

/// What the loop says of itself.
#[derive(Debug)]
pub struct Health {
    watch: Stopwatch,
    turned: AtomicU64,
    ready: AtomicBool,
    pub metrics: Metrics,
}

impl Default for Health {
    fn default() -> Self {
        Self {
            watch: Stopwatch::start(),
            turned: AtomicU64::new(0),
            ready: AtomicBool::new(false),
            metrics: Metrics::default(),
        }
    }
}

impl Health {
    /// A turn of the loop has ended.
    pub fn turned(&self) {
        self.turned.store(self.watch.millis(), Ordering::Relaxed);
    }

    /// Whether the cluster is known.
    pub fn set_ready(&self, ready: bool) {
        self.ready.store(ready, Ordering::Relaxed);
    }

    fn alive(&self) -> bool {
        self.watch.millis().saturating_sub(self.turned.load(Ordering::Relaxed)) < TURN_MILLIS_MAX
    }
}

/// Serves until dropped.
pub async fn serve(listener: TcpListener, health: Arc<Health>) {
    let say = |good: bool| if good { (StatusCode::OK, "ok") } else { (StatusCode::SERVICE_UNAVAILABLE, "not yet") };
    let (alive, ready, page) = (Arc::clone(&health), Arc::clone(&health), health);
    let router = Router::new()
        .route("/healthz", get(move || async move { say(alive.alive()) }))
        .route("/readyz", get(move || async move { say(ready.ready.load(Ordering::Relaxed)) }))
        .route("/metrics", get(move || async move { page.metrics.page() }));
    // An error of the listener ends probes, and the kubelet then ends us.
    let _ended = axum::serve(listener, router).await;
}
