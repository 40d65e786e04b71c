//! How many samples, and what they say: Hoeffding's inequality in integers.
//!
//! Of `n` independent samples the share that is on time lies further than `ε` from the true chance with probability at
//! most `2·exp(−2nε²)`. So `n = ⌈ln(2/α) / 2ε²⌉` samples suffice for a half width `ε` at confidence `1 − α`, whatever the
//! chance is. It holds for each chance by itself, not for all of them at once.

use crate::units::div_round_half_even;

/// How sure each stated interval is to hold the true chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    P90,
    P95,
    P99,
    P999,
}

impl Confidence {
    /// `ln(2/α)` in millionths, rounded up.
    fn log_millionths(self) -> u64 {
        match self {
            Self::P90 => 2_995_733,
            Self::P95 => 3_688_880,
            Self::P99 => 5_298_318,
            Self::P999 => 7_600_903,
        }
    }

    #[must_use]
    pub fn permille(self) -> u32 {
        match self {
            Self::P90 => 900,
            Self::P95 => 950,
            Self::P99 => 990,
            Self::P999 => 999,
        }
    }
}

/// A confidence and a half width, and so a number of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    confidence: Confidence,
    half_width_permille: u32,
}

/// Half a percentage point costs 73,778 samples at 95 %; nobody decides on less.
const HALF_WIDTH_PERMILLE_MIN: u32 = 5;
/// A third to either side says next to nothing.
const HALF_WIDTH_PERMILLE_MAX: u32 = 333;

impl Default for Precision {
    /// Five percentage points at 95 %: 738 samples.
    fn default() -> Self {
        Self { confidence: Confidence::P95, half_width_permille: 50 }
    }
}

impl Precision {
    /// `None` when the half width is not between 0.5 and 33.3 percentage points.
    #[must_use]
    pub fn new(confidence: Confidence, half_width_permille: u32) -> Option<Self> {
        (HALF_WIDTH_PERMILLE_MIN..=HALF_WIDTH_PERMILLE_MAX)
            .contains(&half_width_permille)
            .then_some(Self { confidence, half_width_permille })
    }

    #[must_use]
    pub fn confidence(self) -> Confidence {
        self.confidence
    }

    #[must_use]
    pub fn half_width_permille(self) -> u32 {
        self.half_width_permille
    }

    /// `⌈ln(2/α) / 2ε²⌉`. Thousandths squared and millionths cancel.
    #[must_use]
    pub fn samples(self) -> u64 {
        let width = u64::from(self.half_width_permille);
        self.confidence.log_millionths().div_ceil(2 * width * width)
    }
}

/// A share of samples, and between what the true chance lies with the confidence asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chance {
    pub met: u64,
    /// Positive.
    pub samples: u64,
    pub half_width_permille: u32,
}

impl Chance {
    /// In thousandths, ties to even.
    #[must_use]
    pub fn permille(self) -> u32 {
        let share = div_round_half_even(i128::from(self.met) * 1000, i128::from(self.samples.max(1)));
        u32::try_from(share).unwrap_or(1000)
    }

    /// The interval in thousandths, rounded outwards and cut at 0 and 1000.
    #[must_use]
    pub fn interval_permille(self) -> (u32, u32) {
        let samples = self.samples.max(1);
        let down = u32::try_from(self.met.saturating_mul(1000) / samples).unwrap_or(1000);
        let up = u32::try_from(self.met.saturating_mul(1000).div_ceil(samples)).unwrap_or(1000);
        (down.saturating_sub(self.half_width_permille), (up + self.half_width_permille).min(1000))
    }
}
