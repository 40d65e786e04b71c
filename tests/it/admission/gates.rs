//! What waits for the plan, and what does not.

use std::sync::Arc;

use serde_json::{Value, json};
use stagger::admission::{LiveOwner, Mode, Outcome, PodGroup, World};
use stagger::api::capacity_plan;
use stagger::api::keys::{ELASTIC_JOB, GATE, GATES, MULTIKUEUE_ORIGIN, POD_GROUP, PREBUILT_WORKLOAD, QUEUE_NAME};

use super::world::{Ask, a_job, cluster, controller, create, update};

fn gates(asked: &Ask, world: &World) -> Option<String> {
    asked.result(world)["metadata"]["annotations"][GATES].as_str().map(str::to_owned)
}

fn world() -> World {
    cluster(Mode::Protect)
}

fn owned(mut object: Value, group: &str, kind: &str, uid: &str) -> Value {
    object["metadata"]["ownerReferences"] =
        json!([{"apiVersion": format!("{group}/v1"), "kind": kind, "name": "parent", "uid": uid, "controller": true}]);
    object
}

fn live(group: &str, kind: &str) -> LiveOwner {
    let text = str::to_owned;
    LiveOwner {
        namespace: text("evals"),
        group: text(group),
        kind: text(kind),
        name: text("parent"),
        ..LiveOwner::default()
    }
}

fn a_pod(queue: &str) -> Value {
    json!({"metadata": {"name": "p", "labels": {QUEUE_NAME: queue}}})
}

#[test]
fn top_level_jobs_in_scope_of_an_enforcing_plan_are_gated() {
    for (group, resource) in [
        ("batch", "jobs"),
        ("jobset.x-k8s.io", "jobsets"),
        ("ray.io", "rayjobs"),
        ("kubeflow.org", "mpijobs"),
        ("trainer.kubeflow.org", "trainjobs"),
        ("leaderworkerset.x-k8s.io", "leaderworkersets"),
        ("workload.codeflare.dev", "appwrappers"),
    ] {
        let asked = create(group, resource, a_job("batch"));
        assert_eq!(gates(&asked, &world()).as_deref(), Some(GATE), "{resource}");
        assert_eq!(asked.decide(&world()).outcome, Outcome::Gated);
    }
}

#[test]
fn outside_an_enforcing_plan_nothing_is_gated() {
    assert_eq!(gates(&create("batch", "jobs", a_job("open")), &world()), None);
    assert_eq!(gates(&create("batch", "jobs", a_job("unknown")), &world()), None);
    let mut job = a_job("batch");
    job["metadata"]["labels"] = json!({});
    assert_eq!(gates(&create("batch", "jobs", job), &world()), None, "no queue");
    for mode in [capacity_plan::Mode::Observe, capacity_plan::Mode::Recommend] {
        let mut world = world();
        Arc::make_mut(&mut world.queues).plans.get_mut("main").unwrap().mode = mode;
        assert_eq!(gates(&create("batch", "jobs", a_job("batch")), &world), None);
    }
}

#[test]
fn a_job_without_a_queue_is_gated_where_kueue_gives_it_the_default_one() {
    let mut world = world();
    let batch = world.queues.local[&("evals".to_owned(), "batch".to_owned())].clone();
    Arc::make_mut(&mut world.queues).local.insert(("evals".to_owned(), "default".to_owned()), batch);
    let bare = json!({"metadata": {"name": "x"}});
    assert_eq!(gates(&create("batch", "jobs", bare.clone()), &world).as_deref(), Some(GATE));
    assert_eq!(gates(&create("", "pods", bare.clone()), &world), None, "pods must ask");
    assert_eq!(gates(&create("batch", "jobs", bare).within("vision"), &world), None);
}

