//! What Kueue alone would do with the same work: its figures for the document, its curves for the pictures.

use std::collections::BTreeMap;

use crate::kueue::{SimOptions, Simulation, simulate};
use crate::plan::curve::{Baseline, Steps};
use crate::plan::proposal::{Summary, Verdict};
use crate::plan::snapshot::{CellId, Promise, Snapshot};
use crate::plan::summary::{Ends, verdict};
use crate::plan::whatif::AloneRun;
use crate::units::{Amount, Timestamp};

/// Plays Kueue's own admission on the snapshot.
pub(super) fn kueue_alone(snapshot: &Snapshot) -> (Summary, Baseline) {
    let simulation = simulate(snapshot, &SimOptions::default());
    (simulation.summary(snapshot), curves(snapshot, &simulation))
}

/// The same, with who ends in time.
pub(super) fn alone_run(snapshot: &Snapshot) -> AloneRun {
    let simulation = simulate(snapshot, &SimOptions::default());
    let in_time = snapshot.workloads.iter().zip(&simulation.runs).map(|(workload, run)| {
        let ends = run.end.zip(run.end_p90).map(|(p50, p90)| Ends { p50, p90 });
        let known = workload.options.iter().all(|option| option.runtime.known);
        let verdict = verdict(workload, known, ends);
        ends.is_some() && matches!(verdict, Verdict::OnTime | Verdict::NoDeadline)
    });
    let in_time = in_time.collect();
    AloneRun { summary: simulation.summary(snapshot), demand: curves(snapshot, &simulation), in_time }
}

fn curves(snapshot: &Snapshot, simulation: &Simulation) -> Baseline {
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
    holdings.into_iter().map(|(cell, held)| (cell, Steps::of_holdings(held))).collect()
}
