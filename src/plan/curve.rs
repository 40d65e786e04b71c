//! What is held and what is offered over time, cell by cell: the curves under every picture.
//!
//! A curve is a step function, never an average. Capacity is what a cell offers to all queues together; which queue may
//! use how much of it is Kueue's quota algebra, and `check`'s business.

use std::collections::BTreeMap;

use crate::plan::proposal::Plan;
use crate::plan::snapshot::{CellId, NodeId, Promise, Running, Snapshot, WindowEffect};
use crate::units::{Amount, Timestamp};

/// An amount over time: each value holds from its instant to the next one; zero before the first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Steps(Vec<(Timestamp, Amount)>);

impl Steps {
    /// The sum of `amount` over `[start, end)`, for each of these. Empty stretches count for nothing.
    #[must_use]
    pub fn of_holdings(holdings: impl IntoIterator<Item = (Timestamp, Timestamp, Amount)>) -> Self {
        let mut changes: BTreeMap<Timestamp, i64> = BTreeMap::new();
        for (start, end, amount) in holdings {
            if start < end {
                let up = changes.entry(start).or_default();
                *up = up.saturating_add(amount.0);
                let down = changes.entry(end).or_default();
                *down = down.saturating_sub(amount.0);
            }
        }
        let mut level: i64 = 0;
        let mut steps: Vec<(Timestamp, Amount)> = Vec::new();
        for (at, change) in changes {
            level = level.saturating_add(change);
            if steps.last().map_or(Amount::ZERO, |last| last.1) != Amount(level) {
                steps.push((at, Amount(level)));
            }
        }
        Self(steps)
    }

    /// The value at an instant.
    #[must_use]
    pub fn at(&self, at: Timestamp) -> Amount {
        let next = self.0.partition_point(|step| step.0 <= at);
        next.checked_sub(1).map_or(Amount::ZERO, |last| self.0[last].1)
    }

    /// The greatest value within `[from, to)`.
    #[must_use]
    pub fn most_within(&self, from: Timestamp, to: Timestamp) -> Amount {
        let inside = self.0.iter().skip(self.0.partition_point(|step| step.0 <= from));
        inside.take_while(|step| step.0 < to).map(|step| step.1).max().map_or(self.at(from), |m| m.max(self.at(from)))
    }

    /// The least value within `[from, to)`.
    #[must_use]
    pub fn least_within(&self, from: Timestamp, to: Timestamp) -> Amount {
        let inside = self.0.iter().skip(self.0.partition_point(|step| step.0 <= from));
        inside.take_while(|step| step.0 < to).map(|step| step.1).min().map_or(self.at(from), |m| m.min(self.at(from)))
    }

    /// The greatest value ever.
    #[must_use]
    pub fn most(&self) -> Amount {
        self.0.iter().map(|step| step.1).max().unwrap_or(Amount::ZERO).max(Amount::ZERO)
    }

    /// The same in `columns` equal columns of `[from, to)`, each as high as the highest step in it: for pictures that are
    /// not wide enough for every step. Not more steps than there were.
    #[must_use]
    pub fn coarse(&self, (from, to): (Timestamp, Timestamp), columns: i64) -> Self {
        if i64::try_from(self.0.len()).unwrap_or(i64::MAX) <= columns || from >= to {
            return self.clone();
        }
        let span = i128::from(to.0) - i128::from(from.0);
        let border = |column: i64| {
            let along = span * i128::from(column) / i128::from(columns.max(1));
            Timestamp(from.0.saturating_add(i64::try_from(along).unwrap_or(0)))
        };
        let mut steps: Vec<(Timestamp, Amount)> = Vec::new();
        let borders = (0..columns).map(|column| (border(column), border(column + 1)));
        for (start, end) in borders.filter(|(start, end)| start < end) {
            let level = self.most_within(start, end);
            if steps.last().map_or(Amount::ZERO, |last| last.1) != level {
                steps.push((start, level));
            }
        }
        steps.push((to, self.at(to)));
        Self(steps)
    }

    /// Every change, ascending.
    #[must_use]
    pub fn changes(&self) -> &[(Timestamp, Amount)] {
        &self.0
    }
}

/// Curves of a plan that is not ours (Kueue's own admission), by cell.
pub type Baseline = BTreeMap<CellId, Steps>;

/// A plan with everything its pictures are drawn from.
#[derive(Debug, Clone, Copy)]
pub struct Scene<'a> {
    pub snapshot: &'a Snapshot,
    pub plan: &'a Plan,
    /// The quantile for which the plan holds capacity.
    pub promise: Promise,
    /// Demand under Kueue on its own, where it was simulated.
    pub kueue: Option<&'a Baseline>,
}

impl Scene<'_> {
    /// Until when running work is taken to hold its resources.
    #[must_use]
    pub fn end_of(&self, work: &Running) -> Timestamp {
        work.held_until(self.promise, self.snapshot.now, self.snapshot.horizon_end)
    }
}

