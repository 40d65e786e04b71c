//! Problems that are known to be feasible because a plan was drawn first: none of their deadlines may be missed.
//!
//! Rows of one to eight GPUs are filled with work from left to right, with small gaps; each workload may then start a little
//! sooner than drawn and is due a little later. The planner sees only that.

use stagger::plan::propose::propose;
use stagger::plan::snapshot::{Policy, Snapshot};
use stagger::plan::watch::Unwatched;

use crate::given::{at, given};

/// A deterministic die (Weyl sequence, mixed).
struct Die(u64);

impl Die {
    /// `low..=high`.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)) >> 1;
        low + i64::try_from(mixed).unwrap() % (high - low + 1)
    }
}

/// At least `jobs` workloads in quarters of an hour, on rows of 1, 1, 2, 4 and 8 GPUs repeated `copies` times.
pub fn planted(seed: u64, jobs: usize, copies: i64) -> Snapshot {
    let mut die = Die(seed);
    let widths: Vec<i64> = (0..copies).flat_map(|_| [1, 1, 2, 4, 8]).collect();
    let mut given = given().queue("batch", widths.iter().sum());
    let mut ends: Vec<i64> = vec![0; widths.len()];
    let mut number = 0;
    while number < jobs {
        for (row, width) in widths.iter().enumerate() {
            let start = ends[row] + die.between(0, 3) / 2;
            let length = die.between(1, 12);
            ends[row] = start + length;
            let (early, late) = (die.between(0, 8), die.between(1, 8));
            given = given
                .job(&format!("job-{number}"), *width)
                .runtime(length * 15, length * 15)
                .not_before(at((start - early).max(0) * 15))
                .due(at((start + length + late) * 15));
            number += 1;
        }
    }
    given.snapshot.horizon_end = at((ends.iter().max().unwrap() + 8) * 15);
    given.snapshot
}

fn missed(snapshot: &Snapshot, seed: u64) -> u64 {
    let policy = Policy { seed, time_limit_millis: 60_000, ..Policy::default() };
    propose(snapshot, &policy, &Unwatched).summary.late
}

#[test]
fn no_deadline_of_a_small_planted_problem_is_missed() {
    for seed in 0..20 {
        assert_eq!(missed(&planted(seed, 60, 1), seed), 0, "seed {seed}");
    }
}

#[test]
fn no_deadline_of_a_planted_problem_with_hundreds_of_workloads_is_missed() {
    for seed in 0..4 {
        assert_eq!(missed(&planted(seed, 400, 2), seed), 0, "seed {seed}");
    }
}

#[test]
fn no_deadline_of_a_planted_problem_with_thousands_of_workloads_is_missed() {
    assert_eq!(missed(&planted(1, 3_000, 8), 1), 0);
}

#[test]
fn work_shorter_than_a_slot_of_a_long_horizon_is_planned_as_well() {
    let mut given = given().queue("batch", 2);
    for number in 0..40 {
        given = given
            .job(&format!("short-{number}"), 1 + number % 2)
            .runtime(1 + number % 3, 1 + number % 3)
            .due(at(20 + number % 7));
    }
    // A month ahead, to the minute: far more minutes than there may be slots.
    given = given.job("last", 1).runtime(11, 11).not_before(at(29 * 1_440 + 7)).due(at(29 * 1_440 + 20));
    given.snapshot.horizon_end = at(30 * 1_440 + 1);
    let plan = propose(&given.snapshot, &Policy::default(), &Unwatched);
    assert_eq!(plan.releases.len(), 41);
    assert!(plan.summary.late > 0, "more is due than two GPUs can do");
}
