//! How far a workload has come, and what an eviction takes from it.

use crate::plan::snapshot::{Interruption, Workload};
use crate::units::Seconds;

use super::Runtimes;

/// Work done and kept, as a part of the whole on the option it last ran on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Progress {
    kept: i64,
    /// The whole; 0 before the first attempt.
    whole: i64,
    /// What starting again costs; 0 before the first eviction.
    cost: i64,
}

/// How long the workload takes on an option when nothing disturbs it. Positive.
pub(super) fn whole_runtime(workload: &Workload, index: usize, option: usize, runtimes: &Runtimes) -> i64 {
    let Some(runtime) = workload.options.get(option).map(|option| option.runtime) else { return 1 };
    let seconds = match runtimes {
        Runtimes::P50 => runtime.p50.0,
        Runtimes::P90 => runtime.p90.0,
        Runtimes::Explicit(given) => match (given.get(index), workload.options.first()) {
            (Some(given), Some(first)) => scaled(given.0, runtime.p50.0, first.runtime.p50.0),
            _ => runtime.p50.0,
        },
    };
    seconds.max(1)
}

/// `value × numerator / denominator`, rounded up: never shorter than it is.
fn scaled(value: i64, numerator: i64, denominator: i64) -> i64 {
    if numerator == denominator || denominator <= 0 {
        return value;
    }
    let product = i128::from(value) * i128::from(numerator);
    let (quotient, remainder) = (product.div_euclid(denominator.into()), product.rem_euclid(denominator.into()));
    i64::try_from(quotient + i128::from(remainder != 0)).unwrap_or(i64::MAX)
}

impl Progress {
    /// How long the next attempt takes on an option that needs `whole` from start to end.
    pub(super) fn remaining(&self, whole: i64) -> Seconds {
        Seconds(self.cost.saturating_add(self.left(whole)))
    }

    fn left(&self, whole: i64) -> i64 {
        if self.whole == 0 { whole } else { scaled(whole, self.whole - self.kept, self.whole).max(1) }
    }

    /// An attempt on an option that needs `whole` was evicted after `ran`.
    pub(super) fn evicted(&mut self, interruption: Interruption, whole: i64, ran: Seconds) {
        let kept_before = whole - self.left(whole);
        let worked = (ran.0 - self.cost).max(0);
        let (kept, cost) = match interruption {
            Interruption::None => (0, Seconds::ZERO),
            Interruption::Restartable { cost, .. } => (0, cost),
            // A checkpoint every `interval` of work since the attempt began: at most one interval is lost.
            Interruption::Checkpointable { interval, cost, .. } => {
                let lost = if interval.0 > 0 { worked % interval.0 } else { 0 };
                (kept_before + worked - lost, cost)
            }
        };
        *self = Self { kept: kept.clamp(0, whole - 1), whole, cost: cost.0.max(0) };
    }
}
