//! The two webhook configurations.
//!
//! The mutating one sorts before Kueue's, so that Kueue reads what we wrote. It is asked again when somebody after it
//! changed the object, it gives up after two seconds, and where it cannot be reached work goes on: the policies hold.

use serde_json::{Value, json};

use super::cel::{annotation, label};
use super::{NAMESPACE, PATH, SERVICE, metadata, rules, selected_namespaces};
use crate::api::GROUP;
use crate::api::keys::{GATES, PROTECTED_ANNOTATIONS, PROTECTED_LABELS, QUEUE_NAME};

/// Two seconds: an answer takes microseconds, and mutating webhooks are called one after another.
const TIMEOUT_SECONDS: u32 = 2;

/// The mutating configuration; the digits sort it before Kueue's.
pub const MUTATING: &str = "00-stagger";
/// The validating configuration.
pub const VALIDATING: &str = "stagger";

fn hook(name: &str, rules: &[Value]) -> Value {
    json!({
        "name": format!("{name}.{GROUP}"),
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {"name": SERVICE, "namespace": NAMESPACE, "path": PATH, "port": 443}},
        "failurePolicy": "Ignore",
        "matchPolicy": "Equivalent",
        "rules": rules,
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    })
}

/// The configuration that stamps and gates.
#[must_use]
pub fn mutating() -> Value {
    let mut stamp = hook("stamp", &rules(&["CREATE", "UPDATE"], false));
    stamp["namespaceSelector"] = selected_namespaces();
    stamp["reinvocationPolicy"] = json!("IfNeeded");
    stamp["matchConditions"] = json!([
        {"name": "not-a-node", "expression": "!('system:nodes' in request.userInfo.groups)"},
        {"name": "created-or-our-keys-differ", "expression": at_stake()},
    ]);
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": metadata(MUTATING),
        "webhooks": [stamp],
    })
}

/// The configuration that holds our own kinds against each other.
#[must_use]
pub fn validating() -> Value {
    let rule = |operations: &[&str], resources: &[&str]| {
        json!({
            "apiGroups": [GROUP],
            "apiVersions": ["*"],
            "operations": operations,
            "resources": resources,
            "scope": "Cluster",
        })
    };
    let rules = [rule(&["CREATE", "UPDATE"], &["capacityplans", "gputenants"]), rule(&["DELETE"], &["ratecards"])];
    json!({
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": metadata(VALIDATING),
        "webhooks": [hook("objects", &rules)],
    })
}

/// Creations, and updates in which a key of ours, a gate or the queue differs; other updates make no call.
fn at_stake() -> String {
    let labels = PROTECTED_LABELS.into_iter().chain([QUEUE_NAME]);
    let annotations = PROTECTED_ANNOTATIONS.into_iter().chain([GATES]);
    let differs = labels
        .map(|key| format!("{} != {}", label("oldObject", key), label("object", key)))
        .chain(annotations.map(|key| format!("{} != {}", annotation("oldObject", key), annotation("object", key))));
    let differs: Vec<String> = differs.collect();
    format!("request.operation == 'CREATE' ||\n{}", differs.join(" ||\n"))
}
