//! One request: read within bounds, decide, answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody};
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::Webhook;
use crate::admission::policy::PATH;
use crate::admission::{Decision, Mode, World, decide, parse, respond, uid_of};

/// An update carries the old and the new object, at most 3 MiB each by the API server's own limit, and the envelope.
pub const BODY_BYTES_MAX: usize = 7 * 1024 * 1024;
/// Where the uid stands in a body that is too long.
const BEGINNING_BYTES: usize = 4096;
/// A body comes within a second or not at all; the API server itself gives up after two.
const BODY_MAX: Duration = Duration::from_secs(10);
/// Requests at once. Each is answered in microseconds; more than this means bodies of megabytes, which take memory.
const AT_ONCE_MAX: usize = 256;

#[derive(Clone)]
struct Shared {
    webhook: Arc<Webhook>,
    room: Arc<Semaphore>,
}

/// The route of reviews.
pub fn router(webhook: Arc<Webhook>) -> Router {
    let shared = Shared { webhook, room: Arc::new(Semaphore::new(AT_ONCE_MAX)) };
    Router::new().route(PATH, post(admit)).with_state(shared)
}

async fn admit(State(shared): State<Shared>, body: Body) -> Response {
    let Shared { webhook, room } = shared;
    // Neither is an answer: the failure policy decides, as it does when nobody listens.
    let Some(world) = webhook.world() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "the caches are not complete yet").into_response();
    };
    let Ok(_permit) = room.try_acquire() else {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many requests at once").into_response();
    };
    let begun = Instant::now();
    let (uid, decision) = match timeout(BODY_MAX, read(body)).await {
        Err(_) => return (StatusCode::REQUEST_TIMEOUT, "the request did not end in time").into_response(),
        Ok(Err(Unread::Broken)) => return (StatusCode::BAD_REQUEST, "the request broke off").into_response(),
        Ok(Err(Unread::TooLong(beginning))) => {
            let Some(uid) = uid_of(&beginning) else {
                return (StatusCode::PAYLOAD_TOO_LARGE, "the request is too long").into_response();
            };
            (uid, Decision::unreadable(&format!("it is longer than {BODY_BYTES_MAX} bytes")))
        }
        Ok(Ok(body)) => judge(&body, &world),
    };
    webhook.metrics.count(decision.outcome, begun.elapsed());
    if uid.is_empty() {
        return (StatusCode::BAD_REQUEST, "this is no AdmissionReview").into_response();
    }
    ([(header::CONTENT_TYPE, "application/json")], respond(&uid, &decision)).into_response()
}

fn judge(body: &[u8], world: &World) -> (String, Decision) {
    match parse(body) {
        Err(unreadable) => (unreadable.uid, Decision::unreadable(&unreadable.why)),
        Ok(review) => {
            let decided = catch_unwind(AssertUnwindSafe(|| decide(&review.request, world)));
            (review.uid, decided.unwrap_or_else(|_| bug(world.mode)))
        }
    }
}

/// A bug of ours: the safe side is to refuse, except where nothing may be refused.
fn bug(mode: Mode) -> Decision {
    if mode == Mode::Observe {
        return Decision::ignored();
    }
    Decision::denied("internal error in stagger's webhook: this is a bug; the request was not judged")
}

enum Unread {
    Broken,
    /// With its beginning.
    TooLong(Vec<u8>),
}

async fn read(mut body: Body) -> Result<Vec<u8>, Unread> {
    let declared = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    let too_long = declared.is_some_and(|bytes| bytes > BODY_BYTES_MAX);
    let mut all = Vec::with_capacity(declared.unwrap_or(0).min(BODY_BYTES_MAX));
    loop {
        let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
        match frame {
            None => return Ok(all),
            Some(Err(_)) => return Err(Unread::Broken),
            Some(Ok(frame)) => {
                let Ok(data) = frame.into_data() else { continue };
                all.extend_from_slice(&data);
                if all.len() > BODY_BYTES_MAX || (too_long && all.len() >= BEGINNING_BYTES) {
                    all.truncate(BEGINNING_BYTES);
                    return Err(Unread::TooLong(all));
                }
            }
        }
    }
}
