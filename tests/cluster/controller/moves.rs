//! Reality moves: each disturbance is planned for anew within seconds, and its cause is on record.

use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::units::Timestamp;

use super::{GATES, KUEUE, NOON, QUEUE, Stage, condition, owner};
use crate::shared::alone_on_stage;
use crate::wait::until;

/// By a wall clock, from the change to the plan that knows it.
const PLANNED_WITHIN: Duration = Duration::from_secs(5);
const NAME: &str = "moves";
const PRIORITY: &str = "kueue.x-k8s.io/priority-class";

/// Why the controller has planned, one sentence a plan.
fn plans(stage: &Stage<'_>) -> Vec<String> {
    let log = std::fs::read_to_string(stage.controller.log()).unwrap_or_default();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = lines.filter(|line| line["fields"]["plan"] == NAME);
    ours.filter_map(|line| line["fields"]["because"].as_str().map(str::to_owned)).collect()
}

/// Waits for a plan after the first `known` ones whose cause is `told`.
async fn planned_because(stage: &Stage<'_>, known: usize, bound: Duration, told: &str) {
    until(&format!("a plan because {told}"), bound, async || {
        let fresh = plans(stage).split_off(known);
        if fresh.iter().any(|line| line.contains(told)) { Ok(()) } else { Err(format!("{fresh:#?}")) }
    })
    .await;
}

