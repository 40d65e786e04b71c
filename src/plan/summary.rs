//! The figures by which a plan and its baselines are compared: verdicts, peaks, GPU time, cost.
//!
//! One arithmetic for all of them: whoever placed the work (planner, simulation, "all at once") says which pieces of
//! time each workload held its resources; running work is added here, so that nobody forgets it.
//!
//! Invariants: peaks include running work and count each instant once (what ends at an instant is gone at it);
//! GPU time and cost are of planned workloads only, lost work included; money is an exact fraction until it is rounded,
//! half to even, once per cell.
//! Deliberately absent: whether the placement respects quota (`plan::check`), and reasons (`plan::explain`).

use std::collections::BTreeMap;

pub use crate::plan::proposal::Summary;
use crate::plan::proposal::{Peak, Piece, Verdict};
use crate::plan::snapshot::{CellId, CellPrice, Promise, Running, Snapshot, WindowEffect, Workload};
use crate::units::{Amount, Money, Timestamp, div_round_half_even};

/// When and how one workload held its resources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occupation {
    /// Index into [`Snapshot::workloads`]; at most one occupation each.
    pub workload: usize,
    /// In time order, disjoint; more than one when it was interrupted.
    pub pieces: Vec<Held>,
    /// The p50 end, by which it is judged; `None` when it never ends: late, if it is due at all.
    pub end: Option<Ends>,
}

/// A stretch on one of the workload's options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Index into [`Workload::options`].
    pub option: usize,
    pub piece: Piece,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub p50: Timestamp,
    pub p90: Timestamp,
}

/// The verdict on a workload that ends so; `None` stands for an end that never comes.
#[must_use]
pub fn verdict(workload: &Workload, runtime_known: bool, end: Option<Ends>) -> Verdict {
    match (&workload.due, end) {
        (None, _) => Verdict::NoDeadline,
        (Some(_), None) => Verdict::Late,
        (Some(_), Some(_)) if !runtime_known => Verdict::Unknown,
        (Some(due), Some(end)) if end.p50 > due.at => Verdict::Late,
        (Some(due), Some(end)) if end.p90 > due.at => Verdict::AtRisk,
        (Some(_), Some(_)) => Verdict::OnTime,
    }
}

/// The figures of a placement; running work is held as the promise says. Workloads without an occupation never run.
///
/// An occupation or option that the snapshot does not have counts for nothing.
#[must_use]
pub fn summarize(snapshot: &Snapshot, promise: Promise, occupations: &[Occupation]) -> Summary {
    let mut summary = Summary { currency: snapshot.currency.clone(), ..Summary::default() };
    let mut placed: Vec<Option<&Occupation>> = vec![None; snapshot.workloads.len()];
    for occupation in occupations {
        if let Some(place) = placed.get_mut(occupation.workload) {
            *place = Some(occupation);
        }
    }
    let mut usage = Usage::new(snapshot);
    for (workload, occupation) in snapshot.workloads.iter().zip(&placed) {
        let last = occupation.and_then(|it| it.pieces.last()).and_then(|held| workload.options.get(held.option));
        let known = last.or(workload.options.first()).is_none_or(|option| option.runtime.known);
        match verdict(workload, known, occupation.and_then(|it| it.end)) {
            Verdict::OnTime => summary.on_time += 1,
            Verdict::AtRisk => summary.at_risk += 1,
            Verdict::Late => summary.late += 1,
            Verdict::NoDeadline | Verdict::Unknown => summary.without_verdict += 1,
        }
        let Some(occupation) = occupation else { continue };
        if let Some(end) = occupation.end {
            summary.makespan = summary.makespan.max(end.p50 - snapshot.now);
        }
        for held in &occupation.pieces {
            if let Some(option) = workload.options.get(held.option) {
                usage.plan(&option.uses, held.piece);
            }
        }
    }
    for running in &snapshot.running {
        usage.hold(&running.uses, running_piece(snapshot, promise, running));
    }
    summary.peak = usage.peaks();
    summary.gpu_seconds = usage.gpu_seconds();
    summary.cost = usage.cost();
    summary
}

