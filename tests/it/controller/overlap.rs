//! CapacityPlans that meet: each ClusterQueue is planned by one, and what one has planned is taken for those after it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use stagger::api::manifest::Manifest;
use stagger::api::status::{CapacityPlanStatus, ConditionStatus};
use stagger::controller::acknowledged::told::{PlanVersion, Webhook};
use stagger::controller::changes::ChangeKind;
use stagger::controller::extent::elders;
use stagger::controller::gates::Gates;
use stagger::controller::overlap::{Meeting, Overlap, take, waits};
use stagger::controller::plan_status::{Standing, plan_status};
use stagger::controller::planning::{Planned, think};
use stagger::controller::scope::Scope;
use stagger::controller::turn::{Seen, Sight, Slo, Turn, decide};
use stagger::kueue::Assembled;
use stagger::kueue::release::Cause;
use stagger::plan::snapshot::{Snapshot, Window};
use stagger::units::Timestamp;

use super::fake::{GATE, at, row, settings};

/// `red` and `blue` lend to each other in `colours`, two GPUs each; `grey` stands alone.
fn queues() -> Vec<Manifest> {
    let kueue = |kind: &str, metadata: Value, spec: Value| {
        row(json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, "spec": spec}))
    };
    let mut rows = vec![kueue("ResourceFlavor", json!({"name": "a100"}), json!({}))];
    for (name, cohort) in [("red", Some("colours")), ("blue", Some("colours")), ("grey", None)] {
        let quota = json!([{"name": "a100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": 2}]}]);
        let groups = json!([{"coveredResources": ["nvidia.com/gpu"], "flavors": quota}]);
        let spec = json!({"cohortName": cohort, "namespaceSelector": {}, "resourceGroups": groups});
        rows.push(kueue("ClusterQueue", json!({"name": name}), spec));
        rows.push(kueue("LocalQueue", json!({"name": name, "namespace": "evals"}), json!({"clusterQueue": name})));
    }
    rows
}

/// Gated jobs of an hour on four GPUs, each in its queue, all promised for the evening.
fn jobs(all: &[(&str, &str)]) -> Vec<Manifest> {
    let promise = json!({"selector": {"matchLabels": {"app": "eval"}}, "finishBy": "2026-11-30T20:00:00+01:00",
        "expectedRuntime": {"p50": "1h", "p90": "1h"}});
    let metadata = json!({"name": "evals", "namespace": "evals", "uid": "s", "generation": 1});
    let mut rows = vec![row(
        json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "WorkloadSLO", "metadata": metadata, "spec": promise}),
    )];
    rows.extend(all.iter().map(|(name, queue)| {
        let container = json!({"name": "main", "resources": {"limits": {"nvidia.com/gpu": "4"}}});
        let template = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
        row(json!({"apiVersion": "batch/v1", "kind": "Job",
            "metadata": {"name": name, "namespace": "evals", "uid": name, "creationTimestamp": "2026-11-30T10:00:00Z",
                "labels": {"app": "eval", "kueue.x-k8s.io/queue-name": queue},
                "annotations": {"kueue.x-k8s.io/admission-gated-by": GATE}},
            "spec": {"suspend": true, "template": template}, "status": {}}))
    }));
    rows
}

fn snapshot() -> Snapshot {
    Scope::default().look(&mut queues().iter(), at(0), &settings()).snapshot
}

type Plan<'a> = (&'a str, Option<Timestamp>, Value);

