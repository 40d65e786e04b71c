//! The touchstone with pods that run: four jobs of two GPUs for an hour, four GPUs, and everything of ours as it is shipped.
//!
//! Hours are rehearsed: one lasts half a minute by the clock that controller and watchdog are given.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono_tz::UTC;
use serde_json::{Value, json};
use stagger::calendar;
use stagger::clock::{self, Clock, Stopwatch};
use stagger::units::Timestamp;

use super::alone_on_node;
use super::installation::{Installation, NAMESPACE};
use super::jobs::{ended, template};
use crate::wait::until;

const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
const OURS: &str = "stagger.dev/v1alpha1";
const GPU: &str = "nvidia.com/gpu";
const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
const TEAM: &str = "evals";
const QUEUE: &str = "real";
/// 2026-11-30T12:00:00Z.
const NOON: Timestamp = Timestamp(1_796_040_000);
const SPEED: i64 = 120;
/// By the clock shown: what a job promises, of which it leaves four minutes (two seconds) to the start of its pod.
const MINUTES: i64 = 60;
const RUNS_MILLIS: i64 = (MINUTES - 4) * 60_000 / SPEED;
const DUE_HOURS: i64 = 5;

/// Kueue's queue of four GPUs, and our plan for it.
fn queue() -> Vec<Value> {
    let quota = json!({"name": GPU, "nominalQuota": 4});
    let group = json!({"coveredResources": [GPU], "flavors": [{"name": "real-a100", "resources": [quota]}]});
    vec![
        json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "real-a100"}}),
        json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": QUEUE},
               "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}),
        json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": QUEUE, "namespace": TEAM},
               "spec": {"clusterQueue": QUEUE}}),
        json!({"apiVersion": OURS, "kind": "CapacityPlan", "metadata": {"name": QUEUE},
               "spec": {"queues": [QUEUE], "mode": "Enforce", "horizon": "8h"}}),
    ]
}

/// What a user writes: no gate, no tenant.
fn job(at: usize) -> Value {
    json!({"apiVersion": "batch/v1", "kind": "Job",
           "metadata": {"name": format!("eval-{at}"), "namespace": TEAM,
                        "labels": {"kueue.x-k8s.io/queue-name": QUEUE, "app": "eval"}},
           "spec": {"suspend": true, "backoffLimit": 0, "template": template(2, RUNS_MILLIS)}})
}

