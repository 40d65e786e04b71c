//! What a report has measured, and what an outcome costs by it.
//!
//! Of the workloads of a class that end in time, the share `good ÷ outcomes` is taken to be verified, and each takes
//! `attempts ÷ outcomes` attempts, as measured. So `cost per verified outcome = cost · attempts ÷ (in time · good)`, summed
//! over classes; without a report every workload that ends in time counts as one outcome. Exact until the last rounding,
//! half to even, to a millionth of the currency. Undefined with a reason, never 0, where nothing is verified.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::snapshot::{self as plan, Snapshot};
use crate::units::{Money, Seconds, div_round_half_even, gcd};

/// Counts of one class, or of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ratio {
    pub attempts: u64,
    pub outcomes: u64,
    /// Outcomes that passed their gate, in time or late.
    pub good: u64,
}

/// Runtimes learnt from fewer attempts than this are anecdotes; what was declared stands.
pub const SAMPLES_MIN: u64 = 20;

/// How long attempts of a class that succeeded took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Runtime {
    pub samples: u64,
    pub p50: Seconds,
    pub p90: Seconds,
}

/// What a report says, as far as the future depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Measured {
    /// The report's own digest.
    pub input_digest: String,
    pub total: Ratio,
    pub by_class: BTreeMap<String, Ratio>,
    pub runtimes: BTreeMap<String, Runtime>,
    /// Money that produced nothing verified, the worst first; each a sentence.
    pub savings: Vec<String>,
}

impl Ratio {
    /// Counts of two groups together.
    pub fn add(&mut self, other: Self) {
        self.attempts = self.attempts.saturating_add(other.attempts);
        self.outcomes = self.outcomes.saturating_add(other.outcomes);
        self.good = self.good.saturating_add(other.good);
    }
}

impl Measured {
    /// The snapshot with measured runtimes where a class has at least [`SAMPLES_MIN`] of them: on a workload's first
    /// option as measured, on the others longer or shorter as they were declared to be. Says how many were changed.
    #[must_use]
    pub fn with_runtimes(&self, snapshot: &Snapshot) -> (Snapshot, usize) {
        let mut changed = snapshot.clone();
        let mut count = 0;
        for workload in &mut changed.workloads {
            let class = workload.class.as_ref().and_then(|class| self.runtimes.get(class));
            let Some(measured) = class.filter(|measured| measured.samples >= SAMPLES_MIN) else { continue };
            let Some(declared) = workload.options.first().map(|option| option.runtime.p50) else { continue };
            for option in &mut workload.options {
                let own = option.runtime.p50;
                let scaled = |span: Seconds| {
                    let scaled = i128::from(span.0) * i128::from(own.0);
                    let scaled = div_round_half_even(scaled, i128::from(declared.0.max(1)));
                    Seconds(i64::try_from(scaled).unwrap_or(i64::MAX / 4).max(1))
                };
                let p50 = scaled(measured.p50);
                option.runtime = plan::Runtime { p50, p90: scaled(measured.p90).max(p50), known: true };
            }
            count += 1;
        }
        (changed, count)
    }
}

/// Why there is no cost per outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum NoUnitCost {
    /// Some used accelerator has no price.
    NoPrice,
    /// No workload ends in time.
    NothingInTime,
    /// The report saw no outcome, or none that was good.
    NothingVerified,
}

impl NoUnitCost {
    /// One sentence without a full stop.
    #[must_use]
    pub fn message(self) -> &'static str {
        match self {
            Self::NoPrice => "a used accelerator has no price",
            Self::NothingInTime => "no workload ends in time",
            Self::NothingVerified => "the report saw no verified outcome",
        }
    }
}

/// A cost over the outcomes expected of it: `in_time` counts workloads by class.
///
/// # Errors
/// The reason, when there is no such number.
pub fn cost_per_outcome(
    cost: Option<Money>,
    in_time: &BTreeMap<Option<String>, u64>,
    measured: Option<&Measured>,
) -> Result<Money, NoUnitCost> {
    let cost = cost.ok_or(NoUnitCost::NoPrice)?;
    let count: u64 = in_time.values().sum();
    if count == 0 {
        return Err(NoUnitCost::NothingInTime);
    }
    let Some(measured) = measured else {
        return per(cost.nanos, i128::from(count)).ok_or(NoUnitCost::NothingInTime);
    };
    // Attempts are measured over everything: what a class's retries cost is spread as the whole cost is.
    let (attempts, outcomes) = (measured.total.attempts, measured.total.outcomes);
    if outcomes == 0 {
        return Err(NoUnitCost::NothingVerified);
    }
    // Σ in time · good ÷ outcomes over classes, as one fraction.
    let mut expected = (0_i128, 1_i128);
    for (class, count) in in_time {
        let ratio = class.as_ref().and_then(|class| measured.by_class.get(class)).unwrap_or(&measured.total);
        if ratio.outcomes > 0 {
            let part = (i128::from(*count) * i128::from(ratio.good), i128::from(ratio.outcomes));
            expected = sum(expected, part).ok_or(NoUnitCost::NothingVerified)?;
        }
    }
    let numerator = cost.nanos.checked_mul(i128::from(attempts)).and_then(|cost| cost.checked_mul(expected.1));
    let denominator = i128::from(outcomes).checked_mul(expected.0);
    numerator.zip(denominator).and_then(|(cost, count)| per(cost, count)).ok_or(NoUnitCost::NothingVerified)
}

fn per(nanos: i128, count: i128) -> Option<Money> {
    let divisor = count.checked_mul(1000).filter(|divisor| *divisor > 0)?;
    Some(Money { nanos: div_round_half_even(nanos, divisor) * 1000 })
}

fn sum(a: (i128, i128), b: (i128, i128)) -> Option<(i128, i128)> {
    let denominator = a.1.checked_mul(b.1)?;
    let numerator = a.0.checked_mul(b.1)?.checked_add(b.0.checked_mul(a.1)?)?;
    let divisor = gcd(numerator, denominator).max(1);
    Some((numerator / divisor, denominator / divisor))
}
