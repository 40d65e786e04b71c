//! The only reader of the wall clock. Everything else is told what time it is.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::calendar;
use crate::units::{Seconds, Timestamp};

/// Now, to the second.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
pub fn now() -> Timestamp {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Timestamp(i64::try_from(seconds).unwrap_or(i64::MAX))
}

/// Now, to the microsecond: microseconds since 1970-01-01T00:00:00Z, for what must differ within a second.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the wall clock")]
pub fn now_micros() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
}

/// A stopwatch for budgets and progress.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is the one place that starts a stopwatch")]
    pub fn start() -> Self {
        Self(Instant::now())
    }
    #[must_use]
    pub fn millis(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
    #[must_use]
    pub fn micros(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// The clock a long-running process goes by: the wall clock, or in a rehearsal one that runs faster from a given instant,
/// so that a day can be rehearsed on a real cluster within minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// At this instant of the wall clock …
    real: Timestamp,
    /// … this is shown.
    shown: Timestamp,
    /// So many shown seconds pass in a real one.
    speed: i64,
}

impl Clock {
    /// The wall clock.
    pub const WALL: Self = Self { real: Timestamp(0), shown: Timestamp(0), speed: 1 };
    /// A day within a minute and a half; beyond it, whole seconds of the wall clock are too coarse to mean anything.
    pub const SPEED_MAX: i64 = 1000;

    /// A clock that shows `shown` when the wall clock shows `real`, and runs `speed` times as fast; the speed is kept
    /// between 1 and [`Self::SPEED_MAX`].
    #[must_use]
    pub fn rehearsal(real: Timestamp, shown: Timestamp, speed: i64) -> Self {
        Self { real, shown, speed: speed.clamp(1, Self::SPEED_MAX) }
    }

    /// What it shows now, to the second.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let since = i128::from(now_micros()) - i128::from(self.real.0) * 1_000_000;
        let shown = i128::from(self.shown.0) + (since * i128::from(self.speed)).div_euclid(1_000_000);
        Timestamp(i64::try_from(shown).unwrap_or(i64::MAX))
    }

    /// What it shows when the wall clock shows `real`.
    #[must_use]
    pub fn shown(&self, real: Timestamp) -> Timestamp {
        let since = i128::from(real.0) - i128::from(self.real.0);
        let shown = i128::from(self.shown.0) + since * i128::from(self.speed);
        Timestamp(i64::try_from(shown).unwrap_or(i64::MAX))
    }

    /// How long to wait until it shows `at`; zero when it has.
    #[must_use]
    pub fn until(&self, at: Timestamp) -> Duration {
        let span = i128::from(at.0) - i128::from(self.shown.0);
        let real = i128::from(self.real.0) * 1_000_000 + (span * 1_000_000).div_euclid(i128::from(self.speed.max(1)));
        let wait = real - i128::from(now_micros());
        Duration::from_micros(u64::try_from(wait.max(0)).unwrap_or(u64::MAX))
    }

    /// How far it goes on in so much real time.
    #[must_use]
    pub fn span(&self, real: Seconds) -> Seconds {
        Seconds(real.0.saturating_mul(self.speed))
    }

    /// Whether it shows what the wall clock does.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::WALL
    }

    /// Reads `REAL,SHOWN,SPEED`, such as `2026-11-30T02:00:00Z,2026-11-30T12:00:00+01:00,60`.
    ///
    /// # Errors
    /// A fragment that says what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not REAL,SHOWN,SPEED: two RFC 3339 instants and a whole number up to 1000");
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let [real, shown, speed] = parts[..] else { return Err(wrong()) };
        let speed = speed.parse().ok().filter(|speed| (1..=Self::SPEED_MAX).contains(speed)).ok_or_else(wrong)?;
        Ok(Self::rehearsal(calendar::parse_instant(real)?, calendar::parse_instant(shown)?, speed))
    }
}
