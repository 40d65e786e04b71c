//! What people and policies are told: tenants on namespaces, and what `stagger doctor` says.

use std::time::Duration;

use serde_json::{Value, json};

use super::Stage;
use crate::admission;
use crate::plane::Plane;
use crate::shared::{alone_on_stage, on_plane};
use crate::wait::until;

async fn labels(plane: &Plane, namespace: &str) -> (Value, Value) {
    let found = plane.admin.get("v1", "Namespace", "", namespace).await.expect("the namespace is there");
    let label = |key: &str| found["metadata"]["labels"][key].clone();
    (label("stagger.dev/tenant"), label("stagger.dev/tenant-uid"))
}

#[test]
fn a_namespace_carries_its_tenant_and_loses_it_when_two_claim_it() {
    alone_on_stage(async |plane| {
        let mut stage = Stage::set(plane, "claimed", &[("claimed", 1)], 1).await;
        stage.ready().await;
        let tenant = |name: &str| {
            json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "GpuTenant", "metadata": {"name": name},
                   "spec": {"namespaces": ["claimed"]}})
        };
        let speech = plane.admin.apply(&tenant("speech")).await;
        let want = (json!("speech"), speech["metadata"]["uid"].clone());
        until("the label is there", Duration::from_secs(30), async || {
            let found = labels(plane, "claimed").await;
            if found == want { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
        plane.admin.apply(&tenant("robotics")).await;
        until("the label is gone", Duration::from_secs(30), async || {
            let found = labels(plane, "claimed").await;
            if found == (Value::Null, Value::Null) { Ok(()) } else { Err(format!("{found:?}")) }
        })
        .await;
        for name in ["speech", "robotics"] {
            plane.admin.delete(&tenant(name)).await.expect("a tenant is deleted");
        }
    });
}

#[test]
fn doctor_finds_the_installation_of_the_tests_and_reads_that_gates_hold() {
    on_plane(async |plane| {
        admission::installed(plane).await;
        let checks = admission::doctor(plane);
        let status = |word: &str| {
            let found = checks.iter().find(|check| check["name"].as_str().is_some_and(|name| name.contains(word)));
            found.map(|check| (check["status"].as_str().unwrap_or_default().to_owned(), check.to_string()))
        };
        for word in ["kinds", "gate", "polic"] {
            let (status, check) = status(word).unwrap_or_else(|| panic!("no check of {word}: {checks:#?}"));
            assert_eq!(status, "ok", "{check}");
        }
    });
}
