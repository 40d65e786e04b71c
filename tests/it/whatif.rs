//! Buy or stagger: the touchstone's figures, the laws of rows and pools, and the smallest pool against trying everything.

use std::collections::BTreeMap;

use stagger::kueue::{SimOptions, simulate};
use stagger::plan::proposal::{Fix, Plan, Verdict};
use stagger::plan::propose;
use stagger::plan::snapshot::{DeadlinePolicy, Interruption, Objective, Policy, Snapshot};
use stagger::plan::summary::{Ends, verdict};
use stagger::plan::watch::Unwatched;
use stagger::plan::whatif::change::{Edit, EditKind, NewPrice};
use stagger::plan::whatif::measured::{Measured, NoUnitCost, Ratio, Runtime, cost_per_outcome};
use stagger::plan::whatif::tornado::Factor;
use stagger::plan::whatif::verdict::Kind;
use stagger::plan::whatif::{
    AloneRun, Basis, Change, Question, Row, Tools, WhatIf, adopt, break_even::Fraction, compare, growth, pool,
};
use stagger::plan::{conflict, curve};
use stagger::units::{Amount, Money, Seconds};

use crate::given::{A100, Given, at, given, touchstone};
use crate::{oracle, tiny};

/// Steps that settle a tiny problem.
fn steps() -> Policy {
    Policy { step_limit: Some(20_000), ..Policy::default() }
}

fn solve(snapshot: &Snapshot, policy: &Policy) -> Plan {
    propose(snapshot, policy, &Unwatched)
}

