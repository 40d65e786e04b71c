//! The smallest pool, and the verdict that follows from it.

use stagger::plan::proposal::Fix;
use stagger::plan::snapshot::{DeadlinePolicy, Interruption, Objective, Policy, Snapshot};
use stagger::plan::whatif::verdict::Kind;
use stagger::plan::whatif::{Basis, pool};
use stagger::units::{Amount, Money, Seconds};

use super::{asked, asked_with, half_past_one, only_pool, peak, row};
use crate::given::{at, given};
use crate::{oracle, tiny};

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
