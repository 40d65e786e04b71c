//! The only reader of the wall clock. Everything else is told what time it is.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::units::Timestamp;

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
