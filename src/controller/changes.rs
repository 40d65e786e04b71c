//! What happened between two looks at the cluster, as a closed set of causes: why there is a new plan.
//!
//! Both snapshots are assembled for the same instant, so that a difference is a change of objects and not of the clock.

use std::collections::BTreeMap;

use crate::names::WorkloadKey;
use crate::plan::snapshot::{NodeId, Running, Snapshot, Workload};

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    pub kind: ChangeKind,
    /// `evals/eval-1`, `ClusterQueue batch`; empty where nothing in particular is meant.
    pub subject: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// There was no plan.
    First,
    /// Running work is gone: it has ended, or was deleted.
    Ended,
    /// Running work waits again.
    Evicted,
    /// Planned work has started.
    Started,
    /// Work has started that no plan knew.
    AdHoc,
    /// New work waits.
    Arrived,
    /// Waiting work is gone.
    Removed,
    /// Another priority.
    Priority,
    /// Another due time, runtime, value or request.
    Promise,
    /// Quotas, limits or the tree itself.
    Quota,
    /// Windows or prices.
    Calendar,
    /// What running work holds, or how long it is expected to.
    Usage,
    /// Another policy.
    Policy,
    /// Another CapacityPlan, which goes first, plans the shared quota otherwise.
    Others,
    /// Running work has outlasted its expected end.
    Overrun,
    /// Kueue would give another flavor than planned.
    Flavor,
    /// A planned start has passed.
    Missed,
    /// Kueue has not taken up what was let go.
    NotReserved,
    /// The plan is old.
    Age,
}

impl ChangeKind {
    /// For metrics, logs and conditions.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "First",
            Self::Ended => "Ended",
            Self::Evicted => "Evicted",
            Self::Started => "Started",
            Self::AdHoc => "AdHoc",
            Self::Arrived => "Arrived",
            Self::Removed => "Removed",
            Self::Priority => "Priority",
            Self::Promise => "Promise",
            Self::Quota => "Quota",
            Self::Calendar => "Calendar",
            Self::Usage => "Usage",
            Self::Policy => "Policy",
            Self::Others => "Others",
            Self::Overrun => "Overrun",
            Self::Flavor => "Flavor",
            Self::Missed => "Missed",
            Self::NotReserved => "NotReserved",
            Self::Age => "Age",
        }
    }

    /// Whether it may have set capacity free that the plan does not use yet.
    #[must_use]
    pub fn frees(self) -> bool {
        matches!(
            self,
            Self::Ended
                | Self::Evicted
                | Self::Removed
                | Self::Quota
                | Self::Calendar
                | Self::Usage
                | Self::Promise
                | Self::Others
        )
    }

    fn says(self) -> &'static str {
        match self {
            Self::First => "there was no plan",
            Self::Ended => "has ended",
            Self::Evicted => "lost its quota and waits again",
            Self::Started => "has started",
            Self::AdHoc => "has started without a plan",
            Self::Arrived => "is new",
            Self::Removed => "is gone",
            Self::Priority => "has another priority",
            Self::Promise => "promises or asks for something else",
            Self::Quota => "has other quotas or limits",
            Self::Calendar => "windows or prices have changed",
            Self::Usage => "holds something else than before",
            Self::Policy => "is to be planned otherwise",
            Self::Others => "a CapacityPlan that goes first takes other quota",
            Self::Overrun => "runs longer than expected",
            Self::Flavor => "would get another flavor from Kueue than planned",
            Self::Missed => "did not start when planned",
            Self::NotReserved => "was let go and Kueue has not taken it up",
            Self::Age => "the plan was old",
        }
    }
}

/// The first few changes as one sentence without a full stop.
#[must_use]
pub fn sentence(changes: &[Change]) -> String {
    const SHOWN: usize = 3;
    let one = |change: &Change| format!("{} {}", change.subject, change.kind.says()).trim_start().to_owned();
    let shown = changes.iter().take(SHOWN).map(one).collect::<Vec<_>>().join("; ");
    match changes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        Some(more) => format!("{shown}; and {more} more"),
        None => shown,
    }
}

/// Whether work in a queue of that snapshot matters to whoever asks.
pub type Matters<'a> = dyn Fn(&Snapshot, NodeId) -> bool + 'a;

/// What has changed among work that matters, the gravest first, each subject once.
#[must_use]
pub fn between(before: &Snapshot, after: &Snapshot, matters: &Matters<'_>) -> Vec<Change> {
    let mut found = Vec::new();
    let mut tell = |kind: ChangeKind, subject: String| found.push(Change { kind, subject });
    nodes(before, after, &mut tell);
    if before.windows != after.windows || before.prices != after.prices || before.currency != after.currency {
        tell(ChangeKind::Calendar, String::new());
    }
    let (ran, runs) = (running(before, matters), running(after, matters));
    let (waited, waits) = (waiting(before, matters), waiting(after, matters));
    for (key, was) in &ran {
        match (runs.get(key), waits.contains_key(key)) {
            (Some(is), _) if (&is.uses, is.end_p50, is.end_p90) != (&was.uses, was.end_p50, was.end_p90) => {
                tell(ChangeKind::Usage, key.to_string());
            }
            (Some(_), _) => {}
            (None, true) => tell(ChangeKind::Evicted, key.to_string()),
            (None, false) => tell(ChangeKind::Ended, key.to_string()),
        }
    }
    for key in runs.keys().filter(|key| !ran.contains_key(**key)) {
        let kind = if waited.contains_key(key) { ChangeKind::Started } else { ChangeKind::AdHoc };
        tell(kind, key.to_string());
    }
    for (key, was) in &waited {
        match waits.get(key) {
            Some(is) if is == was => {}
            Some(is) if is.priority != was.priority => tell(ChangeKind::Priority, key.to_string()),
            Some(_) => tell(ChangeKind::Promise, key.to_string()),
            None if !runs.contains_key(key) => tell(ChangeKind::Removed, key.to_string()),
            None => {}
        }
    }
    for key in waits.keys().filter(|key| !waited.contains_key(**key) && !ran.contains_key(**key)) {
        tell(ChangeKind::Arrived, key.to_string());
    }
    found.sort();
    found.dedup();
    found
}

fn running<'s>(snapshot: &'s Snapshot, matters: &Matters<'_>) -> BTreeMap<&'s WorkloadKey, &'s Running> {
    let ours = snapshot.running.iter().filter(|it| matters(snapshot, it.queue));
    ours.map(|it| (&it.key, it)).collect()
}

fn waiting<'s>(snapshot: &'s Snapshot, matters: &Matters<'_>) -> BTreeMap<&'s WorkloadKey, &'s Workload> {
    let ours = snapshot.workloads.iter().filter(|it| matters(snapshot, it.queue));
    ours.map(|it| (&it.key, it)).collect()
}

fn nodes(before: &Snapshot, after: &Snapshot, tell: &mut impl FnMut(ChangeKind, String)) {
    if before.cells != after.cells || before.nodes.len() != after.nodes.len() {
        tell(ChangeKind::Quota, String::new());
        return;
    }
    let parent = |snapshot: &Snapshot, id: Option<NodeId>| id.map(|id| snapshot.node(id).name.clone());
    for (was, is) in before.nodes.iter().zip(&after.nodes) {
        let same = was.name == is.name
            && was.quotas == is.quotas
            && was.kind == is.kind
            && parent(before, was.parent) == parent(after, is.parent);
        if !same {
            tell(ChangeKind::Quota, is.name.to_string());
        }
    }
}
