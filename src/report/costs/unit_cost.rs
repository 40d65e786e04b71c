//! The headline: cost over verified outcomes, or the reason why there is no such number.

use crate::units::{Money, div_round_half_even};

/// Why there is no cost per verified outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undefined {
    /// Nothing was attempted.
    NoAttempts,
    /// Nothing that was attempted was verified.
    NothingVerified { attempts: u64 },
}

impl Undefined {
    /// The stable name, for documents.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::NoAttempts => "NoAttempts",
            Self::NothingVerified { .. } => "NothingVerified",
        }
    }

    /// One sentence for people, without a full stop.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::NoAttempts => "nothing was attempted".to_owned(),
            Self::NothingVerified { attempts: 1 } => "1 attempt, and no outcome was verified".to_owned(),
            Self::NothingVerified { attempts } => format!("{attempts} attempts, and no outcome was verified"),
        }
    }
}

/// Total cost ÷ outcomes that were good and on time, in micro-units, ties to even (docs/accounting.md §1).
///
/// # Errors
/// The reason, when nothing was verified.
pub fn cost_per_verified_outcome(cost: Money, verified: u64, attempts: u64) -> Result<Money, Undefined> {
    match (per(cost, verified), attempts) {
        (Some(cost), _) => Ok(cost),
        (None, 0) => Err(Undefined::NoAttempts),
        (None, attempts) => Err(Undefined::NothingVerified { attempts }),
    }
}

/// An amount over a count, in micro-units; `None` for a count of zero.
#[must_use]
pub fn per(cost: Money, count: u64) -> Option<Money> {
    let divisor = i128::from(count).checked_mul(1000).filter(|divisor| *divisor > 0)?;
    Some(Money { nanos: div_round_half_even(cost.nanos, divisor) * 1000 })
}
