//! Where Kueue ignores gates: work is held through `spec.active` of its Workload, and only what we made inactive is ours.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stagger::api::manifest::Manifest;
use stagger::controller::acts::Note;
use stagger::controller::gates::Gates;
use stagger::controller::scope::Scope;
use stagger::controller::sweep::Gated;
use stagger::controller::watchdog::{Nerves, due, order};
use stagger::kueue::observed::{Observed, Standing, by_key};
use stagger::kueue::release::{Cause, Hold, Pace, Scene, Target, Told, decide, targets};
use stagger::names::WorkloadKey;
use stagger::units::{Seconds, Timestamp};

use super::fake::{Fake, at, row, settings};

const MARK: &str = "stagger.dev/held";
const GATES: &str = "kueue.x-k8s.io/admission-gated-by";

/// What is observed where Kueue ignores gates.
fn observe(rows: &[Manifest]) -> Vec<Observed> {
    let scope = Scope { gates_ignored: true, ..Scope::default() };
    scope.look(&mut rows.iter(), at(0), &settings()).observed
}

/// The fake's rows, with the gate on no object, and each Workload changed.
fn rows(fake: &Fake, change: impl Fn(&mut Value)) -> Vec<Manifest> {
    let mut rows = fake.rows();
    for row in &mut rows {
        if let Some(annotations) = row.value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
            annotations.remove(GATES);
        }
        if row.kind == "Workload" {
            change(&mut row.value);
        }
    }
    rows
}

fn held(workload: &mut Value) {
    workload["spec"]["active"] = json!(false);
    workload["metadata"]["annotations"] = json!({MARK: "inactive"});
}

#[test]
fn what_we_made_inactive_is_held_and_planned_and_what_others_did_is_left_alone() {
    let fake = Fake::new().job("eval-1", 2);
    let ours = observe(&rows(&fake, held));
    assert!(ours[0].is_gated() && ours[0].is_held_back() && !ours[0].is_let_go() && !ours[0].is_free());
    assert_eq!(ours[0].standing, Standing::Waiting);
    let theirs = observe(&rows(&fake, |workload| workload["spec"]["active"] = json!(false)));
    assert!(!theirs[0].is_gated());
    assert_eq!(theirs[0].standing, Standing::Aside, "a user or Kueue deactivated it");
    assert!(targets(&theirs[0]).is_empty());
    // What was let go, ran and was then deactivated by Kueue carries a start, and no mark.
    let after = observe(&rows(&fake, |workload| {
        workload["spec"]["active"] = json!(false);
        workload["metadata"]["annotations"] = json!({"stagger.dev/planned-start": "2026-11-30T12:00:00Z"});
    }));
    assert!(!after[0].is_gated() && targets(&after[0]).is_empty());
}

#[test]
fn an_inactive_workload_on_its_way_counts_as_let_go() {
    let fake = Fake::new().job("eval-1", 2);
    let mut seen = observe(&rows(&fake, held));
    for target in targets(&seen[0]) {
        assert!(target.foresee(None, &mut seen[0]));
    }
    assert!(!seen[0].is_gated() && seen[0].is_let_go() && targets(&seen[0]).is_empty());
}

#[test]
fn a_workload_that_holds_quota_is_not_touched() {
    let mut fake = Fake::new().job("eval-1", 2);
    fake.find("eval-1").admitted = Some(at(0));
    let seen = observe(&rows(&fake, held));
    assert_eq!(seen[0].standing, Standing::Running);
    assert!(!seen[0].is_gated() && targets(&seen[0]).is_empty());
}

#[test]
fn before_kueue_has_made_the_workload_work_is_held_and_there_is_nothing_to_let_go() {
    let fake = Fake::new().job("eval-1", 2);
    let mut rows = rows(&fake, held);
    rows.retain(|row| row.kind != "Workload");
    let seen = observe(&rows);
    assert!(seen[0].is_gated() && !seen[0].is_let_go() && !seen[0].is_free());
    assert!(targets(&seen[0]).is_empty());
    // A gate on the object says nothing here: what is active goes.
    let active = observe(&fake.rows());
    assert!(!active[0].is_gated() && active[0].is_let_go() && active[0].is_free());
}

