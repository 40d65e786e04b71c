//! What is told of work that Kueue evicts, and from when on that is a trouble of its own.
//!
//! Kueue has no limit: queues that preempt each other may do so for ever, each time from the beginning. Deliberately absent:
//! holding such work. Kueue refuses a gate on it, and to deactivate it could stop what has just started anew; whoever
//! reads the message changes the queues.

use chrono_tz::Tz;

use crate::calendar;
use crate::kueue::observed::{Observed, Standing, Turn};
use crate::units::Timestamp;

/// To lose its quota once or twice is a queue's daily business; from here on somebody should look at its rules.
pub const OFTEN: u32 = 3;

fn times(one: &Observed) -> u32 {
    one.workload.as_ref().map_or(0, |workload| workload.evictions)
}

/// Whether it is evicted again and again, and not over.
#[must_use]
pub fn is_often(one: &Observed) -> bool {
    times(one) >= OFTEN && matches!(one.standing, Standing::Waiting | Standing::Running)
}

/// `Lost its quota 12:30 (Preempted), 4 times so far. `, before what is said of its start; empty where there is nothing to
/// tell.
#[must_use]
pub fn said(one: &Observed, now: Timestamp, zone: Tz) -> String {
    let last = one.workload.as_ref().and_then(|workload| workload.evicted.as_ref());
    let Some(last) = last.filter(|_| times(one) > 0) else { return String::new() };
    let when = last.at.map(|at| format!(" {}", calendar::day_time(at, now, zone))).unwrap_or_default();
    let often = if times(one) > 1 { format!(", {} times so far", times(one)) } else { String::new() };
    format!("Lost its quota{when}{}{often}. ", by(last))
}

/// ` (Preempted)`.
fn by(turn: &Turn) -> String {
    if turn.reason.is_empty() { String::new() } else { format!(" ({})", turn.reason) }
}

/// What the condition says of work that is evicted again and again.
#[must_use]
pub fn trouble(one: &Observed) -> String {
    let last = one.workload.as_ref().and_then(|workload| workload.evicted.as_ref()).map(by).unwrap_or_default();
    let name = one.key.name();
    format!("{name} lost its quota {} times{last}: look at the preemption rules of its queue and cohort", times(one))
}