#[test]
fn four_jobs_of_an_hour_take_turns_at_four_gpus_as_their_pods_own_clocks_say() {
    alone_on_node(async |node| {
        let admin = &node.plane.admin;
        // 1. The installation, with a clock that runs faster and shows noon about when everything is up.
        let real = Timestamp(clock::now().0 + 20);
        let clock = Clock::rehearsal(real, NOON, SPEED);
        let rehearsal =
            format!("--rehearsal={},{},{SPEED}", calendar::rfc3339(real, UTC), calendar::rfc3339(NOON, UTC));
        let rehearsed = |kind: &str| {
            let add = json!([{"op": "add", "path": "/spec/template/spec/containers/0/args/-", "value": rehearsal}]);
            json!({"target": {"kind": "Deployment", "name": format!("stagger-{kind}")}, "patch": add.to_string()})
        };
        let patches = json!([rehearsed("controller"), rehearsed("watchdog")]);
        let here = Installation::apply(node, "enforce", &patches);
        here.tenant("evaluation", TEAM).await;
        for object in queue() {
            admin.apply(&object).await;
        }

        // 2. Four jobs, and one promise.
        let begun = clock.shown(clock::now());
        let due = Timestamp(begun.0 + DUE_HOURS * 3600);
        let runtime = format!("{MINUTES}m");
        admin
            .apply(&json!({"apiVersion": OURS, "kind": "WorkloadSLO", "metadata": {"name": "evals", "namespace": TEAM},
                    "spec": {"selector": {"matchLabels": {"app": "eval"}}, "finishBy": calendar::rfc3339(due, UTC),
                             "deadlinePolicy": "Hard", "expectedRuntime": {"p50": runtime, "p90": runtime},
                             "interruption": {"tolerance": "None"}}}))
            .await;
        let gated = |made: &Value| made["metadata"]["annotations"][GATES] == "stagger.dev/planner";
        until("the webhook knows of the plan", Duration::from_secs(30), async || {
            let made = admin.dry_run(&job(1)).await.map_err(|refused| refused.message)?;
            if gated(&made) { Ok(()) } else { Err(format!("{}\n{}", made["metadata"], here.told())) }
        })
        .await;
        for at in 1..=4 {
            let made = admin.create(&job(at)).await.unwrap_or_else(|refused| panic!("{}", refused.message));
            assert!(gated(&made), "the webhook gates it: {made}");
        }

        // 3. The day: what Kueue's own status says is held, until all have finished.
        let (begin, mut peak, mut finished) = (Stopwatch::start(), 0, 0);
        let mut waiting_held_nothing = false;
        while finished < 4 {
            assert!(begin.millis() < 240_000, "not done in time\n{}", here.told());
            let queue = admin.get(KUEUE, "ClusterQueue", "", QUEUE).await.expect("the queue is there");
            let total = queue.pointer("/status/flavorsReservation/0/resources/0/total");
            let held = total.and_then(Value::as_str).and_then(|total| total.parse::<u32>().ok()).unwrap_or(0);
            peak = peak.max(held);
            let workloads = admin.list(KUEUE, "Workload", TEAM).await;
            let of = |kind: &str| workloads.iter().filter(|workload| has(workload, kind)).count();
            finished = of("Finished");
            waiting_held_nothing |= held == 4 && of("QuotaReserved") == 2 && workloads.len() == 4;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        assert_eq!(peak, 4, "never more than there is\n{}", here.told());
        assert!(waiting_held_nothing, "two held the four GPUs while two waited without quota");

        // 4. What the pods themselves say.
        let mut runs: Vec<(Timestamp, Timestamp)> = Vec::new();
        let mut by_name = BTreeMap::new();
        for pod in admin.list("v1", "Pod", TEAM).await {
            let run = ended(&pod).unwrap_or_else(|| panic!("it has not ended well: {}", pod["status"]));
            by_name.insert(pod["metadata"]["name"].as_str().unwrap_or_default().to_owned(), run);
            runs.push(run);
        }
        runs.sort_unstable();
        assert_eq!(runs.len(), 4, "each job has run once: {by_name:?}");
        for (start, _) in &runs {
            let at_once = runs.iter().filter(|run| run.0 <= *start && *start < run.1).count();
            assert!(at_once <= 2, "more than four GPUs were in use: {by_name:?}");
        }
        assert!(runs[1].0 < runs[0].1, "the first two ran together: {by_name:?}");
        assert!(runs[2].0 >= runs[0].1 && runs[3].0 >= runs[1].1.min(runs[0].1), "the others after them: {by_name:?}");
        for (_, end) in &runs {
            assert!(clock.shown(*end) <= due, "one was late: {by_name:?}");
        }

        // 5. Nothing but the shipped rights was needed: whoever lacked one would have said so.
        for kind in ["controller", "watchdog", "webhook"] {
            let log = here.must(&[
                "logs",
                &format!("deployment/stagger-{kind}"),
                "-n",
                NAMESPACE,
                "--all-pods=true",
                "--tail=-1",
            ]);
            let lacked: Vec<&str> = log.lines().filter(|line| line.contains("orbidden")).collect();
            assert!(lacked.is_empty(), "{lacked:#?}");
        }
        admin
            .delete(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}}))
            .await
            .expect("gone");
        for (kind, name) in [("ClusterQueue", QUEUE), ("ResourceFlavor", "real-a100")] {
            let object = json!({"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name}});
            admin.delete(&object).await.expect("it is deleted");
        }
        here.remove().await;
    });
}

fn has(workload: &Value, kind: &str) -> bool {
    let conditions = workload["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["type"] == kind && one["status"] == "True"))
}
