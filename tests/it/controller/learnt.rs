//! What is learnt from runs, and whether starts were kept.

use proptest::prelude::*;
use stagger::clock::Clock;
use stagger::controller::adherence::{Adherence, Breach};
use stagger::controller::learnt::{Alike, Learnt, pattern};
use stagger::names::FlavorName;
use stagger::units::Seconds;

use super::fake::{Fake, at};

fn alike(pattern: &str) -> Alike {
    Alike { namespace: "evals".to_owned(), pattern: pattern.to_owned(), flavor: FlavorName::from("a100") }
}

/// Runs of these lengths in minutes, all done.
fn runs(minutes: &[i64]) -> Fake {
    let mut fake = Fake::new();
    for (number, minutes) in minutes.iter().enumerate() {
        let name = format!("nightly-{number}");
        fake = fake.job(&name, 2);
        let job = fake.find(&name);
        (job.gates, job.admitted, job.finished) = (String::new(), Some(at(0)), Some(at(*minutes)));
    }
    fake
}

fn look(fake: &Fake) -> stagger::kueue::Assembled {
    fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings)
}

#[test]
fn a_name_stands_for_its_runs() {
    for (name, expected) in [
        ("nightly-29114", "nightly"),
        ("train-2026-11", "train"),
        ("sweep-3-x7k2p", "sweep"),
        ("eval", "eval"),
        ("train-large", "train-large"),
        ("-7", "-7"),
    ] {
        assert_eq!(pattern(name), expected);
    }
}

#[test]
fn quantiles_are_of_the_runs_that_were() {
    let mut learnt = Learnt::default();
    let seen = look(&runs(&[50, 60, 55, 70, 65, 60, 60, 60, 90, 60]));
    let errors = learnt.observe(&seen.observed);
    assert_eq!(errors, [16, 0, 8, 16, 8, 0, 0, 0, 50, 0], "an hour was declared");
    let forecast = learnt.of(&alike("nightly")).expect("ten runs are enough");
    assert_eq!((forecast.p50, forecast.p90, forecast.runs), (Seconds(3600), Seconds(4200), 10));
    assert!(learnt.observe(&seen.observed).is_empty(), "each run counts once");
    assert_eq!(learnt.of(&alike("weekly")), None);
}

#[test]
fn work_of_unknown_length_is_forecast_from_its_like() {
    let mut learnt = Learnt::default();
    learnt.observe(&look(&runs(&[30; 5])).observed);
    let fake = Fake::new().job("nightly-6", 2).job("other-1", 2);
    let mut rows = fake.rows();
    rows.retain(|row| row.kind != "WorkloadSLO");
    let mut seen = fake.scope.look(&mut rows.iter(), at(0), &fake.settings);
    learnt.forecast(&mut seen);
    let known: Vec<_> = seen.snapshot.workloads.iter().map(|it| it.options[0].runtime.known).collect();
    assert_eq!(known, [true, false]);
    assert_eq!(seen.snapshot.workloads[0].options[0].runtime.p90, Seconds(1800));
}

#[test]
fn a_start_is_counted_once_and_a_late_one_with_its_cause() {
    let mut fake = Fake::new().job("kept", 1).job("late", 1).job("early", 1).job("waits", 1);
    for (name, planned, started) in [("kept", 0, 0), ("late", 0, 1), ("early", 2, 1)] {
        let job = fake.find(name);
        (job.gates, job.admitted) = (String::new(), Some(at(started)));
        job.planned = Some(super::fake::time(at(planned)));
    }
    let mut adherence = Adherence::default();
    let seen = look(&fake);
    let kept = adherence.observe(&seen.observed, true, &Clock::WALL);
    let breaches: Vec<_> = kept.iter().map(|one| one.breach).collect();
    assert_eq!(breaches, [None, Some(Breach::LateRelease), Some(Breach::Early)]);
    assert!(adherence.observe(&seen.observed, true, &Clock::WALL).is_empty());
}

proptest! {
    #[test]
    fn half_of_the_runs_end_within_p50_and_nine_of_ten_within_p90(minutes in proptest::collection::vec(1_i64..300, 5..40)) {
        let mut learnt = Learnt::default();
        learnt.observe(&look(&runs(&minutes)).observed);
        let forecast = learnt.of(&alike("nightly")).expect("there are enough runs");
        let within = |limit: Seconds| minutes.iter().filter(|one| **one * 60 <= limit.0).count();
        prop_assert!(within(forecast.p50) * 2 >= minutes.len());
        prop_assert!(within(forecast.p90) * 10 >= minutes.len() * 9);
        prop_assert!(forecast.p50 <= forecast.p90);
    }
}
