//! The replicas of the webhook, from the EndpointSlices of its Service.
//!
//! Pure. Asked is who may get a request: what is ready, and what is on its way out, for as long as it answers.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::Value;

/// The Service's port of probes and metrics.
pub const PORT: &str = "probes";
/// More than this has no webhook.
pub const REPLICAS_MAX: usize = 64;
/// As long as Kubernetes' names are.
const NAME_BYTES_MAX: usize = 253;

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// Its pod's name, or its address.
    pub name: String,
    /// Where it tells what it knows, if it does.
    pub at: Option<SocketAddr>,
    /// On its way out: it answers on connections that stand, and one that answers no more is gone.
    pub leaves: bool,
}

/// All of them, by name; who has two addresses is one.
#[must_use]
pub fn replicas<'a>(slices: impl Iterator<Item = &'a Value>) -> Vec<Replica> {
    let mut all = BTreeMap::new();
    for slice in slices {
        let port = list(slice, "ports").find(|port| port["name"] == PORT);
        let port = port.and_then(|port| u16::try_from(port["port"].as_u64()?).ok());
        for endpoint in list(slice, "endpoints").filter(|endpoint| may_answer(endpoint)) {
            // A name instead of an address would be whatever a resolver says.
            let address = endpoint["addresses"][0].as_str().and_then(|text| text.parse::<IpAddr>().ok());
            let Some(address) = address else { continue };
            let at = port.map(|port| SocketAddr::new(address, port));
            let pod = endpoint["targetRef"]["name"].as_str().filter(|name| is_name(name));
            let name = pod.map_or_else(|| address.to_string(), str::to_owned);
            all.entry(name).or_insert((at, !is(endpoint, "ready").unwrap_or(true)));
        }
    }
    all.into_iter().map(|(name, (at, leaves))| Replica { name, at, leaves }).collect()
}

fn list<'a>(slice: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    slice[field].as_array().into_iter().flatten()
}

fn is(endpoint: &Value, condition: &str) -> Option<bool> {
    endpoint["conditions"][condition].as_bool()
}

/// Who does not say whether it is ready is.
fn may_answer(endpoint: &Value) -> bool {
    is(endpoint, "ready").unwrap_or(true) || is(endpoint, "terminating").unwrap_or(false)
}

fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.bytes().all(fits)
}
