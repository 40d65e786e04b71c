//! The planner's semantics a second time, as plainly as possible: recursion over the quota tree at one instant, and
//! figures by looking at every instant. Slow on purpose; the checker and the planner are measured against it.

mod plan;

pub use plan::{plan_of, release};
use stagger::plan::proposal::{LevelName, Peak};
use stagger::plan::snapshot::{
    CellId, DeadlinePolicy, NodeId, Objective, Policy, Promise, RunOption, Running, Snapshot, Unplanned, Window,
    WindowEffect, Workload,
};
use stagger::units::{Amount, Money, Seconds, Timestamp};

/// A workload on one of its options from `start` on, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    pub workload: usize,
    pub option: usize,
    pub start: Timestamp,
}

impl Placement {
    pub fn option(self, snapshot: &Snapshot) -> &RunOption {
        &snapshot.workloads[self.workload].options[self.option]
    }
    pub fn held_until(self, snapshot: &Snapshot, policy: &Policy) -> Timestamp {
        self.start + self.option(snapshot).held(policy.promise)
    }
}

/// Until when running work holds.
pub fn running_until(snapshot: &Snapshot, promise: Promise, running: &Running) -> Timestamp {
    let (first, second) =
        if promise == Promise::P50 { (running.end_p50, running.end_p90) } else { (running.end_p90, running.end_p50) };
    for end in [first, second].into_iter().flatten() {
        if end > snapshot.now {
            return end;
        }
    }
    snapshot.horizon_end
}

/// One cell's tree at one instant. `planned[n]` is what planned work uses at node `n`.
struct Instant<'a> {
    snapshot: &'a Snapshot,
    promise: Promise,
    cell: CellId,
    at: Timestamp,
    planned: &'a [i64],
}

impl Instant<'_> {
    fn windows(&self, node: usize, effect: WindowEffect) -> impl Iterator<Item = &Window> {
        self.snapshot.windows.iter().filter(move |window| {
            window.node.0 as usize == node
                && window.cell == self.cell
                && window.effect == effect
                && window.start <= self.at
                && self.at < window.end
        })
    }
    fn children(&self, node: usize) -> impl Iterator<Item = usize> {
        let is_child = move |at: &usize| self.snapshot.nodes[*at].parent.is_some_and(|id| id.0 as usize == node);
        (0..self.snapshot.nodes.len()).filter(is_child)
    }
    fn subtree(&self, node: usize) -> i64 {
        let own = self.snapshot.nodes[node].quotas.get(&self.cell).map_or(0, |quota| quota.nominal.0);
        let added: i64 = self.windows(node, WindowEffect::Add).map(|window| window.quantity.0).sum();
        own + added + self.children(node).map(|child| self.subtree(child) - self.local(child)).sum::<i64>()
    }
    fn local(&self, node: usize) -> i64 {
        let limit = self.snapshot.nodes[node].quotas.get(&self.cell).and_then(|quota| quota.lending_limit);
        match limit {
            Some(Amount(limit)) if self.snapshot.nodes[node].parent.is_some() => (self.subtree(node) - limit).max(0),
            _ => 0,
        }
    }
    fn own(&self, node: usize, with_planned: bool) -> i64 {
        let reserved: i64 = self.windows(node, WindowEffect::Reserve).map(|window| window.quantity.0).sum();
        let running = self.snapshot.running.iter().filter(|running| {
            running.queue.0 as usize == node && self.at < running_until(self.snapshot, self.promise, running)
        });
        let ran: i64 =
            running.flat_map(|running| &running.uses).filter(|u| u.0 == self.cell).map(|(_, amount)| amount.0).sum();
        reserved + ran + if with_planned { self.planned[node] } else { 0 }
    }
    fn usage(&self, node: usize, with_planned: bool) -> i64 {
        let above: i64 =
            self.children(node).map(|child| (self.usage(child, with_planned) - self.local(child)).max(0)).sum();
        self.own(node, with_planned) + above
    }
    fn whole(&self, node: usize, with_planned: bool) -> i64 {
        self.own(node, with_planned) + self.children(node).map(|child| self.whole(child, with_planned)).sum::<i64>()
    }
    fn holds(&self) -> bool {
        (0..self.snapshot.nodes.len()).all(|node| {
            let fine = |used: i64, fixed: i64, allowed: i64| used <= allowed || used == fixed;
            let has_parent = self.snapshot.nodes[node].parent.is_some();
            let borrowing = self.snapshot.nodes[node].quotas.get(&self.cell).and_then(|quota| quota.borrowing_limit);
            let within = match borrowing {
                _ if !has_parent => fine(self.usage(node, true), self.usage(node, false), self.subtree(node)),
                Some(Amount(limit)) => {
                    let above = |planned| (self.usage(node, planned) - self.local(node)).max(0);
                    fine(above(true), above(false), self.subtree(node) - self.local(node) + limit)
                }
                None => true,
            };
            let capped = self
                .windows(node, WindowEffect::Cap)
                .all(|window| fine(self.whole(node, true), self.whole(node, false), window.quantity.0));
            within && capped
        })
    }
}

