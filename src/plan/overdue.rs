//! What must start now although no plan says so: the last safeguard against holding work for ever.
//!
//! Pure, and as simple as can be, because it must hold when everything else has failed: no search, no capacity, no
//! state but the starts that were once promised. Work is overdue from its promised start on, and from its latest safe
//! start on, whichever comes first; work of which neither is known, once it has been held for the limit.

use std::collections::BTreeMap;

use crate::names::WorkloadKey;
use crate::plan::snapshot::{Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

/// One workload that may not be held any longer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overdue {
    /// From when on.
    pub since: Timestamp,
    pub key: WorkloadKey,
    pub why: Why,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// The start that was promised for it has passed.
    Promised,
    /// Started later, its p90 end would be past its due time.
    LatestSafeStart,
    /// Nothing says when it should start, and it has been held for the limit.
    HeldTooLong,
}

/// The last start from which nine of ten runs end in time, on the option that is quickest; `None` without a due time or
/// a runtime that is known.
#[must_use]
pub fn latest_safe_start(workload: &Workload) -> Option<Timestamp> {
    let due = workload.due.as_ref()?;
    let known = workload.options.iter().filter(|option| option.runtime.known);
    let quickest = known.map(|option| option.runtime.p90).min()?;
    Some(Timestamp(due.at.0.saturating_sub(quickest.0)))
}

/// Everything in the snapshot that may not be held at `now`, the longest overdue first.
///
/// `promised` holds the starts that were last promised. `notBefore` and later arrivals are respected: nothing is overdue
/// before it may start.
#[must_use]
pub fn overdue(
    snapshot: &Snapshot,
    promised: &BTreeMap<WorkloadKey, Timestamp>,
    now: Timestamp,
    hold_max: Seconds,
) -> Vec<Overdue> {
    let mut found: Vec<Overdue> = snapshot
        .workloads
        .iter()
        .filter(|workload| workload.earliest_start <= now)
        .filter_map(|workload| {
            let promised = promised.get(&workload.key).map(|start| (*start, Why::Promised));
            let safe = latest_safe_start(workload).map(|start| (start, Why::LatestSafeStart));
            let held = (workload.created + hold_max, Why::HeldTooLong);
            let (since, why) = promised.into_iter().chain(safe).min().unwrap_or(held);
            (since <= now).then(|| Overdue { since, key: workload.key.clone(), why })
        })
        .collect();
    found.sort();
    found
}
