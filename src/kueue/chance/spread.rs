//! How long work takes, as a quantile function on integers: a draw in, seconds out.

use crate::plan::snapshot::Runtime;
use crate::units::Seconds;

/// A draw is uniform in `0..DRAWS`; draw `u` stands for the quantile `u / DRAWS`.
pub const DRAWS: u32 = 1_000_000;
const P50: i64 = 500_000;
const P90: i64 = 900_000;

/// What is known about a runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spread {
    /// From the declared p50 and p90; see [`declared`].
    AsDeclared,
    /// From runtimes that were observed, ascending: each is as likely as any other. The length is the sample size.
    Observed(Vec<Seconds>),
}

impl Spread {
    /// Observed runtimes in any order; `None` when there are none.
    #[must_use]
    pub fn observed(mut seconds: Vec<Seconds>) -> Option<Self> {
        seconds.sort_unstable();
        (!seconds.is_empty()).then_some(Self::Observed(seconds))
    }

    /// The runtime at a draw. Positive.
    #[must_use]
    pub fn at(&self, runtime: Runtime, draw: u32) -> Seconds {
        match self {
            Self::AsDeclared => declared(runtime.p50, runtime.p90, draw),
            Self::Observed(seconds) => {
                let count = u64::try_from(seconds.len()).unwrap_or(u64::MAX);
                let place = u64::from(draw.min(DRAWS - 1)) * count / u64::from(DRAWS);
                let observed = usize::try_from(place).ok().and_then(|place| seconds.get(place));
                Seconds(observed.map_or(runtime.p50.0, |seconds| seconds.0).max(1))
            }
        }
    }
}

/// The runtime at a draw, given p50 and p90: straight lines through four points, rounded down to the second.
///
/// | quantile | runtime |
/// |---|---|
/// | 0 | as far below p50 as p90 is above it, but at least half of p50 |
/// | 0.5 | p50 |
/// | 0.9 | p90 |
/// | 1 | p90, and again what p90 exceeds p50 |
///
/// Where p90 is p50 the runtime is exact, and every draw gives it. The slowest tenth is four times as spread as the
/// stretch before it: runtimes have long tails, and a declaration says nothing about its own.
#[must_use]
pub fn declared(p50: Seconds, p90: Seconds, draw: u32) -> Seconds {
    let (p50, p90) = (p50.0.max(1), p90.0.max(p50.0).max(1));
    let excess = p90 - p50;
    let least = p50.saturating_sub(excess).max(p50 - p50 / 2);
    let draw = i64::from(draw.min(DRAWS - 1));
    let (from, low, to, high) = if draw < P50 {
        (0, least, P50, p50)
    } else if draw < P90 {
        (P50, p50, P90, p90)
    } else {
        (P90, p90, i64::from(DRAWS), p90.saturating_add(excess))
    };
    let step = i128::from(high - low) * i128::from(draw - from) / i128::from(to - from);
    Seconds(low.saturating_add(i64::try_from(step).unwrap_or(i64::MAX)))
}