/// Whether every limit of `cell` holds at `at`, given what planned work uses at each node.
pub fn holds_at(snapshot: &Snapshot, promise: Promise, cell: CellId, at: Timestamp, planned: &[i64]) -> bool {
    Instant { snapshot, promise, cell, at, planned }.holds()
}

/// Instants at which anything changes, from now on, ascending.
pub fn instants(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> Vec<Timestamp> {
    let mut all = vec![snapshot.now];
    all.extend(snapshot.windows.iter().flat_map(|window| [window.start, window.end]));
    all.extend(snapshot.running.iter().map(|running| running_until(snapshot, policy.promise, running)));
    all.extend(placements.iter().flat_map(|p| [p.start, p.held_until(snapshot, policy)]));
    all.retain(|at| *at >= snapshot.now);
    all.sort_unstable();
    all.dedup();
    all
}

/// What planned work uses of `cell` at `at`, by node.
pub fn planned_at(
    snapshot: &Snapshot,
    policy: &Policy,
    placements: &[Placement],
    cell: CellId,
    at: Timestamp,
) -> Vec<i64> {
    let mut planned = vec![0; snapshot.nodes.len()];
    for placement in placements.iter().filter(|p| p.start <= at && at < p.held_until(snapshot, policy)) {
        let queue = snapshot.workloads[placement.workload].queue.0 as usize;
        for (_, amount) in placement.option(snapshot).uses.iter().filter(|u| u.0 == cell) {
            planned[queue] += amount.0;
        }
    }
    planned
}

/// Whether all placements together stay within quota.
pub fn fits(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> bool {
    let at_every_instant = instants(snapshot, policy, placements);
    cells(snapshot).all(|cell| {
        at_every_instant.iter().all(|&at| {
            let planned = planned_at(snapshot, policy, placements, cell, at);
            holds_at(snapshot, policy.promise, cell, at, &planned)
        })
    })
}

pub fn cells(snapshot: &Snapshot) -> impl Iterator<Item = CellId> + use<> {
    (0..u32::try_from(snapshot.cells.len()).expect("a test's cells must be few")).map(CellId)
}

/// Each workload in turn at the first instant and option where it fits: a naive but valid plan. `None` when one never does.
pub fn list_schedule(snapshot: &Snapshot, policy: &Policy, order: &[usize]) -> Option<Vec<Placement>> {
    let mut placed: Vec<Placement> = Vec::new();
    for &workload in order {
        let earliest = snapshot.workloads[workload].earliest_start.max(snapshot.now);
        let mut starts = instants(snapshot, policy, &placed);
        starts.retain(|at| *at > earliest);
        starts.insert(0, earliest);
        let tried = starts.into_iter().flat_map(|start| {
            (0..snapshot.workloads[workload].options.len()).map(move |option| Placement { workload, option, start })
        });
        let found = tried.into_iter().find(|candidate| {
            let mut all = placed.clone();
            all.push(*candidate);
            fits(snapshot, policy, &all)
        })?;
        placed.push(found);
    }
    Some(placed)
}

fn peak(snapshot: &Snapshot, policy: &Policy, placements: &[Placement], cell: CellId) -> Peak {
    let mut best: (i64, Option<Timestamp>) = (0, None);
    for at in instants(snapshot, policy, placements) {
        let running = snapshot.running.iter().filter(|r| at < running_until(snapshot, policy.promise, r));
        let ran: i64 = running.flat_map(|r| &r.uses).filter(|u| u.0 == cell).map(|u| u.1.0).sum();
        let used = ran + planned_at(snapshot, policy, placements, cell, at).iter().sum::<i64>();
        if used > best.0 {
            best = (used, Some(at));
        }
    }
    let nominal: i64 = snapshot.nodes.iter().filter_map(|node| node.quotas.get(&cell)).map(|q| q.nominal.0).sum();
    let added_at = |at: Timestamp| -> i64 {
        let adds = snapshot.windows.iter().filter(|w| w.cell == cell && w.effect == WindowEffect::Add);
        adds.filter(|w| w.start <= at && at < w.end).map(|w| w.quantity.0).sum()
    };
    let edges = instants(snapshot, policy, &[]).into_iter().filter(|at| *at <= snapshot.horizon_end);
    Peak {
        flavor: snapshot.cell(cell).flavor.clone(),
        resource: snapshot.cell(cell).resource.clone(),
        peak: Amount(best.0),
        capacity: Amount(nominal + edges.map(added_at).max().unwrap_or(0)),
        at: best.1,
    }
}

/// Second by second would be plainest; minute by minute is as exact when every time is a whole minute.
fn cost(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> Option<Money> {
    if snapshot.prices.is_empty() {
        return None;
    }
    let mut minutes_nanos: i128 = 0;
    for placement in placements {
        for &(cell, amount) in &placement.option(snapshot).uses {
            let price = snapshot.prices.iter().find(|price| price.cell == cell)?;
            let mut at = placement.start;
            while at < placement.held_until(snapshot, policy) {
                let window = price.windows.iter().find(|window| window.start <= at && at < window.end);
                let nanos = window.map_or(price.per_unit_hour, |window| window.per_unit_hour).nanos;
                minutes_nanos += nanos * i128::from(amount.0);
                at = at + Seconds::MINUTE;
            }
        }
    }
    assert_eq!(minutes_nanos % 60, 0, "a test's prices must be whole per minute");
    Some(Money { nanos: minutes_nanos / 60 })
}

/// The levels of the objective with their values, in order.
pub fn level_values(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> Vec<(LevelName, i128)> {
    let end = |p: &Placement| p.held_until(snapshot, policy);
    let workload = |p: &Placement| &snapshot.workloads[p.workload];
    let sum = |of: &dyn Fn(&Placement) -> i128| placements.iter().map(of).sum::<i128>();
    let mut levels = vec![
        (LevelName::HardMissed, sum(&|p| hard_missed(workload(p), end(p)))),
        (LevelName::SoftLost, sum(&|p| soft_lost(workload(p), end(p)))),
    ];
    match policy.objective {
        Objective::EarliestFinish => {}
        Objective::LowestPeak => levels.push((LevelName::Peak, peak_level(snapshot, policy, placements))),
        Objective::LowestCost => {
            let cost = cost(snapshot, policy, placements).expect("LowestCost must have prices");
            levels.push((LevelName::Cost, cost.nanos));
        }
    }
    let completion = sum(&|p| {
        let counts = is_counted(policy, workload(p));
        if counts { i128::from(workload(p).value) * i128::from((end(p) - snapshot.now).0) } else { 0 }
    });
    levels.push((LevelName::Completion, completion));
    levels
}

pub fn is_counted(policy: &Policy, workload: &Workload) -> bool {
    workload.has_slo || policy.unplanned == Unplanned::FirstCome || policy.objective != Objective::EarliestFinish
}

pub fn hard_missed(workload: &Workload, end: Timestamp) -> i128 {
    let Some(due) = &workload.due else { return 0 };
    if due.policy == DeadlinePolicy::Hard && end > due.at { i128::from(workload.value) } else { 0 }
}

pub fn soft_lost(workload: &Workload, end: Timestamp) -> i128 {
    let Some(due) = &workload.due else { return 0 };
    let tiered = due.policy == DeadlinePolicy::Hard && !due.tiers.is_empty();
    if end <= due.at || !(due.policy == DeadlinePolicy::Soft || tiered) {
        return 0;
    }
    let mut left = if due.tiers.is_empty() { 0 } else { 100 };
    for tier in &due.tiers {
        if end > due.at + tier.after {
            left = i128::from(tier.value_percent);
        }
    }
    i128::from(workload.value) * (100 - left)
}

fn peak_level(snapshot: &Snapshot, policy: &Policy, placements: &[Placement]) -> i128 {
    let accelerators = cells(snapshot).filter(|cell| snapshot.cell(*cell).resource.is_accelerator());
    let price = |cell| snapshot.prices.iter().find(|price| price.cell == cell).map(|price| price.per_unit_hour.nanos);
    let weight = |cell| if snapshot.prices.is_empty() { 1 } else { price(cell).unwrap_or(0) };
    accelerators.map(|cell| weight(cell) * i128::from(peak(snapshot, policy, placements, cell).peak.0)).sum()
}

/// A node's index as its id.
pub fn node(at: usize) -> NodeId {
    NodeId(u32::try_from(at).expect("a test's nodes must be few"))
}

/// Adds what is missing from `placements` behind everything else.
pub fn started_at_all(snapshot: &Snapshot, policy: &Policy, mut placements: Vec<Placement>) -> Vec<Placement> {
    let missing: Vec<_> = (0..snapshot.workloads.len())
        .filter(|at| placements.iter().all(|placement| placement.workload != *at))
        .collect();
    for workload in missing {
        let last = *instants(snapshot, policy, &placements).last().expect("now must be an instant");
        let start = last.max(snapshot.workloads[workload].earliest_start);
        let options = 0..snapshot.workloads[workload].options.len();
        let fitting = options.map(|option| Placement { workload, option, start }).find(|candidate| {
            let mut all = placements.clone();
            all.push(*candidate);
            fits(snapshot, policy, &all)
        });
        placements.extend(fitting);
    }
    placements
}
