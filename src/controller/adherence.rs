//! Whether planned starts were kept: each start once, with how late it was and, where it was not kept, why.

use std::collections::{BTreeMap, BTreeSet};

use crate::clock::Clock;
use crate::kueue::observed::{Observed, Standing};
use crate::units::Seconds;

/// Real seconds between planned start and reserved quota that count as kept.
const KEPT: Seconds = Seconds(5);

/// A start that was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// From the planned start to the reservation, on the controller's clock; negative: before it.
    pub late: Seconds,
    pub breach: Option<Breach>,
}

/// Why a planned start was not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Breach {
    /// It started before its time: somebody else took its gate away.
    Early,
    /// Kueue had no quota for it when it was let go.
    NoQuota,
    /// It was let go late.
    LateRelease,
    /// It lost its quota and started once more.
    Evicted,
}

impl Breach {
    /// For a metric's label.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::NoQuota => "no-quota",
            Self::LateRelease => "late-release",
            Self::Evicted => "evicted",
        }
    }
}

/// The starts that have been counted, by the Workload's UID.
#[derive(Debug, Default)]
pub struct Adherence {
    counted: BTreeSet<String>,
    /// Seen to wait without a gate, so that it was let go and Kueue did not take it up at once.
    waited: BTreeMap<String, bool>,
}

impl Adherence {
    /// Takes up a look; gives every start that was not counted yet. The first look counts what has started before.
    pub fn observe(&mut self, observed: &[Observed], enforced: bool, clock: &Clock) -> Vec<Kept> {
        let mut present = BTreeSet::new();
        let mut found = Vec::new();
        for one in observed {
            let Some(workload) = &one.workload else { continue };
            present.insert(workload.uid.clone());
            if one.standing == Standing::Waiting && !one.is_held_back() {
                self.waited.insert(workload.uid.clone(), true);
            }
            let (Some(planned), Some(reserved)) = (one.planned_start(), workload.reserved) else { continue };
            if !enforced || one.standing != Standing::Running || !self.counted.insert(workload.uid.clone()) {
                continue;
            }
            let late = reserved - planned;
            let breach = match () {
                () if workload.evictions > 0 => Some(Breach::Evicted),
                () if late < Seconds::ZERO => Some(Breach::Early),
                () if late <= clock.span(KEPT) => None,
                () if self.waited.contains_key(&workload.uid) => Some(Breach::NoQuota),
                () => Some(Breach::LateRelease),
            };
            found.push(Kept { late, breach });
        }
        self.counted.retain(|uid| present.contains(uid));
        self.waited.retain(|uid, _| present.contains(uid));
        found
    }
}
