//! `make cluster`: the control plane of the tests for a person to try things on, with the touchstone loaded.
//!
//! It runs until Ctrl-C and leaves nothing behind.

#![expect(dead_code, unused_imports, reason = "tests use more of the plane than a person who looks at it")]
#![expect(clippy::disallowed_methods, reason = "what a cluster takes is waited for by the wall clock")]

mod person;
mod plane;
mod wait;

use std::path::Path;

use chrono_tz::UTC;
use serde_json::{Value, json};
use stagger::calendar;
use stagger::units::Timestamp;

use person::documents;

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const GPU: &str = "nvidia.com/gpu";

/// Four jobs of two GPUs for two minutes each, four GPUs, all due in an hour. Nothing holds them yet but Kueue.
fn touchstone() -> Vec<Value> {
    let due = Timestamp(stagger::clock::now().0 + 3600);
    let resources = json!({"cpu": "64", "memory": "256Gi", "pods": "110", GPU: "4"});
    let quota = json!({"name": GPU, "nominalQuota": 4});
    let group = json!({"coveredResources": [GPU], "flavors": [{"name": "a100", "resources": [quota]}]});
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "paper"},
               "status": {"capacity": resources, "allocatable": resources}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "evals"}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stagger-system"}}),
        json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "a100"}}),
        json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "batch"},
               "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}),
        json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": "batch", "namespace": "evals"},
               "spec": {"clusterQueue": "batch"}}),
        json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": "batch"},
               "spec": {"queues": ["batch"], "mode": "Enforce"}}),
        json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO", "metadata": {"name": "evals", "namespace": "evals"},
               "spec": {"selector": {"matchLabels": {"app": "eval"}}, "finishBy": calendar::rfc3339(due, UTC),
                        "deadlinePolicy": "Hard", "expectedRuntime": {"p50": "2m", "p90": "2m"},
                        "interruption": {"tolerance": "None"}}}),
    ];
    for at in 1..=4 {
        let limits = json!({"limits": {GPU: "2"}, "requests": {GPU: "2"}});
        let template = json!({"metadata": {"annotations": {plane::RUNS_FOR: "120s"}},
                              "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none", "resources": limits}]}});
        let labels = json!({"app": "eval", "kueue.x-k8s.io/queue-name": "batch"});
        let gates = json!({"kueue.x-k8s.io/admission-gated-by": "stagger.dev/planner"});
        objects.push(json!({"apiVersion": "batch/v1", "kind": "Job",
                            "metadata": {"name": format!("eval-{at}"), "namespace": "evals", "labels": labels, "annotations": gates},
                            "spec": {"suspend": true, "template": template}}));
    }
    objects
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a person reads what to do next")]
async fn main() {
    let plane = plane::start().await;
    plane.admin.define(documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crds"))).await;
    for object in touchstone() {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        if let Err(refused) = plane.admin.create(&object).await {
            println!("{} {name} was not created: {}", object["kind"], refused.message);
        }
    }
    println!("A control plane is running: Kubernetes 1.35, Kueue 0.17, and a node on paper with four GPUs.");
    println!(
        "Four gated jobs of two GPUs wait in namespace evals; nobody releases them yet. Try, in another terminal:\n"
    );
    println!("  export KUBECONFIG={}", plane.admin.kubeconfig().display());
    println!("  kubectl get workloads -n evals");
    println!("  cargo run --release --bin stagger -- plan");
    println!("  cargo run --release --bin stagger -- controller");
    println!("\nCtrl-C ends it.");
    let _asked = tokio::signal::ctrl_c().await;
}
