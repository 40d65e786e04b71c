//! The planner's input: one immutable value that says everything the planner may know.
//!
//! Invariants (kept by `kueue::assemble` and the importers, checked by [`Snapshot::problems`]):
//! - every id is an index into the vector it names; a node's parent is a Cohort and the tree has no cycle;
//! - every amount in a [`RunOption`] is positive and names a cell at most once; zero requests are simply absent
//!   (a workload without accelerators may use no cell at all);
//! - windows and prices are already expanded to half-open `[start, end)` instants: no calendar and no time-zone
//!   rule reaches the planner;
//! - workloads stand in creation order, ties by key: that order is the last tie-break everywhere.
//!
//! Deliberately absent: Kubernetes objects, files, clocks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::{FlavorName, QueueName, ResourceName, TenantId, WorkloadKey};
use crate::units::{Amount, Money, Seconds, Timestamp};

pub use crate::plan::policy::{Objective, Policy, Promise, Unplanned};

/// Index into [`Snapshot::cells`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CellId(pub u32);

/// Index into [`Snapshot::nodes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    pub now: Timestamp,
    /// Planning looks this far. Work that cannot end before it is still placed, later, and says so.
    pub horizon_end: Timestamp,
    /// IANA name of the zone in which times are shown; `UTC` by default.
    pub time_zone: String,
    /// (flavor, resource) pairs that have quota somewhere.
    pub cells: Vec<Cell>,
    /// ClusterQueues and Cohorts.
    pub nodes: Vec<Node>,
    /// Work that the planner may place, in creation order.
    pub workloads: Vec<Workload>,
    /// Work that already holds quota and that nobody moves.
    pub running: Vec<Running>,
    pub windows: Vec<Window>,
    pub prices: Vec<CellPrice>,
    /// ISO 4217, when there is a rate card.
    pub currency: Option<String>,
    /// What was promised last time, for stability and the frozen window.
    pub previous: Vec<PreviousRelease>,
}

/// A resource on a flavor: the granularity of Kueue's quota.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cell {
    pub flavor: FlavorName,
    pub resource: ResourceName,
}

/// A ClusterQueue or Cohort in the quota tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: QueueName,
    pub parent: Option<NodeId>,
    /// Cells absent here have no quota of their own at this node (nominal 0, no limits).
    pub quotas: BTreeMap<CellId, Quota>,
    pub kind: NodeKind,
}

