//! Many events, one verdict for every outcome.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stagger::ledger::run::{EndReason, Run};
use stagger::names::WorkloadKey;
use stagger::outcome::evidence::{Evaluator, Event, Evidence, Score, State};
use stagger::outcome::gate::{Comparison, Criterion, Gate};
use stagger::outcome::judge::Due;
use stagger::outcome::settle::{Case, Outcome, Promise, settle};
use stagger::ratio::Ratio;
use stagger::units::{Seconds, Timestamp};

use crate::ledger_fixture::{RunWords, a_run, at};

/// Says at hour `hour` that attempt `attempt` of eval-1 scored `value`.
fn said(id: &str, attempt: u32, hour: i64, value: &str) -> Event {
    Event {
        source: "eval".to_owned(),
        id: id.to_owned(),
        time: (at(hour), 0),
        outcome: "answer-1".to_owned(),
        class: Some("eval-run".to_owned()),
        workload: Some(WorkloadKey::new("evals", "eval-1")),
        attempt: Some(attempt),
        completed_at: Some(at(i64::from(attempt))),
        finish_by: Some(at(2)),
        evidence: Evidence {
            scores: vec![Score {
                name: "accuracy".to_owned(),
                value: Ratio::parse(value).ok(),
                samples: None,
                stderr: None,
            }],
            evaluator: Some(Evaluator { id: "judge".to_owned(), version: None }),
            fingerprint: BTreeMap::new(),
            state: State::Complete,
        },
        units: None,
        supersedes: None,
        place: None,
    }
}

fn a_gate() -> Gate {
    Gate {
        name: "good".to_owned(),
        namespace: "evals".to_owned(),
        class: "eval-run".to_owned(),
        criteria: vec![Criterion {
            name: "accurate".to_owned(),
            metric: "accuracy".to_owned(),
            comparison: Comparison::AtLeast,
            threshold: Ratio::parse("0.8").expect("a decimal"),
            min_samples: None,
        }],
        evaluators: vec![Evaluator { id: "judge".to_owned(), version: None }],
        unverified_after: Some(Seconds(2 * 3600)),
        fingerprint: Vec::new(),
    }
}

fn settled(events: &[Event], runs: &[Run], as_of: Option<Timestamp>) -> Vec<Outcome> {
    settle(&Case { events, gates: &[a_gate()], runs, promises: &BTreeMap::new(), as_of })
}

fn words(outcomes: &[Outcome]) -> Vec<String> {
    let word = |outcome: &Outcome| {
        let event = outcome.event.as_ref().map_or("-", |(_, id)| id.as_str());
        format!("{} {} {} by {event}", outcome.id, outcome.verdict.as_str(), outcome.reason.code())
    };
    outcomes.iter().map(word).collect()
}

#[test]
fn an_outcome_counts_once_whatever_it_took() {
    let events = [said("a", 1, 1, "0.5"), said("b", 2, 2, "0.9"), said("c", 3, 3, "0.9")];
    assert_eq!(words(&settled(&events, &[], None)), ["answer-1 Verified Passed by b"], "attempt 3 would be late");
}

#[test]
fn a_failed_second_attempt_does_not_undo_a_delivery() {
    let events = [said("a", 1, 1, "0.9"), said("b", 2, 2, "0.1")];
    let outcomes = settled(&events, &[], None);
    assert_eq!(words(&outcomes), ["answer-1 Verified Passed by a"]);
    assert_eq!(outcomes[0].attempts.len(), 2);
}

#[test]
fn of_one_attempt_the_newest_evaluation_speaks() {
    let events = [said("a", 1, 1, "0.9"), said("b", 1, 2, "0.1")];
    assert_eq!(words(&settled(&events, &[], None)), ["answer-1 Rejected ThresholdMissed by b"]);
}

#[test]
fn a_superseded_statement_has_no_say() {
    let mut correction = said("c", 2, 3, "0.1");
    correction.supersedes = Some("a".to_owned());
    let events = [said("a", 1, 1, "0.9"), correction.clone()];
    assert_eq!(words(&settled(&events, &[], None)), ["answer-1 Rejected ThresholdMissed by c"]);
    // An earlier statement cannot take back a later one, so there is no circle.
    correction.time = (at(0), 0);
    assert_eq!(words(&settled(&[said("a", 1, 1, "0.9"), correction], &[], None)), ["answer-1 Verified Passed by a"]);
}