/// What already holds quota. An unknown end counts as the end of the horizon.
#[must_use]
pub fn running(snapshot: &Snapshot, promise: Promise, cell: CellId) -> Steps {
    Steps::of_holdings(running_holdings(snapshot, promise, cell))
}

fn running_holdings(
    snapshot: &Snapshot,
    promise: Promise,
    cell: CellId,
) -> impl Iterator<Item = (Timestamp, Timestamp, Amount)> + '_ {
    snapshot.running.iter().flat_map(move |work| {
        let end = work.held_until(promise, snapshot.now, snapshot.horizon_end);
        work.uses.iter().filter(move |(used, _)| *used == cell).map(move |(_, amount)| (work.start, end, *amount))
    })
}

/// What the plan holds, running work included.
#[must_use]
pub fn planned(scene: &Scene<'_>, cell: CellId) -> Steps {
    let shown = scene.snapshot.cell(cell);
    let releases = scene.plan.releases.iter().flat_map(|release| {
        let amount = release
            .uses
            .iter()
            .filter(|(flavor, resource, _)| *flavor == shown.flavor && *resource == shown.resource)
            .map(|(_, _, amount)| *amount)
            .sum::<Amount>();
        release.pieces.iter().map(move |piece| (piece.start, piece.end, amount))
    });
    Steps::of_holdings(releases.chain(running_holdings(scene.snapshot, scene.promise, cell)))
}

/// What would be wanted if every workload started as early as it may, on its first option, quota ignored.
#[must_use]
pub fn at_once(snapshot: &Snapshot, cell: CellId) -> Steps {
    let wanted = snapshot.workloads.iter().filter_map(|workload| {
        let option = workload.options.first()?;
        let (_, amount) = option.uses.iter().find(|(used, _)| *used == cell)?;
        let start = workload.earliest_start;
        Some((start, start + option.runtime.p50, *amount))
    });
    Steps::of_holdings(wanted.chain(running_holdings(snapshot, Promise::P50, cell)))
}

/// What the cell offers to all queues together: nominal quotas, windows applied, from `now` to the end of the horizon.
#[must_use]
pub fn capacity(snapshot: &Snapshot, cell: CellId) -> Steps {
    let mut children: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    let mut roots = Vec::new();
    for (id, node) in (0..).map(NodeId).zip(&snapshot.nodes) {
        match node.parent {
            Some(parent) => children.entry(parent).or_default().push(id),
            None => roots.push(id),
        }
    }
    let mut instants = vec![snapshot.now];
    let windows = || snapshot.windows.iter().filter(|window| window.cell == cell);
    instants.extend(windows().flat_map(|window| [window.start, window.end]).filter(|at| *at > snapshot.now));
    instants.sort_unstable();
    instants.dedup();
    let mut steps: Vec<(Timestamp, Amount)> = Vec::new();
    for at in instants {
        let level = roots.iter().map(|root| offered(snapshot, &children, *root, cell, at).max(0)).sum();
        if steps.last().map(|last| last.1) != Some(Amount(level)) {
            steps.push((at, Amount(level)));
        }
    }
    Steps(steps)
}

fn offered(
    snapshot: &Snapshot,
    children: &BTreeMap<NodeId, Vec<NodeId>>,
    node: NodeId,
    cell: CellId,
    at: Timestamp,
) -> i64 {
    let mut level = snapshot.node(node).quotas.get(&cell).map_or(0, |quota| quota.nominal.0);
    for child in children.get(&node).map_or(&[][..], Vec::as_slice) {
        level = level.saturating_add(offered(snapshot, children, *child, cell, at));
    }
    let mut most = i64::MAX;
    for window in &snapshot.windows {
        if window.node == node && window.cell == cell && window.start <= at && at < window.end {
            match window.effect {
                WindowEffect::Add => level = level.saturating_add(window.quantity.0),
                WindowEffect::Reserve => level = level.saturating_sub(window.quantity.0),
                WindowEffect::Cap => most = most.min(window.quantity.0),
            }
        }
    }
    level.min(most)
}

/// The cells worth a picture: accelerators that are wanted by anyone, or, without accelerators, whatever is wanted.
#[must_use]
pub fn pictured(snapshot: &Snapshot) -> Vec<CellId> {
    let mut wanted: Vec<CellId> = snapshot
        .workloads
        .iter()
        .flat_map(|workload| workload.options.iter().flat_map(|option| &option.uses))
        .chain(snapshot.running.iter().flat_map(|work| &work.uses))
        .map(|(cell, _)| *cell)
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let accelerators: Vec<CellId> =
        wanted.iter().copied().filter(|cell| snapshot.cell(*cell).resource.is_accelerator()).collect();
    if accelerators.is_empty() { wanted } else { accelerators }
}
