//! What Kueue could give out at this moment: its quota, less what Workloads hold, less what its own status says is held.
//!
//! The two counts differ for moments only (a status is written after the fact); the larger one counts, so that work is
//! let go a moment late rather than into a queue where it would stand before others.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::choice::{choice, may_reclaim};
use super::{Pace, Scene};
use crate::kueue::quota::{Ledger, Tree};
use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::plan::proposal::Release;
use crate::plan::snapshot::{CellId, NodeId, NodeKind, QueueingStrategy, Snapshot, Workload};
use crate::units::Amount;

pub(super) type Uses = Vec<(CellId, Amount)>;

/// Which flavor Kueue would give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed<'s> {
    AsPlanned,
    /// The planned one, once what is on its way has arrived.
    BehindOthers,
    Otherwise(&'s FlavorName),
}

pub(super) struct Headroom<'s> {
    /// With what is on its way: let go, and not taken up by Kueue yet.
    ledger: Ledger,
    /// Without.
    landed: Ledger,
    workloads: HashMap<&'s WorkloadKey, &'s Workload>,
    queues: BTreeMap<QueueName, NodeId>,
    cells: BTreeMap<(FlavorName, ResourceName), CellId>,
    /// StrictFIFO queues whose head does not fit: what comes behind it waits in any case.
    blocked: BTreeSet<NodeId>,
}

impl<'s> Headroom<'s> {
    pub(super) fn new(scene: &Scene<'s>) -> Self {
        let snapshot = scene.snapshot;
        let mut ledger = Ledger::new(Tree::at(snapshot, scene.now));
        let ids = (0_u32..).map(NodeId).zip(&snapshot.nodes);
        let queues = ids.filter(|(_, node)| matches!(node.kind, NodeKind::ClusterQueue(_)));
        let queues: BTreeMap<_, _> = queues.map(|(id, node)| (node.name.clone(), id)).collect();
        let cells = (0_u32..).map(CellId).zip(&snapshot.cells);
        let cells: BTreeMap<_, _> =
            cells.map(|(id, cell)| ((cell.flavor.clone(), cell.resource.clone()), id)).collect();
        let mut held: BTreeMap<(NodeId, CellId), Amount> = BTreeMap::new();
        for running in &snapshot.running {
            ledger.add(running.queue, &running.uses);
            for (cell, amount) in &running.uses {
                let sum = held.entry((running.queue, *cell)).or_default();
                *sum = sum.saturating_add(*amount);
            }
        }
        let workloads = snapshot.workloads.iter().map(|workload| (&workload.key, workload)).collect();
        for reservation in scene.reservations {
            let Some(node) = queues.get(&reservation.queue).copied() else { continue };
            let named = (reservation.flavor.clone(), reservation.resource.clone());
            let Some(cell) = cells.get(&named).copied() else { continue };
            let counted = held.get(&(node, cell)).copied().unwrap_or_default();
            if reservation.amount > counted {
                ledger.add(node, &[(cell, reservation.amount.saturating_sub(counted))]);
            }
        }
        Self { landed: ledger.clone(), ledger, workloads, queues, cells, blocked: BTreeSet::new() }
    }

    /// Takes what waits in Kueue's queue already, or will in a moment, and fits, as Kueue would: by priority, then by age.
    /// What has waited longer than Kueue needs is held up by something else and takes nothing.
    pub(super) fn take_loose(&mut self, scene: &Scene<'_>, pace: Pace) {
        let snapshot = scene.snapshot;
        let mut loose: Vec<_> = snapshot
            .workloads
            .iter()
            .filter(|workload| scene.observed.get(&workload.key).is_some_and(|it| it.is_let_go()))
            .collect();
        loose.sort_by_key(|workload| (-workload.priority, workload.created, workload.key.clone()));
        for workload in loose {
            let since = scene.loose_since.get(&workload.key);
            let patient = since.is_none_or(|since| scene.now - *since < pace.reserve_within);
            let option = chosen(&self.ledger, snapshot, workload);
            let fits = |at: &usize| self.ledger.fits(workload.queue, &workload.options[*at].uses);
            match option.filter(fits) {
                Some(at) if patient => self.ledger.add(workload.queue, &workload.options[at].uses),
                Some(_) => {}
                None => {
                    if strict(snapshot, workload.queue) {
                        self.blocked.insert(workload.queue);
                    }
                }
            }
        }
    }

