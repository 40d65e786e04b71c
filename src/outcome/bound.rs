//! Whether a score clears its threshold with the confidence it can claim (docs/accounting.md §6).
//!
//! One-sided, 95 %. Both tests are decided on exact fractions; the Wilson bound needs no square root, because a value
//! clears it exactly when it lies on the right side and (value − threshold)²·n ≥ z²·threshold·(1 − threshold).

use std::cmp::Ordering;

use crate::ratio::Ratio;

use super::evidence::Score;
use super::gate::Comparison;

/// The 95 % quantile of the normal distribution, in millionths.
const Z_MILLIONTHS: i128 = 1_644_854;

/// Values are compared to this many decimal places, each rounded against itself, so that squares fit 128 bits.
const PLACES: i128 = 1_000_000_000;

/// How a value stands to a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// On the good side, with all the uncertainty the score states.
    Clears(Method),
    /// On the good side, but its uncertainty reaches across.
    NotConfident(Method),
    /// On the bad side.
    Misses,
}

/// What uncertainty was taken into account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// None was stated: the value as it stands.
    Value,
    /// value ± z·stderr.
    Normal,
    /// Wilson's score bound for a proportion.
    Wilson,
}

/// Compares a value with a threshold. `None` when the figures are too large to be exact.
#[must_use]
pub fn standing(score: &Score, value: Ratio, comparison: Comparison, threshold: Ratio) -> Option<Standing> {
    let good_side = match comparison {
        Comparison::AtLeast => value >= threshold,
        Comparison::AtMost => value <= threshold,
    };
    if !good_side {
        return Some(Standing::Misses);
    }
    // Towards the threshold: what is cut off never helps.
    let value = match comparison {
        Comparison::AtLeast => floor_places(value)?.max(threshold),
        Comparison::AtMost => ceil_places(value)?.min(threshold),
    };
    let distance = match comparison {
        Comparison::AtLeast => value.sub(threshold)?,
        Comparison::AtMost => threshold.sub(value)?,
    };
    let z = Ratio::new(Z_MILLIONTHS, 1_000_000)?;
    let unit = |ratio: Ratio| !ratio.is_negative() && ratio <= Ratio::ONE;
    // An error of zero says that all samples were alike, not that there is no doubt: the samples speak then.
    match (score.stderr.filter(|stderr| *stderr > Ratio::ZERO), score.samples) {
        (Some(stderr), _) => {
            let margin = ceil_places(stderr)?.mul(z)?;
            Some(verdict(distance.cmp(&margin), Method::Normal))
        }
        (None, Some(samples)) if samples > 0 && unit(value) && unit(threshold) => {
            let threshold = floor_places(threshold)?;
            let variance = threshold.mul(Ratio::ONE.sub(threshold)?)?;
            let needed = z.mul(z)?.mul(variance)?;
            let shown = distance.mul(distance)?.mul(Ratio::new(i128::from(samples), 1)?)?;
            Some(verdict(shown.cmp(&needed), Method::Wilson))
        }
        _ => Some(Standing::Clears(Method::Value)),
    }
}

fn verdict(ordering: Ordering, method: Method) -> Standing {
    if ordering == Ordering::Less { Standing::NotConfident(method) } else { Standing::Clears(method) }
}

fn floor_places(value: Ratio) -> Option<Ratio> {
    if PLACES % value.denominator() == 0 {
        return Some(value);
    }
    Ratio::new(value.mul_floor(PLACES)?, PLACES)
}

fn ceil_places(value: Ratio) -> Option<Ratio> {
    let negated = |ratio: Ratio| Ratio::ZERO.sub(ratio);
    negated(floor_places(negated(value)?)?)
}
