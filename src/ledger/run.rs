//! A run: one attempt of one workload, from the moment it held its resources to the moment it let go of them.
//!
//! Invariant: `start <= end`. Deliberately absent: how busy it was; cost follows what was held.

use std::collections::BTreeMap;

use crate::names::{FlavorName, QueueName, ResourceName, TenantId, WorkloadKey};
use crate::units::{Amount, Seconds, Timestamp};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub workload: WorkloadKey,
    /// From 1; an eviction followed by a new admission makes the next.
    pub attempt: u32,
    pub tenant: Option<TenantId>,
    /// The outcome class it works for.
    pub class: Option<String>,
    pub queue: Option<QueueName>,
    pub flavor: FlavorName,
    /// Held together for the whole run.
    pub resources: BTreeMap<ResourceName, Amount>,
    /// When its workload was made, where that is known.
    pub created: Option<Timestamp>,
    pub start: Timestamp,
    /// `None`: it has not ended; it costs up to the end of whatever window is asked about.
    pub end: Option<Timestamp>,
    pub end_reason: EndReason,
    /// What was run, field by field, as far as it is known: what evaluations are compared with.
    pub fingerprint: BTreeMap<String, String>,
}

/// How an attempt ended. What became of its outcome is another question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndReason {
    Succeeded,
    Failed,
    Evicted,
    Cancelled,
    /// Still running.
    Unfinished,
}

impl EndReason {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "Succeeded",
            Self::Failed => "Failed",
            Self::Evicted => "Evicted",
            Self::Cancelled => "Cancelled",
            Self::Unfinished => "Unfinished",
        }
    }
}

/// `[from, to)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Window {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl Window {
    /// From the first start to the last end; runs that have not ended reach no further than the others' ends.
    #[must_use]
    pub fn around(runs: &[Run]) -> Option<Self> {
        let from = runs.iter().map(|run| run.start).min()?;
        let to = runs.iter().filter_map(|run| run.end).max().map_or(from, |end| end.max(from));
        Some(Self { from, to })
    }

    #[must_use]
    pub fn length(self) -> Seconds {
        Seconds((self.to.0 - self.from.0).max(0))
    }

    #[must_use]
    pub fn contains(self, at: Timestamp) -> bool {
        self.from <= at && at < self.to
    }

    /// The part inside another window; `None` when there is none.
    #[must_use]
    pub fn within(self, other: Self) -> Option<Self> {
        let part = Self { from: self.from.max(other.from), to: self.to.min(other.to) };
        (part.from < part.to).then_some(part)
    }
}

impl Run {
    /// The time it held its resources inside `window`; `None` when none of it.
    #[must_use]
    pub fn held(&self, window: Window) -> Option<Window> {
        Window { from: self.start, to: self.end.unwrap_or(window.to) }.within(window)
    }

    /// The order of charges and of ties.
    #[must_use]
    pub fn order(&self) -> (Option<&TenantId>, &WorkloadKey, u32, Timestamp, &FlavorName) {
        (self.tenant.as_ref(), &self.workload, self.attempt, self.start, &self.flavor)
    }

    /// GPUs held, in thousandths.
    #[must_use]
    pub fn gpu_milli(&self) -> i64 {
        let milli = |(name, amount): (&ResourceName, &Amount)| {
            let per_gpu = name.units_per_gpu();
            name.is_accelerator().then(|| amount.0.saturating_mul(1000) / per_gpu)
        };
        self.resources.iter().filter_map(milli).fold(0, i64::saturating_add)
    }
}
