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

/// The policy that stamps from the namespace's label, and its binding. `version`: v1 from Kubernetes 1.36 on, v1beta1
/// from 1.34.
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
        "metadata": metadata("stagger-stamp"),
        "spec": {
            "failurePolicy": "Ignore",
            "matchConstraints": {
                "matchPolicy": "Equivalent",
                "namespaceSelector": selected_namespaces(),
                "resourceRules": rules(&["CREATE"], false),
            },
            "matchConditions": [{"name": "namespace-of-one-tenant", "expression": format!("{uid} != ''")}],
            "variables": [{"name": "tenant", "expression": name}, {"name": "uid", "expression": uid}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
            "reinvocationPolicy": "IfNeeded",
        },
    });
    let binding = json!({
        "apiVersion": api,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": metadata("stagger-stamp"),
        "spec": {"policyName": "stagger-stamp"},
    });
    vec![policy, binding]
}
