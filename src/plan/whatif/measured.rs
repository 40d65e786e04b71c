//! What a report has measured, and what an outcome costs by it.
//!
//! Of the workloads of a class that end in time, the share `good ÷ outcomes` is taken to be verified, and each takes
//! `attempts ÷ outcomes` attempts, as measured. So `cost per verified outcome = cost · attempts ÷ (in time · good)`, summed
//! over classes; without a report every workload that ends in time counts as one outcome. Exact until the last rounding,
//! half to even, to a millionth of the currency. Undefined with a reason, never 0, where nothing is verified.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::units::{Money, div_round_half_even};

/// Counts of one class, or of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Ratio {
    pub attempts: u64,
    pub outcomes: u64,
    /// Outcomes that passed their gate, in time or late.
    pub good: u64,
}

/// What a report says, as far as the future depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Measured {
    /// The report's own digest.
    pub input_digest: String,
    pub total: Ratio,
    pub by_class: BTreeMap<String, Ratio>,
    /// Money that produced nothing verified, the worst first; each a sentence.
    pub savings: Vec<String>,
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

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
