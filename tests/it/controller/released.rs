//! The traps of letting go: what Kueue does not pass on, what is half gone, what is contested.

use std::collections::BTreeMap;

use stagger::controller::acts::Note;
use stagger::kueue::Assembled;
use stagger::kueue::observed::{Carrier, by_key};
use stagger::kueue::release::{Cause, Hold, Pace, Scene, Told, TroubleKind, decide, watch};
use stagger::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use stagger::plan::Plan;
use stagger::units::{Amount, Seconds};

use super::fake::{Fake, GATE, at};

/// Asks about the scene in which one piece of work has been free for so many seconds.
fn free_for<T>(seconds: i64, key: &WorkloadKey, seen: &Assembled, plan: &Plan, ask: impl FnOnce(&Scene<'_>) -> T) -> T {
    ask(&Scene {
        now: at(0) + Seconds(seconds),
        snapshot: &seen.snapshot,
        plan,
        observed: &by_key(&seen.observed),
        reservations: &[],
        loose_since: &[(key.clone(), at(0))].into(),
        forced: &BTreeMap::new(),
    })
}

#[test]
fn a_gate_that_stays_on_the_workload_is_taken_off_there_after_a_grace() {
    let fake = Fake::new().job("eval-1", 2);
    let mut rows = fake.rows();
    for row in rows.iter_mut().filter(|row| row.kind == "Job") {
        row.value["metadata"]["annotations"] = serde_json::json!({"kueue.x-k8s.io/elastic-job": "true"});
    }
    let mut planned = Fake::new().job("eval-1", 2);
    planned.turn();
    let plan = planned.scope.planned.expect("there must be a plan").plan.clone();
    let seen = fake.scope.look(&mut rows.iter(), at(0), &fake.settings);
    let key = WorkloadKey::new("evals", "eval-1");
    for (passed, expected) in [(4, 0), (5, 1)] {
        let remainders: Vec<_> = free_for(passed, &key, &seen, &plan, |scene| decide(scene, Pace::default()))
            .orders
            .into_iter()
            .filter(|order| order.cause == Cause::Remainder)
            .flat_map(|order| order.targets)
            .collect();
        assert_eq!(remainders.len(), expected, "after {passed} s");
        assert!(
            remainders.iter().all(|target| target.kind == "Workload" && target.hold == Hold::Gate(GATE.to_owned()))
        );
    }
}

#[test]
fn what_a_queue_says_is_given_out_counts_beside_what_is_known() {
    let mut fake = Fake::touchstone();
    fake.turn();
    let fresh = Fake::touchstone();
    let seen = fresh.scope.look(&mut fresh.rows().iter(), at(0), &fresh.settings);
    let observed = by_key(&seen.observed);
    let plan = fake.scope.planned.expect("there must be a plan").plan.clone();
    for (given_out, expected) in [(0, 2), (2, 1), (3, 0), (4, 0)] {
        let reservation = stagger::kueue::release::Reservation {
            queue: QueueName::from("batch"),
            flavor: FlavorName::from("a100"),
            resource: ResourceName::from("nvidia.com/gpu"),
            amount: Amount(given_out),
        };
        let scene = Scene {
            now: at(0),
            snapshot: &seen.snapshot,
            plan: &plan,
            observed: &observed,
            reservations: &[reservation],
            loose_since: &BTreeMap::new(),
            forced: &BTreeMap::new(),
        };
        let decision = decide(&scene, Pace::default());
        assert_eq!(decision.orders.len(), expected, "{given_out} are given out");
        assert_eq!(decision.orders.len() + decision.held.len(), 2);
        let told = |why: &str| why.contains("needs 2 nvidia.com/gpu on a100");
        assert!(decision.held.iter().all(|held| told(&held.why)), "{:?}", decision.held);
    }
}

#[test]
fn no_more_is_let_go_at_once_than_the_pace_allows() {
    let (at_once, rest) = (Pace::default().at_once, 40);
    let mut fake = Fake::new();
    fake.quota = 10_000;
    fake = (0..at_once + rest).fold(fake, |fake, number| fake.job(&format!("eval-{number}"), 1));
    let first = fake.turn();
    assert_eq!((first.orders.len(), first.put_off), (at_once, rest));
    assert_eq!(fake.turn().orders.len(), rest);
}

/// A plan made a moment before a release is told a moment after it.
#[test]
fn what_was_let_go_keeps_the_start_that_it_was_let_go_for() {
    let fake = Fake::new().job("eval-1", 2);
    let seen = fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings);
    let carrier = seen.observed[0].carriers[0].clone();
    let note =
        |carrier| Note { carrier, told: Told { start: "2026-11-30T13:00:00Z".to_owned(), plan: "batch".to_owned() } };
    let steps = note(carrier.clone()).steps().expect("a gated job is told stepwise");
    let path = "/metadata/annotations/kueue.x-k8s.io~1admission-gated-by";
    assert!(steps.as_array().expect("steps").contains(&serde_json::json!({"op": "test", "path": path, "value": GATE})));
    let free = Carrier { gates: String::new(), ..carrier };
    assert_eq!(note(free).steps(), None);
}

