//! Who leads, as a state machine: what was read and what time it is, in; what to write, out. No I/O, no clock.
//!
//! Invariants, held by property tests over delays, lost answers and clocks that do not agree:
//! - at any moment at most one candidate believes that it leads;
//! - an epoch belongs to one tenure, and later tenures have greater ones, also when the lease is deleted in between: none
//!   is below the minutes since 1970, which no number of handovers reaches.
//!
//! How long a lease has been *absent* tells nothing: between two looks it may have been made, held and deleted again. So
//! only the very first look of a process takes an absent lease at once. Later ones make a vacant lease, and whoever sees
//! that one stand for the whole duration takes it: by then nobody can believe in a tenure from before it was made.
//!
//! Times on the lease are never compared with a clock of ours: a candidate measures on its own monotonic clock since when
//! it has seen the record unchanged, a leader since when it *began* its last good write. The leader gives up after the
//! renewal limit, the others take over after the longer duration, so the gap between the two is the margin.

use std::time::Duration;

use chrono::{DateTime, SecondsFormat};
use serde::{Deserialize, Serialize};

/// Milliseconds on a monotonic clock of the candidate's own.
pub type Monotonic = u64;

/// How long things take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// How long others leave a lease alone that they see unchanged.
    pub duration: Duration,
    /// How long a leader believes in itself after its last good write; shorter than `duration`.
    pub renewal: Duration,
    /// The time between two looks.
    pub retry: Duration,
}

impl Default for Timing {
    /// 15, 10 and 2 seconds, as Kubernetes' own components have it.
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self { duration: seconds(15), renewal: seconds(10), retry: seconds(2) }
    }
}

/// The spec of a Lease, as it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Empty: nobody holds it. With a duration of one second it was handed back, with more it is vacant until then.
    pub holder_identity: Option<String>,
    pub lease_duration_seconds: Option<i64>,
    pub acquire_time: Option<String>,
    pub renew_time: Option<String>,
    pub lease_transitions: Option<i64>,
}

impl Record {
    #[must_use]
    pub fn holder(&self) -> &str {
        self.holder_identity.as_deref().unwrap_or_default()
    }

    /// The epoch; a lease that was never handed on has none yet.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.lease_transitions.unwrap_or_default()
    }
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Somebody else leads, or may still.
    Wait,
    /// Create the lease; if it is there by then, somebody else won.
    Create(Record),
    /// Replace what was read, by its resource version; a conflict means that somebody else won.
    Replace(Record),
}

/// Beyond this a holder's own idea of the lease's duration is taken for a slip of the pen.
const FOREIGN_DURATION_MAX: Duration = Duration::from_mins(5);

/// On a lease without a holder: its last one has stopped, so that nobody need wait.
const HANDED_BACK_SECONDS: i64 = 1;

const MICROS_PER_MINUTE: i64 = 60_000_000;

/// One of those who may lead.
#[derive(Debug, Clone)]
pub struct Candidate {
    identity: String,
    timing: Timing,
    /// What was last seen, and since when it has been so; `None`: no lease.
    seen: Option<(Record, Monotonic)>,
    /// Whether the first look is over.
    has_looked: bool,
    /// The greatest epoch that was ever seen: a lease that is deleted and made anew goes on from there.
    greatest: i64,
    held: Option<Held>,
}

#[derive(Debug, Clone)]
struct Held {
    epoch: i64,
    acquired: Option<String>,
    /// When the last good write was begun.
    since: Monotonic,
}

impl Candidate {
    /// `identity` is of this process alone, never of a machine or pod that may start again.
    #[must_use]
    pub fn new(identity: String, timing: Timing) -> Self {
        Self { identity, timing, seen: None, has_looked: false, greatest: 0, held: None }
    }

    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// What to do about what was read (`None`: there is no lease). `wall_micros`: the time to write, in microseconds since
    /// 1970.
    pub fn step(&mut self, read: Option<&Record>, wall_micros: i64, now: Monotonic) -> Action {
        let is_first = !std::mem::replace(&mut self.has_looked, true);
        self.see(read, now);
        let Some(record) = read else {
            // Deleted under its leader, if it is this one: whoever held it begins again like everybody.
            self.held = None;
            return Action::Create(if is_first { self.wanted(wall_micros) } else { self.vacant(wall_micros) });
        };
        let mine = record.holder() == self.identity;
        let held = self.held.as_ref().filter(|held| mine && held.epoch == record.epoch());
        if let Some(held) = held.filter(|held| self.believes(held, now)) {
            return Action::Replace(self.renewed(held, wall_micros));
        }
        self.held = None;
        // One's own name without a tenure is a write whose answer was lost. It may have landed late, after a lease that
        // another one held was deleted: it is waited out like a stranger's.
        if self.is_expired(record, now) { Action::Replace(self.wanted(wall_micros)) } else { Action::Wait }
    }

