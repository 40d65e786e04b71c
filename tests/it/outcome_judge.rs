//! One event against one gate: every verdict and every reason.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stagger::outcome::evidence::{Evaluator, Event, Evidence, Score, State};
use stagger::outcome::gate::{Comparison, Criterion, Gate};
use stagger::outcome::judge::{Due, GateFound, judge};
use stagger::outcome::reason::Verdict;
use stagger::ratio::Ratio;
use stagger::units::Timestamp;

fn decimal(text: &str) -> Ratio {
    Ratio::parse(text).expect("the test's number must be a decimal")
}

fn a_score(name: &str, value: &str) -> Score {
    Score { name: name.to_owned(), value: Some(decimal(value)), samples: None, stderr: None }
}

/// Accuracy at least 0.80, completed at 100, due at 200 unless a test says otherwise.
struct Case {
    event: Event,
    gate: Gate,
    due: Due,
    delivered: BTreeMap<String, String>,
    completed: Option<Timestamp>,
}

fn accuracy(value: &str) -> Case {
    let evaluator = Evaluator { id: "judge".to_owned(), version: Some("1.2".to_owned()) };
    Case {
        event: Event {
            source: "eval".to_owned(),
            id: "1".to_owned(),
            time: (Timestamp(150), 0),
            outcome: "o".to_owned(),
            class: Some("eval-run".to_owned()),
            workload: Some("evals/eval-1".into()),
            attempt: Some(1),
            completed_at: Some(Timestamp(100)),
            finish_by: None,
            evidence: Evidence {
                scores: vec![a_score("accuracy", value)],
                evaluator: Some(evaluator),
                fingerprint: BTreeMap::from([("model".to_owned(), "m1".to_owned())]),
                state: State::Complete,
            },
            units: None,
            supersedes: None,
            place: None,
        },
        gate: Gate {
            name: "good".to_owned(),
            namespace: "evals".to_owned(),
            class: "eval-run".to_owned(),
            criteria: vec![criterion("accuracy", Comparison::AtLeast, "0.80")],
            evaluators: Vec::new(),
            unverified_after: None,
            fingerprint: Vec::new(),
        },
        due: Due::At(Timestamp(200)),
        delivered: BTreeMap::new(),
        completed: None,
    }
}

fn criterion(metric: &str, comparison: Comparison, threshold: &str) -> Criterion {
    Criterion {
        name: format!("{metric}-holds"),
        metric: metric.to_owned(),
        comparison,
        threshold: decimal(threshold),
        min_samples: None,
    }
}

impl Case {
    fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn verdict(&self) -> String {
        let (verdict, reason) =
            judge(&self.event, &GateFound::One(&self.gate), &self.due, &self.delivered, self.completed);
        format!("{}: {}", verdict.as_str(), reason.message())
    }
}

#[track_caller]
fn check(case: Case, expected: &str) {
    assert_eq!(case.verdict(), expected);
}

#[test]
fn good_and_on_time_is_verified() {
    check(accuracy("0.91"), "Verified: every criterion holds and it came in time");
    check(accuracy("0.80"), "Verified: every criterion holds and it came in time");
    check(
        accuracy("0.91").with(|case| case.due = Due::At(Timestamp(100))),
        "Verified: every criterion holds and it came in time",
    );
    check(accuracy("0.91").with(|case| case.due = Due::Never), "Verified: every criterion holds and it came in time");
}

#[test]
fn good_but_after_the_due_time_is_late() {
    check(
        accuracy("0.91").with(|case| case.due = Due::At(Timestamp(40))),
        "Late: completed 1 min after its due time 1970-01-01T00:00:40Z",
    );
}

#[test]
fn quality_is_judged_before_time() {
    let late_and_bad = accuracy("0.5").with(|case| case.due = Due::At(Timestamp(40)));
    check(late_and_bad, "Rejected: accuracy-holds: accuracy is 0.5, not at least 0.8");
}

#[test]
fn a_criterion_has_a_direction() {
    let latency = |value: &str| {
        accuracy("0.9").with(|case| {
            case.gate.criteria.push(criterion("latency", Comparison::AtMost, "2.5"));
            case.event.evidence.scores.push(a_score("latency", value));
        })
    };
    check(latency("2.5"), "Verified: every criterion holds and it came in time");
    check(latency("2.500001"), "Rejected: latency-holds: latency is 2.500001, not at most 2.5");
}

#[test]
fn the_events_own_due_time_goes_before_the_promise() {
    let case = accuracy("0.9").with(|case| case.event.finish_by = Some(Timestamp(99)));
    check(case, "Late: completed 1 s after its due time 1970-01-01T00:01:39Z");
}

