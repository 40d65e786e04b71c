//! Kueue chooses the flavor: work is let go when it would choose the planned one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::json;
use stagger::api::manifest::Manifest;
use stagger::controller::planning::{Planned, think};
use stagger::kueue::observed::by_key;
use stagger::kueue::release::{Decision, Pace, Scene, decide};
use stagger::names::{FlavorName, WorkloadKey};
use stagger::plan::Plan;
use stagger::units::Timestamp;

use super::fake::{Fake, at, row};

/// Four GPUs of each flavor, a100 tried first.
fn rows(fake: &Fake) -> Vec<Manifest> {
    let mut rows = fake.rows();
    let quota = |name: &str| json!({"name": name, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]});
    for queue in rows.iter_mut().filter(|row| row.kind == "ClusterQueue") {
        queue.value["spec"]["resourceGroups"][0]["flavors"] = json!([quota("a100"), quota("h100")]);
    }
    rows.push(row(json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "h100", "uid": "h"}})));
    rows
}

fn planned(fake: &mut Fake, now: Timestamp) -> Planned {
    fake.scope.name = Some("main".to_owned());
    let (rows, patience) = (rows(fake), fake.settings.patience());
    let seen = fake.scope.look(&mut rows.iter(), fake.scope.instant(now), &fake.settings);
    let changes = fake.scope.reasons(&seen.snapshot, now, &patience);
    fake.scope.begin(&changes, now);
    let assembled = fake.scope.look(&mut rows.iter(), now, &fake.settings);
    let mut request = fake.scope.request(assembled, changes, &fake.settings, &patience);
    request.policy.step_limit = Some(20_000);
    think(request, &Arc::new(AtomicBool::new(false))).expect("there is a plan")
}

/// The plan, but for the flavor and the minute of each piece of work.
fn moved(plan: &Plan, to: &[(&str, &str, i64)]) -> Plan {
    let mut plan = plan.clone();
    for (name, flavor, minute) in to {
        let release = plan.releases.iter_mut().find(|it| it.workload.name() == *name).expect("it is planned");
        release.flavor = FlavorName::from(*flavor);
        release.uses.iter_mut().for_each(|uses| uses.0 = FlavorName::from(*flavor));
        release.start = at(*minute);
    }
    plan
}

fn decided(fake: &Fake, plan: &Plan, now: Timestamp, loose: &BTreeMap<WorkloadKey, Timestamp>) -> Decision {
    let seen = fake.scope.look(&mut rows(fake).iter(), now, &fake.settings);
    let scene = Scene {
        now,
        snapshot: &seen.snapshot,
        plan,
        observed: &by_key(&seen.observed),
        reservations: &[],
        loose_since: loose,
        forced: &BTreeMap::new(),
    };
    decide(&scene, Pace::default())
}

fn goes(decision: &Decision) -> Vec<&str> {
    decision.orders.iter().map(|order| order.key.name()).collect()
}

#[test]
fn who_is_planned_on_the_second_flavor_goes_when_the_first_is_taken() {
    let mut fake = Fake::new().job("a-small", 2).job("big", 4);
    let plan = moved(&planned(&mut fake, at(0)).plan, &[("big", "a100", 0), ("a-small", "h100", 0)]);
    // By name the small one is first in line; let go now, it would get what the big one needs.
    let decision = decided(&fake, &plan, at(0), &BTreeMap::new());
    assert_eq!((goes(&decision), decision.waits.len()), (vec!["big"], 1));
    assert!(decision.held.is_empty() && decision.otherwise.is_empty());
    // On its way: not there yet.
    fake.find("big").gates.clear();
    let loose = [(WorkloadKey::new("evals", "big"), at(0))].into();
    assert_eq!(goes(&decided(&fake, &plan, at(0), &loose)), Vec::<&str>::new());
    fake.find("big").admitted = Some(at(0));
    assert_eq!(goes(&decided(&fake, &plan, at(0), &BTreeMap::new())), ["a-small"]);
}

#[test]
fn whom_kueue_would_give_what_is_kept_for_others_is_planned_anew_with_that_flavor() {
    let mut fake = Fake::new().job("a-small", 2).job("big", 4);
    let first = planned(&mut fake, at(0));
    let plan = moved(&first.plan, &[("big", "a100", 30), ("a-small", "h100", 0)]);
    let decision = decided(&fake, &plan, at(0), &BTreeMap::new());
    let (small, a100) = (WorkloadKey::new("evals", "a-small"), FlavorName::from("a100"));
    assert_eq!(decision.otherwise, [(small.clone(), a100.clone())].into());
    assert_eq!(decision.held[0].why, "Kueue would give it a100, which the plan keeps for others");
    assert!(decision.orders.is_empty());

    fake.scope.planned = Some(Arc::new(Planned { plan, ..first }));
    fake.scope.pin(decision.otherwise);
    let again = planned(&mut fake, at(0));
    assert_eq!(again.changes[0].kind.word(), "Flavor");
    let of = |key: &WorkloadKey| again.plan.releases.iter().find(|it| it.workload == *key).expect("it is planned");
    assert_eq!((of(&small).flavor.clone(), of(&small).start), (a100, at(0)));
    let big = of(&WorkloadKey::new("evals", "big"));
    assert_eq!(big.flavor.as_str(), "h100");
    assert!(big.start <= at(30), "the other is no later for it, where it can be helped");
    assert_eq!(goes(&decided(&fake, &again.plan, at(0), &BTreeMap::new()))[0], "a-small");
    // It is asked once: with that plan nothing is left to say.
    fake.scope.planned = Some(Arc::new(again));
    let seen = fake.scope.look(&mut rows(&fake).iter(), at(0), &fake.settings);
    assert_eq!(fake.scope.reasons(&seen.snapshot, at(0), &fake.settings.patience()), []);
}

#[test]
fn after_its_latest_safe_start_any_flavor_is_better_than_none() {
    let mut fake = Fake::new().job("a-small", 2).job("big", 4);
    // Both are due at five and take an hour.
    let plan = moved(&planned(&mut fake, at(0)).plan, &[("big", "a100", 300), ("a-small", "h100", 239)]);
    assert_eq!(goes(&decided(&fake, &plan, at(239), &BTreeMap::new())), Vec::<&str>::new());
    assert_eq!(goes(&decided(&fake, &plan, at(240), &BTreeMap::new())), ["a-small"]);
}
