//! Where Kueue ignores gates: every new Workload of an enforced queue is made inactive, under our mark.

use std::sync::Arc;

use serde_json::{Value, json};
use stagger::admission::{Mode, World, assemble};
use stagger::api::manifest::Manifest;

use super::world::{Ask, cluster, create, update};

const KUEUE: &str = "system:serviceaccount:kueue-system:kueue-controller-manager";
const MARK: &str = "stagger.dev/held";

fn ignoring() -> World {
    let mut world = cluster(Mode::Protect);
    Arc::make_mut(&mut world.queues).gates_ignored = true;
    world
}

fn workload(queue: &str) -> Value {
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "1", "controller": true});
    json!({"metadata": {"name": "job-a", "ownerReferences": [owner]}, "spec": {"queueName": queue, "podSets": []}})
}

fn made(object: Value) -> Ask {
    create("kueue.x-k8s.io", "workloads", object).user(KUEUE, &[])
}

/// Whether the Workload is active, and its mark.
fn outcome(object: Value, world: &World) -> (Value, Value) {
    let result = made(object).result(world);
    (result["spec"]["active"].clone(), result["metadata"]["annotations"][MARK].clone())
}

#[test]
fn a_new_workload_is_made_inactive_and_asked_again_it_stays_so() {
    let world = ignoring();
    let ours = (json!(false), json!("inactive"));
    assert_eq!(outcome(workload("batch"), &world), ours);
    let again = made(workload("batch")).result(&world);
    let second = made(again.clone()).decide(&world);
    assert!(second.patch.is_empty(), "{:?}", second.patch);
    assert_eq!(outcome(again, &world), ours);
    let mut active = workload("batch");
    active["spec"]["active"] = json!(true);
    assert_eq!(outcome(active, &world), ours);
    // Outside an enforced plan, and where gates are read, nothing is made inactive.
    assert_eq!(outcome(workload("open"), &world), (Value::Null, Value::Null));
    assert_eq!(outcome(workload("batch"), &cluster(Mode::Protect)), (Value::Null, Value::Null));
}

#[test]
fn what_its_author_made_inactive_is_never_marked() {
    let mut off = workload("batch");
    off["spec"]["active"] = json!(false);
    assert_eq!(outcome(off, &ignoring()), (json!(false), Value::Null));
    let mut forged = workload("open");
    forged["metadata"]["annotations"] = json!({MARK: "inactive"});
    assert_eq!(outcome(forged, &ignoring()), (Value::Null, Value::Null), "a mark that is not ours goes");
}

#[test]
fn parts_of_what_runs_and_what_cannot_be_told_are_not_held() {
    let world = ignoring();
    let free = (Value::Null, Value::Null);
    let mut slice = workload("batch");
    slice["metadata"]["annotations"] = json!({"kueue.x-k8s.io/workload-slice-replacement-for": "evals/old"});
    assert_eq!(outcome(slice, &world), free, "its job runs");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "2", "controller": true});
    let mut single = workload("batch");
    single["metadata"]["ownerReferences"] = json!([pod]);
    assert_eq!(outcome(single.clone(), &world), free, "it may be one of a Deployment");
    single["metadata"]["annotations"] = json!({"kueue.x-k8s.io/is-group-workload": "true"});
    assert_eq!(outcome(single, &world).0, json!(false), "a group is not");
    let mut copy = workload("batch");
    copy["metadata"]["labels"] = json!({"kueue.x-k8s.io/multikueue-origin": "manager"});
    let of = |user: &str| {
        let asked = create("kueue.x-k8s.io", "workloads", copy.clone()).user(user, &[]);
        asked.result(&world)["spec"]["active"].clone()
    };
    assert_eq!(of("system:serviceaccount:kueue-system:multikueue-sa"), Value::Null);
    assert_eq!(of("ana"), json!(false), "the label alone excuses nothing");
}

#[test]
fn the_mark_comes_off_by_the_controller_and_the_watchdog_only() {
    let world = ignoring();
    let marked = json!({"metadata": {"annotations": {MARK: "inactive"}}, "spec": {"active": false}});
    let other = json!({"metadata": {"annotations": {MARK: "other"}}, "spec": {"active": false}});
    let free = json!({"metadata": {"annotations": {}}, "spec": {"active": true}});
    let of = |user: &str, to: &Value| {
        update("kueue.x-k8s.io", "workloads", marked.clone(), to.clone()).user(user, &[]).decide(&world)
    };
    assert!(!of("ana", &other).is_allowed());
    assert!(!of("ana", &free).patch.is_empty(), "an update that drops it is completed");
    assert!(!of(KUEUE, &free).patch.is_empty(), "Kueue's too");
    for account in ["stagger-controller", "stagger-watchdog"] {
        let decision = of(&format!("system:serviceaccount:stagger-system:{account}"), &free);
        assert!(decision.is_allowed() && decision.patch.is_empty(), "{account}: {decision:?}");
    }
    // The watchdog may let go, and not plan.
    let planned = |start: &str| json!({"metadata": {"annotations": {"stagger.dev/planned-start": start}}});
    let moved = update("kueue.x-k8s.io", "workloads", planned("a"), planned("b"));
    let watchdog = "system:serviceaccount:stagger-system:stagger-watchdog";
    assert!(!moved.user(watchdog, &[]).decide(&world).is_allowed());
}

#[test]
fn that_kueue_ignores_gates_is_read_from_the_status_of_the_plans() {
    for (status, ignored) in [("False", true), ("True", false), ("Unknown", false)] {
        let plan = json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": "main"},
            "spec": {}, "status": {"conditions": [{"type": "GatesHonoured", "status": status}]}});
        let plan = Manifest {
            api_version: "stagger.dev/v1alpha1".to_owned(),
            kind: "CapacityPlan".to_owned(),
            namespace: String::new(),
            name: "main".to_owned(),
            value: plan,
            shared: Box::default(),
            origin: None,
        };
        let (world, findings) = assemble(&[plan], Mode::Observe);
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(world.queues.gates_ignored, ignored, "{status}");
    }
}