/// CapacityPlans as the loop keeps them, each told which go before it.
fn scopes(plans: &[Plan<'_>]) -> BTreeMap<String, Scope> {
    let spec = |spec: &Value| serde_json::from_value(spec.clone()).expect("a spec");
    let specs: Vec<_> = plans.iter().map(|(name, created, plan)| (*name, *created, spec(plan))).collect();
    let mut before = elders(specs.iter().map(|(name, created, spec)| (*name, *created, spec)));
    let scope = |(name, _, spec): &(&str, _, stagger::api::capacity_plan::CapacityPlanSpec)| {
        let elders = before.remove(*name).unwrap_or_default();
        let scope = Scope { name: Some((*name).to_owned()), spec: spec.clone(), elders, ..Scope::default() };
        ((*name).to_owned(), scope)
    };
    specs.iter().map(scope).collect()
}

fn told(name: &str, scopes: &BTreeMap<String, Scope>, snapshot: &Snapshot) -> Option<Overlap> {
    Meeting::of(scopes, snapshot).told(name)
}

fn of(queues: &[&str], mode: &str) -> Value {
    json!({"queues": queues, "mode": mode})
}

/// Which plan plans each ClusterQueue.
fn planned_by(scopes: &BTreeMap<String, Scope>) -> Vec<(String, Vec<String>)> {
    let snapshot = snapshot();
    let names = |scope: &Scope| {
        let named = scope.queues(&snapshot).into_iter().map(|id| snapshot.node(id).name.to_string());
        named.collect::<BTreeSet<String>>().into_iter().collect()
    };
    let found: Vec<(String, Vec<String>)> = scopes.iter().map(|(name, scope)| (name.clone(), names(scope))).collect();
    for (name, scope) in scopes {
        for queue in ["red", "blue", "grey"] {
            let is_planned = found.iter().any(|(plan, all)| plan == name && all.iter().any(|one| one == queue));
            assert_eq!(scope.covers(&queue.into(), &snapshot), is_planned, "{name} {queue}");
        }
    }
    found
}

fn expected(all: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    all.iter().map(|(plan, queues)| ((*plan).to_owned(), owned(queues))).collect()
}

#[test]
fn each_queue_is_planned_by_one_plan_the_older_and_then_the_first_by_name() {
    let by_name =
        scopes(&[("a", None, of(&["red", "grey"], "Enforce")), ("b", None, of(&["grey", "blue"], "Enforce"))]);
    assert_eq!(planned_by(&by_name), expected(&[("a", &["grey", "red"]), ("b", &["blue"])]));
    let young = Some(at(5));
    let by_age =
        scopes(&[("a", young, of(&["red", "grey"], "Enforce")), ("b", Some(at(1)), of(&["grey", "blue"], "Enforce"))]);
    assert_eq!(planned_by(&by_age), expected(&[("a", &["red"]), ("b", &["blue", "grey"])]));
    // A plan without queues is about all that is left.
    let all = scopes(&[
        ("a", young, of(&[], "Enforce")),
        ("b", Some(at(1)), json!({"cohorts": ["colours"], "mode": "Enforce"})),
    ]);
    assert_eq!(planned_by(&all), expected(&[("a", &["grey"]), ("b", &["blue", "red"])]));
}

/// The webhook holds work of every queue that a plan in Enforce mode names, so such a plan must let it go.
#[test]
fn a_plan_that_enforces_goes_first_and_one_that_is_observed_takes_nothing() {
    let old = Some(at(0));
    let plans = scopes(&[
        ("a", old, of(&["red"], "Recommend")),
        ("b", Some(at(9)), of(&["red"], "Enforce")),
        ("c", old, of(&["red"], "Observe")),
    ]);
    assert_eq!(planned_by(&plans), expected(&[("a", &[]), ("b", &["red"]), ("c", &["red"])]));
    let met = told("b", &plans, &snapshot()).expect("they meet");
    assert_eq!(
        (met.reason, met.message.as_str()),
        (
            "SharedQuota",
            "CapacityPlan a names ClusterQueue red too, and leaves it out, for this one goes first: name red in one of them only"
        )
    );
    let met = told("a", &plans, &snapshot()).expect("they meet");
    assert_eq!(
        (met.reason, met.message.as_str()),
        (
            "LeftOut",
            "CapacityPlan b goes first and plans ClusterQueue red, which is left out here: name red in one of them only"
        )
    );
    assert_eq!(told("c", &plans, &snapshot()), None);
}

#[test]
fn queues_of_one_cohort_in_two_plans_are_told_to_both() {
    let both = scopes(&[("a", None, of(&["red"], "Enforce")), ("b", None, of(&["blue"], "Enforce"))]);
    let said = |name: &str| told(name, &both, &snapshot()).expect("they meet").message;
    assert_eq!(
        said("b"),
        "CapacityPlan a plans other ClusterQueues of cohort colours, which lend to each other, and goes first: what it has \
         planned counts as taken here; plan the cohort in one of them to have them planned together"
    );
    assert_eq!(
        said("a"),
        "CapacityPlan b plans other ClusterQueues of cohort colours, which lend to each other, and takes what is planned here \
         as taken; plan the cohort in one of them to have them planned together"
    );
}

#[test]
fn plans_of_different_trees_and_plans_that_are_observed_overlap_with_nobody() {
    let apart = scopes(&[("a", None, of(&["red"], "Enforce")), ("b", None, of(&["grey"], "Enforce"))]);
    let watched = scopes(&[("a", None, of(&["red"], "Enforce")), ("b", None, of(&[], "Observe"))]);
    for scopes in [apart, watched] {
        assert_eq!(told("a", &scopes, &snapshot()), None);
        assert_eq!(told("b", &scopes, &snapshot()), None);
    }
}

/// Every plan sees and plans, those that go first before the others, as the loop does turn by turn.
fn turn(scopes: &mut BTreeMap<String, Scope>, plans: &[Plan<'_>], work: &[Manifest], now: Timestamp) -> Turn {
    let plan = |(name, _, spec): &Plan<'_>| {
        row(
            json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": name, "uid": name}, "spec": spec}),
        )
    };
    let rows: Vec<Manifest> = queues().into_iter().chain(plans.iter().map(plan)).chain(work.iter().cloned()).collect();
    let (settings, mut seen) = (settings(), BTreeMap::<String, Assembled>::new());
    let patience = settings.patience();
    let mut order: Vec<String> = scopes.keys().cloned().collect();
    order.sort_by_key(|name| scopes[name].elders.len());
    for name in order {
        let scope = &scopes[&name];
        let assembled = scope.look(&mut rows.iter(), scope.instant(now), &settings);
        take(scopes, &mut BTreeMap::new(), |one| (one == name).then_some(&assembled));
        let scope = scopes.get_mut(&name).expect("it is there");
        let changes = scope.reasons(&assembled.snapshot, now, &patience);
        if !changes.is_empty() {
            scope.begin(&changes, now);
            let mut request =
                scope.request(scope.look(&mut rows.iter(), now, &settings), changes, &settings, &patience);
            request.policy.step_limit = Some(20_000);
            scope.planned = Some(Arc::new(think(request, &Arc::new(AtomicBool::new(false))).expect("a plan")));
        }
        let assembled = scope.look(&mut rows.iter(), scope.instant(now), &settings);
        seen.insert(name, assembled);
    }
    let slos: Vec<Slo> = rows.iter().filter_map(Slo::of).collect();
    let going = BTreeSet::new();
    let sight = Sight {
        now,
        settings: &settings,
        reservations: &[],
        slos: &slos,
        going: &going,
        plans_known: true,
        since: at(0),
    };
    let mut both: Vec<Seen<'_>> =
        scopes.iter_mut().map(|(name, scope)| Seen { scope, assembled: &seen[name] }).collect();
    decide(&mut both, &sight, &patience)
}

/// Each start in minutes after noon, by plan.
fn starts(scopes: &BTreeMap<String, Scope>) -> Vec<(String, String, i64)> {
    let of = |(name, scope): (&String, &Scope)| {
        let plan = scope.planned.clone().expect("there is a plan").plan.clone();
        let one = |it: &stagger::plan::proposal::Release| {
            (name.clone(), it.workload.name().to_owned(), (it.start - at(0)).0 / 60)
        };
        plan.releases.iter().map(one).collect::<Vec<_>>()
    };
    scopes.iter().flat_map(of).collect()
}

#[test]
fn work_of_a_queue_that_two_plans_name_is_planned_and_let_go_by_one_and_its_promise_says_by_which() {
    let plans: [Plan<'_>; 2] = [
        ("a", Some(at(2)), of(&["red"], "Enforce")),
        ("b", Some(at(1)), json!({"cohorts": ["colours"], "mode": "Enforce"})),
    ];
    let (mut scopes, work) = (scopes(&plans), jobs(&[("eval-1", "red"), ("eval-2", "red")]));
    let turn = turn(&mut scopes, &plans, &work, at(0));
    let own = |name: &str, at: i64| ("b".to_owned(), name.to_owned(), at);
    assert_eq!(starts(&scopes), [own("eval-1", 0), own("eval-2", 60)]);
    let orders: Vec<_> = turn.orders.iter().map(|order| (order.key.name(), order.cause)).collect();
    assert_eq!(orders, [("eval-1", Cause::Planned)]);
    assert_eq!(turn.notes.iter().map(|note| note.told.plan.as_str()).collect::<Vec<_>>(), ["b"]);
    let message = turn.slos[0].status.message.clone().expect("a message");
    assert!(message.ends_with("CapacityPlan b plans ClusterQueue red; a names it too and leaves it out."), "{message}");
}

#[test]
fn what_one_plan_has_planned_of_a_cohort_is_taken_for_those_after_it() {
    let plans: [Plan<'_>; 2] = [("a", None, of(&["red"], "Enforce")), ("b", None, of(&["blue"], "Enforce"))];
    let mut scopes = scopes(&plans);
    let work = jobs(&[("eval-1", "red"), ("eval-2", "red"), ("eval-3", "blue")]);
    turn(&mut scopes, &plans, &work, at(0));
    let one = |plan: &str, name: &str, at: i64| (plan.to_owned(), name.to_owned(), at);
    assert_eq!(starts(&scopes), [one("a", "eval-1", 0), one("a", "eval-2", 60), one("b", "eval-3", 120)]);
    // What goes first has work no more: the other is planned anew, and why is on record.
    let work = jobs(&[("eval-1", "red"), ("eval-3", "blue")]);
    turn(&mut scopes, &plans, &work, at(1));
    assert_eq!(starts(&scopes)[1].0, "b");
    let because: Vec<ChangeKind> =
        scopes["b"].planned.as_ref().expect("a plan").changes.iter().map(|change| change.kind).collect();
    assert_eq!(because, [ChangeKind::Others]);
    // Nothing else has happened since.
    let turn = turn(&mut scopes, &plans, &work, at(2));
    assert_eq!(scopes["b"].planned.as_ref().expect("a plan").plan.now, at(1));
    assert!(turn.orders.iter().all(|order| order.cause == Cause::Planned), "{:?}", turn.orders);
}

/// It is asked for in every turn, and much may be planned.
#[test]
fn what_is_taken_is_worked_out_again_only_for_another_look_another_scope_or_another_plan() {
    let plans: [Plan<'_>; 2] = [("a", None, of(&["red"], "Enforce")), ("b", None, of(&["blue"], "Enforce"))];
    let (mut scopes, work) = (scopes(&plans), jobs(&[("eval-1", "red"), ("eval-3", "blue")]));
    turn(&mut scopes, &plans, &work, at(0));
    let rows: Vec<Manifest> = queues().into_iter().chain(work).collect();
    // Without CapacityPlans among the rows all waits, and nothing is anybody's: so what `a` has planned waits.
    let mut seen = Scope::default().look(&mut rows.iter(), at(0), &settings());
    seen.uncontrolled.append(&mut seen.snapshot.workloads);
    let mut known = BTreeMap::new();
    // Whether it is worked out again, told by something that nobody would work out.
    let mut works = |scopes: &mut BTreeMap<String, Scope>, forget: bool| {
        let mark = scopes["b"].taken.first().cloned().map(|window| Window { name: "a mark".to_owned(), ..window });
        let b = scopes.get_mut("b").expect("it is there");
        b.taken.extend(mark.clone());
        if forget {
            known.remove("b");
        }
        take(scopes, &mut known, |_| Some(&seen));
        let is_marked = mark.is_some_and(|mark| scopes["b"].taken.contains(&mark));
        !is_marked
    };
    assert!(works(&mut scopes, false), "nothing was known");
    assert_eq!(scopes["b"].taken.len(), 1);
    assert!(!works(&mut scopes, false), "all is as it was");
    assert!(works(&mut scopes, true), "it looked again");
    let again = Planned::clone(scopes["a"].planned.as_ref().expect("a plan"));
    scopes.get_mut("a").expect("it is there").planned = Some(Arc::new(again));
    assert!(works(&mut scopes, false), "there is another plan");
    scopes.get_mut("b").expect("it is there").spec.queues.push("grey".to_owned());
    assert!(works(&mut scopes, false), "it plans other queues");
    assert_eq!(scopes["b"].taken.len(), 1);
    // Who went before it has gone, and what he had taken is free.
    scopes.remove("a");
    scopes.get_mut("b").expect("it is there").elders.clear();
    assert!(works(&mut scopes, false));
    assert_eq!(scopes["b"].taken, []);
}

/// Else it would begin by taking what the other wants.
#[test]
fn the_first_plan_of_one_that_shares_quota_comes_after_that_of_who_goes_first() {
    let plans: [Plan<'_>; 3] = [
        ("a", None, of(&["red"], "Enforce")),
        ("b", None, of(&["blue"], "Enforce")),
        ("c", None, of(&["grey"], "Enforce")),
    ];
    let mut scopes = scopes(&plans);
    let waiting = |scopes: &BTreeMap<String, Scope>| {
        let all = scopes.iter().filter(|(_, scope)| waits(scope, scopes, &snapshot()));
        all.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(waiting(&scopes), ["b"]);
    scopes.get_mut("a").expect("it is there").failed = Some((at(0), "it is broken".to_owned()));
    assert!(waiting(&scopes).is_empty(), "nobody waits for who fails");
    scopes.get_mut("a").expect("it is there").failed = None;
    turn(&mut scopes, &plans, &jobs(&[("eval-1", "red")]), at(0));
    assert!(waiting(&scopes).is_empty());
}

/// Whoever is deleted leaves its queues to the next, which lets go what it held.
#[test]
fn a_plan_that_goes_leaves_its_queues_to_the_next() {
    let plans: [Plan<'_>; 2] = [("a", None, of(&["red"], "Enforce")), ("b", None, of(&["red"], "Enforce"))];
    let (mut both, work) = (scopes(&plans), jobs(&[("eval-1", "red")]));
    turn(&mut both, &plans, &work, at(0));
    assert_eq!(starts(&both).len(), 1);
    let (mut left, rest) = (scopes(&plans[1..]), &plans[1..]);
    let turn = turn(&mut left, rest, &work, at(1));
    assert_eq!(turn.orders.iter().map(|order| order.cause).collect::<Vec<_>>(), [Cause::Planned]);
}

#[test]
fn it_is_a_condition_of_the_plan_beside_how_work_is_held() {
    let status = |gates: &Gates, overlap: Option<&Overlap>| {
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
    let met = Overlap { reason: "LeftOut", message: "told".to_owned() };
    let (yes, no, unknown) = (ConditionStatus::True, ConditionStatus::False, ConditionStatus::Unknown);
    assert_eq!(status(&Gates::Honoured, None), (Some(no), Some(yes)));
    assert_eq!(status(&Gates::Ignored, Some(&met)), (Some(yes), Some(no)));
    assert_eq!(status(&Gates::Unknown("down".to_owned()), None), (Some(no), Some(unknown)));
}
