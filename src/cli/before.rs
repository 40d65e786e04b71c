//! What Kueue alone would do with the same work: its figures for the document, its curves for the pictures.

use crate::kueue::{SimOptions, simulate};
use crate::plan::curve::Baseline;
use crate::plan::proposal::{Summary, Verdict};
use crate::plan::snapshot::Snapshot;
use crate::plan::summary::{Ends, verdict};
use crate::plan::whatif::AloneRun;

/// Plays Kueue's own admission on the snapshot.
pub(super) fn kueue_alone(snapshot: &Snapshot) -> (Summary, Baseline) {
    let simulation = simulate(snapshot, &SimOptions::default());
    (simulation.summary(snapshot), simulation.demand(snapshot))
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
    AloneRun { summary: simulation.summary(snapshot), demand: simulation.demand(snapshot), in_time }
}
