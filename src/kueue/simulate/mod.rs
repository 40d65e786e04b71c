//! What Kueue alone would do: its own admission, replayed event by event.
//!
//! Every workload is submitted at its earliest start and queues as it would without us. What is modelled, as Kueue 0.17
//! does it with classical (not fair) sharing:
//!
//! - one head per ClusterQueue and cycle, by priority, then creation, then key; `StrictFIFO` heads block their queue,
//!   `BestEffortFIFO` heads that cannot be admitted are parked until capacity is freed in their cohort tree (`pending`),
//!   and called back after those who stand in line were tried: Kueue waits a second before it does;
//! - options in listed order under `flavorFungibility`, borrowing no further up than needed (`nominate`);
//! - heads of one cycle: less borrowing first, then priority, then FIFO; a head that waits for quota without victims
//!   reserves it for the cycle, unless it can always reclaim (`cycle`);
//! - preemption within the ClusterQueue, reclaim within the cohort and while borrowing, with Kueue's order of victims
//!   and its smallest-set pass (`preempt`). Kueue knows nothing of interruption tolerance: whoever is preempted starts
//!   over, or from its last checkpoint (`progress`), and queues again by its creation time;
//! - windows change quotas at their instants; what runs is never evicted by them.
//!
//! [`simulate`] lets everything queue when it may start; [`Steps`] leaves that to whoever releases work.
//!
//! Invariants: the same input gives the same result, whatever the order of the workloads in it; only instants at which
//! something happens are visited, and no workload is evicted more than [`EVICTIONS_MAX`] times, so the run ends.
//! Parked work is called back only when it fits or may preempt somebody (`line`), so it does not reserve quota for the
//! one cycle that Kueue would spend on refusing it again.
//! Deliberately absent: work in `running` is never a victim (nobody says how it would start over), draining time
//! (a victim's quota is free at once), admission checks, topology, partial admission and PodsReady timeouts; and a
//! workload takes one of its options whole, where Kueue chooses a flavor per resource group.

mod cycle;
mod engine;
mod holders;
mod line;
mod nominate;
mod pending;
mod preempt;
mod progress;
mod steps;

use std::collections::BTreeMap;

use crate::plan::curve::{self, Baseline};
use crate::plan::proposal::{Piece, Summary};
use crate::plan::snapshot::{CellId, Promise, Snapshot};
use crate::plan::summary::{Ends, Held, Occupation, summarize};
use crate::units::{Amount, Seconds, Timestamp};

pub use steps::{Happened, Steps};

/// How often one workload may be evicted; from then on it is nobody's candidate.
///
/// Kueue itself has no such limit and can preempt back and forth for ever. A hundred restarts of one job is far beyond
/// what a useful queue shows, and it keeps the run finite.
pub const EVICTIONS_MAX: u32 = 100;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimOptions {
    pub runtimes: Runtimes,
}

/// How long work really takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Runtimes {
    #[default]
    P50,
    P90,
    /// By workload, on its first option; on another it is longer or shorter as that option's p50 is. A workload without
    /// an entry takes its p50. Running work ends at its p50.
    Explicit(Vec<Seconds>),
}

/// What happened, workload by workload, in the snapshot's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simulation {
    pub runs: Vec<Run>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// In time order. Empty when Kueue never admits it.
    pub attempts: Vec<Attempt>,
    /// When it finished; `None` when it never did.
    pub end: Option<Timestamp>,
    /// `end`, later by what p90 exceeds p50 when p50 runtimes were played; what was played otherwise.
    pub end_p90: Option<Timestamp>,
    /// Time spent in the queue, from its earliest start, over all attempts; of work never finished, up to its last attempt.
    pub waited: Seconds,
}

/// One admitted run over `[start, end)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    pub start: Timestamp,
    pub end: Timestamp,
    /// Index into the workload's options.
    pub option: usize,
    /// It was preempted at `end`; otherwise it finished.
    pub evicted: bool,
}

/// Plays Kueue's admission from the snapshot's now until nothing more can happen.
#[must_use]
pub fn simulate(snapshot: &Snapshot, options: &SimOptions) -> Simulation {
    Simulation { runs: engine::Engine::new(snapshot, options).run() }
}

impl Simulation {
    /// What was held over time, by cell: every attempt, lost ones too, and what was running already.
    #[must_use]
    pub fn demand(&self, snapshot: &Snapshot) -> Baseline {
        let mut holdings: BTreeMap<CellId, Vec<(Timestamp, Timestamp, Amount)>> = BTreeMap::new();
        for (workload, run) in snapshot.workloads.iter().zip(&self.runs) {
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
        holdings.into_iter().map(|(cell, held)| (cell, curve::Steps::of_holdings(held))).collect()
    }

    /// The figures of this outcome, to be set beside a plan's. GPU time and cost include work that was lost.
    #[must_use]
    pub fn summary(&self, snapshot: &Snapshot) -> Summary {
        let occupations: Vec<Occupation> = self
            .runs
            .iter()
            .enumerate()
            .map(|(workload, run)| Occupation {
                workload,
                pieces: run.attempts.iter().map(Attempt::held).collect(),
                end: run.end.zip(run.end_p90).map(|(p50, p90)| Ends { p50, p90 }),
            })
            .collect();
        summarize(snapshot, Promise::P50, &occupations)
    }
}

impl Attempt {
    fn held(&self) -> Held {
        Held { option: self.option, piece: Piece { start: self.start, end: self.end } }
    }
}