/// Kueue takes a moment to take the gate off the Workload too; until then a new plan does not speak for the job again.
#[test]
fn what_was_let_go_is_not_told_another_start_while_kueue_passes_that_on() {
    let mut fake = Fake::touchstone();
    let first = fake.turn();
    assert_eq!(first.orders.len(), 2);
    fake.lags = true;
    let told = "2026-11-30T11:59:00+01:00";
    fake.find("eval-1").planned = Some(told.to_owned());
    let second = fake.turn();
    let of_first = second.notes.iter().filter(|note| note.carrier.name == "eval-1").count();
    assert_eq!((of_first, fake.find("eval-1").planned.as_deref()), (0, Some(told)));
}

/// Until Kueue has made or freed its Workload, what was let go counts as if it stood in Kueue's queue: nothing else goes in
/// its place.
#[test]
fn what_was_let_go_counts_before_kueue_has_taken_it_up() {
    for made in [true, false] {
        let mut fake = Fake::touchstone();
        assert_eq!(fake.turn().orders.len(), 2);
        fake.lags = true;
        fake.workloads = made;
        // The others are due, too.
        fake.scope.planned = None;
        fake.scope.inherited = Vec::new();
        let turn = fake.turn();
        let again: Vec<&str> = turn.orders.iter().map(|order| order.key.name()).collect();
        assert!(again.is_empty(), "{again:?} with the Workloads made: {made}");
    }
}

/// While its patch is on the way, work counts as let go, so that the next look gives the next orders and no quota twice.
#[test]
fn what_is_on_its_way_is_not_ordered_again_and_what_follows_is_in_planned_order() {
    let mut fake = Fake::touchstone();
    fake.quota = 6;
    let mut planned = Fake::touchstone();
    planned.quota = 8;
    planned.turn();
    let plan = planned.scope.planned.expect("there must be a plan").plan.clone();
    let mut seen = fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings);
    let pace = Pace { at_once: 1, ..Pace::default() };
    let mut went = Vec::new();
    loop {
        let key = WorkloadKey::new("evals", "none");
        let decision = free_for(0, &key, &seen, &plan, |scene| decide(scene, pace));
        let Some(order) = decision.orders.first() else {
            let held: Vec<&str> = decision.held.iter().map(|held| held.key.name()).collect();
            assert_eq!(held, ["eval-4"], "six GPUs are enough for three");
            break;
        };
        let told = Told { start: "2026-11-30T12:00:00+01:00".to_owned(), plan: "main".to_owned() };
        for target in &order.targets {
            for one in &mut seen.observed {
                assert_eq!(target.foresee(Some(&told), one), one.key == order.key);
            }
        }
        let one = seen.observed.iter().find(|one| one.key == order.key).expect("it is observed");
        assert!(one.is_let_go() && one.is_free() && one.planned_start() == Some(at(0)), "{one:?}");
        went.push(order.key.name().to_owned());
    }
    assert_eq!(went, ["eval-1", "eval-2", "eval-3"]);
}

/// What is foreseen is what is seen once it is carried out.
#[test]
fn what_is_foreseen_of_an_order_is_what_comes_of_it() {
    let mut fake = Fake::touchstone();
    let look = |fake: &Fake| fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings).observed;
    let mut foreseen = look(&fake);
    let turn = fake.turn();
    for order in &turn.orders {
        for target in &order.targets {
            let of = foreseen.iter_mut().map(|one| target.foresee(order.told.as_ref(), one)).filter(|its| *its).count();
            assert_eq!(of, 1, "an object is one workload's");
        }
    }
    let orders: Vec<_> = turn.orders.iter().map(|order| &order.key).collect();
    let came = look(&fake);
    let both: Vec<_> = foreseen.iter().zip(&came).filter(|(one, _)| orders.contains(&&one.key)).collect();
    assert_eq!(both.len(), 2);
    for (one, came) in both {
        assert_eq!(one.carriers, came.carriers);
        assert!(came.is_free() && came.is_let_go());
    }
}

/// kueue#11372, kueue#13374: work that was queued and that Kueue makes no Workload of would wait without a word.
#[test]
fn work_that_kueue_makes_no_workload_of_is_told() {
    let mut fake = Fake::touchstone();
    fake.turn();
    fake.workloads = false;
    let rows = fake.rows();
    let seen = fake.scope.look(&mut rows.iter(), at(0), &fake.settings);
    let plan = fake.scope.planned.as_ref().expect("there must be a plan").plan.clone();
    let free = WorkloadKey::new("evals", "eval-1");
    for (passed, expected) in [(9, 0), (10, 1)] {
        let troubles = free_for(passed, &free, &seen, &plan, |scene| watch(scene, Pace::default()));
        assert_eq!(troubles.len(), expected, "after {passed} s: {troubles:?}");
        assert!(troubles.iter().all(|it| it.key == free && it.kind == TroubleKind::NoWorkload));
    }
}
