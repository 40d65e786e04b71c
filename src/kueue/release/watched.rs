//! What became of work that was let go: its gate passed on, its quota reserved, or the reason why not.

use super::{Pace, Scene};
use crate::kueue::observed::{Observed, Standing};
use crate::names::WorkloadKey;
use crate::units::Timestamp;

/// Work that was let go and did not start, beyond the time that Kueue needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub key: WorkloadKey,
    pub since: Timestamp,
    pub kind: TroubleKind,
    /// Kueue's own words, where it has any.
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TroubleKind {
    /// Kueue has made no Workload of it.
    NoWorkload,
    /// A gate has stayed on its Workload: ours by accident, or another controller's.
    StillGated,
    /// It waits in Kueue's queue.
    NotReserved,
    /// Its Workload is inactive.
    Inactive,
}

impl TroubleKind {
    /// For metrics and logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NoWorkload => "no-workload",
            Self::StillGated => "still-gated",
            Self::NotReserved => "not-reserved",
            Self::Inactive => "inactive",
        }
    }
}

/// Everything that has been ungated for longer than Kueue needs and holds no quota.
#[must_use]
pub fn watch(scene: &Scene<'_>, pace: Pace) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for (key, since) in scene.loose_since {
        let Some(one) = scene.observed.get(key) else { continue };
        if one.standing != Standing::Waiting || !one.is_free() {
            continue;
        }
        if scene.now - *since < pace.reserve_within {
            continue;
        }
        let (kind, message) = told(one);
        troubles.push(Trouble { key: key.clone(), since: *since, kind, message });
    }
    troubles
}

fn told(one: &Observed) -> (TroubleKind, String) {
    let Some(workload) = &one.workload else {
        return (TroubleKind::NoWorkload, "Kueue has made no Workload of it".to_owned());
    };
    let words = workload.pending.as_ref().map(|turn| turn.message.clone()).filter(|words| !words.is_empty());
    if !workload.gates.is_empty() && !one.gates_ignored {
        return (TroubleKind::StillGated, format!("its Workload is still held by {}", workload.gates));
    }
    if !workload.active {
        return (TroubleKind::Inactive, "its Workload is inactive".to_owned());
    }
    (TroubleKind::NotReserved, words.unwrap_or_else(|| "Kueue has reserved no quota for it yet".to_owned()))
}
