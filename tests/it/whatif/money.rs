//! What an outcome costs, and when owning pays.

use std::collections::BTreeMap;

use stagger::plan::watch::Unwatched;
use stagger::plan::whatif::measured::{self, Measured, NoUnitCost, Runtime, cost_per_outcome};
use stagger::plan::whatif::{Question, Tools, compare};
use stagger::ratio;
use stagger::units::{Money, Seconds};

use super::{alone, look, solve, steps};
use crate::given::{A100, touchstone};

#[test]
fn break_even_is_an_exact_fraction() {
    let fraction = ratio::Ratio::new(110, 250).expect("a positive denominator must do");
    assert_eq!((fraction.numerator(), fraction.denominator(), fraction.percent()), (11, 25, "44 %".to_owned()));
    assert_eq!(ratio::Ratio::new(1, 0), None);
    let given = touchstone().price(A100, 2);
    let policy = steps();
    let plan = solve(&given.snapshot, &policy);
    let own = [(A100, Money { nanos: 1_500_000_000 })];
    let question =
        Question { snapshot: &given.snapshot, policy: &policy, plan: &plan, changes: &[], measured: None, own: &own };
    let what_if = compare(
        &question,
        &Tools { solve: &solve, probe: &look, alone: &alone, watch: &Unwatched, limit_millis: None, begins: &|_| {} },
    );
    let [one] = what_if.verdict.break_even.as_slice() else { panic!("{:?}", what_if.verdict.break_even) };
    // 1.50 ÷ 2.00; 8 of 4 × 5 GPU-hours; 2.00 × 8 ÷ 20.
    assert_eq!(one.utilisation.map(ratio::Ratio::percent).as_deref(), Some("75 %"));
    assert_eq!(one.planned.percent(), "40 %");
    assert_eq!(one.own_below.map(Money::decimal).as_deref(), Some("0.80"));
}

#[test]
fn a_measured_outcome_costs_its_retries_and_its_failures() {
    let money = |euros: i128| Some(Money { nanos: euros * 1_000_000_000 });
    let in_time = |count: u64| BTreeMap::from([(None, count)]);
    assert_eq!(cost_per_outcome(money(16), &in_time(4), None).map(Money::decimal).as_deref(), Ok("4.00"));
    // 100 attempts at 80 outcomes of which 60 are good: 120 planned once are 150 with retries, over 80 × 60 ÷ 80.
    let measured = Measured { total: measured::Ratio { attempts: 100, outcomes: 80, good: 60 }, ..Measured::default() };
    let cost = cost_per_outcome(money(120), &in_time(80), Some(&measured));
    assert_eq!(cost.map(Money::decimal).as_deref(), Ok("2.50"));
    assert_eq!(cost_per_outcome(money(16), &in_time(0), None), Err(NoUnitCost::NothingInTime));
    assert_eq!(cost_per_outcome(None, &in_time(4), None), Err(NoUnitCost::NoPrice));
    assert_eq!(cost_per_outcome(money(16), &in_time(4), Some(&Measured::default())), Err(NoUnitCost::NothingVerified));
}

#[test]
fn learnt_runtimes_replace_declared_ones_where_there_are_enough_samples() {
    let mut snapshot = touchstone().snapshot;
    snapshot.workloads[0].class = Some("eval".to_owned());
    snapshot.workloads[1].class = Some("rare".to_owned());
    let runtime = |samples: u64| Runtime { samples, p50: Seconds(1800), p90: Seconds(2700) };
    let runtimes = BTreeMap::from([("eval".to_owned(), runtime(20)), ("rare".to_owned(), runtime(19))]);
    let (learnt, count) = Measured { runtimes, ..Measured::default() }.with_runtimes(&snapshot);
    let p50 = |at: usize| learnt.workloads[at].options[0].runtime.p50;
    assert_eq!((count, p50(0), p50(1)), (1, Seconds(1800), Seconds(3600)));
    assert_eq!(learnt.workloads[0].options[0].runtime.p90, Seconds(2700));
}