#[test]
fn too_few_samples_prove_nothing_in_either_direction() {
    let samples = |value: &str, n: Option<u64>| {
        accuracy(value).with(|case| {
            case.gate.criteria[0].min_samples = Some(100);
            case.event.evidence.scores[0].samples = n;
        })
    };
    check(samples("0.95", Some(99)), "Unverified: accuracy rests on 99 samples of at least 100");
    check(samples("0.10", Some(99)), "Unverified: accuracy rests on 99 samples of at least 100");
    check(
        samples("0.95", None),
        "Unverified: accuracy does not say on how many samples it rests; at least 100 are needed",
    );
    check(samples("0.95", Some(100)), "Verified: every criterion holds and it came in time");
}

#[test]
fn a_bound_that_does_not_clear_the_threshold_verifies_nothing() {
    let stderr = |value: &str, stderr: &str| {
        accuracy(value).with(|case| case.event.evidence.scores[0].stderr = Some(decimal(stderr)))
    };
    // 0.83 − 1.644854 × 0.02 = 0.79710: across; with 0.018 it is 0.80039: clear.
    check(
        stderr("0.83", "0.02"),
        "Unverified: accuracy 0.83 does not show at least 0.8 with 95 % confidence (normal bound from its stderr)",
    );
    check(stderr("0.83", "0.018"), "Verified: every criterion holds and it came in time");
    check(stderr("0.79", "0.001"), "Rejected: accuracy-holds: accuracy is 0.79, not at least 0.8");
    let samples = |value: &str, n: u64| accuracy(value).with(|case| case.event.evidence.scores[0].samples = Some(n));
    // Wilson: (0.05)²·n ≥ 2.705545 × 0.16 from n = 174 on.
    check(
        samples("0.85", 173),
        "Unverified: accuracy 0.85 does not show at least 0.8 with 95 % confidence (Wilson bound from its samples)",
    );
    check(samples("0.85", 174), "Verified: every criterion holds and it came in time");
    let upper = accuracy("0.9").with(|case| {
        case.gate.criteria = vec![criterion("toxicity", Comparison::AtMost, "0.01")];
        case.event.evidence.scores = vec![Score { samples: Some(200), ..a_score("toxicity", "0.005") }];
    });
    check(
        upper,
        "Unverified: toxicity 0.005 does not show at most 0.01 with 95 % confidence (Wilson bound from its samples)",
    );
}

#[test]
fn a_score_that_is_no_proportion_is_taken_as_it_stands() {
    let case = accuracy("0.9").with(|case| {
        case.gate.criteria = vec![criterion("perplexity", Comparison::AtMost, "12")];
        case.event.evidence.scores = vec![Score { samples: Some(500), ..a_score("perplexity", "11.9") }];
    });
    check(case, "Verified: every criterion holds and it came in time");
}

#[test]
fn what_is_missing_is_named() {
    let missing = accuracy("0.9").with(|case| case.event.evidence.scores[0].name = "f1".to_owned());
    check(missing, "Unverified: the evidence has no score accuracy");
    let no_value = accuracy("0.9").with(|case| case.event.evidence.scores[0].value = None);
    check(no_value, "Unverified: the score accuracy has no value");
    let nothing = accuracy("0.9").with(|case| case.event.evidence.scores.clear());
    check(nothing, "Unverified: no evaluation has reported on it");
    let ambiguous = accuracy("0.9").with(|case| {
        case.event.evidence.scores = vec![a_score("a/accuracy,none", "0.9"), a_score("b/accuracy", "0.9")];
    });
    check(ambiguous, "Unverified: accuracy fits several scores: a/accuracy,none, b/accuracy");
    let no_criteria = accuracy("0.9").with(|case| case.gate.criteria.clear());
    check(no_criteria, "Unverified: QualityGate good has no criteria");
    let when = accuracy("0.9").with(|case| case.event.completed_at = None);
    check(when, "Unverified: nobody says when it was completed");
    let due = accuracy("0.9").with(|case| case.due = Due::Unknown("its creation is not known".to_owned()));
    check(due, "Unverified: its due time is not known: its creation is not known");
}

#[test]
fn the_end_of_the_run_stands_in_for_a_missing_completion() {
    let case = accuracy("0.9").with(|case| {
        case.event.completed_at = None;
        case.completed = Some(Timestamp(201));
    });
    check(case, "Late: completed 1 s after its due time 1970-01-01T00:03:20Z");
}

#[test]
fn a_score_is_found_by_its_full_name_first() {
    let case = accuracy("0.9").with(|case| {
        case.gate.criteria[0].metric = "gsm8k/exact_match,strict-match".to_owned();
        case.event.evidence.scores = vec![
            a_score("gsm8k/exact_match,strict-match", "0.81"),
            a_score("gsm8k/exact_match,flexible-extract", "0.2"),
        ];
    });
    check(case, "Verified: every criterion holds and it came in time");
}

