//! A CapacityPlan says when every pod of the webhook knows it: what is created from then on is held, and not a moment later.

use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};

use super::installation::{Installation, NAMESPACE};
use super::jobs::template;
use super::{Node, alone_on_node};
use crate::person::Person;
use crate::wait::until;

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const OURS: &str = "stagger.dev/v1alpha1";
const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
const TEAM: &str = "acknowledging";
const PLAN: &str = "acknowledged";
const PATIENCE: &str = "--timeout=60s";
/// Jobs at once, so that both pods of the webhook are asked.
const JOBS: usize = 16;

fn plan(mode: &str) -> Value {
    json!({"apiVersion": OURS, "kind": "CapacityPlan", "metadata": {"name": PLAN},
           "spec": {"queues": [PLAN], "mode": mode}})
}

fn job(at: usize) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job",
           "metadata": {"name": format!("job-{at}"), "namespace": TEAM,
                        "labels": {"kueue.x-k8s.io/queue-name": PLAN}},
           "spec": {"suspend": true, "template": template(1, 1)}})
}

/// How many jobs that are created at this moment are held.
async fn held(admin: &Person) -> usize {
    let jobs: Vec<Value> = (0..JOBS).map(job).collect();
    let made = join_all(jobs.iter().map(|job| admin.dry_run(job))).await;
    let gated = |made: &Value| made["metadata"]["annotations"][GATES] == "stagger.dev/planner";
    made.into_iter().filter(|made| gated(made.as_ref().unwrap_or_else(|refused| panic!("{}", refused.message)))).count()
}

/// As a person waits.
fn waits(node: &Node, here: &Installation<'_>, status: &str) {
    let condition = format!("--for=condition=Acknowledged={status}");
    let waited = node.kubectl(&["wait", &condition, &format!("capacityplan/{PLAN}"), PATIENCE]);
    waited.unwrap_or_else(|error| panic!("{error}\n{}", here.told()));
}

#[test]
fn a_plan_that_is_acknowledged_holds_what_is_created_next_whichever_pod_is_asked() {
    alone_on_node(async |node| {
        let admin = &node.plane.admin;
        let here = Installation::apply(node, "protect", &json!([]));
        here.tenant("acknowledging", TEAM).await;
        for object in [
            json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": PLAN}, "spec": {"namespaceSelector": {}}}),
            json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": PLAN, "namespace": TEAM},
                   "spec": {"clusterQueue": PLAN}}),
            plan("Enforce"),
        ] {
            admin.apply(&object).await;
        }
        // 1. It is acknowledged, and both pods know the queue, which the condition does not speak of.
        waits(node, &here, "true");
        until("the queue is known", Duration::from_mins(1), async || {
            let held = held(admin).await;
            if held == JOBS { Ok(()) } else { Err(format!("{held} are held")) }
        })
        .await;

        // 2. It changes again and again: as soon as a change is acknowledged, it holds for whoever comes, and in every pod.
        for round in 0..10 {
            let (mode, expected) = if round % 2 == 0 { ("Observe", 0) } else { ("Enforce", JOBS) };
            admin.apply(&plan(mode)).await;
            waits(node, &here, "true");
            assert_eq!(held(admin).await, expected, "round {round}: {mode}\n{}", here.told());
        }

        // 3. One that is made anew under its name is another one.
        admin.delete(&plan("")).await.expect("it is deleted");
        admin.apply(&plan("Enforce")).await;
        waits(node, &here, "true");
        assert_eq!(held(admin).await, JOBS, "{}", here.told());

        // 4. Without any pod nobody knows it, and that is said; then it is known again.
        for (replicas, status) in [("0", "false"), ("2", "true")] {
            here.must(&["scale", "deployment/stagger-webhook", "-n", NAMESPACE, &format!("--replicas={replicas}")]);
            waits(node, &here, status);
        }
        let found = admin.get(OURS, "CapacityPlan", "", PLAN).await.expect("it is there");
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let told = conditions.iter().find(|one| one["type"] == "Acknowledged").map(|one| one["message"].to_string());
        assert!(told.as_ref().is_some_and(|told| told.contains("of the webhook know")), "{told:?}");

        admin
            .delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}}))
            .await
            .expect("gone");
        admin
            .delete(&json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": PLAN}}))
            .await
            .expect("gone");
        here.remove().await;
    });
}
