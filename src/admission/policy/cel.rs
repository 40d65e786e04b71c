//! Expressions that several policies share, and the mode without a webhook.
//!
//! Deliberately absent from the CEL-only mode: shared namespaces, verified owners and gates; they need to know other
//! objects. It copies what the controller keeps on the namespace.

use serde_json::{Value, json};

use super::{metadata, rules, selected_namespaces};
use crate::api::keys::{TENANT, TENANT_UID};

/// A label's value, empty where it is absent: `object.metadata.?labels[?'k'].orValue('')`.
#[must_use]
pub fn label(of: &str, key: &str) -> String {
    format!("{of}.metadata.?labels[?'{key}'].orValue('')")
}

/// An annotation's value, empty where it is absent.
#[must_use]
pub fn annotation(of: &str, key: &str) -> String {
    format!("{of}.metadata.?annotations[?'{key}'].orValue('')")
}

/// The MutatingAdmissionPolicy that stamps without a webhook.
pub const STAMPING: &str = "stagger-stamp";
/// The versions of its kind, the one to prefer first: v1 from Kubernetes 1.36 on, v1beta1 from 1.34 where it is switched on.
pub const STAMPING_VERSIONS: [&str; 2] = ["v1", "v1beta1"];

/// Namespaces that are one tenant's alone: others have no label to copy. A match condition could not say so, for it does not
/// see the namespace and would pass over every request.
fn of_one_tenant() -> Value {
    let mut selector = selected_namespaces();
    if let Some(all) = selector["matchExpressions"].as_array_mut() {
        all.push(json!({"key": TENANT_UID, "operator": "Exists"}));
    }
    selector
}

/// The policy that stamps from the namespace's label, and its binding.
#[must_use]
pub fn mutating_policy(version: &str) -> Vec<Value> {
    let (name, uid) = (label("namespaceObject", TENANT), label("namespaceObject", TENANT_UID));
    let map = format!("{{'{TENANT}': variables.tenant, '{TENANT_UID}': variables.uid}}");
    let add = |key: &str, value: &str| {
        format!("JSONPatch{{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('{key}'), value: {value}}}")
    };
    let patch = format!(
        "has(object.metadata.labels) ? [\n  {},\n  {}\n] : [\n  JSONPatch{{op: 'add', path: '/metadata/labels', value: {map}}}\n]",
        add(TENANT, "variables.tenant"),
        add(TENANT_UID, "variables.uid"),
    );
    let api = format!("admissionregistration.k8s.io/{version}");
    let policy = json!({
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicy",
        "metadata": metadata(STAMPING),
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": of_one_tenant(),
                "resourceRules": rules(&["CREATE"], false),
            },
            "variables": [{"name": "tenant", "expression": name}, {"name": "uid", "expression": uid}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
            "reinvocationPolicy": "IfNeeded",
        },
    });
    let binding = json!({
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": metadata(STAMPING),
        "spec": {"policyName": STAMPING},
    });
    vec![policy, binding]
}
