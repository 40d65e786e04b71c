//! What Kueue alone would do with the same work: its figures for the document, its curves for the pictures.

use std::collections::BTreeMap;

use crate::kueue::{SimOptions, simulate};
use crate::plan::curve::{Baseline, Steps};
use crate::plan::proposal::Summary;
use crate::plan::snapshot::{CellId, Promise, Snapshot};
use crate::units::{Amount, Timestamp};

/// Plays Kueue's own admission on the snapshot.
pub(super) fn kueue_alone(snapshot: &Snapshot) -> (Summary, Baseline) {
    let simulation = simulate(snapshot, &SimOptions::default());
    let mut holdings: BTreeMap<CellId, Vec<(Timestamp, Timestamp, Amount)>> = BTreeMap::new();
    for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
        for attempt in &run.attempts {
            for (cell, amount) in workload.options.get(attempt.option).map_or(&[][..], |option| &option.uses) {
                holdings.entry(*cell).or_default().push((attempt.start, attempt.end, *amount));
            }
        }
    }
    for work in &snapshot.running {
        for (cell, amount) in &work.uses {
            let end = work.held_until(Promise::P50, snapshot.now, snapshot.horizon_end);
            holdings.entry(*cell).or_default().push((work.start, end, *amount));
        }
    }
    let curves = holdings.into_iter().map(|(cell, held)| (cell, Steps::of_holdings(held))).collect();
    (simulation.summary(snapshot), curves)
}