#[test]
fn nobody_untrusted_can_take_a_verdict_away() {
    let mut intruder = said("z", 1, 9, "0.1");
    intruder.source = "elsewhere".to_owned();
    intruder.evidence.evaluator = Some(Evaluator { id: "mallory".to_owned(), version: None });
    intruder.supersedes = Some("a".to_owned());
    assert_eq!(words(&settled(&[said("a", 1, 1, "0.9"), intruder], &[], None)), ["answer-1 Verified Passed by a"]);
}

#[test]
fn an_announcement_says_what_was_delivered_and_when() {
    let mut announcement = said("n", 1, 1, "0");
    announcement.evidence.scores.clear();
    announcement.evidence.fingerprint = BTreeMap::from([("model".to_owned(), "m2".to_owned())]);
    announcement.completed_at = Some(at(3));
    let mut evaluation = said("e", 1, 2, "0.9");
    evaluation.completed_at = None;
    let events = [announcement.clone(), evaluation.clone()];
    assert_eq!(words(&settled(&events, &[], None)), ["answer-1 Late CompletedLate by e"]);
    evaluation.evidence.fingerprint = BTreeMap::from([("model".to_owned(), "m1".to_owned())]);
    let mut gate = a_gate();
    gate.fingerprint = vec!["model".to_owned()];
    let events = [announcement, evaluation];
    let case = Case { events: &events, gates: &[gate], runs: &[], promises: &BTreeMap::new(), as_of: None };
    assert_eq!(words(&settle(&case)), ["answer-1 Unverified Stale by e"]);
}

#[test]
fn a_run_that_nobody_spoke_about_is_unverified() {
    let runs = [a_run("silent"), a_run("broken").ended(EndReason::Failed)];
    assert_eq!(words(&settled(&[], &runs, Some(at(2)))), ["evals/silent Unverified NoEvidence by -"]);
    assert_eq!(words(&settled(&[], &runs, Some(at(4)))), ["evals/silent Unverified EvidenceOverdue by -"]);
}

#[test]
fn an_event_without_an_attempt_is_about_the_one_that_succeeded() {
    let runs = [a_run("eval-1").ended(EndReason::Evicted), a_run("eval-1").attempt(2).hours(1, 2)];
    let mut event = said("a", 1, 3, "0.9");
    (event.attempt, event.completed_at) = (None, None);
    let outcomes = settled(&[event], &runs, None);
    assert_eq!((outcomes[0].attempt, outcomes[0].completed_at), (Some(2), Some(at(2))));
}

#[test]
fn a_promise_brings_class_gate_and_due_time() {
    let mut event = said("a", 1, 1, "0.9");
    (event.class, event.finish_by) = (None, None);
    let promise = |due: Due, gate: &str| Promise { due, class: None, expected: None, gate: Some(gate.to_owned()) };
    let with = |promise: Promise| {
        let promises = BTreeMap::from([(WorkloadKey::new("evals", "eval-1"), promise)]);
        let events = [event.clone()];
        words(&settle(&Case { events: &events, gates: &[a_gate()], runs: &[], promises: &promises, as_of: None }))
    };
    assert_eq!(with(promise(Due::At(at(1)), "good")), ["answer-1 Verified Passed by a"]);
    assert_eq!(with(promise(Due::At(at(0)), "good")), ["answer-1 Late CompletedLate by a"]);
    assert_eq!(with(promise(Due::Never, "another")), ["answer-1 Unverified NoGate by a"]);
}

#[test]
fn equal_names_in_two_namespaces_are_two_outcomes() {
    let mut other = said("b", 1, 1, "0.1");
    other.workload = Some(WorkloadKey::new("research", "eval-1"));
    let words = words(&settled(&[said("a", 1, 1, "0.9"), other], &[], None));
    assert_eq!(words, ["answer-1 Verified Passed by a", "answer-1 Unverified NoGate by b"]);
}

proptest! {
    #[test]
    fn the_order_of_events_does_not_matter(
        spec in proptest::collection::vec((1_u32..4, 0_i64..6, 0_u32..10, proptest::option::of(0_usize..8)), 1..8),
        seed in any::<u64>(),
    ) {
        let event = |(at, (attempt, hour, tenths, supersedes)): (usize, &(u32, i64, u32, Option<usize>))| {
            let mut event = said(&format!("e{at}"), *attempt, *hour, &format!("0.{tenths}"));
            event.supersedes = supersedes.map(|other| format!("e{other}"));
            event
        };
        let events: Vec<Event> = spec.iter().enumerate().map(event).collect();
        let mut shuffled = events.clone();
        let mut state = seed;
        for at in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            shuffled.swap(at, usize::try_from(state >> 33).unwrap_or(0) % (at + 1));
        }
        prop_assert_eq!(settled(&events, &[], None), settled(&shuffled, &[], None));
    }
}
