//! Tenants on their namespaces.

use serde_json::{Value, json};
use stagger::api::keys::{TENANT, TENANT_SINCE, TENANT_UID};
use stagger::api::manifest::Manifest;
use stagger::controller::tenants::relabel;
use stagger::units::Timestamp;

use crate::row::row;

fn object(api_version: &str, kind: &str, name: &str, rest: Value) -> Manifest {
    let mut value = rest;
    value["apiVersion"] = json!(api_version);
    value["kind"] = json!(kind);
    value["metadata"]["name"] = json!(name);
    value["metadata"]["uid"] = json!(format!("uid-of-{name}"));
    row(value)
}

fn tenant(name: &str, namespaces: &[&str]) -> Manifest {
    object("stagger.dev/v1alpha1", "GpuTenant", name, json!({"spec": {"namespaces": namespaces}}))
}

/// As it is found, with the instant since which it is its tenant's.
fn namespace(name: &str, labels: Value, since: Value) -> Manifest {
    object("v1", "Namespace", name, json!({"metadata": {"labels": labels, "annotations": {TENANT_SINCE: since}}}))
}

fn stamp(tenant: &str) -> Value {
    json!({TENANT: tenant, TENANT_UID: format!("uid-of-{tenant}"), "team": "a"})
}

const SINCE: &str = "2026-11-30T12:00:00Z";

#[test]
fn a_namespace_carries_the_one_tenant_that_claims_it_and_since_when() {
    let rows = [
        tenant("nlp", &["evals", "shared", "moved", "undated"]),
        tenant("vision", &["shared", "kube-system"]),
        namespace("evals", json!({"team": "a"}), Value::Null),
        namespace("moved", stamp("vision"), json!(SINCE)),
        namespace("shared", stamp("nlp"), json!(SINCE)),
        namespace("free", stamp("gone"), Value::Null),
        namespace("undated", stamp("nlp"), json!("some day")),
        namespace("dated", json!({}), json!(SINCE)),
        namespace("kube-system", json!({}), Value::Null),
    ];
    let now = Timestamp(1_800_000_000);
    let found: Vec<(String, Value)> =
        relabel(&rows).into_iter().map(|one| (one.namespace.clone(), one.patch(now))).collect();
    let patch = |name: Value, uid: Value, since: Value| json!({"metadata": {"labels": {TENANT: name, TENANT_UID: uid}, "annotations": {TENANT_SINCE: since}}});
    let nlp = || patch(json!("nlp"), json!("uid-of-nlp"), json!("2027-01-15T08:00:00Z"));
    let nobody = || patch(Value::Null, Value::Null, Value::Null);
    assert_eq!(
        found,
        [
            ("dated".to_owned(), nobody()),
            ("evals".to_owned(), nlp()),
            ("free".to_owned(), nobody()),
            ("moved".to_owned(), nlp()),
            ("shared".to_owned(), nobody()),
            ("undated".to_owned(), nlp()),
        ]
    );
}

#[test]
fn what_is_right_is_left_alone() {
    let rows = [
        tenant("nlp", &["evals"]),
        namespace("evals", stamp("nlp"), json!(SINCE)),
        namespace("free", json!({"team": "b"}), Value::Null),
    ];
    assert_eq!(relabel(&rows), []);
}
