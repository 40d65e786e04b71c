//! Our own kinds, one object against the others.

use std::sync::Arc;

use serde_json::json;
use stagger::admission::{Mode, Outcome};

use super::world::{ask, cluster, create};

fn group() -> &'static str {
    "stagger.dev"
}

#[test]
fn a_namespace_is_not_claimed_twice_unless_both_say_who_acts() {
    let claim =
        |spec| create(group(), "gputenants", json!({"metadata": {"name": "new"}, "spec": spec})).set("name", "new");
    let contested = claim(json!({"namespaces": ["evals"]}));
    assert!(contested.decide(&cluster(Mode::Enforce)).denied.unwrap().contains("evals (of nlp)"));
    let tolerated = contested.decide(&cluster(Mode::Protect));
    assert!(tolerated.is_allowed() && tolerated.outcome == Outcome::Tolerated && tolerated.warnings.len() == 1);
    let selected = claim(json!({"namespaceSelector": {"matchLabels": {"team": "vision"}}}));
    assert!(!selected.decide(&cluster(Mode::Enforce)).is_allowed());
    let shared = claim(json!({"namespaces": ["shared"], "subjects": [{"kind": "Group", "name": "g"}]}));
    assert!(shared.decide(&cluster(Mode::Enforce)).is_allowed());
    let same = create(group(), "gputenants", json!({"spec": {"namespaces": ["evals"]}})).set("name", "nlp");
    assert!(same.decide(&cluster(Mode::Enforce)).is_allowed(), "its own namespaces are no quarrel");
}

#[test]
fn only_one_enforcing_plan_gates_a_queue() {
    let plan = |spec| create(group(), "capacityplans", json!({"spec": spec})).set("name", "other");
    let second = plan(json!({"queues": ["batch"], "mode": "Enforce"}));
    assert!(second.decide(&cluster(Mode::Protect)).denied.unwrap().contains("batch (of main)"));
    assert!(second.decide(&cluster(Mode::Observe)).is_allowed());
    assert!(plan(json!({"queues": ["batch"], "mode": "Observe"})).decide(&cluster(Mode::Protect)).is_allowed());
    assert!(plan(json!({"queues": ["open"], "mode": "Enforce"})).decide(&cluster(Mode::Protect)).is_allowed());
    let misspelt = plan(json!({"queues": ["bach"]})).decide(&cluster(Mode::Protect));
    assert!(misspelt.warnings[0].contains("bach"));
}

#[test]
fn a_rate_card_that_a_close_rests_on_stays() {
    let delete =
        |card| ask("DELETE", group(), "ratecards").old(card).set("name", "y2026").decide(&cluster(Mode::Protect));
    assert!(delete(json!({"status": {"usedByClose": "2026-01"}})).denied.unwrap().contains("2026-01"));
    assert!(delete(json!({"spec": {}})).is_allowed());
}

#[test]
fn a_promise_that_is_not_there_yet_is_warned_of() {
    let mut world = cluster(Mode::Protect);
    let job = json!({"metadata": {"name": "j", "annotations": {"stagger.dev/slo": "evals"}}});
    let warned = |world: &_| create("batch", "jobs", job.clone()).decide(world).warnings;
    assert_eq!(warned(&world).len(), 0, "promises are not watched");
    world.promises = Some(Arc::new(["vision/evals".to_owned()].into()));
    assert!(warned(&world)[0].contains("no WorkloadSLO evals"));
    world.promises = Some(Arc::new(["evals/evals".to_owned()].into()));
    assert_eq!(warned(&world).len(), 0);
}
