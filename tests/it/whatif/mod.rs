//! Buy or stagger: the touchstone's figures, the laws of rows and pools, and the smallest pool against trying everything.

mod money;
mod pools;
mod tornado;

use stagger::kueue::{SimOptions, simulate};
use stagger::plan::proposal::{Plan, Verdict};
use stagger::plan::snapshot::{Policy, Snapshot};
use stagger::plan::summary::{Ends, verdict};
use stagger::plan::watch::Unwatched;
use stagger::plan::whatif::change::{Edit, EditKind, NewPrice};
use stagger::plan::whatif::verdict::Kind;
use stagger::plan::whatif::{AloneRun, Basis, Change, Question, Row, Tools, WhatIf, adopt, compare, growth, pool};
use stagger::plan::{conflict, curve, probe, propose};
use stagger::units::{Amount, Money};

use crate::given::{A100, Given, at, given, touchstone};
use crate::tiny;

/// Steps that settle a tiny problem.
pub fn steps() -> Policy {
    Policy { step_limit: Some(20_000), ..Policy::default() }
}

fn solve(snapshot: &Snapshot, policy: &Policy) -> Plan {
    propose(snapshot, policy, &Unwatched)
}

fn look(snapshot: &Snapshot, policy: &Policy) -> Plan {
    probe(snapshot, policy, &Unwatched)
}

pub fn alone(snapshot: &Snapshot) -> AloneRun {
    let simulation = simulate(snapshot, &SimOptions::default());
    let in_time = snapshot.workloads.iter().zip(&simulation.runs).map(|(workload, run)| {
        let ends = run.end.zip(run.end_p90).map(|(p50, p90)| Ends { p50, p90 });
        ends.is_some() && matches!(verdict(workload, true, ends), Verdict::OnTime | Verdict::NoDeadline)
    });
    AloneRun { summary: simulation.summary(snapshot), demand: curve::Baseline::default(), in_time: in_time.collect() }
}

fn asked_with(snapshot: &Snapshot, policy: &Policy, changes: &[Change]) -> WhatIf {
    let mut plan = solve(snapshot, policy);
    let limits = conflict::Limits::for_workloads(snapshot.workloads.len());
    plan.infeasible = conflict::conflicts(snapshot, policy, &plan, &solve, &limits);
    let question = Question { snapshot, policy, plan: &plan, changes, measured: None, own: &[] };
    compare(
        &question,
        &Tools { solve: &solve, probe: &look, alone: &alone, watch: &Unwatched, limit_millis: None, begins: &|_| {} },
    )
}

fn asked(given: Given) -> WhatIf {
    asked_with(&given.snapshot, &steps(), &[])
}

fn row(what_if: &WhatIf, basis: Basis) -> &Row {
    what_if.rows.iter().find(|row| row.basis == basis).expect("the row must be there")
}

fn peak(row: &Row) -> i64 {
    row.summary.peak[0].peak.0
}

fn only_pool(what_if: &WhatIf) -> (i64, bool) {
    let [pool] = what_if.smallest.per_pool.as_slice() else { panic!("one pool, not {:?}", what_if.smallest) };
    (pool.quantity.map_or(-1, |quantity| quantity.0), pool.proven)
}

#[test]
fn the_touchstone_buys_nothing() {
    let what_if = asked(touchstone().price(A100, 2));
    assert_eq!(what_if.verdict.kind, Kind::DontBuy);
    assert_eq!(
        what_if.verdict.sentence,
        "Do not buy. Staggering meets all 4 deadlines with the 4 GPUs you have; started at once they would need 8."
    );
    assert!(what_if.verdict.confidence.proven);
    assert!(what_if.verdict.addition.is_empty() && what_if.verdict.relaxation.is_none());
    assert_eq!(peak(row(&what_if, Basis::AllAtOnce)), 8);
    let staggered = row(&what_if, Basis::Staggered);
    assert_eq!((staggered.summary.on_time, peak(staggered), staggered.ends_at()), (4, 4, Some(at(120))));
    assert_eq!(only_pool(&what_if), (2, true));
    let smallest = row(&what_if, Basis::SmallestPool);
    assert_eq!((smallest.summary.on_time, smallest.ends_at()), (4, Some(at(240))));
    // The work costs the same whenever it runs; what is idle differs: 40, 20 and 10 GPU-hours less the 8 of work.
    for row in &what_if.rows {
        assert_eq!(row.summary.cost.map(Money::decimal).as_deref(), Some("16.00"), "{}", row.option);
    }
    let idle = |basis| row(&what_if, basis).idle.gpu_seconds / 3600;
    assert_eq!((idle(Basis::AllAtOnce), idle(Basis::Staggered), idle(Basis::SmallestPool)), (32, 12, 2));
    assert_eq!(staggered.cost_per_outcome.map(Money::decimal).as_deref(), Ok("4.00"));
    assert_eq!(staggered.fully_loaded.map(Money::decimal).as_deref(), Ok("10.00"));
    // With 3 GPUs or 2 all four are met; with 1 nothing runs.
    assert_eq!(staggered.marginal.as_ref().map(|last| last.on_time), Some(0));
    assert_eq!(smallest.marginal.as_ref().map(|last| (last.on_time, last.hard_value)), Some((4, 4)));
}