    /// The queue and the cells of a release; `None` when one of them is gone.
    pub(super) fn wanted(&self, release: &Release) -> Option<(NodeId, Uses)> {
        let planned = self.workloads.get(&release.workload).map(|workload| workload.queue);
        let node = planned.or_else(|| self.queues.get(&release.cluster_queue).copied())?;
        let cell =
            |flavor: &FlavorName, resource: &ResourceName| self.cells.get(&(flavor.clone(), resource.clone())).copied();
        let uses = release.uses.iter().map(|(flavor, resource, amount)| Some((cell(flavor, resource)?, *amount)));
        Some((node, uses.collect::<Option<Uses>>()?))
    }

    /// Why it cannot be let go now; `None` when it can.
    pub(super) fn refuses(&self, snapshot: &Snapshot, node: NodeId, uses: &[(CellId, Amount)]) -> Option<String> {
        let name = &snapshot.node(node).name;
        if self.blocked.contains(&node) {
            return Some(format!("the first in line of {name} (StrictFIFO) does not fit"));
        }
        let rules = snapshot.node(node).rules();
        if self.ledger.fits(node, uses) || rules.is_some_and(|rules| may_reclaim(&self.ledger, rules, node, uses)) {
            return None;
        }
        let short = uses.iter().find(|(cell, amount)| self.ledger.available(node, *cell) < *amount);
        let (cell, amount) = short.copied()?;
        let free = self.ledger.available(node, cell).max(Amount::ZERO);
        let cell = snapshot.cell(cell);
        let quantity = |amount| cell.resource.quantity(amount);
        Some(format!(
            "it needs {} {} on {}, {name} has {} left",
            quantity(amount),
            cell.resource,
            cell.flavor,
            quantity(free)
        ))
    }

    /// Where Kueue would put it if it were let go now.
    pub(super) fn placed(&self, scene: &Scene<'s>, release: &Release) -> Placed<'s> {
        let Some(workload) = self.workloads.get(&release.workload).copied() else { return Placed::AsPlanned };
        // After its latest safe start any flavor is better than none.
        let longest = workload.options.iter().map(|option| option.runtime.p90).max();
        let pressed = workload.due.as_ref().zip(longest).is_some_and(|(due, longest)| due.at - longest <= scene.now);
        if pressed || workload.options.len() < 2 {
            return Placed::AsPlanned;
        }
        let other = |ledger: &Ledger| {
            let flavor = chosen(ledger, scene.snapshot, workload).map(|at| &workload.options[at].flavor);
            flavor.filter(|flavor| **flavor != release.flavor)
        };
        match (other(&self.ledger), other(&self.landed)) {
            (Some(flavor), _) => Placed::Otherwise(flavor),
            // Kueue may look at it before it has looked at those, and then it would take their place.
            (None, Some(_)) => Placed::BehindOthers,
            (None, None) => Placed::AsPlanned,
        }
    }

    pub(super) fn take(&mut self, node: NodeId, uses: &[(CellId, Amount)]) {
        self.ledger.add(node, uses);
    }
}

/// The option that Kueue would take.
fn chosen(ledger: &Ledger, snapshot: &Snapshot, workload: &Workload) -> Option<usize> {
    choice(ledger, snapshot.node(workload.queue).rules()?, workload.queue, &workload.options)
}

fn strict(snapshot: &Snapshot, node: NodeId) -> bool {
    snapshot.node(node).rules().is_some_and(|rules| rules.strategy == QueueingStrategy::StrictFifo)
}
