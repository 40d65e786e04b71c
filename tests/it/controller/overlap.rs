//! CapacityPlans that promise the same quota tell of each other.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use stagger::api::status::{CapacityPlanStatus, ConditionStatus};
use stagger::controller::acknowledged::told::{PlanVersion, Webhook};
use stagger::controller::gates::Gates;
use stagger::controller::overlap::told;
use stagger::controller::plan_status::{Standing, plan_status};
use stagger::controller::scope::Scope;
use stagger::plan::snapshot::Snapshot;

use super::fake::{at, row, settings};

/// `red` and `blue` lend to each other in `colours`; `grey` stands alone.
fn snapshot() -> Snapshot {
    let queue = |name: &str, cohort: Option<&str>| {
        row(json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
            "spec": {"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["nvidia.com/gpu"],
                "flavors": [{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 4}]}]}]}}))
    };
    let flavor =
        json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "a100"}});
    let rows = [row(flavor), queue("red", Some("colours")), queue("blue", Some("colours")), queue("grey", None)];
    Scope::default().look(&mut rows.iter(), at(0), &settings()).snapshot
}

fn scopes(plans: &[(&str, Value)]) -> BTreeMap<String, Scope> {
    let scope = |(name, spec): &(&str, Value)| {
        let spec = serde_json::from_value(spec.clone()).expect("a spec");
        ((*name).to_owned(), Scope { name: Some((*name).to_owned()), spec, ..Scope::default() })
    };
    plans.iter().map(scope).collect()
}

fn of(queues: &[&str], mode: &str) -> Value {
    json!({"queues": queues, "mode": mode})
}

#[test]
fn one_queue_in_two_plans_is_told_to_both() {
    let both = scopes(&[("a", of(&["red"], "Enforce")), ("b", json!({"cohorts": ["colours"], "mode": "Recommend"}))]);
    let expected = |other: &str| {
        format!(
            "CapacityPlan {other} plans ClusterQueue red too, and a, the first by name, speaks for its work: name red in one \
             of them only"
        )
    };
    assert_eq!(told("a", &both, &snapshot()), Some(expected("b")));
    assert_eq!(told("b", &both, &snapshot()), Some(expected("a")));
}

#[test]
fn queues_of_one_cohort_in_two_plans_are_told_to_both() {
    let both = scopes(&[("a", of(&["red"], "Enforce")), ("b", of(&["blue"], "Enforce"))]);
    assert_eq!(
        told("b", &both, &snapshot()).as_deref(),
        Some(
            "CapacityPlan a plans other ClusterQueues of cohort colours, which lend to each other, and neither knows what the \
             other will hold: plan the cohort in one of them"
        )
    );
    assert!(told("a", &both, &snapshot()).is_some());
}

#[test]
fn plans_of_different_trees_and_plans_that_are_observed_overlap_with_nobody() {
    let apart = scopes(&[("a", of(&["red"], "Enforce")), ("b", of(&["grey"], "Enforce"))]);
    let watched = scopes(&[("a", of(&["red"], "Enforce")), ("b", of(&[], "Observe"))]);
    for scopes in [apart, watched] {
        assert_eq!(told("a", &scopes, &snapshot()), None);
        assert_eq!(told("b", &scopes, &snapshot()), None);
    }
    // A plan without queues is about all of them.
    let all = scopes(&[("a", of(&["grey"], "Enforce")), ("b", of(&[], "Enforce"))]);
    assert!(told("a", &all, &snapshot()).is_some() && told("b", &all, &snapshot()).is_some());
}

#[test]
fn it_is_a_condition_of_the_plan_beside_how_work_is_held() {
    let status = |gates: &Gates, overlap: Option<&str>| {
        let before = CapacityPlanStatus::default();
        let standing = Standing {
            now: at(0),
            generation: Some(1),
            held: 0,
            ungated: &[],
            gates,
            version: &PlanVersion::default(),
            webhook: &Webhook::Unasked,
            overlap,
            stale: false,
            before: &before,
        };
        let conditions = plan_status(&Scope::default(), standing).conditions;
        let found = |kind: &str| conditions.iter().find(|one| one.condition == kind).map(|one| one.status);
        (found("Overlaps"), found("GatesHonoured"))
    };
    let (yes, no, unknown) = (ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown);
    assert_eq!(status(&Gates::Honoured, None), (Some(no), Some(yes)));
    assert_eq!(status(&Gates::Ignored, Some("told")), (Some(yes), Some(no)));
    assert_eq!(status(&Gates::Unknown("down".to_owned()), None), (Some(no), Some(unknown)));
}
