//! The laws of docs/accounting.md §1 and §5, from runs and events to the report.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stagger::ledger::card::Split;
use stagger::ledger::run::{EndReason, Run, Window};
use stagger::names::WorkloadKey;
use stagger::outcome::evidence::{Event, Evidence, Score, State, Units};
use stagger::outcome::gate::{Comparison, Criterion, Gate};
use stagger::outcome::judge::Due;
use stagger::outcome::settle::{Case, Promise, settle};
use stagger::ratio::Ratio;
use stagger::report::costs::{Dimension, Intake, Report, Request, Undefined, csv, document, summarize, text};
use stagger::units::Money;

use crate::ledger_fixture::{Books, GPU, RunWords, a_capacity, a_card, a_rate, a_run, an_overhead, at, window};

/// Says of attempt `attempt` of `name`, due one hour after `at(1)`, what it scored and in which hour it was done.
fn said(name: &str, attempt: u32, value: &str, hour: i64) -> Event {
    Event {
        source: "eval".to_owned(),
        id: format!("{name}-{attempt}"),
        time: (at(10), 0),
        outcome: name.to_owned(),
        class: Some("eval-run".to_owned()),
        workload: Some(WorkloadKey::new("evals", name)),
        attempt: Some(attempt),
        completed_at: Some(at(hour)),
        finish_by: Some(at(2)),
        evidence: Evidence {
            scores: vec![Score {
                name: "accuracy".to_owned(),
                value: Ratio::parse(value).ok(),
                samples: None,
                stderr: None,
            }],
            evaluator: None,
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
        evaluators: Vec::new(),
        unverified_after: None,
        fingerprint: Vec::new(),
    }
}

fn report_by(books: &Books, events: &[Event], over: Window, by: &[Dimension], chosen: bool) -> Report {
    let priced = books.price(over);
    let (runs, promises) = (&books.runs, &BTreeMap::new());
    let case = Case { events, gates: &[a_gate()], runs, promises, as_of: None };
    let outcomes = settle(&case);
    summarize(&Request { runs, priced: &priced, outcomes: &outcomes, promises, by, window_is_chosen: chosen })
}

fn report(books: &Books, events: &[Event]) -> Report {
    report_by(books, events, window(0, 24), &[Dimension::Tenant], false)
}

fn per_verified(report: &Report) -> Result<String, Undefined> {
    report.total.per_verified_outcome().map(Money::decimal)
}

/// 100 attempts of one GPU-hour at 1.20: 60 good and on time, 20 good but late, 12 rejected, 8 failed.
fn a_hundred() -> (Books, Vec<Event>) {
    let mut runs: Vec<Run> = (0..100).map(|n| a_run(&format!("eval-{n:03}"))).collect();
    let mut events = Vec::new();
    for n in 0..92 {
        let (value, hour) = if n < 60 {
            ("0.9", 2)
        } else if n < 80 {
            ("0.9", 3)
        } else {
            ("0.5", 1)
        };
        events.push(said(&format!("eval-{n:03}"), 1, value, hour));
    }
    for run in &mut runs[92..] {
        run.end_reason = EndReason::Failed;
    }
    (Books { runs, cards: vec![a_card(vec![a_rate(GPU, "1.20")])], ..Books::default() }, events)
}

#[test]
fn the_headline_is_cost_over_good_and_on_time() {
    let (books, events) = a_hundred();
    let report = report(&books, &events);
    let total = &report.total;
    assert_eq!((total.cost.decimal().as_str(), total.attempts), ("120.00", 100));
    assert_eq!((total.outcomes.good(), total.outcomes.verified), (80, 60));
    assert_eq!(per_verified(&report).as_deref(), Ok("2.00"), "not 1.20 and not 1.50");
    assert_eq!(total.per_attempt().map(Money::decimal).as_deref(), Some("1.20"));
    assert_eq!(total.per_good_outcome().map(Money::decimal).as_deref(), Some("1.50"));
    assert_eq!(total.waste_permille(), Some(400));
    let said = text::render(&report, None);
    assert!(said.starts_with("120.00 EUR for 100 attempts; 80 outcomes good, 60 good and on time: 2.00 EUR per verified outcome.\n40 % of this cost produced nothing verified: 24.00 EUR late, 14.40 EUR rejected, 9.60 EUR failed.\n"), "{said}");
}

#[test]
fn what_was_promised_and_never_heard_of_is_missing() {
    let (books, events) = a_hundred();
    let promise = |expected| Promise { due: Due::Never, class: None, expected, gate: None };
    // The first is to bring three outcomes and brings one; the last has failed; nothing is promised for the others.
    let promises = BTreeMap::from([
        (WorkloadKey::new("evals", "eval-000"), promise(Some(3))),
        (WorkloadKey::new("evals", "eval-001"), promise(None)),
        (WorkloadKey::new("evals", "eval-099"), promise(Some(1))),
        (WorkloadKey::new("evals", "never-ran"), promise(Some(50))),
    ]);
    let priced = books.price(window(0, 24));
    let runs = &books.runs;
    let case = Case { events: &events, gates: &[a_gate()], runs, promises: &promises, as_of: None };
    let outcomes = settle(&case);
    let by = &[Dimension::Tenant];
    let request =
        Request { runs, priced: &priced, outcomes: &outcomes, promises: &promises, by, window_is_chosen: false };
    let found = summarize(&request);
    assert_eq!((found.total.expected, found.total.missing), (Some(4), 3));
    assert_eq!(per_verified(&found), per_verified(&report(&books, &events)), "it is said, and counts for nothing");
    assert!(text::render(&found, None).contains("Of 4 outcomes that were promised, nothing was heard of 3.\n"));
    assert_eq!(report(&books, &events).total.expected, None, "without a promise nothing is known to be missing");
}

#[test]
fn a_unit_costs_what_all_attempts_cost_over_what_verified_outcomes_delivered() {
    let (books, mut events) = a_hundred();
    let units =
        |quantity: &str| Units { kind: "tokens".to_owned(), quantity: Ratio::parse(quantity).expect("a number") };
    for event in &mut events {
        event.units = Some(units("1000.5"));
    }
    let found = report(&books, &events);
    let delivered = found.total.units["tokens"];
    // Only the 60 that are good and on time deliver anything: 120.00 over 60,030 tokens.
    assert_eq!((delivered.quantity, delivered.outcomes), (Ratio::parse("60030").ok(), 60));
    assert_eq!(found.total.per_unit(delivered).map(Money::decimal).as_deref(), Some("0.001999"));
    events[0].units = None;
    let found = report(&books, &events);
    let delivered = found.total.units["tokens"];
    assert_eq!(
        (delivered.outcomes, found.total.per_unit(delivered)),
        (59, None),
        "the silent one is not paid by others"
    );
    let said = text::render(&found, None);
    assert!(
        said.contains("Verified tokens: 59029.5, of 59 of 60 verified outcomes; what one costs is not known"),
        "{said}"
    );
}

#[test]
fn moving_a_retrys_cost_changes_nothing() {
    let cards = vec![a_card(vec![a_rate(GPU, "1")])];
    let with = |first: i64, second: i64| {
        let failed = a_run("eval").hours(0, first).ended(EndReason::Failed);
        let runs = vec![failed, a_run("eval").attempt(2).hours(first, first + second)];
        let books = Books { runs, cards: cards.clone(), ..Books::default() };
        per_verified(&report(&books, &[said("eval", 2, "0.9", 2)]))
    };
    assert_eq!(with(1, 5).as_deref(), Ok("6.00"));
    assert_eq!(with(5, 1), with(1, 5));
}

#[test]
fn half_the_attempts_double_the_cost() {
    let runs: Vec<Run> = (0..50).map(|n| a_run(&format!("e{n}"))).collect();
    let events: Vec<Event> =
        (0..50).map(|n| said(&format!("e{n}"), 1, if n % 2 == 0 { "0.9" } else { "0.1" }, 1)).collect();
    let books = Books { runs, cards: vec![a_card(vec![a_rate(GPU, "0.02")])], ..Books::default() };
    assert_eq!(per_verified(&report(&books, &events)).as_deref(), Ok("0.04"));
}

#[test]
fn nothing_verified_is_undefined_with_a_reason() {
    let books =
        Books { runs: vec![a_run("a"), a_run("b")], cards: vec![a_card(vec![a_rate(GPU, "2")])], ..Books::default() };
    let report = report(&books, &[said("a", 1, "0.1", 1)]);
    assert_eq!(per_verified(&report), Err(Undefined::NothingVerified { attempts: 2 }));
    let json: serde_json::Value =
        serde_json::from_str(&document::to_json(&report, "digest", Intake::default())).expect("JSON");
    assert_eq!(json["total"]["costPerVerifiedOutcome"], serde_json::Value::Null);
    assert_eq!(json["groups"][0]["reason"]["message"], "2 attempts, and no outcome was verified");
    let nothing = Books { cards: vec![a_card(vec![a_rate(GPU, "2")])], ..Books::default() };
    assert_eq!(per_verified(&super::report_laws::report(&nothing, &[])), Err(Undefined::NoAttempts));
}

#[test]
fn a_missing_value_never_counts_as_verified() {
    let books = Books { runs: vec![a_run("a")], cards: vec![a_card(vec![a_rate(GPU, "2")])], ..Books::default() };
    let complete = said("a", 1, "0.9", 1);
    assert_eq!(report(&books, std::slice::from_ref(&complete)).total.outcomes.verified, 1);
    let without: [(&str, fn(&mut Event)); 4] = [
        ("score", |event| event.evidence.scores.clear()),
        ("value", |event| event.evidence.scores[0].value = None),
        ("another name", |event| event.evidence.scores[0].name = "f1".to_owned()),
        ("another class", |event| event.class = Some("other".to_owned())),
    ];
    for (what, take_away) in without {
        let mut event = complete.clone();
        take_away(&mut event);
        let report = report(&books, &[event]);
        assert_eq!((report.total.outcomes.verified, report.total.outcomes.unverified), (0, 1), "{what}");
    }
    // Without a completion time the end of the run stands in; without a run nobody knows.
    let mut event = complete;
    event.completed_at = None;
    assert_eq!(report(&books, std::slice::from_ref(&event)).total.outcomes.verified, 1);
    let nothing = Books { cards: books.cards.clone(), ..Books::default() };
    assert_eq!(report(&nothing, &[event]).total.outcomes.verified, 0);
}

#[test]
fn waste_by_cause_adds_up() {
    let mut runs = vec![a_run("good"), a_run("late"), a_run("bad"), a_run("silent")];
    runs.push(a_run("good").attempt(2).hours(1, 2));
    for (name, reason) in [("f", EndReason::Failed), ("e", EndReason::Evicted), ("c", EndReason::Cancelled)] {
        runs.push(a_run(name).ended(reason));
    }
    let mut unfinished = a_run("u").ended(EndReason::Unfinished).hours(20, 24);
    unfinished.end = None;
    runs.push(unfinished);
    let events =
        [said("good", 1, "0.9", 1), said("good", 2, "0.9", 2), said("late", 1, "0.9", 5), said("bad", 1, "0.2", 1)];
    let capacity = Some(vec![a_capacity("a100", GPU, 10, window(0, 24))]);
    let mut card = a_card(vec![a_rate(GPU, "1")]);
    card.idle = Split::ByCost;
    let books = Books { runs, cards: vec![card], capacity, ..Books::default() };
    let report = report(&books, &events);
    let said: Vec<String> =
        report.total.by_cause.iter().map(|(cause, amount)| format!("{} {amount}", cause.as_str())).collect();
    assert_eq!(
        said,
        [
            "productive 1.00",
            "failed 1.00",
            "evicted 1.00",
            "cancelled 1.00",
            "rejected 1.00",
            "late 1.00",
            "unverified 1.00",
            "duplicate 1.00",
            "unfinished 4.00",
            "idle 228.00"
        ]
    );
    assert_eq!(report.total.by_cause.values().copied().sum::<Money>(), report.total.cost);
    assert_eq!(report.total.cost.decimal(), "240.00");
}

#[test]
fn the_reconciliation_adds_up_to_the_last_unit() {
    let (mut books, events) = a_hundred();
    books.capacity = Some(vec![a_capacity("a100", GPU, 7, window(0, 24))]);
    books.cards[0].overheads.push(an_overhead("platform", "0.3333", Split::Even));
    let report = report(&books, &events);
    let sums = report.reconciliation;
    assert_eq!(sums.difference, Money::ZERO);
    let capacity = sums.capacity.expect("capacity was stated");
    assert_eq!(capacity + sums.beyond, sums.allocated + sums.idle + sums.stranded);
    assert_eq!(sums.total, sums.attributed + sums.unattributed);
    assert_eq!(sums.attributed, report.total.cost);
    assert_eq!((sums.overhead.decimal().as_str(), sums.unattributed), ("7.9992", sums.idle));
    // Idle stands apart by default: it is in the fully loaded figure only.
    assert_eq!(per_verified(&report).as_deref(), Ok("2.13332"));
    assert!(
        report.fully_loaded.expect("something was verified") > report.total.per_verified_outcome().expect("likewise")
    );
}

#[test]
fn an_outcome_belongs_to_the_window_in_which_it_was_completed() {
    let (books, events) = a_hundred();
    let chosen = report_by(&books, &events, window(0, 3), &[], true);
    assert_eq!((chosen.total.outcomes.verified, chosen.outside_window), (60, 20), "those completed at 3 are outside");
    let early = report_by(&books, &events, window(0, 2), &[], true);
    assert_eq!((early.total.outcomes.verified, early.outside_window), (0, 80));
    assert_eq!(report_by(&books, &events, window(0, 1), &[], false).total.outcomes.verified, 60);
}

#[test]
fn a_run_of_no_length_was_an_attempt() {
    let runs = vec![a_run("quick").hours(1, 1).ended(EndReason::Failed), a_run("good")];
    let books = Books { runs, cards: vec![a_card(vec![a_rate(GPU, "3")])], ..Books::default() };
    let report = report(&books, &[said("good", 1, "0.9", 1)]);
    assert_eq!((report.total.attempts, per_verified(&report).as_deref()), (2, Ok("3.00")));
}

#[test]
fn csv_has_a_line_per_group_and_a_total() {
    let (books, events) = a_hundred();
    let report = report_by(&books, &events, window(0, 24), &[Dimension::Tenant, Dimension::Class], false);
    let lines: Vec<String> = csv::render(&report).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[0].starts_with("scope,tenant,class,currency,attempts,verified,late,rejected,unverified,cost,allocated,")
    );
    assert!(lines[1].starts_with("group,team-a,eval-run,EUR,100,60,20,12,0,120.00,120.00,"), "{}", lines[1]);
    assert!(lines[1].ends_with(",2.00,1.50,1.20,,,"), "{}", lines[1]);
    assert!(lines[2].starts_with("total,,,EUR,100,60,20,12,0,120.00,"));
}

