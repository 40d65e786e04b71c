//! How long planning rests, so that a big cluster that changes all the time is not planned for all the time.
//!
//! Pure. What planning has taken of late is owed and goes down while nothing is planned. A few plans in a row are made at
//! once, for things rarely happen alone; beyond those, planning takes half of the time. What touches the starts that come
//! next waits for no rest, unless that has gone on for long, too. That what was let go has started, as planned, is no news.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::changes::{Change, ChangeKind};
use super::planning::Planned;
use crate::plan::proposal::Release;
use crate::plan::snapshot::{Running, Snapshot};
use crate::units::Timestamp;

/// What may be owed before planning rests: three plans that take all of their time, as time limits go by default.
const FREE: Duration = Duration::from_secs(6);
/// What may be owed before what is urgent rests.
const FREE_URGENT: Duration = Duration::from_secs(30);
/// No rest is longer where anything unplanned has happened.
const REST_MAX: Duration = Duration::from_secs(3);
/// And where nothing has.
const REST_AS_PLANNED: Duration = Duration::from_secs(10);

/// How soon something is to be planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    /// The starts that come next hang on it.
    Urgent,
    Soon,
    /// It goes as planned.
    Later,
}

/// What planning has taken of late. Instants are times since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rest {
    owed: Duration,
    /// Up to here it is reckoned.
    at: Duration,
}

impl Rest {
    /// A plan begins: what has passed since the last one was rest.
    pub fn begin(&mut self, now: Duration) {
        (self.owed, self.at) = (self.owed.saturating_sub(now.saturating_sub(self.at)), now);
    }

    /// It has ended, whatever came of it.
    pub fn end(&mut self, now: Duration) {
        (self.owed, self.at) = (self.owed + now.saturating_sub(self.at), now);
    }

    /// When the next plan may begin.
    #[must_use]
    pub fn until(&self, haste: Haste) -> Duration {
        let rest = |free: Duration| self.owed.saturating_sub(free).min(REST_MAX);
        self.at
            + match haste {
                Haste::Urgent => rest(FREE_URGENT),
                Haste::Soon => rest(FREE),
                Haste::Later => REST_AS_PLANNED,
            }
    }
}

/// Whether what has happened touches the starts that come next: they lack what they count on, or are gone themselves.
/// What ends early leaves something idle, and what arrives was promised nothing yet; both bear a rest of seconds.
#[must_use]
pub fn is_urgent(changes: &[Change], planned: &Planned, now: Timestamp) -> bool {
    let next = planned.plan.releases.iter().filter(|it| it.start - now <= planned.policy.frozen_window);
    let next: BTreeSet<String> = next.map(|release| release.workload.to_string()).collect();
    changes.iter().any(|change| match change.kind {
        ChangeKind::First
        | ChangeKind::Evicted
        | ChangeKind::AdHoc
        | ChangeKind::Quota
        | ChangeKind::Policy
        | ChangeKind::Overrun
        | ChangeKind::Flavor
        | ChangeKind::Missed
        | ChangeKind::NotReserved => true,
        ChangeKind::Removed | ChangeKind::Priority | ChangeKind::Promise => next.contains(&change.subject),
        ChangeKind::Started
        | ChangeKind::Ended
        | ChangeKind::Arrived
        | ChangeKind::Calendar
        | ChangeKind::Others
        | ChangeKind::Usage
        | ChangeKind::Age => false,
    })
}

/// Whether nothing has happened but that planned work has started, each on what it was planned on.
#[must_use]
pub fn is_as_planned(changes: &[Change], planned: &Planned, seen: &Snapshot) -> bool {
    if changes.iter().any(|change| change.kind != ChangeKind::Started) {
        return false;
    }
    let running: BTreeMap<String, &Running> = seen.running.iter().map(|it| (it.key.to_string(), it)).collect();
    let releases: BTreeMap<String, &Release> =
        planned.plan.releases.iter().map(|it| (it.workload.to_string(), it)).collect();
    changes.iter().all(|Change { subject, .. }| {
        let (Some(running), Some(release)) = (running.get(subject), releases.get(subject)) else { return false };
        let held = running.uses.iter().map(|(cell, amount)| {
            let cell = seen.cell(*cell);
            (&cell.flavor, &cell.resource, amount)
        });
        let promised = release.uses.iter().map(|(flavor, resource, amount)| (flavor, resource, amount));
        held.collect::<BTreeSet<_>>() == promised.collect()
    })
}
