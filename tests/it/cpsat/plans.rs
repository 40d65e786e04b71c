//! The planner's first level and its lowest peak against CP-SAT's, on small instances.

use stagger::plan::proposal::LevelName;
use stagger::plan::propose;
use stagger::plan::snapshot::{Objective, Policy};
use stagger::plan::watch::Unwatched;

use super::instances::{Kind, instance};
use super::python::{Answer, Question, ask};
use crate::bench_instance::{Problem, read};

const SEEDS: u64 = 40;

/// Twelve to twenty-six jobs on one or two flavors, tight enough that some miss their due times.
fn small(seed: u64) -> String {
    let jobs = 12 + seed % 15;
    let kind = Kind {
        jobs,
        slots: 24,
        flavors: 1 + seed % 2,
        capacity: 4 + seed % 3,
        longest: 5,
        dip: seed.is_multiple_of(3),
    };
    instance(kind, 40_000 + seed)
}

/// Value and bound of a level, in units of value or of price.
fn level(text: &str, name: LevelName) -> (i64, Option<i64>) {
    let peak = name == LevelName::Peak;
    let snapshot = read(text, if peak { Problem::Peak } else { Problem::Late });
    let policy = Policy {
        objective: if peak { Objective::LowestPeak } else { Objective::EarliestFinish },
        step_limit: Some(40_000),
        ..Policy::default()
    };
    let plan = propose(&snapshot, &policy, &Unwatched);
    let level = plan.quality.levels.iter().find(|level| level.name == name).expect("the level is in every plan");
    let unit = if peak { 1_000_000_000 } else { 1 };
    let whole = |value: i128| i64::try_from(value / unit).expect("a small value");
    if peak {
        assert_eq!(plan.quality.levels[0].value, 0, "thrice the capacity must be enough for every due time");
    }
    (whole(level.value), level.bound.map(whole))
}

fn agrees(question: Question, name: LevelName) {
    let texts: Vec<String> = (0..SEEDS).map(small).collect();
    let questions: Vec<_> = texts.iter().map(|text| (question, text.as_str())).collect();
    let Some(answers) = ask(&questions) else { return };
    let (mut equal, mut above_zero, mut as_good) = (0, 0, 0);
    for (seed, (text, answer)) in texts.iter().zip(answers).enumerate() {
        let (value, bound) = level(text, name);
        let theirs = answer.bound().expect("every instance can be planned");
        assert!(value >= theirs, "seed {seed}: {value} beats {answer:?}");
        if let (Some(bound), Some(possible)) = (bound, answer.value()) {
            assert!(bound <= possible, "seed {seed}: the bound {bound} crosses {answer:?}");
        }
        as_good += usize::from(answer == Answer::Optimal(value));
        if let (true, Answer::Optimal(optimum)) = (bound == Some(value), answer) {
            assert_eq!(value, optimum, "seed {seed}");
            equal += 1;
            above_zero += usize::from(optimum > 0);
        }
    }
    assert!(as_good * 10 >= texts.len() * 9, "as good as theirs, proven or not, on {as_good} of {SEEDS}");
    // Without the C++ solver only what needs no search is proven.
    if cfg!(feature = "solver-highs") {
        assert!(equal >= 30, "both proven on {equal} of {SEEDS}");
        assert!(above_zero >= 10, "{above_zero} of {equal} are more than nothing");
    }
}

#[test]
fn deadlines_missed_are_as_few_as_cp_sat_proves() {
    agrees(Question::Late, LevelName::HardMissed);
}

#[test]
fn the_lowest_peak_is_as_low_as_cp_sat_proves() {
    agrees(Question::Peak, LevelName::Peak);
}