/// A small history: tenants, flavors and ends vary, and some attempts have a verdict.
fn history() -> impl Strategy<Value = (Vec<Run>, Vec<Event>)> {
    let one = (0_usize..3, 0_usize..2, 0_usize..3, 0_i64..20, 1_i64..4, 1_i64..5, 0_u32..10, any::<bool>());
    proptest::collection::vec(one, 1..20).prop_map(|rows| {
        let mut runs = Vec::new();
        let mut events = Vec::new();
        for (n, (tenant, flavor, end, start, hours, gpus, tenths, spoken)) in rows.into_iter().enumerate() {
            let name = format!("w{}", n % 7);
            let attempt = u32::try_from(n / 7 + 1).expect("few attempts");
            let end = [EndReason::Succeeded, EndReason::Failed, EndReason::Evicted][end];
            let run = a_run(&name).attempt(attempt).tenant(["a", "b", "c"][tenant]).on(["a100", "h100"][flavor]);
            runs.push(run.holds(GPU, gpus).hours(start, start + hours).ended(end));
            if spoken {
                events.push(said(&name, attempt, &format!("0.{tenths}"), start % 4));
            }
        }
        (runs, events)
    })
}

fn books_of(runs: Vec<Run>) -> Books {
    let mut card = a_card(vec![a_rate(GPU, "1.234567")]);
    card.idle = Split::ByCost;
    card.overheads.push(an_overhead("platform", "0.1", Split::Even));
    let capacity = ["a100", "h100"].map(|flavor| a_capacity(flavor, GPU, 9, window(0, 24))).to_vec();
    Books { runs, cards: vec![card], capacity: Some(capacity), ..Books::default() }
}