    /// The write of this record, begun at `begun`, was good.
    pub fn written(&mut self, record: &Record, begun: Monotonic, now: Monotonic) {
        self.see(Some(record), now);
        if record.holder() != self.identity {
            return;
        }
        let since = self.held.as_ref().filter(|held| held.epoch == record.epoch()).map_or(begun, |held| {
            // Answers may overtake each other; the latest beginning counts.
            held.since.max(begun)
        });
        self.held = Some(Held { epoch: record.epoch(), acquired: record.acquire_time.clone(), since });
    }

    /// The epoch of the tenure, while there is one. To be asked at the moment of an act, not before it.
    #[must_use]
    pub fn epoch(&self, now: Monotonic) -> Option<i64> {
        self.held.as_ref().filter(|held| self.believes(held, now)).map(|held| held.epoch)
    }

    /// How long the tenure lasts without another good write.
    #[must_use]
    pub fn remaining(&self, now: Monotonic) -> Option<Duration> {
        let held = self.held.as_ref().filter(|held| self.believes(held, now))?;
        Some(self.timing.renewal.saturating_sub(Duration::from_millis(now.saturating_sub(held.since))))
    }

    /// Ends the tenure and gives what to write, so that the next one need not wait. The epoch stays on the lease.
    pub fn resign(&mut self, read: &Record, wall_micros: i64) -> Option<Record> {
        let held = self.held.take()?;
        let mine = read.holder() == self.identity && read.epoch() == held.epoch;
        mine.then(|| Record {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(HANDED_BACK_SECONDS),
            ..self.renewed(&held, wall_micros)
        })
    }

    fn see(&mut self, read: Option<&Record>, now: Monotonic) {
        self.greatest = self.greatest.max(read.map_or(0, Record::epoch));
        if self.seen.as_ref().map(|(known, _)| known) != read {
            self.seen = read.map(|record| (record.clone(), now));
        }
    }

    fn believes(&self, held: &Held, now: Monotonic) -> bool {
        now.saturating_sub(held.since) < millis(self.timing.renewal)
    }

    /// How long a holder is believed: by its own word, within bounds, and never for less than by ours.
    fn patience(&self, record: &Record) -> Duration {
        let stated = record.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let stated = Duration::from_secs(stated.unwrap_or(0)).min(FOREIGN_DURATION_MAX);
        stated.max(self.timing.duration)
    }

    /// Whether nobody can hold it any more.
    fn is_expired(&self, record: &Record, now: Monotonic) -> bool {
        let was_handed_back =
            record.holder().is_empty() && record.lease_duration_seconds.unwrap_or_default() <= HANDED_BACK_SECONDS;
        let patience = millis(self.patience(record));
        was_handed_back || self.seen.as_ref().is_some_and(|(_, since)| now.saturating_sub(*since) >= patience)
    }

    /// The epoch of a tenure that begins now. The API knows transitions of 32 bits.
    fn next_epoch(&self, wall_micros: i64) -> i64 {
        (wall_micros / MICROS_PER_MINUTE).max(self.greatest.saturating_add(1)).min(i64::from(i32::MAX))
    }

    fn wanted(&self, wall_micros: i64) -> Record {
        let (epoch, acquired) = (self.next_epoch(wall_micros), Some(written(wall_micros)));
        self.renewed(&Held { epoch, acquired, since: Monotonic::default() }, wall_micros)
    }

    /// A lease that nobody holds yet.
    fn vacant(&self, wall_micros: i64) -> Record {
        Record { holder_identity: Some(String::new()), acquire_time: None, ..self.wanted(wall_micros) }
    }

    fn renewed(&self, held: &Held, wall_micros: i64) -> Record {
        // Rounded up: a duration below a second is for tests, and the API knows whole ones from 1 on.
        let seconds = i64::try_from(self.timing.duration.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
        Record {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(seconds.max(1)),
            acquire_time: held.acquired.clone(),
            renew_time: Some(written(wall_micros)),
            lease_transitions: Some(held.epoch),
        }
    }
}

/// In the Lease's own form, with microseconds: two renewals within a second differ.
fn written(wall_micros: i64) -> String {
    let time = DateTime::from_timestamp_micros(wall_micros).unwrap_or(DateTime::UNIX_EPOCH);
    time.to_rfc3339_opts(SecondsFormat::Micros, true)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
