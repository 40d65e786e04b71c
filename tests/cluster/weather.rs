//! A way to the API server on which the weather can be bad: calls are turned away, answers are lost, watches are cut off, and
//! what they ask to go on from is forgotten. The API server behind it is the real one.
//!
//! Whom it strikes is counted and not drawn, so that a storm is the same each time. A call whose answer is lost has been
//! carried out. Deliberately absent: any answer that an API server would not give.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Request, Response, StatusCode, Uri};
use futures::{StreamExt, stream};
use kube::Client;
use tokio::net::TcpListener;
use tokio::sync::broadcast;

use crate::plane::Plane;

/// The state of the way.
pub struct Weather {
    client: Client,
    /// Of a hundred calls so many are turned away with 429.
    pub busy: AtomicU32,
    /// Of a hundred calls the answer to so many is lost: 504, whatever has come of them.
    pub lost: AtomicU32,
    /// Of a hundred watches so many ask to go on from what the API server does not remember.
    pub forgotten: AtomicU32,
    /// Writes of what is stored or told of plans take their time.
    pub slow: AtomicBool,
    calls: AtomicU32,
    cuts: broadcast::Sender<()>,
}

/// What slow writes take; a caller gives up after two seconds.
const SLOW: Duration = Duration::from_millis(1_800);
/// Spreads what is counted over a hundred: neighbours are far from each other.
const STRIDE: u32 = 37;

impl Weather {
    /// A storm, or none.
    pub fn set(&self, busy: u32, lost: u32, forgotten: u32) {
        self.busy.store(busy, Ordering::Relaxed);
        self.lost.store(lost, Ordering::Relaxed);
        self.forgotten.store(forgotten, Ordering::Relaxed);
    }

    /// Every connection on which an answer is under way is cut off in the middle; how many.
    pub fn cut(&self) -> usize {
        // Nobody listens when nothing is under way.
        self.cuts.send(()).unwrap_or(0)
    }
}

/// Opens the way, and writes a kubeconfig that leads over it. Who takes it acts as the plane's admin.
pub async fn open(plane: &Plane) -> (Arc<Weather>, PathBuf) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let weather = Arc::new(Weather {
        client: plane.admin.client.clone(),
        busy: AtomicU32::new(0),
        lost: AtomicU32::new(0),
        forgotten: AtomicU32::new(0),
        slow: AtomicBool::new(false),
        calls: AtomicU32::new(0),
        cuts: broadcast::channel(1).0,
    });
    let router = Router::new().fallback(pass).with_state(Arc::clone(&weather));
    tokio::spawn(async move { drop(axum::serve(listener, router).await) });
    (weather, kubeconfig(&plane.folder, &format!("http://{address}")))
}

fn kubeconfig(folder: &Path, server: &str) -> PathBuf {
    let path = folder.join("weather.kubeconfig");
    let text = format!(
        "{{apiVersion: v1, kind: Config, current-context: test, users: [{{name: test, user: {{}}}}],\n\
         clusters: [{{name: test, cluster: {{server: '{server}'}}}}],\n\
         contexts: [{{name: test, context: {{cluster: test, user: test}}}}]}}\n"
    );
    std::fs::write(&path, text).expect("the plane's folder can be written");
    path
}

/// One call through the weather.
async fn pass(State(weather): State<Arc<Weather>>, request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let number = weather.calls.fetch_add(1, Ordering::Relaxed).wrapping_mul(STRIDE) % 100;
    let (busy, lost) = (weather.busy.load(Ordering::Relaxed), weather.lost.load(Ordering::Relaxed));
    if number < busy {
        return Ok(failure(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests"));
    }
    let (mut parts, body) = request.into_parts();
    let watches = parts.uri.query().is_some_and(|query| query.contains("watch=true"));
    if watches && (99 - number) < weather.forgotten.load(Ordering::Relaxed) {
        parts.uri = forgetful(&parts.uri);
    }
    for header in ["host", "connection", "transfer-encoding"] {
        parts.headers.remove(header);
    }
    let writes = parts.method != Method::GET;
    let mut cuts = weather.cuts.subscribe();
    let is_of_plans = ["/configmaps", "/capacityplans"].iter().any(|kind| parts.uri.path().contains(kind));
    if writes && is_of_plans && weather.slow.load(Ordering::Relaxed) {
        tokio::time::sleep(SLOW).await;
    }
    let body = axum::body::to_bytes(body, 16 << 20).await.unwrap_or_default();
    let answer = weather.client.send(Request::from_parts(parts, body.to_vec().into())).await;
    let Ok(answer) = answer else { return Ok(failure(StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailable")) };
    if number < busy + lost && (writes || !watches) {
        return Ok(failure(StatusCode::GATEWAY_TIMEOUT, "Timeout"));
    }
    let (mut parts, body) = answer.into_parts();
    for header in ["connection", "transfer-encoding", "content-length"] {
        parts.headers.remove(header);
    }
    let pieces = Body::new(body).into_data_stream();
    let cut = async move { drop(cuts.recv().await) };
    // An error in the middle makes the server close the connection, as a reset would.
    let broken = |()| stream::iter([Err::<_, axum::Error>(axum::Error::new(std::io::Error::other("cut off")))]);
    let ends = Box::pin(stream::once(cut).flat_map(broken));
    let pieces = stream::select(pieces.map(Some).chain(stream::iter([None])), ends.map(Some));
    let pieces = pieces.take_while(|piece| std::future::ready(piece.is_some())).filter_map(std::future::ready);
    Ok(Response::from_parts(parts, Body::from_stream(pieces)))
}

/// Asks to go on from the first change that there ever was.
fn forgetful(uri: &Uri) -> Uri {
    let old = uri.to_string();
    let Some(from) = old.find("resourceVersion=").map(|at| at + "resourceVersion=".len()) else { return uri.clone() };
    let to = old[from..].find('&').map_or(old.len(), |length| from + length);
    format!("{}1{}", &old[..from], &old[to..]).parse().expect("a number stands for a number")
}

/// What an API server says when it fails.
fn failure(code: StatusCode, reason: &str) -> Response<Body> {
    let status = serde_json::json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                                    "message": "the weather is bad", "code": code.as_u16()});
    let answer = Response::builder().status(code).header("content-type", "application/json").header("retry-after", "1");
    answer.body(Body::from(status.to_string())).expect("a status is an answer")
}