/// Every workload at its earliest start on its first option, quota ignored: what the demand is before anybody queues.
#[must_use]
pub fn all_at_once(snapshot: &Snapshot) -> Summary {
    let occupations: Vec<Occupation> = snapshot
        .workloads
        .iter()
        .enumerate()
        .filter_map(|(index, workload)| {
            let runtime = workload.options.first()?.runtime;
            let start = workload.earliest_start;
            let end = Ends { p50: start + runtime.p50, p90: start + runtime.p90 };
            let piece = Piece { start, end: end.p50 };
            Some(Occupation { workload: index, pieces: vec![Held { option: 0, piece }], end: Some(end) })
        })
        .collect();
    summarize(snapshot, Promise::P50, &occupations)
}

/// What running work still holds under a promise; to the end of the horizon when nobody knows.
#[must_use]
pub fn running_piece(snapshot: &Snapshot, promise: Promise, running: &Running) -> Piece {
    let start = running.start.max(snapshot.now);
    Piece { start, end: running.held_until(promise, snapshot.now, snapshot.horizon_end).max(start) }
}

/// What each cell offers at most, to all nodes together, at any instant of `[now, horizon_end]`: the sum of nominal quotas
/// (which is what the roots' subtree quotas and all local parts add up to), plus the `Add` windows open together.
/// Caps and reserves do not lower it, for they leave the quota where it is.
#[must_use]
pub fn capacities(snapshot: &Snapshot) -> Vec<Amount> {
    let mut capacities = vec![Amount::ZERO; snapshot.cells.len()];
    for (cell, quota) in snapshot.nodes.iter().flat_map(|node| &node.quotas) {
        if let Some(capacity) = capacities.get_mut(cell.0 as usize) {
            *capacity = capacity.saturating_add(quota.nominal);
        }
    }
    let mut added: BTreeMap<CellId, Vec<(Timestamp, i128)>> = BTreeMap::new();
    let relevant =
        |start: Timestamp, end: Timestamp| start < end && end > snapshot.now && start <= snapshot.horizon_end;
    for window in &snapshot.windows {
        if window.effect == WindowEffect::Add && relevant(window.start, window.end) {
            let quantity = i128::from(window.quantity.0.max(0));
            added.entry(window.cell).or_default().extend([(window.start, quantity), (window.end, -quantity)]);
        }
    }
    for (cell, mut edges) in added {
        let most = sweep(&mut edges).map_or(0, |(most, _)| most);
        if let Some(capacity) = capacities.get_mut(cell.0 as usize) {
            *capacity = capacity.saturating_add(saturated(most));
        }
    }
    capacities
}

/// The highest sum and the first instant it is reached, if it is ever positive. What changes at one instant nets out.
fn sweep(edges: &mut [(Timestamp, i128)]) -> Option<(i128, Timestamp)> {
    edges.sort_unstable();
    let mut level = 0;
    let mut highest: Option<(i128, Timestamp)> = None;
    for instant in edges.chunk_by(|a, b| a.0 == b.0) {
        level += instant.iter().map(|(_, change)| change).sum::<i128>();
        if level > highest.map_or(0, |(most, _)| most) {
            highest = Some((level, instant[0].0));
        }
    }
    highest
}

fn saturated(sum: i128) -> Amount {
    Amount(i64::try_from(sum).unwrap_or(i64::MAX))
}

/// What is held, per cell.
struct Usage<'a> {
    snapshot: &'a Snapshot,
    /// Changes of usage, planned and running.
    edges: Vec<Vec<(Timestamp, i128)>>,
    /// Pieces of planned work, with their amounts.
    planned: Vec<Vec<(Piece, i128)>>,
}

