//! What time it is for the API server: the times of creation that stand on objects are of its clock, not of ours.

use kube::Client;
use kube::api::ListParams;
use kube::client::Body;

use super::client::{CALL_MAX, within};
use super::error::{ClusterError, Kind};
use crate::calendar;
use crate::units::Timestamp;

/// Any answer carries the time; this one everybody may have.
const PATH: &str = "/version";

/// The time, to the second, as the API server puts it on an answer.
///
/// # Errors
/// When it does not answer, or says no time.
pub async fn server_time(client: &Client) -> Result<Timestamp, ClusterError> {
    let request = kube::core::Request::new(PATH).list(&ListParams::default());
    let request = request.map_err(|error| ClusterError::of("get", PATH, &kube::Error::BuildRequest(error)))?;
    let answer = within(CALL_MAX, "get", PATH, client.send(request.map(Body::from))).await?;
    let date = answer.headers().get("date").and_then(|date| date.to_str().ok()).unwrap_or_default();
    calendar::parse_http_date(date).map_err(|why| {
        let message = format!("failed to learn the API server's time: {why}");
        ClusterError { kind: Kind::Unreadable, message }
    })
}