#[test]
fn gates_of_others_stay_and_ours_stands_once() {
    let mut job = a_job("batch");
    job["metadata"]["annotations"] = json!({GATES: "other.example/hold"});
    let asked = create("batch", "jobs", job.clone());
    assert_eq!(gates(&asked, &world()).unwrap(), format!("other.example/hold,{GATE}"));
    job["metadata"]["annotations"] = json!({GATES: format!("{GATE},other.example/hold")});
    assert_eq!(gates(&create("batch", "jobs", job.clone()), &world()).unwrap(), format!("{GATE},other.example/hold"));
    job["metadata"]["annotations"] = json!({GATES: ""});
    assert_eq!(gates(&create("batch", "jobs", job), &world()).as_deref(), Some(GATE));
}

#[test]
fn children_of_queued_owners_are_not_gated() {
    let mut world = world();
    let child = owned(a_job("batch"), "jobset.x-k8s.io", "JobSet", "s-1");
    let by_controller = create("batch", "jobs", child.clone()).user(&controller("job"), &[]);
    assert_eq!(gates(&by_controller, &world), None);
    // Who is no known controller must name an owner that is there: of that UID, kind, name and namespace.
    assert_eq!(gates(&create("batch", "jobs", child.clone()), &world).as_deref(), Some(GATE), "a made-up owner");
    world.owners.put("s-1", live("jobset.x-k8s.io", "JobSet"));
    assert_eq!(gates(&create("batch", "jobs", child.clone()), &world), None);
    assert_eq!(gates(&create("batch", "jobs", child).within("vision"), &world).as_deref(), Some(GATE));
}

#[test]
fn the_jobs_of_a_cron_job_are_gated_one_by_one() {
    let run = owned(a_job("batch"), "batch", "CronJob", "c-1");
    let asked = create("batch", "jobs", run).user(&controller("cronjob"), &[]);
    assert_eq!(gates(&asked, &world()).as_deref(), Some(GATE));
}

#[test]
fn deployments_and_their_pods_are_not_gated() {
    let deployment = create("apps", "deployments", a_job("batch"));
    assert_eq!(gates(&deployment, &world()), None);
    let pod = owned(a_pod("batch"), "apps", "ReplicaSet", "r-1");
    assert_eq!(gates(&create("", "pods", pod).user(&controller("replicaset"), &[]), &world()), None);
}

#[test]
fn a_prebuilt_workload_carries_the_gate_and_its_job_does_not() {
    let mut job = a_job("batch");
    job["metadata"]["labels"][PREBUILT_WORKLOAD] = json!("mine");
    assert_eq!(gates(&create("batch", "jobs", job), &world()), None);
    let workload = json!({"metadata": {"name": "mine"}, "spec": {"queueName": "batch", "podSets": []}});
    let asked = create("kueue.x-k8s.io", "workloads", workload.clone());
    assert_eq!(gates(&asked, &world()).as_deref(), Some(GATE));
    // The Workload that Kueue makes of a job has the job's gates already.
    let made = owned(workload.clone(), "batch", "Job", "j-1");
    let kueue = "system:serviceaccount:kueue-system:kueue-controller-manager";
    assert_eq!(gates(&create("kueue.x-k8s.io", "workloads", made.clone()).user(kueue, &[]), &world()), None);
    assert_eq!(gates(&create("kueue.x-k8s.io", "workloads", made), &world()).as_deref(), Some(GATE), "a made-up owner");
}

#[test]
fn a_late_member_of_a_released_group_is_not_gated() {
    let mut pod = a_pod("batch");
    pod["metadata"]["labels"][POD_GROUP] = json!("ring");
    let asked = create("", "pods", pod);
    let mut world = world();
    assert_eq!(gates(&asked, &world).as_deref(), Some(GATE), "a new group");
    let ring = ("evals".to_owned(), "ring".to_owned());
    Arc::make_mut(&mut world.queues).pod_groups.insert(ring.clone(), PodGroup::Gated);
    assert_eq!(gates(&asked, &world).as_deref(), Some(GATE), "a waiting group");
    Arc::make_mut(&mut world.queues).pod_groups.insert(ring, PodGroup::Released);
    assert_eq!(gates(&asked, &world), None);
}

