//! Who leads, as a state machine: what was read and what time it is, in; what to write, out. No I/O, no clock.
//!
//! Invariants, held by property tests over delays, lost answers and clocks that do not agree:
//! - at any moment at most one candidate believes that it leads;
//! - an epoch belongs to one tenure, and later tenures have greater ones.
//!
//! Times on the lease are never compared with a clock of ours: a candidate measures on its own monotonic clock since when
//! it has seen the record unchanged, a leader since when it *began* its last good write. The leader gives up after the
//! renewal limit, the others take over after the longer duration, so the gap between the two is the margin.

use std::time::Duration;

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
    /// Empty: nobody holds it.
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

/// One of those who may lead.
#[derive(Debug, Clone)]
pub struct Candidate {
    identity: String,
    timing: Timing,
    /// The record as last seen, and since when it has been so.
    seen: Option<(Record, Monotonic)>,
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
        Self { identity, timing, seen: None, greatest: 0, held: None }
    }

    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// What to do about what was read (`None`: there is no lease). `wall` is the time to write, as the Lease has it.
    pub fn step(&mut self, read: Option<&Record>, wall: &str, now: Monotonic) -> Action {
        let Some(record) = read else {
            // Deleted under a leader: others see none either, so the tenure is over and the next has its own epoch.
            (self.held, self.seen) = (None, None);
            return Action::Create(self.wanted(wall));
        };
        self.see(record, now);
        let mine = record.holder() == self.identity;
        let held = self.held.as_ref().filter(|held| mine && held.epoch == record.epoch());
        if let Some(held) = held.filter(|held| self.believes(held, now)) {
            return Action::Replace(Record { renew_time: Some(wall.to_owned()), ..self.renewed(held) });
        }
        self.held = None;
        // One's own name without a tenure: a write whose answer was lost. Nobody else can be in it.
        if record.holder().is_empty() || mine || self.is_expired(record, now) {
            return Action::Replace(self.wanted(wall));
        }
        Action::Wait
    }

    /// The write of this record, begun at `begun`, was good.
    pub fn written(&mut self, record: &Record, begun: Monotonic, now: Monotonic) {
        self.see(record, now);
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
    pub fn resign(&mut self, read: &Record, wall: &str) -> Option<Record> {
        let held = self.held.take()?;
        let mine = read.holder() == self.identity && read.epoch() == held.epoch;
        mine.then(|| Record {
            holder_identity: Some(String::new()),
            lease_duration_seconds: Some(1),
            renew_time: Some(wall.to_owned()),
            ..self.renewed(&held)
        })
    }

    fn see(&mut self, record: &Record, now: Monotonic) {
        self.greatest = self.greatest.max(record.epoch());
        if self.seen.as_ref().is_none_or(|(known, _)| known != record) {
            self.seen = Some((record.clone(), now));
        }
    }

    fn believes(&self, held: &Held, now: Monotonic) -> bool {
        now.saturating_sub(held.since) < millis(self.timing.renewal)
    }

    fn is_expired(&self, record: &Record, now: Monotonic) -> bool {
        let stated = record.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
        let stated = Duration::from_secs(stated.unwrap_or(0)).min(FOREIGN_DURATION_MAX);
        let patience = millis(stated.max(self.timing.duration));
        self.seen.as_ref().is_some_and(|(_, since)| now.saturating_sub(*since) >= patience)
    }

    fn wanted(&self, wall: &str) -> Record {
        let held = Held {
            epoch: self.greatest.saturating_add(1),
            acquired: Some(wall.to_owned()),
            since: Monotonic::default(),
        };
        Record { renew_time: Some(wall.to_owned()), ..self.renewed(&held) }
    }

    fn renewed(&self, held: &Held) -> Record {
        // Rounded up: a duration below a second is for tests, and the API knows whole ones from 1 on.
        let seconds = i64::try_from(self.timing.duration.as_millis().div_ceil(1000)).unwrap_or(i64::MAX);
        Record {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: Some(seconds.max(1)),
            acquire_time: held.acquired.clone(),
            renew_time: None,
            lease_transitions: Some(held.epoch),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
