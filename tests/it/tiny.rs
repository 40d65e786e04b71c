//! Random planning problems small enough to be solved by trying everything, each from its seed.

use stagger::plan::snapshot::{
    DeadlinePolicy, Objective, Policy, PriceWindow, Promise, Snapshot, Tier, Unplanned, WindowEffect,
};
use stagger::units::{Money, Seconds, Timestamp};

use crate::given::{A100, Given, at, given};

/// Everything happens at quarter hours.
const QUARTER: i64 = 15;

/// A deterministic die (SplitMix64).
struct Die(u64);

impl Die {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
    /// `low..=high`.
    fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(high - low + 1).expect("high must not be below low");
        low + i64::try_from(self.next() % span).expect("a small span must fit")
    }
    fn one_in(&mut self, count: i64) -> bool {
        self.between(1, count) == 1
    }
    fn limit(&mut self) -> Option<i64> {
        self.one_in(3).then(|| self.between(0, 2))
    }
    fn quarter(&mut self, low: i64, high: i64) -> Timestamp {
        at(self.between(low, high) * QUARTER)
    }
}

/// The problem of a seed: one or two flavors, a queue or a cohort of two, perhaps windows and running work, two to six
/// workloads (fewer where the objective makes trying everything dear), and any policy.
pub fn any(seed: u64) -> (Snapshot, Policy) {
    let mut die = Die(seed);
    let policy = policy(&mut die);
    let mut given = given().flavor("h100");
    given.snapshot.horizon_end = at(8 * QUARTER);
    given = queues(given, &mut die);
    let most = if policy.objective == Objective::EarliestFinish { 6 } else { 4 };
    for number in 0..die.between(2, most) {
        given = job(given, &mut die, number);
    }
    if die.one_in(3) {
        given = given.running("train", "batch", die.between(1, 3), at(die.between(1, 4) * QUARTER));
        if die.one_in(3) {
            given.snapshot.running[0].end_p50 = None;
        }
    }
    if die.one_in(3) {
        let effect = [WindowEffect::Add, WindowEffect::Cap, WindowEffect::Reserve]
            [usize::try_from(die.between(0, 2)).expect("a die is not negative")];
        let start = die.between(0, 4);
        let end = start + die.between(1, 4);
        given = given.window("batch", effect, die.between(1, 2), (at(start * QUARTER), at(end * QUARTER)));
    }
    if policy.objective == Objective::LowestCost || die.one_in(4) {
        given = prices(given, &mut die);
    }
    (given.snapshot, policy)
}

fn policy(die: &mut Die) -> Policy {
    let objective = match die.between(0, 3) {
        0 => Objective::LowestPeak,
        1 => Objective::LowestCost,
        _ => Objective::EarliestFinish,
    };
    let promise = if die.one_in(4) { Promise::P90 } else { Promise::P50 };
    let unplanned = if die.one_in(2) { Unplanned::Backfill } else { Unplanned::FirstCome };
    Policy { objective, promise, unplanned, ..Policy::default() }
}

fn queues(given: Given, die: &mut Die) -> Given {
    let h100 = stagger::plan::snapshot::CellId(1);
    if die.one_in(2) {
        return given.queue("batch", die.between(2, 4)).nominal(h100, die.between(1, 3));
    }
    let research = given.cohort("org").queue("research", 0).under("org");
    let (nominal, limits) = (die.between(1, 3), (die.limit(), die.limit()));
    let research = research.quota(A100, nominal, limits.0, limits.1).nominal(h100, die.between(0, 1));
    let batch = research.queue("batch", 0).under("org");
    let (nominal, limits) = (die.between(1, 3), (die.limit(), die.limit()));
    batch.quota(A100, nominal, limits.0, limits.1).nominal(h100, die.between(1, 2))
}

fn job(given: Given, die: &mut Die, number: i64) -> Given {
    let h100 = stagger::plan::snapshot::CellId(1);
    let p50 = die.between(1, 3);
    let p90 = p50 + die.between(0, 1);
    let mut given = given.job(&format!("job-{number}"), die.between(1, 2)).runtime(p50 * QUARTER, p90 * QUARTER);
    if die.one_in(3) {
        let p50 = die.between(1, 2);
        given = given.option("h100", h100, 1, p50 * QUARTER, (p50 + die.between(0, 1)) * QUARTER);
    }
    if die.one_in(3) {
        given = given.not_before(die.quarter(1, 3));
    }
    given = given.worth(die.between(1, 3));
    match die.between(0, 5) {
        0 => given,
        1 => given.without_slo(),
        2 => given.due_as(die.quarter(1, 6), DeadlinePolicy::BestEffort),
        3 => tiers(given.due_as(die.quarter(1, 6), DeadlinePolicy::Soft), die),
        4 if die.one_in(2) => tiers(given.due(die.quarter(1, 6)), die),
        _ => given.due(die.quarter(2, 6)),
    }
}

fn tiers(mut given: Given, die: &mut Die) -> Given {
    let due = given.snapshot.workloads.last_mut().and_then(|job| job.due.as_mut()).expect("the job must be due");
    if die.one_in(2) {
        due.tiers.push(Tier { after: Seconds(die.between(0, 1) * QUARTER * 60), value_percent: 60 });
        due.tiers.push(Tier { after: Seconds(die.between(2, 4) * QUARTER * 60), value_percent: 10 });
    }
    given
}

fn prices(mut given: Given, die: &mut Die) -> Given {
    given = given.price(A100, 1).price(stagger::plan::snapshot::CellId(1), 3);
    if die.one_in(2) {
        let start = die.between(0, 4);
        let end = start + die.between(1, 4);
        given.snapshot.prices[0].windows.push(PriceWindow {
            start: at(start * QUARTER),
            end: at(end * QUARTER),
            per_unit_hour: Money { nanos: i128::from(die.between(0, 4)) * 1_000_000_000 },
        });
    }
    given
}