impl Node {
    /// How Kueue admits from a ClusterQueue; `None` for a Cohort.
    #[must_use]
    pub fn rules(&self) -> Option<&QueueRules> {
        match &self.kind {
            NodeKind::ClusterQueue(rules) => Some(rules),
            NodeKind::Cohort => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    Cohort,
    ClusterQueue(QueueRules),
}

/// `None` limits are unlimited: lend everything, borrow everything in the tree (Kueue's defaults).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Quota {
    pub nominal: Amount,
    pub borrowing_limit: Option<Amount>,
    pub lending_limit: Option<Amount>,
}

/// How Kueue itself would admit from a ClusterQueue. The planner needs only `stopped`; the simulation needs all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRules {
    pub strategy: QueueingStrategy,
    /// `stopPolicy` other than None: nothing new is admitted.
    pub stopped: bool,
    /// Resource groups, each with its flavors in Kueue's order of trial.
    pub groups: Vec<ResourceGroup>,
    pub within_cluster_queue: PreemptionPolicy,
    pub reclaim_within_cohort: PreemptionPolicy,
    /// `borrowWithinCohort`: policy and `maxPriorityThreshold`.
    pub borrow_within_cohort: Option<BorrowWithinCohort>,
    /// `flavorFungibility.whenCanBorrow` = TryNextFlavor (default MayStopSearch, formerly Borrow).
    pub try_next_flavor_before_borrowing: bool,
    /// `flavorFungibility.whenCanPreempt` = TryNextFlavor (the default; false = MayStopSearch, formerly Preempt).
    pub try_next_flavor_before_preempting: bool,
    /// `flavorFungibility.preference` = PreemptionOverBorrowing.
    pub prefer_preemption_over_borrowing: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceGroup {
    pub resources: Vec<ResourceName>,
    pub flavors: Vec<FlavorName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueingStrategy {
    BestEffortFifo,
    StrictFifo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreemptionPolicy {
    Never,
    LowerPriority,
    LowerOrNewerEqualPriority,
    Any,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BorrowWithinCohort {
    pub policy: PreemptionPolicy,
    pub max_priority_threshold: Option<i32>,
}

/// A workload to be placed: all its PodSets at once, for its whole runtime.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    pub key: WorkloadKey,
    /// `Job`, `JobSet`, …: for people.
    pub kind: String,
    pub tenant: Option<TenantId>,
    /// The outcome class its SLO names.
    pub class: Option<String>,
    /// Its ClusterQueue.
    pub queue: NodeId,
    pub priority: i32,
    pub created: Timestamp,
    /// Never before this: the latest of now, creation (a CronJob's next run, an arrival) and `notBefore`.
    pub earliest_start: Timestamp,
    pub due: Option<Due>,
    /// What a timely end is worth, relative to other workloads (`WorkloadSLO.spec.value`, default 1). Positive.
    pub value: i64,
    /// Alternatives, in Kueue's order of trial. Never empty.
    pub options: Vec<RunOption>,
    pub interruption: Interruption,
    /// Whether a WorkloadSLO speaks for it; without one it is treated by `Policy::unplanned`.
    pub has_slo: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub at: Timestamp,
    pub policy: DeadlinePolicy,
    /// Ascending by `after`. From `at + after` (exclusive) on an end is worth `value_percent` of the value;
    /// before the first tier it is worth all of it, unless there are no tiers at all: then any end past `at` is worth 0.
    pub tiers: Vec<Tier>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DeadlinePolicy {
    Hard,
    Soft,
    /// Informative: a verdict is given, no value is lost.
    BestEffort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tier {
    pub after: Seconds,
    /// 0 to 100.
    pub value_percent: u8,
}

/// One way to run: where, with what, and for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOption {
    /// The flavor people know it by: that of its accelerators, otherwise of its first resource. Several are joined by `+`.
    pub flavor: FlavorName,
    /// Total over all PodSets and pods, ascending by cell.
    pub uses: Vec<(CellId, Amount)>,
    pub runtime: Runtime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runtime {
    /// Positive. When `known` is false: the pessimistic assumption that stands in (to the end of the horizon).
    pub p50: Seconds,
    /// At least `p50`.
    pub p90: Seconds,
    /// False when nobody has declared or learnt it: the verdict stays Unknown.
    pub known: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interruption {
    /// Never interrupted once started.
    None,
    /// May be stopped; everything done so far is lost, plus `cost` on each restart.
    Restartable { cost: Seconds, max: u32 },
    /// May be stopped; at most `interval` of work is lost, plus `cost`, on each resumption.
    Checkpointable { interval: Seconds, cost: Seconds, max: u32 },
}

/// Work that already holds quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    pub key: WorkloadKey,
    pub tenant: Option<TenantId>,
    pub queue: NodeId,
    pub flavor: FlavorName,
    pub uses: Vec<(CellId, Amount)>,
    pub priority: i32,
    pub start: Timestamp,
    /// `None`: unknown, so it is taken to hold its resources to the end of the horizon.
    pub end_p50: Option<Timestamp>,
    pub end_p90: Option<Timestamp>,
    pub due: Option<Due>,
}

/// A change of capacity over `[start, end)` at one node and cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    pub name: String,
    pub node: NodeId,
    pub cell: CellId,
    pub effect: WindowEffect,
    pub quantity: Amount,
    pub start: Timestamp,
    pub end: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WindowEffect {
    /// Usage of the node's whole subtree, reserves included, stays at or below the quantity.
    Cap,
    /// The quantity counts as used at this node by others (serving, maintenance).
    Reserve,
    /// The quantity is added to the node's nominal quota.
    Add,
}

/// What one base-unit-hour (for cpu: one core-hour) of a cell costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellPrice {
    pub cell: CellId,
    /// Outside all windows.
    pub per_unit_hour: Money,
    /// Time-of-day prices, disjoint, ascending.
    pub windows: Vec<PriceWindow>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceWindow {
    pub start: Timestamp,
    pub end: Timestamp,
    pub per_unit_hour: Money,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousRelease {
    pub key: WorkloadKey,
    pub flavor: FlavorName,
    pub start: Timestamp,
    /// The end that was promised with it, where it is known: it tells changed work from unchanged.
    pub end: Option<Timestamp>,
    /// Whether it was promised in the knowledge that it would be late, where that is known. What was promised on time and
    /// would be late by today's due time or runtime is owed a better start.
    pub late: Option<bool>,
}

impl Running {
    /// Until when its resources are taken to be held: its end at the promised quantile, else the other declared one;
    /// an end that has passed without the work ending, or none at all, is unknown and stands for the end of the horizon.
    #[must_use]
    pub fn held_until(&self, promise: Promise, now: Timestamp, horizon_end: Timestamp) -> Timestamp {
        let declared = match promise {
            Promise::P50 => [self.end_p50, self.end_p90],
            Promise::P90 => [self.end_p90, self.end_p50],
        };
        declared.into_iter().flatten().find(|end| *end > now).unwrap_or(horizon_end)
    }
}

impl RunOption {
    /// How long capacity is held for under this promise.
    #[must_use]
    pub fn held(&self, promise: Promise) -> Seconds {
        match promise {
            Promise::P50 => self.runtime.p50,
            Promise::P90 => self.runtime.p90,
        }
    }
}

/// What an end loses against a timely one, level by level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Losses {
    /// Level HardMissed, in units of value.
    pub hard: i64,
    /// Level SoftLost, in hundredths of a unit of value: soft deadlines and tiers (of hard ones too).
    pub soft: i64,
}

impl Workload {
    /// The due time, when it is hard.
    #[must_use]
    pub fn hard_due(&self) -> Option<Timestamp> {
        self.due.as_ref().filter(|due| due.policy == DeadlinePolicy::Hard).map(|due| due.at)
    }

    /// The losses of an end at `end` (at the promised quantile).
    #[must_use]
    pub fn losses_at(&self, end: Timestamp) -> Losses {
        let Some(due) = &self.due else { return Losses::default() };
        if end <= due.at || due.policy == DeadlinePolicy::BestEffort {
            return Losses::default();
        }
        let lost_percent = 100 - i64::from(due.value_percent_at(end).min(100));
        match due.policy {
            DeadlinePolicy::Hard if due.tiers.is_empty() => Losses { hard: self.value, soft: 0 },
            DeadlinePolicy::Hard => Losses { hard: self.value, soft: self.value * lost_percent },
            _ => Losses { hard: 0, soft: self.value * lost_percent },
        }
    }
}

impl Due {
    /// What an end at `end` is worth, in percent of the value.
    #[must_use]
    pub fn value_percent_at(&self, end: Timestamp) -> u8 {
        if end <= self.at {
            return 100;
        }
        if self.tiers.is_empty() {
            return 0;
        }
        self.tiers.iter().rev().find(|tier| end > self.at + tier.after).map_or(100, |tier| tier.value_percent)
    }
}

impl Snapshot {
    #[must_use]
    pub fn cell(&self, id: CellId) -> &Cell {
        &self.cells[id.0 as usize]
    }
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }
    #[must_use]
    pub fn find_cell(&self, flavor: &FlavorName, resource: &ResourceName) -> Option<CellId> {
        let at = self.cells.iter().position(|cell| cell.flavor == *flavor && cell.resource == *resource)?;
        u32::try_from(at).ok().map(CellId)
    }
    #[must_use]
    pub fn find_node(&self, name: &str) -> Option<NodeId> {
        let at = self.nodes.iter().position(|node| node.name.as_str() == name)?;
        u32::try_from(at).ok().map(NodeId)
    }
    /// Node ids from `from` up to its root, `from` first.
    pub fn path_to_root(&self, from: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(from), |id| self.node(*id).parent)
    }
}