#[test]
fn only_trusted_evaluators_count() {
    let trusting = |id: &str, version: Option<&str>| {
        accuracy("0.9").with(|case| {
            case.gate.evaluators = vec![Evaluator { id: id.to_owned(), version: version.map(str::to_owned) }];
        })
    };
    check(trusting("judge", None), "Verified: every criterion holds and it came in time");
    check(trusting("judge", Some("1.2")), "Verified: every criterion holds and it came in time");
    check(trusting("judge", Some("1.3")), "Unverified: the gate does not trust judge@1.2");
    check(trusting("other", None), "Unverified: the gate does not trust judge@1.2");
    let nameless = trusting("judge", None).with(|case| case.event.evidence.evaluator = None);
    check(nameless, "Unverified: the gate does not trust an evaluator without a name");
}

#[test]
fn an_evaluation_that_did_not_run_its_course_proves_nothing() {
    let cases = [
        (State::Limited { used: Some(10), of: Some(100) }, "the evaluation was limited to 10 of 100 samples"),
        (State::Limited { used: None, of: None }, "the evaluation was limited to some of the samples"),
        (State::Incomplete { used: 99, of: 100 }, "the evaluation finished 99 of 100 samples"),
        (State::Cancelled, "the evaluation was cancelled"),
        (State::Failed, "the evaluation ended with an error"),
        (State::Unfinished, "the evaluation has not ended"),
        (State::Invalidated, "the evaluation was invalidated"),
    ];
    for (state, expected) in cases {
        for value in ["0.99", "0.01"] {
            let case = accuracy(value).with(|case| case.event.evidence.state = state.clone());
            check(case, &format!("Unverified: {expected}"));
        }
    }
}

#[test]
fn a_changed_fingerprint_field_is_named() {
    let gated = |delivered: &[(&str, &str)]| {
        accuracy("0.9").with(|case| {
            case.gate.fingerprint = vec!["model".to_owned()];
            case.delivered =
                delivered.iter().map(|(field, value)| ((*field).to_owned(), (*value).to_owned())).collect();
        })
    };
    check(gated(&[("model", "m1"), ("dataset", "d2")]), "Verified: every criterion holds and it came in time");
    check(gated(&[("model", "m2")]), "Unverified: stale: model was m1 when evaluated and is m2 in what was delivered");
    let silent = gated(&[]).with(|case| case.event.evidence.fingerprint.clear());
    check(silent, "Unverified: the evidence does not say which model was evaluated");
}

#[test]
fn without_a_gate_or_with_several_nobody_can_say() {
    let case = accuracy("0.9");
    let said = |gate: &GateFound<'_>| {
        let (verdict, reason) = judge(&case.event, gate, &case.due, &case.delivered, None);
        (verdict, reason.message())
    };
    let none = (Verdict::Unverified, "no QualityGate judges outcomes of class eval-run".to_owned());
    assert_eq!(said(&GateFound::None), none);
    let several = (Verdict::Unverified, "several QualityGates judge its class: a, b".to_owned());
    assert_eq!(said(&GateFound::Several(vec!["a", "b"])), several);
}

#[test]
fn a_failed_criterion_decides_whatever_else_is_missing() {
    let case = accuracy("0.5").with(|case| case.gate.criteria.insert(0, criterion("f1", Comparison::AtLeast, "0.5")));
    check(case, "Rejected: accuracy-holds: accuracy is 0.5, not at least 0.8");
}

proptest! {
    /// Against the textbook formula in floating point, away from the edge.
    #[test]
    fn the_wilson_bound_agrees_with_the_textbook(hits in 0_u32..500, misses in 0_u32..500, percent in 1_u32..100) {
        let n = hits + misses;
        prop_assume!(n > 1);
        let (p, t, z) = (f64::from(hits) / f64::from(n), f64::from(percent) / 100.0, 1.644_854_f64);
        let nf = f64::from(n);
        let lower = (p + z * z / (2.0 * nf) - z * (p * (1.0 - p) / nf + z * z / (4.0 * nf * nf)).sqrt()) / (1.0 + z * z / nf);
        prop_assume!((lower - t).abs() > 1e-6);
        let value = Ratio::new(i128::from(hits), i128::from(n)).expect("n is positive");
        let case = accuracy("0").with(|case| {
            case.gate.criteria[0].threshold = Ratio::new(i128::from(percent), 100).expect("not zero");
            case.event.evidence.scores[0] = Score { value: Some(value), samples: Some(u64::from(n)), ..a_score("accuracy", "0") };
        });
        prop_assert_eq!(case.verdict().starts_with("Verified"), lower >= t, "lower {} threshold {}", lower, t);
    }

    /// More uncertainty never turns a verdict to the better.
    #[test]
    fn a_wider_error_never_helps(value in 0_u32..1000, narrow in 0_u32..200, wider in 0_u32..200) {
        let rank = |stderr: u32| {
            let thousandths = |number: u32| Ratio::new(i128::from(number), 1000);
            let case = accuracy("0").with(|case| {
                case.event.evidence.scores[0].value = thousandths(value);
                case.event.evidence.scores[0].stderr = thousandths(stderr);
            });
            judge(&case.event, &GateFound::One(&case.gate), &case.due, &case.delivered, None).0 == Verdict::Verified
        };
        prop_assert!(rank(narrow) || !rank(narrow + wider));
    }
}
