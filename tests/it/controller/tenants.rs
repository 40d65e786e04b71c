//! Tenants on their namespaces.

use serde_json::{Value, json};
use stagger::api::keys::{TENANT, TENANT_UID};
use stagger::api::manifest::Manifest;
use stagger::controller::tenants::relabel;

fn object(api_version: &str, kind: &str, name: &str, rest: Value) -> Manifest {
    let mut value = rest;
    value["apiVersion"] = json!(api_version);
    value["kind"] = json!(kind);
    value["metadata"]["name"] = json!(name);
    value["metadata"]["uid"] = json!(format!("uid-of-{name}"));
    Manifest {
        api_version: api_version.to_owned(),
        kind: kind.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
        value,
        origin: None,
    }
}

fn tenant(name: &str, namespaces: &[&str]) -> Manifest {
    object("stagger.dev/v1alpha1", "GpuTenant", name, json!({"spec": {"namespaces": namespaces}}))
}

fn namespace(name: &str, labels: Value) -> Manifest {
    object("v1", "Namespace", name, json!({"metadata": {"labels": labels}}))
}

fn stamp(tenant: &str) -> Value {
    json!({TENANT: tenant, TENANT_UID: format!("uid-of-{tenant}"), "team": "a"})
}

#[test]
fn a_namespace_carries_the_one_tenant_that_claims_it() {
    let rows = [
        tenant("nlp", &["evals", "shared", "moved"]),
        tenant("vision", &["shared", "kube-system"]),
        namespace("evals", json!({"team": "a"})),
        namespace("moved", stamp("vision")),
        namespace("shared", stamp("nlp")),
        namespace("free", stamp("gone")),
        namespace("kube-system", json!({})),
    ];
    let found: Vec<(String, Value)> =
        relabel(&rows).into_iter().map(|one| (one.namespace.clone(), one.patch())).collect();
    let patch = |name: Value, uid: Value| json!({"metadata": {"labels": {TENANT: name, TENANT_UID: uid}}});
    let nlp = || patch(json!("nlp"), json!("uid-of-nlp"));
    let nobody = || patch(Value::Null, Value::Null);
    assert_eq!(
        found,
        [
            ("evals".to_owned(), nlp()),
            ("free".to_owned(), nobody()),
            ("moved".to_owned(), nlp()),
            ("shared".to_owned(), nobody()),
        ]
    );
}

#[test]
fn what_is_right_is_left_alone() {
    let rows = [tenant("nlp", &["evals"]), namespace("evals", stamp("nlp")), namespace("free", json!({"team": "b"}))];
    assert_eq!(relabel(&rows), []);
}