#[test]
fn a_copy_by_multikueue_is_not_gated_but_the_label_alone_excuses_nothing() {
    let mut job = a_job("batch");
    job["metadata"]["labels"][MULTIKUEUE_ORIGIN] = json!("manager");
    let asked = create("batch", "jobs", job);
    assert_eq!(gates(&asked, &world()).as_deref(), Some(GATE));
    assert_eq!(gates(&asked.user("system:serviceaccount:kueue-system:multikueue-sa", &[]), &world()), None);
}

#[test]
fn an_elastic_job_is_gated_and_told_apart_for_whoever_releases_it() {
    let mut job = a_job("batch");
    job["metadata"]["annotations"] = json!({ELASTIC_JOB: "true"});
    let asked = create("batch", "jobs", job);
    assert_eq!(gates(&asked, &world()).as_deref(), Some(GATE));
    assert!(asked.decide(&world()).audit.contains(&("gate", "added-elastic".to_owned())));
}

#[test]
fn no_gate_is_pretended_where_kueue_ignores_them() {
    let mut world = world();
    Arc::make_mut(&mut world.queues).gates_ignored = true;
    let asked = create("batch", "jobs", a_job("batch"));
    assert_eq!(gates(&asked, &world), None);
    assert!(asked.decide(&world).audit.contains(&("gate", "unsupported".to_owned())), "its Workload is held instead");
    let asked = create("", "pods", a_pod("batch"));
    assert_eq!(gates(&asked, &world), None);
    assert_eq!(asked.decide(&world).warnings.len(), 1, "a single pod is not held");
}

#[test]
fn a_gate_that_nobody_would_remove_is_warned_of() {
    let mut job = a_job("open");
    job["metadata"]["annotations"] = json!({GATES: GATE});
    let decision = create("batch", "jobs", job).decide(&world());
    assert!(decision.is_allowed() && decision.warnings[0].contains("nothing takes"), "{:?}", decision.warnings);
}

fn held(queue: &str, gates: &str) -> Value {
    json!({"metadata": {"labels": {QUEUE_NAME: queue}, "annotations": {GATES: gates}}})
}

#[test]
fn a_gate_comes_off_by_the_plan_only() {
    let world = world();
    let both = format!("other.example/hold,{GATE}");
    let of = |old: &str, new: &str| update("batch", "jobs", held("batch", old), held("batch", new));
    assert!(!of(GATE, "").decide(&world).is_allowed());
    assert!(!of(&both, "other.example/hold").decide(&world).is_allowed());
    assert!(of(&both, GATE).decide(&world).is_allowed(), "the gate of others is theirs");
    let gone = update("batch", "jobs", held("batch", GATE), json!({"metadata": {"labels": {QUEUE_NAME: "batch"}}}));
    let decision = gone.decide(&world);
    assert!(decision.denied.unwrap().contains("until its planned start"));
    let ours = "system:serviceaccount:stagger-system:stagger-controller";
    assert!(of(GATE, "").user(ours, &[]).decide(&world).is_allowed());
    // Kueue hands on to the Workload what was released at the job, and touches no job's gate itself.
    let kueue = "system:serviceaccount:kueue-system:kueue-controller-manager";
    let workload = update("kueue.x-k8s.io", "workloads", held("batch", GATE), held("batch", ""));
    assert!(workload.clone().user(kueue, &[]).decide(&world).is_allowed());
    assert!(!workload.decide(&world).is_allowed());
    assert!(!of(GATE, "").user(kueue, &[]).decide(&world).is_allowed());
}

#[test]
fn gated_work_does_not_slip_into_a_queue_without_a_plan() {
    let world = world();
    let moved = |queue: &str| update("batch", "jobs", held("batch", GATE), held(queue, GATE)).decide(&world);
    assert!(!moved("open").is_allowed());
    assert!(moved("batch").is_allowed());
}
