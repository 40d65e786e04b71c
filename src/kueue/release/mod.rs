//! Which work is let go now: what is due by the plan and fits beside what Kueue has given out, in planned order.
//!
//! Pure: the plan, the live state and now in; orders out. An order names every object whose hold goes, so that carrying
//! it out twice does nothing the second time. Quota stays Kueue's: letting go too early or late can never over-admit.
//! Deliberately absent: the client that carries it out, and any way to hold again what was let go.

mod choice;
mod headroom;
mod patch;
mod watched;

use std::collections::{BTreeMap, BTreeSet};

use crate::kueue::observed::{Observed, Standing};
use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::plan::proposal::Plan;
use crate::plan::snapshot::Snapshot;
use crate::units::{Amount, Seconds, Timestamp};

use headroom::{Headroom, Placed};

pub use patch::{Hold, Target, Told, annotation, targets, without_gate};
pub use watched::{Trouble, TroubleKind, watch};

/// What the controller may do at once, and how long it waits for Kueue.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Orders in one go; the next follow with the next look.
    pub at_once: usize,
    /// How long a gate may take from the object to its Workload.
    pub grace: Seconds,
    /// How long Kueue may take to reserve quota that seemed free.
    pub reserve_within: Seconds,
}

impl Default for Pace {
    fn default() -> Self {
        Self { at_once: 512, grace: Seconds(5), reserve_within: Seconds(10) }
    }
}

/// Quota that a ClusterQueue's status says is given out (`flavorsReservation`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reservation {
    pub queue: QueueName,
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub amount: Amount,
}

/// What is known at the moment of deciding.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub now: Timestamp,
    pub snapshot: &'a Snapshot,
    pub plan: &'a Plan,
    /// By the name in the plan.
    pub observed: &'a BTreeMap<WorkloadKey, &'a Observed>,
    pub reservations: &'a [Reservation],
    /// Since when ungated work has been seen to wait in Kueue's queue.
    pub loose_since: &'a BTreeMap<WorkloadKey, Timestamp>,
    /// To be let go whatever the plan and the quota say.
    pub forced: &'a BTreeMap<WorkloadKey, Cause>,
}

/// Why work is let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its planned start has come.
    Planned,
    /// Its latest safe start has come, and no plan covers it.
    Overdue,
    /// No CapacityPlan in Enforce mode covers its queue (any more).
    NotEnforced,
    /// Others of its group are free, or its object is and its Workload is not, or a mark of ours is left over.
    Remainder,
    /// Everything is let go.
    Uninstall,
}

impl Cause {
    /// For metrics and logs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Overdue => "overdue",
            Self::NotEnforced => "not-enforced",
            Self::Remainder => "remainder",
            Self::Uninstall => "uninstall",
        }
    }
}

/// One piece of work to let go, with every object whose gate goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    pub key: WorkloadKey,
    pub targets: Vec<Target>,
    /// The start that was planned, where there is one.
    pub planned: Option<Timestamp>,
    /// Written on every target as its gate goes; `None` leaves what is written.
    pub told: Option<Told>,
    pub cause: Cause,
}

/// Due, and held back because it does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub key: WorkloadKey,
    pub planned: Timestamp,
    /// A whole clause without a full stop: `it needs …`.
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    /// In the order in which they are carried out.
    pub orders: Vec<Order>,
    pub held: Vec<Held>,
    /// Due, and let go as soon as what was let go before has its flavor.
    pub waits: Vec<WorkloadKey>,
    /// Due, and held because Kueue would give another flavor than planned, which is kept for others: this one.
    pub otherwise: BTreeMap<WorkloadKey, FlavorName>,
    /// Orders beyond this go's limit.
    pub put_off: usize,
}

/// Decides what is let go at `scene.now`.
#[must_use]
pub fn decide(scene: &Scene<'_>, pace: Pace) -> Decision {
    let mut decision = Decision::default();
    // 1. What must go whatever else holds, and what is half gone already.
    let mut ordered: BTreeSet<&WorkloadKey> = BTreeSet::new();
    for (key, one) in scene.observed {
        let cause = scene.forced.get(key).copied().or_else(|| remainder(scene, key, one, pace));
        let Some(cause) = cause else { continue };
        let targets = targets(one);
        // What Kueue has made no Workload of yet may be held without there being anything to take off.
        if targets.is_empty() {
            continue;
        }
        ordered.insert(key);
        let planned = one.planned_start();
        decision.orders.push(Order { key: key.clone(), targets, planned, told: None, cause });
    }
    // 2. What Kueue may take at any moment comes first, for it is already in the queue.
    let mut headroom = Headroom::new(scene);
    headroom.take_loose(scene, pace);
    // 3. What is due, in planned order, as far as it fits.
    let places: BTreeMap<&WorkloadKey, (i32, Timestamp)> =
        scene.snapshot.workloads.iter().map(|it| (&it.key, (-it.priority, it.created))).collect();
    let mut due: Vec<_> = scene.plan.releases.iter().filter(|release| release.start <= scene.now).collect();
    due.sort_by_key(|release| (release.start, places.get(&release.workload).copied(), release.workload.clone()));
    // Who would get another flavor now may get the planned one beside those that go with him: they are asked again.
    for last in [false, false, true] {
        let mut again = Vec::new();
        for release in due {
            let Some(one) = scene.observed.get(&release.workload) else { continue };
            let waits = one.standing == Standing::Waiting && one.is_gated() && !one.is_let_go();
            let targets = targets(one);
            if !waits || targets.is_empty() || ordered.contains(&release.workload) {
                continue;
            }
            let Some((node, uses)) = headroom.wanted(release) else { continue };
            let (key, planned) = (release.workload.clone(), release.start);
            if let Some(why) = headroom.refuses(scene.snapshot, node, &uses) {
                decision.held.push(Held { key, planned, why });
                continue;
            }
            let placed = headroom.placed(scene, release);
            if !last && matches!(placed, Placed::Otherwise(_)) {
                again.push(release);
                continue;
            }
            // Its room is its own, also while it waits.
            headroom.take(node, &uses);
            match placed {
                Placed::AsPlanned => {
                    let planned = Some(planned);
                    decision.orders.push(Order { key, targets, planned, told: None, cause: Cause::Planned });
                }
                Placed::BehindOthers => decision.waits.push(key),
                Placed::Otherwise(flavor) => {
                    let why = format!("Kueue would give it {flavor}, which the plan keeps for others");
                    decision.otherwise.insert(key.clone(), flavor.clone());
                    decision.held.push(Held { key, planned, why });
                }
            }
        }
        due = again;
    }
    decision.put_off = decision.orders.len().saturating_sub(pace.at_once);
    decision.orders.truncate(pace.at_once);
    decision
}

/// A group of which others are free; an object that is free while its Workload, after a grace, is not; a Workload that
/// carries our mark and that somebody else made active.
fn remainder(scene: &Scene<'_>, key: &WorkloadKey, one: &Observed, pace: Pace) -> Option<Cause> {
    let overruled = one.workload.as_ref().is_some_and(|it| it.marked && it.active);
    if overruled && one.standing != Standing::Finished {
        return Some(Cause::Remainder);
    }
    if one.gates_ignored || one.is_inactive() {
        return None;
    }
    let gated = one.carriers.iter().filter(|it| it.is_gated()).count();
    if gated > 0 && gated < one.carriers.len() {
        return Some(Cause::Remainder);
    }
    let stranded = gated == 0 && one.is_gated() && !one.is_prebuilt();
    let since = scene.loose_since.get(key);
    (stranded && since.is_some_and(|since| scene.now - *since >= pace.grace)).then_some(Cause::Remainder)
}
