//! What kubelet and Prometheus ask. Liveness rests on the process alone: an API server that is away restarts nobody.

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::routing::get;
use tokio::sync::watch;

use super::connections::Phase;
use super::{Unready, Webhook};

/// The routes of probes and metrics.
pub fn router(webhook: Arc<Webhook>, phase: watch::Receiver<Phase>) -> Router {
    let metrics = Arc::clone(&webhook);
    let ready = move || {
        let state = if *phase.borrow() == Phase::Serving { webhook.ready() } else { Err(Unready::Leaving) };
        std::future::ready(match state {
            Ok(()) => (StatusCode::OK, "ready"),
            Err(Unready::Cold) => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not complete yet"),
            Err(Unready::Certificate) => {
                (StatusCode::SERVICE_UNAVAILABLE, "the certificate would not be accepted under the published bundle")
            }
            Err(Unready::Leaving) => (StatusCode::SERVICE_UNAVAILABLE, "on its way out"),
        })
    };
    let page = move || {
        let ends = metrics.served.identity().ends().ok();
        let text = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
        std::future::ready((text, metrics.metrics.page(ends)))
    };
    Router::new()
        .route("/healthz", get(|| std::future::ready("alive")))
        .route("/readyz", get(ready))
        .route("/metrics", get(page))
}