fn alone(snapshot: &Snapshot) -> AloneRun {
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
    compare(&question, &Tools { solve: &solve, alone: &alone, watch: &Unwatched, begins: &|_| {} })
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

fn half_past_one() -> Given {
    let mut given = given().queue("batch", 4).price(A100, 2);
    for name in ["eval-1", "eval-2", "eval-3", "eval-4"] {
        given = given.job(name, 2).minutes(60).due(at(90));
    }
    given
}

#[test]
fn half_past_one_is_relaxed_or_rented() {
    let what_if = asked(half_past_one());
    assert_eq!(what_if.verdict.kind, Kind::RelaxOrBuy, "{}", what_if.verdict.sentence);
    assert_eq!(only_pool(&what_if), (8, true));
    assert_eq!(least_pool(&[60; 4], false), 8);
    let [bought] = what_if.verdict.addition.as_slice() else { panic!("{:?}", what_if.verdict.addition) };
    assert_eq!((bought.quantity, bought.from, bought.to, bought.proven), (Amount(4), at(30), at(60), true));
    assert_eq!(bought.cost.map(Money::decimal).as_deref(), Some("4.00"));
    let relaxation = what_if.verdict.relaxation.expect("half an hour is a way");
    let by: Vec<Seconds> = relaxation
        .fixes
        .iter()
        .map(|fix| match fix {
            Fix::MoveDeadline { by, .. } => *by,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(by, [Seconds(1800), Seconds(1800)]);
    assert!(what_if.verdict.confidence.proven && what_if.verdict.confidence.bound >= Some(1));
}

#[test]
fn what_starts_over_helps_no_pool_and_what_resumes_does() {
    let mut restartable = half_past_one();
    restartable = restartable.tolerates(Interruption::Restartable { cost: Seconds::ZERO, max: 3 });
    assert_eq!(only_pool(&asked(restartable)), (8, true));
    // Half an hour before the others overlap, and half an hour after: six are enough, if one of them waits for it.
    let resumable = Interruption::Checkpointable { interval: Seconds::ZERO, cost: Seconds::ZERO, max: 3 };
    assert_eq!(least_pool(&[60; 4], true), 6);
    let what_if = asked(half_past_one().tolerates(resumable));
    assert_eq!(only_pool(&what_if), (6, true));
    let smallest = row(&what_if, Basis::SmallestPool);
    assert_eq!((smallest.summary.on_time, peak(smallest)), (4, 6));
    let pieces = smallest.plan.as_ref().map(|plan| plan.releases.iter().map(|release| release.pieces.len()).max());
    assert_eq!(pieces, Some(Some(2)), "the one that may be split is");
}

#[test]
fn the_smallest_pool_around_a_job_that_resumes_is_the_one_that_trying_everything_finds() {
    let resumable = Interruption::Checkpointable { interval: Seconds::ZERO, cost: Seconds::ZERO, max: 7 };
    for (first, second, third, last) in
        [(60, 60, 30, 60), (30, 60, 60, 30), (60, 30, 30, 60), (90, 30, 60, 60), (60, 60, 60, 90), (30, 30, 60, 60)]
    {
        let minutes = [first, second, third, last];
        let mut given = given().queue("batch", 4);
        for (number, minutes) in minutes.iter().enumerate() {
            given = given.job(&format!("eval-{number}"), 2).minutes(*minutes).due(at(90));
        }
        let what_if = asked(given.tolerates(resumable));
        assert_eq!(only_pool(&what_if), (least_pool(&minutes, true), true), "{minutes:?}");
    }
}

/// The least pool for 2-GPU jobs of these minutes within 90, by trying all: starts on the half hour, and for the last job,
/// if it resumes for nothing, any half hours.
fn least_pool(minutes: &[i64], last_resumes: bool) -> i64 {
    fn peaks(left: &[i64], usage: [i64; 3], last_resumes: bool) -> i64 {
        let Some((first, rest)) = left.split_first() else { return usage.into_iter().max().unwrap_or(0) };
        let slots = usize::try_from(first / 30).unwrap_or(0);
        let sets = (0_u8..8).filter(|set| {
            let held: Vec<usize> = (0..3).filter(|slot| set & (1 << slot) != 0).collect();
            let apart = held.windows(2).any(|pair| pair[1] != pair[0] + 1);
            held.len() == slots && (!apart || (rest.is_empty() && last_resumes))
        });
        let with = |set: u8| {
            let mut usage = usage;
            (0..3).filter(|slot| set & (1 << slot) != 0).for_each(|slot| usage[slot] += 2);
            peaks(rest, usage, last_resumes)
        };
        sets.map(with).min().unwrap_or(i64::MAX)
    }
    peaks(minutes, [0; 3], last_resumes)
}

#[test]
fn a_deadline_that_no_pool_meets_is_no_reason_to_buy() {
    let given =
        given().queue("batch", 4).job("eval", 2).minutes(60).due(at(90)).job("long", 2).minutes(120).due(at(90));
    let what_if = asked(given);
    assert_eq!(what_if.verdict.kind, Kind::DontBuy, "{}", what_if.verdict.sentence);
    assert!(what_if.verdict.sentence.contains("No number of GPUs meets the deadline of evals/long"));
    assert_eq!(only_pool(&what_if), (2, true));
}

#[test]
fn work_too_large_for_any_queue_is_bought_for() {
    let what_if = asked(given().queue("batch", 4).job("big", 6).minutes(60).due(at(90)));
    assert_eq!(what_if.verdict.kind, Kind::Buy, "{}", what_if.verdict.sentence);
    assert_eq!(only_pool(&what_if), (6, true));
    assert_eq!(what_if.verdict.addition[0].quantity, Amount(2));
}

/// Only what hard deadlines ask for that some pool could meet.
fn attainable(snapshot: &Snapshot, policy: &Policy) -> Snapshot {
    let mut hard = snapshot.clone();
    hard.workloads.retain(|workload| {
        let due = workload.due.as_ref().filter(|due| due.policy == DeadlinePolicy::Hard);
        let shortest = workload.options.iter().map(|option| option.held(policy.promise)).min();
        due.zip(shortest).is_some_and(|(due, held)| workload.earliest_start.max(snapshot.now) + held <= due.at)
    });
    hard
}

/// Trying everything: whether the snapshot's hard deadlines can all be met.
fn is_enough(snapshot: &Snapshot, policy: &Policy) -> bool {
    let policy = Policy { objective: Objective::EarliestFinish, ..policy.clone() };
    snapshot.workloads.is_empty()
        || oracle::optimum(snapshot, &policy)
            .is_some_and(|(levels, _)| levels.first().is_some_and(|level| level.1 == 0))
}

#[test]
fn the_smallest_pool_is_the_one_that_trying_everything_finds() {
    let (mut compared, mut proven) = (0, 0);
    for seed in 0..30 {
        let (snapshot, policy) = tiny::any(seed);
        let policy = Policy { step_limit: Some(3_000), ..policy };
        println!("seed {seed}");
        let what_if = asked_with(&snapshot, &policy, &[]);
        let hard = attainable(&snapshot, &policy);
        for found in &what_if.smallest.per_pool {
            let axis = what_if.axes.iter().find(|axis| axis.flavor == found.flavor).expect("the pool must be an axis");
            let sizes = (0..=axis.ample.0).map(Amount);
            let least = sizes.clone().find(|size| is_enough(&pool::resized(&hard, axis, *size), &policy));
            assert_eq!(found.quantity, least, "seed {seed}: {found:?}");
            if let Some(least) = least {
                assert!(found.lower_bound <= least, "seed {seed}: {found:?}");
                compared += 1;
                proven += i32::from(found.proven);
            }
        }
    }
    assert!(compared > 20 && proven * 10 >= compared * 9, "{proven} of {compared} proven");
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
fn break_even_is_an_exact_fraction() {
    let fraction = Fraction::new(110, 250).expect("a positive denominator must do");
    assert_eq!((fraction.numerator, fraction.denominator, fraction.percent()), (11, 25, "44 %".to_owned()));
    assert_eq!(Fraction::new(1, 0), None);
    let given = touchstone().price(A100, 2);
    let policy = steps();
    let plan = solve(&given.snapshot, &policy);
    let own = [(A100, Money { nanos: 1_500_000_000 })];
    let question =
        Question { snapshot: &given.snapshot, policy: &policy, plan: &plan, changes: &[], measured: None, own: &own };
    let what_if = compare(&question, &Tools { solve: &solve, alone: &alone, watch: &Unwatched, begins: &|_| {} });
    let [one] = what_if.verdict.break_even.as_slice() else { panic!("{:?}", what_if.verdict.break_even) };
    // 1.50 ÷ 2.00; 8 of 4 × 5 GPU-hours; 2.00 × 8 ÷ 20.
    assert_eq!(one.utilisation.map(Fraction::percent).as_deref(), Some("75 %"));
    assert_eq!(one.planned.percent(), "40 %");
    assert_eq!(one.own_below.map(Money::decimal).as_deref(), Some("0.80"));
}

#[test]
fn a_measured_outcome_costs_its_retries_and_its_failures() {
    let money = |euros: i128| Some(Money { nanos: euros * 1_000_000_000 });
    let in_time = |count: u64| BTreeMap::from([(None, count)]);
    assert_eq!(cost_per_outcome(money(16), &in_time(4), None).map(Money::decimal).as_deref(), Ok("4.00"));
    // 100 attempts at 80 outcomes of which 60 are good: 120 planned once are 150 with retries, over 80 × 60 ÷ 80.
    let measured = Measured { total: Ratio { attempts: 100, outcomes: 80, good: 60 }, ..Measured::default() };
    let cost = cost_per_outcome(money(120), &in_time(80), Some(&measured));
    assert_eq!(cost.map(Money::decimal).as_deref(), Ok("2.50"));
    assert_eq!(cost_per_outcome(money(16), &in_time(0), None), Err(NoUnitCost::NothingInTime));
    assert_eq!(cost_per_outcome(None, &in_time(4), None), Err(NoUnitCost::NoPrice));
    assert_eq!(cost_per_outcome(money(16), &in_time(4), Some(&Measured::default())), Err(NoUnitCost::NothingVerified));
}

#[test]
fn the_tornado_moves_one_assumption_at_a_time() {
    let what_if = asked(half_past_one());
    let tornado = what_if.tornado.expect("nothing stopped it");
    assert_eq!((tornado.base.needed, tornado.base.there, tornado.base.late), (Some(Amount(8)), Amount(4), 2));
    let bar = |factor: Factor| tornado.bars.iter().find(|bar| bar.factor == factor).expect("every factor has a bar");
    // 48 of 90 minutes still overlap; 45 would not.
    assert_eq!(bar(Factor::Runtime).easier.needed, Some(Amount(8)));
    // A fifth of four is none more and one fewer.
    assert_eq!((bar(Factor::Load).easier.needed, bar(Factor::Load).harder.needed), (Some(Amount(6)), Some(Amount(8))));
    // 72 of 90 minutes overlap all the more; with a fifth less time, 72 minutes hold each job only alone.
    let (runtime, deadlines) = (bar(Factor::Runtime), bar(Factor::Deadlines));
    assert_eq!((runtime.harder.needed, deadlines.harder.needed), (Some(Amount(8)), Some(Amount(8))));
    // 90 minutes and 20 % more are 108: still no two after each other.
    assert_eq!(bar(Factor::Deadlines).easier.needed, Some(Amount(8)));
    assert_eq!((bar(Factor::Gpus).easier.there, bar(Factor::Gpus).harder.there), (Amount(5), Amount(3)));
    let price = bar(Factor::Price);
    assert_eq!((price.easier.needed, price.harder.late), (tornado.base.needed, tornado.base.late));
    assert_eq!(price.harder.hourly.map(Money::decimal).as_deref(), Some("9.60"));
}

#[test]
fn an_assumption_that_no_pool_survives_is_not_called_enough() {
    let given = given().queue("batch", 4).job("eval", 2).minutes(80).due(at(90));
    let tornado = asked(given).tornado.expect("nothing stopped it");
    let runtime = tornado.bars.iter().find(|bar| bar.factor == Factor::Runtime).expect("every factor has a bar");
    assert_eq!((runtime.harder.needed, runtime.harder.late, runtime.harder.is_enough()), (None, 1, false));
    assert!(runtime.easier.is_enough() && tornado.base.is_enough());
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
    let what_if = compare(&question, &Tools { solve: &solve, alone: &alone, watch: &Stopped, begins: &|_| {} });
    assert_eq!(
        what_if.rows.iter().map(|row| row.option.as_str()).collect::<Vec<_>>(),
        ["allAtOnce", "kueueAlone", "staggered"]
    );
    assert!(what_if.left_out.contains(&"grow 20".to_owned()) && what_if.left_out.contains(&"smallestPool".to_owned()));
    assert!(!what_if.verdict.confidence.proven);
    assert!(what_if.verdict.sentence.contains("The search stopped before"), "{}", what_if.verdict.sentence);
}