proptest! {
    #[test]
    fn every_breakdown_adds_up((runs, events) in history()) {
        let books = books_of(runs);
        let whole = report_by(&books, &events, window(0, 24), &[], false);
        prop_assert_eq!(whole.reconciliation.difference, Money::ZERO);
        for by in [&[Dimension::Tenant][..], &[Dimension::Class], &[Dimension::Flavor, Dimension::Queue], &Dimension::ALL] {
            let report = report_by(&books, &events, window(0, 24), by, false);
            prop_assert_eq!(report.groups.iter().map(|group| group.cost).sum::<Money>(), whole.total.cost);
            prop_assert_eq!(report.groups.iter().map(|group| group.outcomes.verified).sum::<u64>(), whole.total.outcomes.verified);
            prop_assert_eq!(report.groups.iter().map(|group| group.attempts).sum::<u64>(), whole.total.attempts);
            for group in &report.groups {
                prop_assert_eq!(group.by_cause.values().copied().sum::<Money>(), group.cost);
                prop_assert_eq!(group.by_term.values().copied().sum::<Money>(), group.cost);
            }
        }
    }

    #[test]
    fn order_and_repetition_change_nothing((mut runs, mut events) in history(), turn in 0_usize..20) {
        let before = report(&books_of(runs.clone()), &events);
        let at = turn % runs.len();
        runs.rotate_left(at);
        if !events.is_empty() {
            let at = turn % events.len();
            events.rotate_right(at);
            // What a reader would drop; even if it did not, the same statement twice is one statement.
            events.push(events[0].clone());
        }
        let after = report(&books_of(runs), &events);
        prop_assert_eq!(document::to_json(&before, "", Intake::default()), document::to_json(&after, "", Intake::default()));
        prop_assert_eq!(text::render(&before, None), text::render(&after, None));
    }

    /// More spent, or less delivered: never a lower number. Undefined counts as higher than any.
    #[test]
    fn adding_a_failure_never_lowers_the_number((runs, events) in history(), start in 0_i64..20, gpus in 0_i64..4, judged in any::<bool>()) {
        let number = |runs: &[Run], events: &[Event]| {
            let cost = report(&books_of(runs.to_vec()), events).total.per_verified_outcome();
            (cost.is_err(), cost.unwrap_or(Money::ZERO))
        };
        let before = number(&runs, &events);
        let failure = a_run("w0").attempt(99).holds(GPU, gpus).hours(start, start + 1).ended(EndReason::Failed);
        let (mut runs, mut events) = (runs, events);
        runs.push(failure);
        if judged {
            events.push(said("w0", 99, "0.1", start));
        }
        prop_assert!(number(&runs, &events) >= before);
    }
}
