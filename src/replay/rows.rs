//! The figures of a row.

use std::collections::BTreeMap;

use crate::kueue::simulate::{Run, Simulation};
use crate::names::FlavorName;
use crate::plan::curve::{self, Baseline};
use crate::plan::proposal::{Piece, Summary};
use crate::plan::snapshot::{CellId, Promise, Snapshot};
use crate::plan::summary::{Ends, Held, Occupation, capacities, summarize};
use crate::units::{Amount, Seconds, Timestamp};

use super::capacity::Change;
use super::forecast::Spread;
use super::history::History;
use super::rolling::Rolled;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowKind {
    /// Starts as the log has them.
    AsItWas,
    KueueAlone,
    Staggered,
}

/// One way in which the past could have gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub kind: RowKind,
    /// What the pool has more (or fewer) of than it had; empty for the pool as it is.
    pub add: Vec<(FlavorName, i64)>,
    pub summary: Summary,
    /// Accelerator capacity from the beginning to the row's last end, less what was used: GPU-seconds.
    pub idle_gpu_seconds: i128,
    /// From arrival to first start.
    pub wait: Option<Spread>,
    pub never_started: u64,
    /// Work of the log that this row leaves out: the log has no start for it.
    pub left_out: u64,
    /// Plans that were made.
    pub plans: u64,
    /// By workload: when it first started and when it ended.
    pub played: Vec<Played>,
    /// What was held over time, by cell.
    pub demand: Baseline,
    /// What there was over time, by cell.
    pub capacity: Baseline,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    pub start: Option<Timestamp>,
    pub end: Option<Timestamp>,
}

/// The log as it was; `None` when it has no starts.
pub(super) fn as_it_was(history: &History) -> Option<Row> {
    let snapshot = &history.snapshot;
    let started = history.past.iter().filter(|past| past.started.is_some()).count();
    if started == 0 {
        return None;
    }
    let mut occupations = Vec::new();
    let mut holdings: BTreeMap<CellId, Vec<(Timestamp, Timestamp, Amount)>> = BTreeMap::new();
    let mut played = vec![Played::default(); snapshot.workloads.len()];
    for (index, workload) in snapshot.workloads.iter().enumerate() {
        let (Some(start), Some(option)) = (history.past(index).started, workload.options.first()) else { continue };
        let end = start + option.runtime.p50;
        played[index] = Played { start: Some(start), end: Some(end) };
        let held = Held { option: 0, piece: Piece { start, end } };
        for (cell, amount) in &option.uses {
            holdings.entry(*cell).or_default().push((start, end, *amount));
        }
        occupations.push(Occupation { workload: index, pieces: vec![held], end: Some(Ends { p50: end, p90: end }) });
    }
    // Only what has a start is judged: the rest did not stay away, nobody knows when it came.
    let mut judged = snapshot.clone();
    for (index, workload) in judged.workloads.iter_mut().enumerate() {
        if played[index].start.is_none() {
            workload.due = None;
        }
    }
    let summary = summarize(&judged, Promise::P50, &occupations);
    let left_out = u64::try_from(snapshot.workloads.len() - started).unwrap_or(u64::MAX);
    let demand = holdings.into_iter().map(|(cell, held)| (cell, curve::Steps::of_holdings(held))).collect();
    Some(Row { left_out, never_started: 0, demand, ..row(history, RowKind::AsItWas, None, summary, played) })
}

pub(super) fn of_simulation(history: &History, kind: RowKind, change: Option<&Change>, simulation: Simulation) -> Row {
    let (summary, demand) = (simulation.summary(&history.snapshot), simulation.demand(&history.snapshot));
    let played = simulation.runs.into_iter().map(|run| played(&run)).collect();
    Row { demand, ..row(history, kind, change, summary, played) }
}

pub(super) fn of_rolled(history: &History, change: Option<&Change>, rolled: &Rolled) -> Row {
    let row = of_simulation(history, RowKind::Staggered, change, rolled.simulation.clone());
    Row { plans: rolled.plans, ..row }
}

fn played(run: &Run) -> Played {
    Played { start: run.attempts.first().map(|attempt| attempt.start), end: run.end }
}

fn row(history: &History, kind: RowKind, change: Option<&Change>, summary: Summary, played: Vec<Played>) -> Row {
    let snapshot = &history.snapshot;
    let waits = snapshot.workloads.iter().zip(&played);
    let waits =
        waits.filter_map(|(workload, played)| Some((played.start? - workload.earliest_start).max(Seconds::ZERO)));
    let first_flavor = || snapshot.cells.first().map(|cell| cell.flavor.clone());
    let add = change.and_then(|change| Some((change.flavor.clone().or_else(first_flavor)?, change.quantity)));
    Row {
        kind,
        add: add.into_iter().collect(),
        idle_gpu_seconds: idle(snapshot, &summary),
        wait: Spread::of(waits.collect()),
        never_started: u64::try_from(played.iter().filter(|it| it.start.is_none()).count()).unwrap_or(u64::MAX),
        left_out: 0,
        plans: 0,
        summary,
        played,
        demand: Baseline::new(),
        capacity: (0..).map(CellId).zip(&snapshot.cells).map(|(id, _)| (id, curve::capacity(snapshot, id))).collect(),
    }
}

fn idle(snapshot: &Snapshot, summary: &Summary) -> i128 {
    let cells = snapshot.cells.iter().zip(capacities(snapshot));
    let offered: i128 = cells
        .filter(|(cell, _)| cell.resource.is_accelerator())
        .map(|(cell, capacity)| {
            i128::from(capacity.0) * i128::from(summary.makespan.0) / i128::from(cell.resource.units_per_gpu())
        })
        .sum();
    (offered - summary.gpu_seconds).max(0)
}