#[test]
fn it_is_let_go_by_one_patch_that_fails_where_anything_has_changed() {
    let fake = Fake::new().job("eval-1", 2);
    let seen = observe(&rows(&fake, held));
    let told = Told { start: "2026-11-30T13:00:00Z".to_owned(), plan: "main".to_owned() };
    let targets = targets(&seen[0]);
    let kinds: Vec<(&str, &Hold)> = targets.iter().map(|target| (target.kind.as_str(), &target.hold)).collect();
    assert_eq!(kinds, [("Job", &Hold::Told), ("Workload", &Hold::Inactive)], "the job is told first");
    assert_eq!(targets[0].patch(Some(&told)), None);
    let path = "/metadata/annotations/stagger.dev~1held";
    assert_eq!(
        targets[1].patch(Some(&told)),
        Some(json!([
            {"op": "test", "path": "/metadata/uid", "value": "wl-eval-1"},
            {"op": "test", "path": path, "value": "inactive"},
            {"op": "test", "path": "/spec/active", "value": false},
            {"op": "replace", "path": path, "value": "released"},
            {"op": "replace", "path": "/spec/active", "value": true},
            {"op": "add", "path": "/metadata/annotations/stagger.dev~1planned-start", "value": told.start},
            {"op": "add", "path": "/metadata/annotations/stagger.dev~1plan", "value": told.plan},
        ]))
    );
}

/// What is decided at `now` by a plan that starts `eval-1` at noon.
fn decided(rows: &[Manifest], now: Timestamp, forced: &BTreeMap<WorkloadKey, Cause>) -> Vec<(Cause, Vec<Hold>)> {
    let mut planned = Fake::new().job("eval-1", 2);
    planned.turn();
    let plan = planned.scope.planned.expect("there must be a plan").plan.clone();
    let scope = Scope { gates_ignored: true, ..Scope::default() };
    let seen = scope.look(&mut rows.iter(), at(0), &settings());
    let observed = by_key(&seen.observed);
    let scene = Scene {
        now,
        snapshot: &seen.snapshot,
        plan: &plan,
        observed: &observed,
        reservations: &[],
        loose_since: &BTreeMap::new(),
        forced,
    };
    let orders = decide(&scene, Pace::default()).orders.into_iter();
    orders.map(|order| (order.cause, order.targets.into_iter().map(|target| target.hold).collect())).collect()
}

#[test]
fn it_goes_at_its_planned_start_or_when_it_must_and_a_mark_that_was_overruled_goes_at_once() {
    let fake = Fake::new().job("eval-1", 2);
    let ours = rows(&fake, held);
    let both = vec![Hold::Told, Hold::Inactive];
    assert_eq!(decided(&ours, at(0) - Seconds(1), &BTreeMap::new()), []);
    assert_eq!(decided(&ours, at(0), &BTreeMap::new()), [(Cause::Planned, both.clone())]);
    let forced = BTreeMap::from([(WorkloadKey::new("evals", "eval-1"), Cause::Overdue)]);
    assert_eq!(decided(&ours, at(0) - Seconds(1), &forced), [(Cause::Overdue, both)]);
    let overruled = rows(&fake, |workload| workload["metadata"]["annotations"] = json!({MARK: "inactive"}));
    assert_eq!(decided(&overruled, at(0) - Seconds(1), &BTreeMap::new()), [(Cause::Remainder, vec![Hold::Mark])]);
}