pub fn half_past_one() -> Given {
    let mut given = given().queue("batch", 4).price(A100, 2);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(90));
    }
    given
}

#[test]
fn a_gpu_more_never_makes_a_level_worse() {
    for seed in 100..130 {
        let (snapshot, policy) = tiny::any(seed);
        let policy = Policy { step_limit: Some(1_000), ..policy };
        let add = |quantity: i64| Change {
            name: format!("add {quantity}"),
            edits: vec![Edit {
                kind: EditKind::Add,
                node: pool::root_of(&snapshot, snapshot.workloads[0].queue),
                cell: A100,
                quantity: Amount(quantity),
                stretches: Vec::new(),
            }],
            ..Change::default()
        };
        let what_if = asked_with(&snapshot, &policy, &[add(3), add(1), add(2)]);
        let rank = |row: &Row| adopt::rank(&row.snapshot, row.plan.as_ref().expect("an option must be planned"));
        let of = |name: &str| rank(what_if.rows.iter().find(|row| row.option == name).expect("the row must be there"));
        let ranks = [of("staggered"), of("add 1"), of("add 2"), of("add 3")];
        assert!(ranks.windows(2).all(|pair| pair[1] <= pair[0]), "seed {seed}: {ranks:?}");
        let points = what_if.curve.map_or_else(Vec::new, |curve| curve.points);
        assert!(points.windows(2).all(|pair| pair[1].rank <= pair[0].rank), "seed {seed}: {points:?}");
    }
}

#[test]
fn a_price_changes_no_deadline() {
    for seed in 200..230 {
        let (snapshot, policy) = tiny::any(seed);
        let policy = Policy { step_limit: Some(1_000), ..policy };
        let price = |euros: i128| Change {
            name: format!("price {euros}"),
            prices: vec![NewPrice { cell: A100, per_unit_hour: Money { nanos: euros * 1_000_000_000 } }],
            ..Change::default()
        };
        let what_if = asked_with(&snapshot, &policy, &[price(0), price(9)]);
        let counts = |row: &Row| (row.summary.on_time, row.summary.at_risk, row.summary.late);
        let today = counts(row(&what_if, Basis::Staggered));
        for row in what_if.rows.iter().filter(|row| row.basis == Basis::Named) {
            assert_eq!(counts(row), today, "seed {seed}: {}", row.option);
        }
    }
}

#[test]
fn growth_is_spread_evenly_and_adds_up() {
    let snapshot = touchstone().snapshot;
    let names = |percent: i32| -> Vec<String> {
        let grown = growth::grown(&snapshot, percent);
        assert_eq!(grown.workloads.len(), growth::count(snapshot.workloads.len(), percent), "{percent}");
        grown.workloads.iter().map(|workload| workload.key.name().to_owned()).collect()
    };
    assert_eq!(names(0), ["eval-1", "eval-2", "eval-3", "eval-4"]);
    assert_eq!(names(50), ["eval-1", "eval-2", "eval-2+1", "eval-3", "eval-4", "eval-4+1"]);
    assert_eq!(names(-50), ["eval-2", "eval-4"]);
    assert_eq!(names(-100), Vec::<String>::new());
    assert_eq!(names(200).len(), 12);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let text = || {
        let (snapshot, policy) = tiny::any(7);
        let what_if = asked_with(&snapshot, &Policy { step_limit: Some(1_000), ..policy }, &[]);
        stagger::plan::whatif::document::to_json(&what_if, "test")
    };
    assert_eq!(text(), text());
}

#[test]
fn a_stop_keeps_the_baselines_and_names_what_is_missing() {
    struct Stopped;
    impl stagger::plan::watch::Watch for Stopped {
        fn elapsed_millis(&self) -> u64 {
            0
        }
        fn stopped(&self) -> bool {
            true
        }
        fn progress(&self, _progress: &stagger::plan::watch::Progress) {}
    }
    let snapshot = half_past_one().snapshot;
    let policy = steps();
    let plan = solve(&snapshot, &policy);
    let grow = Change { name: "grow 20".to_owned(), growth_percent: 20, ..Change::default() };
    let changes = [grow];
    let question =
        Question { snapshot: &snapshot, policy: &policy, plan: &plan, changes: &changes, measured: None, own: &[] };
    let what_if = compare(
        &question,
        &Tools { solve: &solve, probe: &look, alone: &alone, watch: &Stopped, limit_millis: None, begins: &|_| {} },
    );
    assert_eq!(
        what_if.rows.iter().map(|row| row.option.as_str()).collect::<Vec<_>>(),
        ["allAtOnce", "kueueAlone", "staggered"]
    );
    assert!(what_if.left_out.contains(&"grow 20".to_owned()) && what_if.left_out.contains(&"smallestPool".to_owned()));
    assert!(!what_if.verdict.confidence.proven);
    assert!(what_if.verdict.sentence.contains("The search stopped before"), "{}", what_if.verdict.sentence);
}
