//! Who holds what until when: planned pieces and running work, found by the cell and the instant at which they end.

use crate::names::WorkloadKey;
use crate::plan::check::held_until;
use crate::plan::proposal::Release;
use crate::plan::snapshot::{CellId, NodeId, Policy, Snapshot};
use crate::units::{Amount, Timestamp};

use super::outlook::{Outlook, Refused};
use super::{BLOCKERS_MAX, Blocker, Placed, Scene};

/// One stretch of holding one cell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder<'a> {
    pub who: &'a WorkloadKey,
    /// Its release; `None` for running work.
    pub release: Option<usize>,
    pub cell: CellId,
    pub node: NodeId,
    pub amount: Amount,
    pub start: Timestamp,
    pub end: Timestamp,
}

pub(super) struct Holders<'a> {
    /// By cell, then end; then running work before planned, each in its own order.
    all: Vec<Holder<'a>>,
}

impl<'a> Holders<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        policy: &Policy,
        releases: &'a [Release],
        placed: &[Option<Placed<'a>>],
    ) -> Self {
        let mut all = Vec::with_capacity(releases.len() + snapshot.running.len());
        for running in &snapshot.running {
            let end = held_until(snapshot, policy.promise, running);
            all.extend(running.uses.iter().map(|&(cell, amount)| Holder {
                who: &running.key,
                release: None,
                cell,
                node: running.queue,
                amount,
                start: running.start,
                end,
            }));
        }
        for (at, (release, place)) in releases.iter().zip(placed).enumerate() {
            let Some(Placed { workload, option, .. }) = *place else { continue };
            for piece in &release.pieces {
                all.extend(option.uses.iter().map(|&(cell, amount)| Holder {
                    who: &workload.key,
                    release: Some(at),
                    cell,
                    node: workload.queue,
                    amount,
                    start: piece.start,
                    end: piece.end,
                }));
            }
        }
        all.sort_by_key(|holder| (holder.cell, holder.end));
        Self { all }
    }

    /// By cell, then end.
    pub(super) fn all(&self) -> &[Holder<'a>] {
        &self.all
    }

    /// Those that leave the cell at `end`, within the subtree of `node`.
    pub(super) fn leaving(
        &self,
        snapshot: &Snapshot,
        cell: CellId,
        node: NodeId,
        end: Timestamp,
    ) -> impl Iterator<Item = &Holder<'a>> {
        let first = self.all.partition_point(|holder| (holder.cell, holder.end) < (cell, end));
        self.all[first..]
            .iter()
            .take_while(move |holder| (holder.cell, holder.end) == (cell, end))
            .filter(move |holder| is_within(snapshot, holder.node, node))
    }

    /// Those that hold the refusing limit just before the release's start: who leaves at its start first, then by amount.
    pub(super) fn blockers(&self, scene: &Scene<'_>, at: usize, outlook: &Outlook) -> (Vec<Blocker>, usize) {
        let Some(Refused { cell, breach, .. }) = outlook.refused else { return (Vec::new(), 0) };
        let start = scene.releases[at].start;
        let mut holding: Vec<_> = self
            .all
            .iter()
            .filter(|holder| holder.cell == cell && holder.start < start && start <= holder.end)
            .filter(|holder| is_within(scene.snapshot, holder.node, breach.node))
            .collect();
        // Stable, so that equals keep the order of the list.
        holding.sort_by_key(|holder| (holder.end, std::cmp::Reverse(holder.amount)));
        let others = holding.len().saturating_sub(BLOCKERS_MAX);
        holding.truncate(BLOCKERS_MAX);
        let named = scene.snapshot.cell(cell);
        let blockers = holding.into_iter().map(|holder| Blocker {
            who: holder.who.clone(),
            flavor: named.flavor.clone(),
            resource: named.resource.clone(),
            quantity: holder.amount,
            until: holder.end,
        });
        (blockers.collect(), others)
    }
}

pub(super) fn is_within(snapshot: &Snapshot, node: NodeId, subtree: NodeId) -> bool {
    snapshot.path_to_root(node).any(|on_path| on_path == subtree)
}