#[test]
fn its_planned_start_is_written_where_the_watchdog_looks() {
    let mut fake = Fake::new().job("eval-1", 2);
    let rows = rows(&fake, held);
    fake.scope.gates_ignored = true;
    let seen = fake.scope.look(&mut rows.iter(), at(0), &fake.settings);
    let one = &seen.observed[0];
    let told = Told { start: "2026-11-30T13:00:00Z".to_owned(), plan: "main".to_owned() };
    let carrier = one.inactive_carrier().expect("it is inactive by our doing");
    assert_eq!((carrier.kind.as_str(), carrier.uid.as_str()), ("Workload", "wl-eval-1"));
    let steps = Note { carrier, told: told.clone() }.steps().expect("the mark is tested");
    assert_eq!(steps[1]["path"], "/metadata/annotations/stagger.dev~1held");
    let job = Note { carrier: one.carriers[0].clone(), told };
    assert_eq!(job.steps(), None, "nothing on the job holds it");
}

#[test]
fn the_watchdog_lets_it_go_at_its_planned_start() {
    let target = Target {
        api_version: "kueue.x-k8s.io/v1beta2".to_owned(),
        kind: "Workload".to_owned(),
        namespace: "evals".to_owned(),
        name: "job-eval-1".to_owned(),
        uid: "wl-eval-1".to_owned(),
        hold: Hold::Inactive,
    };
    let gated = |start| vec![Gated { target: target.clone(), planned: Some(start), created: None }];
    let nerves = Nerves::default();
    assert!(due(gated(at(60)), at(0), nerves.stale, &nerves).is_empty());
    let all = due(gated(at(0)), at(0), nerves.stale, &nerves);
    assert_eq!(order(all[0].clone(), Cause::Overdue).targets[0].hold, Hold::Inactive);
}

#[test]
fn a_made_beforehand_workload_without_a_job_is_held_alike() {
    let alone = row(json!({
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
        "metadata": {"name": "alone", "namespace": "evals", "uid": "alone", "annotations": {MARK: "inactive"}},
        "spec": {"queueName": "batch", "active": false, "podSets": [{"name": "main", "count": 1,
            "template": {"spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}}}]},
    }));
    let mut rows = Fake::new().rows();
    rows.push(alone);
    let seen = observe(&rows);
    let one = seen.iter().find(|one| one.key.name() == "alone").expect("it is there");
    assert!(one.is_gated());
    let holds: Vec<Hold> = targets(one).into_iter().map(|target| target.hold).collect();
    assert_eq!(holds, [Hold::Inactive]);
}

#[test]
fn the_eviction_that_kueue_counts_for_our_hold_is_none() {
    let fake = Fake::new().job("eval-1", 2);
    let counted = |mark: Option<&str>, evictions: Value| {
        let seen = observe(&rows(&fake, |workload| {
            workload["metadata"]["annotations"] = mark.map_or(json!({}), |mark| json!({MARK: mark}));
            workload["status"]["schedulingStats"] = json!({"evictions": evictions});
        }));
        seen[0].workload.as_ref().expect("it has a Workload").evictions
    };
    let held = json!([{"reason": "Deactivated", "underlyingCause": "", "count": 1}]);
    let more = json!([{"reason": "Deactivated", "count": 2}, {"reason": "Preempted", "count": 3}]);
    let by_kueue = json!([{"reason": "Deactivated", "underlyingCause": "RequeuingLimitExceeded", "count": 1}]);
    for mark in [Some("inactive"), Some("released")] {
        assert_eq!(counted(mark, held.clone()), 0);
        assert_eq!(counted(mark, more.clone()), 4, "somebody deactivated it later, and it was preempted");
        assert_eq!(counted(mark, by_kueue.clone()), 1);
    }
    assert_eq!(counted(None, held), 1, "a user deactivated what ran");
}

#[test]
fn who_leads_anew_goes_by_what_was_told_of_gates_until_kueue_answers() {
    for (status, expected) in [("True", Some(Gates::Honoured)), ("False", Some(Gates::Ignored)), ("Unknown", None)] {
        let condition = json!({"type": "GatesHonoured", "status": status, "reason": "Told", "message": "told",
            "lastTransitionTime": "2026-11-30T12:00:00Z"});
        let told = serde_json::from_value(json!({"conditions": [condition]})).expect("a status");
        assert_eq!(Gates::told(&told), expected, "{status}");
    }
    assert_eq!(Gates::told(&stagger::api::status::CapacityPlanStatus::default()), None);
}
