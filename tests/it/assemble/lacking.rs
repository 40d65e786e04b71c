//! Workloads whose status is not what Kueue would write: half of it, or something else. Nothing ends by it.

use serde_json::{Value, json};
use stagger::admission::Mode;
use stagger::api::manifest::Manifest;
use stagger::kueue::{Given, assemble};

use super::{BATCH, NOON, manifests};
use crate::admission::world::{cluster, update};

fn workload(status: &Value) -> Value {
    let container = json!({"name": "main", "resources": {"requests": {"nvidia.com/gpu": "1"}}});
    let set = json!({"name": "main", "count": 1, "template": {"spec": {"containers": [container]}}});
    json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
           "metadata": {"name": "odd", "namespace": "evals", "uid": "w-odd", "creationTimestamp": "2026-11-30T09:00:00Z"},
           "spec": {"queueName": "batch", "podSets": [set]}, "status": status})
}

/// Quota is reserved, of what is not said, or only in part.
fn statuses() -> Vec<Value> {
    let reserved =
        |admission: Value| json!({"admission": admission, "conditions": [{"type": "QuotaReserved", "status": "True"}]});
    let assigned = |set: Value| reserved(json!({"clusterQueue": "batch", "podSetAssignments": [set]}));
    vec![
        json!({"conditions": [{"type": "QuotaReserved", "status": "True"}, {"type": "Admitted", "status": "True"}]}),
        reserved(Value::Null),
        reserved(json!({})),
        reserved(json!({"clusterQueue": "gone"})),
        reserved(json!({"clusterQueue": "batch"})),
        reserved(json!({"clusterQueue": 7, "podSetAssignments": "main"})),
        assigned(json!({})),
        assigned(
            json!({"name": "another", "flavors": {"nvidia.com/gpu": "a100"}, "resourceUsage": {"nvidia.com/gpu": "1"}}),
        ),
        assigned(json!({"name": "main", "flavors": null, "resourceUsage": {"nvidia.com/gpu": null}})),
        assigned(
            json!({"name": "main", "flavors": {"nvidia.com/gpu": "gone"}, "resourceUsage": {"nvidia.com/gpu": "much"}}),
        ),
        json!({"conditions": [Value::Null, 7, {}, {"type": "Evicted"}], "requeueState": {"requeueAt": 7}, "reclaimablePods": [{}]}),
        json!({"conditions": "none"}),
        json!([]),
        json!(7),
    ]
}

#[test]
fn a_workload_whose_status_lacks_its_parts_is_answered_and_ends_nothing() {
    let (world, queue) = (cluster(Mode::Protect), manifests(BATCH));
    for status in statuses() {
        let odd = workload(&status);
        for sub_resource in ["", "status"] {
            let asked = update("kueue.x-k8s.io", "workloads", workload(&json!({})), odd.clone()).sub(sub_resource);
            assert!(asked.decide(&world).is_allowed(), "{status}");
        }
        let (api_version, kind) = ("kueue.x-k8s.io/v1beta2".to_owned(), "Workload".to_owned());
        let (namespace, name) = ("evals".to_owned(), "odd".to_owned());
        let row = Manifest { api_version, kind, namespace, name, value: odd, shared: Box::default(), origin: None };
        let assembled = assemble(queue.iter().chain([&row]), &Given::at(NOON));
        // It is known, in whatever part: waiting, running, or told of. It is not lost.
        let shot = &assembled.snapshot;
        let known =
            shot.workloads.len() + shot.running.len() + assembled.uncontrolled.len() + assembled.unplaceable.len();
        let is_told = assembled.findings.iter().any(|finding| finding.subject.contains("evals/odd"));
        assert!(known == 1 || is_told, "{status} is lost: {:?}", assembled.findings);
    }
}
