//! What kubelet, Prometheus and our controller ask. Liveness rests on the process alone: an API server that is away restarts nobody.

use std::sync::Arc;

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use tokio::sync::watch;

use super::connections::Phase;
use super::{Unready, Webhook};
use crate::admission::{KNOWN_PATH, Known};

/// The routes of probes and metrics.
pub fn router(webhook: Arc<Webhook>, phase: watch::Receiver<Phase>) -> Router {
    let (metrics, knows) = (Arc::clone(&webhook), Arc::clone(&webhook));
    let ready = move || {
        let state = if *phase.borrow() == Phase::Serving { webhook.ready() } else { Err(Unready::Leaving) };
        std::future::ready(match state {
            Ok(()) => (StatusCode::OK, "ready".to_owned()),
            Err(why) => (StatusCode::SERVICE_UNAVAILABLE, told(why, &webhook.missing())),
        })
    };
    let page = move || {
        let ends = [("leaf", metrics.served.identity().ends().ok()), ("published", metrics.published_ends())];
        let text = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
        std::future::ready((text, metrics.metrics.page(&ends)))
    };
    let plans = move || {
        std::future::ready(match knows.world() {
            Some(world) => ([(header::CONTENT_TYPE, "application/json")], Known::of(&world).write()).into_response(),
            None => (StatusCode::SERVICE_UNAVAILABLE, "the caches are not complete yet").into_response(),
        })
    };
    Router::new()
        .route(KNOWN_PATH, get(plans))
        .route("/healthz", get(|| std::future::ready("alive")))
        .route("/readyz", get(ready))
        .route("/metrics", get(page))
}

fn told(why: Unready, missing: &[String]) -> String {
    match why {
        Unready::Cold if missing.is_empty() => "the caches are not complete yet".to_owned(),
        Unready::Cold => format!("the caches are not complete yet: waiting for {}", missing.join(", ")),
        Unready::Certificate => "the certificate would not be accepted under the published bundle".to_owned(),
        Unready::Leaving => "on its way out".to_owned(),
    }
}