impl<'a> Usage<'a> {
    fn new(snapshot: &'a Snapshot) -> Self {
        let cells = snapshot.cells.len();
        Self { snapshot, edges: vec![Vec::new(); cells], planned: vec![Vec::new(); cells] }
    }

    fn plan(&mut self, uses: &[(CellId, Amount)], piece: Piece) {
        self.hold(uses, piece);
        for (cell, amount) in uses {
            if let Some(planned) = self.planned.get_mut(cell.0 as usize).filter(|_| piece.start < piece.end) {
                planned.push((piece, i128::from(amount.0)));
            }
        }
    }

    fn hold(&mut self, uses: &[(CellId, Amount)], piece: Piece) {
        for (cell, amount) in uses {
            if let Some(edges) = self.edges.get_mut(cell.0 as usize).filter(|_| piece.start < piece.end) {
                edges.extend([(piece.start, i128::from(amount.0)), (piece.end, -i128::from(amount.0))]);
            }
        }
    }

    fn peaks(&mut self) -> Vec<Peak> {
        let capacities = capacities(self.snapshot);
        let cells = self.snapshot.cells.iter().zip(&mut self.edges).zip(capacities);
        cells
            .map(|((cell, edges), capacity)| {
                let highest = sweep(edges);
                Peak {
                    flavor: cell.flavor.clone(),
                    resource: cell.resource.clone(),
                    peak: highest.map_or(Amount::ZERO, |(most, _)| saturated(most)),
                    capacity,
                    at: highest.map(|(_, at)| at),
                }
            })
            .collect()
    }

    fn gpu_seconds(&self) -> i128 {
        // Thousandths of a GPU-second, so that cells counted in thousandths add up before they are rounded.
        let mut thousandths: i128 = 0;
        for (cell, planned) in self.snapshot.cells.iter().zip(&self.planned) {
            if cell.resource.is_accelerator() {
                let unit = 1000 / i128::from(cell.resource.units_per_gpu());
                let total: i128 = planned.iter().map(|(piece, amount)| amount * seconds(*piece)).sum();
                thousandths = thousandths.saturating_add(total.saturating_mul(unit));
            }
        }
        div_round_half_even(thousandths, 1000)
    }

    /// `None` without a rate card, or when some accelerator cell in use has no price.
    fn cost(&self) -> Option<Money> {
        if self.snapshot.prices.is_empty() {
            return None;
        }
        let mut nanos: i128 = 0;
        for (index, (cell, planned)) in (0_u32..).zip(self.snapshot.cells.iter().zip(&self.planned)) {
            let price = self.snapshot.prices.iter().find(|price| price.cell == CellId(index));
            match price {
                Some(price) => {
                    let units_per_priced = if cell.resource.is_milli() { 1000 } else { 1 };
                    let unit_hours: i128 = planned
                        .iter()
                        .map(|(piece, amount)| amount.saturating_mul(nano_seconds(price, *piece)))
                        .fold(0, i128::saturating_add);
                    nanos = nanos.saturating_add(div_round_half_even(unit_hours, 3600 * units_per_priced));
                }
                None if cell.resource.is_accelerator() && !planned.is_empty() => return None,
                None => {}
            }
        }
        Some(Money { nanos })
    }
}

fn seconds(piece: Piece) -> i128 {
    i128::from((piece.end - piece.start).0.max(0))
}

/// ∫ price dt over the piece, in nanos per unit-hour × seconds.
fn nano_seconds(price: &CellPrice, piece: Piece) -> i128 {
    let base = price.per_unit_hour.nanos.saturating_mul(seconds(piece));
    let first = price.windows.partition_point(|window| window.end <= piece.start);
    price.windows[first..]
        .iter()
        .take_while(|window| window.start < piece.end)
        .map(|window| {
            let overlap = Piece { start: window.start.max(piece.start), end: window.end.min(piece.end) };
            (window.per_unit_hour.nanos - price.per_unit_hour.nanos).saturating_mul(seconds(overlap))
        })
        .fold(base, i128::saturating_add)
}