/// Waits until Kueue has passed on to a job's Workload what was changed on the job, which is not ours to hurry.
async fn passed_on(stage: &Stage<'_>, job: &str, priority: i64) {
    until(&format!("Kueue knows {job}"), Duration::from_mins(1), async || {
        let workloads = stage.workloads().await;
        let found = workloads.iter().find(|one| owner(one) == job);
        let known = found.is_some_and(|one| one["spec"]["priority"].as_i64().unwrap_or(0) == priority);
        if known { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}

/// Makes a change, and waits for the plan that knows it.
async fn follows(stage: &Stage<'_>, told: &str, change: impl AsyncFnOnce()) {
    let known = plans(stage).len();
    change().await;
    planned_because(stage, known, PLANNED_WITHIN, told).await;
}

async fn runs(stage: &Stage<'_>, job: &str) {
    until(&format!("{job} runs"), Duration::from_mins(1), async || {
        let workloads = stage.workloads().await;
        let found = workloads.iter().find(|one| owner(one) == job);
        let admitted = found.is_some_and(|one| condition(one, "Admitted").is_some());
        if admitted { Ok(()) } else { Err(format!("{found:?}")) }
    })
    .await;
}

/// A job that promises to take `promised` minutes and takes `really`.
fn lasting(stage: &Stage<'_>, job: &str, promised: i64, really: i64) -> Value {
    let mut made = stage.job(job, NAME, 2, really);
    made["metadata"]["labels"]["app"] = json!(format!("eval-{promised}"));
    made
}

/// Kueue lets nobody add a gate to what was in its queue before, on neither of both objects: work that lost its quota is
/// planned around and not held again.
async fn not_held_again(stage: &Stage<'_>) {
    let workloads = stage.workloads().await;
    let robbed = workloads.iter().find(|one| condition(one, "Evicted").is_some()).expect("somebody is evicted");
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": owner(robbed), "namespace": NAME}});
    for object in [robbed, &job] {
        let gate = json!({"metadata": {"annotations": {GATES: super::GATE}}});
        let refused = stage.plane.admin.merge(object, &gate).await.expect_err("a gate is added");
        assert!(refused.message.contains("cannot add admission gate"), "{}", refused.message);
    }
}

/// A node is lost with the pod of a job that does not try again: the job ends, and its quota is planned for at once.
async fn node_loss(stage: &Stage<'_>) {
    let admin = &stage.plane.admin;
    let resources = json!({"cpu": "8", "memory": "32Gi", "pods": "10", super::GPU: "8"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "frail", "labels": {"frail": "yes"}},
                      "spec": {"taints": [{"key": "frail", "effect": "NoSchedule"}]},
                      "status": {"capacity": resources, "allocatable": resources}});
    admin.create(&node).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    let queue = json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": NAME}});
    let mut spec = admin.get(KUEUE, "ClusterQueue", "", NAME).await.expect("the queue is there")["spec"].clone();
    spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = json!("12");
    let more = json!({"spec": {"resourceGroups": spec["resourceGroups"]}});
    admin.merge(&queue, &more).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    let mut lost = lasting(stage, "lost", 120, 120);
    lost["spec"]["backoffLimit"] = json!(0);
    lost["spec"]["template"]["spec"]["nodeSelector"] = json!({"frail": "yes"});
    lost["spec"]["template"]["spec"]["tolerations"] =
        json!([{"key": "frail", "operator": "Exists", "effect": "NoSchedule"}]);
    let known = plans(stage).len();
    admin.create(&lost).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    planned_because(stage, known, Duration::from_mins(1), "moves/lost has started").await;
    let pod = until("its pod runs on the frail node", Duration::from_mins(1), async || {
        let pods = admin.list("v1", "Pod", NAME).await;
        let there =
            pods.into_iter().find(|pod| pod["spec"]["nodeName"] == "frail" && pod["status"]["phase"] == "Running");
        there.ok_or_else(|| "no such pod".to_owned())
    })
    .await;
    let known = plans(stage).len();
    admin.delete(&node).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    // As Kubernetes' collector of orphaned pods says it after a minute, which is not waited for.
    let gone = json!({"status": {"phase": "Failed", "reason": "NodeLost", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByPodGC"}]}});
    let object =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": pod["metadata"]["name"], "namespace": NAME}});
    admin.merge_status(&object, &gone).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    until("Kueue knows that it has ended", Duration::from_mins(1), async || {
        let workloads = stage.workloads().await;
        let ended = workloads.iter().any(|one| owner(one) == "lost" && condition(one, "Finished").is_some());
        if ended { Ok(()) } else { Err("it has not".to_owned()) }
    })
    .await;
    planned_because(stage, known, PLANNED_WITHIN, "moves/lost has ended").await;
}

/// A second plan that names the same queue leaves it out and says so, as the promise of the work does that waits there.
async fn is_planned_by_one_of_two(stage: &Stage<'_>) {
    let (admin, ours) = (&stage.plane.admin, "stagger.dev/v1alpha1");
    let second = json!({"apiVersion": ours, "kind": "CapacityPlan", "metadata": {"name": "moves-second"},
                        "spec": {"queues": [NAME], "mode": "Enforce"}});
    let overlap = async |name: &str, reason: &str| {
        until(&format!("{name} says {reason}"), Duration::from_mins(1), async || {
            let found = admin.get(ours, "CapacityPlan", "", name).await.map_err(|refused| refused.message)?;
            let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
            let is = |one: &Value| one["type"] == "Overlaps" && one["reason"] == reason;
            if conditions.iter().any(is) { Ok(()) } else { Err(format!("{conditions:#?}")) }
        })
        .await;
    };
    admin.apply(&second).await;
    overlap("moves-second", "LeftOut").await;
    overlap(NAME, "SharedQuota").await;
    until("the promise says who plans its work", Duration::from_mins(1), async || {
        let found = admin.get(ours, "WorkloadSLO", NAME, "promise-120").await.map_err(|refused| refused.message)?;
        let message = found["status"]["message"].as_str().unwrap_or_default().to_owned();
        let says = message.contains("CapacityPlan moves plans ClusterQueue moves; moves-second names it too");
        if says { Ok(()) } else { Err(message) }
    })
    .await;
    admin.delete(&second).await.expect("it is deleted");
    overlap(NAME, "Alone").await;
}

#[test]
fn each_disturbance_is_planned_for_within_five_seconds_and_its_cause_is_on_record() {
    alone_on_stage(async |plane| {
        let admin = &plane.admin;
        let mut stage = Stage::set(plane, NAME, &[(NAME, 4)], 60).await;
        let queue = json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": NAME}});
        let change = async |object: &Value, patch: Value| {
            admin.merge(object, &patch).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        };
        change(&queue, json!({"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}})).await;
        for (class, value) in [("moves-high", 1000), ("moves-top", 2000)] {
            let named = json!({"name": class});
            admin
                .apply(
                    &json!({"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": named, "value": value}),
                )
                .await;
        }
        let due = Timestamp(NOON.0 + 40 * 3600);
        for minutes in [10, 120] {
            admin.apply(&stage.slo(&format!("promise-{minutes}"), due, minutes)).await;
        }
        let create = async |job: &Value| {
            admin.create(job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        };
        // Two that run: one shorter, one longer than it says. Two that wait behind them.
        create(&lasting(&stage, "early", 120, 8)).await;
        create(&lasting(&stage, "over", 10, 120)).await;
        stage.ready().await;
        runs(&stage, "early").await;
        runs(&stage, "over").await;
        for job in ["wait-1", "wait-2"] {
            create(&lasting(&stage, job, 120, 120)).await;
        }
        // When these come is the jobs' own affair.
        planned_because(&stage, 0, Duration::from_mins(1), "moves/early has ended").await;
        planned_because(&stage, 0, Duration::from_mins(1), "moves/over runs longer than expected").await;
        runs(&stage, "wait-1").await;

        // Everything else is somebody's doing.
        let comer = lasting(&stage, "comer", 120, 120);
        follows(&stage, "moves/comer is new", async || {
            create(&comer).await;
            passed_on(&stage, "comer", 0).await;
        })
        .await;
        let dearer = json!({"metadata": {"labels": {PRIORITY: "moves-high"}}});
        follows(&stage, "moves/comer has another priority", async || {
            change(&comer, dearer).await;
            passed_on(&stage, "comer", 1000).await;
        })
        .await;
        // Its Workload goes when the garbage collector finds it.
        let known = plans(&stage).len();
        admin.delete(&comer).await.unwrap_or_else(|refused| panic!("{}", refused.message));
        until("its Workload is gone", Duration::from_mins(2), async || {
            let left = stage.workloads().await.iter().filter(|one| owner(one) == "comer").count();
            if left == 0 { Ok(()) } else { Err(format!("{left} left")) }
        })
        .await;
        planned_because(&stage, known, PLANNED_WITHIN, "moves/comer is gone").await;
        let promise = stage.slo("promise-120", due, 120);
        let later = json!({"spec": {"finishBy": calendar::rfc3339(Timestamp(due.0 + 3600), chrono_tz::UTC)}});
        follows(&stage, "promises or asks for something else", async || change(&promise, later).await).await;
        is_planned_by_one_of_two(&stage).await;
        let plan = json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": NAME}});
        let night = json!({"name": "night", "clusterQueue": NAME, "flavor": "moves-a100", "resource": super::GPU, "quantity": 1,
                           "effect": "Reserve", "start": calendar::rfc3339(Timestamp(due.0 + 7200), chrono_tz::UTC),
                           "end": calendar::rfc3339(Timestamp(due.0 + 10_800), chrono_tz::UTC)});
        let windows = json!({"spec": {"windows": [night], "horizon": "48h"}});
        follows(&stage, "windows or prices have changed", async || change(&plan, windows).await).await;
        follows(&stage, "moves has other quotas or limits", async || {
            let mut spec =
                admin.get(KUEUE, "ClusterQueue", "", NAME).await.expect("the queue is there")["spec"].clone();
            spec["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = json!("6");
            change(&queue, json!({"spec": {"resourceGroups": spec["resourceGroups"]}})).await;
        })
        .await;
        follows(&stage, "has other quotas or limits", async || {
            change(&queue, json!({"spec": {"cohortName": "moves-cohort"}})).await;
        })
        .await;
        // With six GPUs the last one runs too, and a thief who is held by nobody takes its place.
        runs(&stage, "wait-2").await;
        let mut thief = lasting(&stage, "thief", 120, 120);
        thief["metadata"]["annotations"].as_object_mut().expect("annotations").remove(GATES);
        thief["metadata"]["labels"][PRIORITY] = json!("moves-top");
        assert_eq!(thief["metadata"]["labels"][QUEUE], NAME);
        let known = plans(&stage).len();
        create(&thief).await;
        until("the thief has its place", Duration::from_mins(1), async || {
            let workloads = stage.workloads().await;
            let robbed = workloads.iter().any(|one| condition(one, "Evicted").is_some());
            if robbed { Ok(()) } else { Err("nobody is evicted".to_owned()) }
        })
        .await;
        planned_because(&stage, known, PLANNED_WITHIN, "lost its quota and waits again").await;
        planned_because(&stage, known, Duration::from_secs(30), "moves/thief has started").await;
        not_held_again(&stage).await;
        node_loss(&stage).await;

        // What is on record in the cluster is the last plan's cause.
        let found = admin.get("stagger.dev/v1alpha1", "CapacityPlan", "", NAME).await.expect("the plan is there");
        let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let solved = conditions.iter().find(|one| one["type"] == "Solved").cloned().unwrap_or_default();
        assert_eq!(solved["status"], "True", "{solved}");
        assert!(solved["message"].as_str().is_some_and(|message| message.contains("planned because")), "{solved}");
    });
}
