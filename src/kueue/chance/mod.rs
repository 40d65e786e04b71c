//! How likely is on time? A plan played many times under Kueue's rules, with runtimes drawn anew each time.
//!
//! The plan says when each workload is released; from then on Kueue admits by quota, and how long work really takes is
//! drawn ([`Spread`]). Each sample is one [`simulate`]; the share of samples in which a workload ends in time is
//! its chance, known to within the half width that the number of samples was chosen for ([`Precision`]).
//! `docs/uncertainty.md` is the page on it, and names the tests.
//!
//! Invariants: the same arguments give the same numbers; a draw depends on seed, sample and the workload's key alone, so
//! two rows on the same load (other releases, other quota) meet the same luck and their difference is not noise.
//! Deliberately absent: replanning within a sample (a plan that is repaired as it goes does better), planned
//! interruptions (such work is released once and runs through), and dependence between the runtimes of two workloads.

mod draw;
mod precision;
mod spread;

use crate::plan::proposal::Plan;
use crate::plan::snapshot::{DeadlinePolicy, NodeId, Running, Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

use super::simulate::{Runtimes, SimOptions, simulate};
use draw::Draw;

pub use precision::{Chance, Confidence, Precision};
pub use spread::{DRAWS, Spread};

/// Copies of a workload that arrivals may grow by at most: tenfold the load is no forecast any more.
pub const GROWTH_PERCENT_MAX: u32 = 900;

/// What is drawn, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    pub seed: u64,
    pub precision: Precision,
    /// So many more arrivals: each workload that arrives after now comes again, unreleased and with the same due time,
    /// this often on average. At most [`GROWTH_PERCENT_MAX`].
    pub growth_percent: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { seed: 1, precision: Precision::default(), growth_percent: 0 }
    }
}

/// When a workload is released, and on what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Released {
    pub at: Timestamp,
    /// Index into its options, where the plan holds it to one (by node selector); otherwise Kueue chooses.
    pub option: Option<usize>,
}

/// What came of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlook {
    /// By workload; `None` without a due time, or where nobody knows its runtime.
    pub on_time: Vec<Option<Chance>>,
    /// All hard deadlines in one sample.
    pub all_hard: Chance,
    /// How many of the judged workloads are on time: the count that one sample in ten stays below, the median, and the one
    /// that one in ten exceeds.
    pub on_time_p10: u64,
    pub on_time_p50: u64,
    pub on_time_p90: u64,
    /// How many workloads were judged.
    pub judged: u64,
}

/// The releases of a plan, workload by workload; `None` for one the plan does not have.
#[must_use]
pub fn releases(snapshot: &Snapshot, plan: &Plan) -> Vec<Option<Released>> {
    let by_key: std::collections::BTreeMap<_, _> =
        plan.releases.iter().map(|release| (&release.workload, release)).collect();
    snapshot
        .workloads
        .iter()
        .map(|workload| {
            let release = by_key.get(&workload.key)?;
            let option = workload.options.iter().position(|option| option.flavor == release.flavor);
            Some(Released { at: release.start, option })
        })
        .collect()
}

/// Everything released when it may start: Kueue alone.
#[must_use]
pub fn unheld(snapshot: &Snapshot) -> Vec<Option<Released>> {
    snapshot.workloads.iter().map(|workload| Some(Released { at: workload.earliest_start, option: None })).collect()
}

/// Plays a row. `releases` and `spreads` stand by workload (a spread is of the runtime on the first option); a workload
/// without a release never runs.
#[must_use]
pub fn outlook(snapshot: &Snapshot, releases: &[Option<Released>], spreads: &[Spread], sampling: &Sampling) -> Outlook {
    let mut stage = Stage::new(snapshot, releases, spreads, sampling);
    let samples = sampling.precision.samples();
    let mut met = vec![0_u64; snapshot.workloads.len()];
    let mut hard_met = 0;
    let mut counts: Vec<u64> = Vec::new();
    for sample in 0..samples {
        let ends = stage.play(sample);
        let (mut count, mut all_hard) = (0, true);
        for ((workload, end), met) in snapshot.workloads.iter().zip(ends).zip(&mut met) {
            let Some(due) = workload.due.as_ref().filter(|_| is_known(workload)) else { continue };
            let on_time = end.is_some_and(|end| end <= due.at);
            *met += u64::from(on_time);
            count += u64::from(on_time);
            all_hard &= on_time || due.policy != DeadlinePolicy::Hard;
        }
        counts.push(count);
        hard_met += u64::from(all_hard);
    }
    counts.sort_unstable();
    let chance = |met: u64| Chance { met, samples, half_width_permille: sampling.precision.half_width_permille() };
    let at = |percent: usize| counts.get((counts.len() * percent / 100).min(counts.len() - 1)).copied().unwrap_or(0);
    let judged = |workload: &Workload| workload.due.is_some() && is_known(workload);
    let by_workload = snapshot.workloads.iter().zip(&met);
    Outlook {
        on_time: by_workload.map(|(workload, met)| judged(workload).then(|| chance(*met))).collect(),
        all_hard: chance(hard_met),
        on_time_p10: at(10),
        on_time_p50: at(50),
        on_time_p90: at(90),
        judged: u64::try_from(snapshot.workloads.iter().filter(|it| judged(it)).count()).unwrap_or(u64::MAX),
    }
}

fn is_known(workload: &Workload) -> bool {
    workload.options.first().is_some_and(|option| option.runtime.known)
}

/// The snapshot as it is played: with the releases, the copies that growth may add, and room for one sample's luck.
struct Stage<'a> {
    played: Snapshot,
    spreads: Vec<&'a Spread>,
    /// Per workload of `played`: the one it is (or is a copy of), and which copy; 0 is itself.
    origin: Vec<(usize, u32)>,
    /// When a copy arrives if it comes.
    arrival: Vec<Timestamp>,
    /// Where each workload of the snapshot stands in `played`.
    place: Vec<usize>,
    running: Vec<Running>,
    draw: Draw,
    growth_percent: u32,
}

/// A queue that no snapshot has: what stands in it never arrives.
const NOWHERE: NodeId = NodeId(u32::MAX);

impl<'a> Stage<'a> {
    fn new(snapshot: &Snapshot, releases: &[Option<Released>], spreads: &'a [Spread], sampling: &Sampling) -> Self {
        let growth_percent = sampling.growth_percent.min(GROWTH_PERCENT_MAX);
        let copies = growth_percent.div_ceil(100);
        let mut stage = Self {
            played: Snapshot { workloads: Vec::new(), ..snapshot.clone() },
            spreads: Vec::new(),
            origin: Vec::new(),
            arrival: Vec::new(),
            place: Vec::new(),
            running: snapshot.running.clone(),
            draw: Draw::new(sampling.seed),
            growth_percent,
        };
        for (index, workload) in snapshot.workloads.iter().enumerate() {
            let mut own = workload.clone();
            match releases.get(index).copied().flatten() {
                Some(Released { at, option }) => {
                    own.earliest_start = at.max(workload.earliest_start);
                    if let Some(option) = option.filter(|option| *option < own.options.len()) {
                        own.options.swap(0, option);
                        own.options.truncate(1);
                    }
                }
                None => own.queue = NOWHERE,
            }
            stage.place.push(stage.played.workloads.len());
            stage.enter(own, (index, 0), spreads);
            if workload.created > snapshot.now {
                for copy in 1..=copies {
                    stage.enter(workload.clone(), (index, copy), spreads);
                }
            }
        }
        stage
    }

    fn enter(&mut self, workload: Workload, origin: (usize, u32), spreads: &'a [Spread]) {
        self.arrival.push(workload.earliest_start);
        self.played.workloads.push(workload);
        self.origin.push(origin);
        self.spreads.push(spreads.get(origin.0).unwrap_or(&Spread::AsDeclared));
    }

    /// One sample: the end of each workload of the snapshot, in its order.
    fn play(&mut self, sample: u64) -> Vec<Option<Timestamp>> {
        let mut lengths: Vec<Seconds> = Vec::with_capacity(self.played.workloads.len());
        for (at, workload) in self.played.workloads.iter_mut().enumerate() {
            let (_, copy) = self.origin[at];
            let mut luck = self.draw.of(sample, &workload.key, copy);
            let runtime = workload.options.first().map(|option| option.runtime);
            lengths.push(runtime.map_or(Seconds(1), |runtime| self.spreads[at].at(runtime, luck.draw())));
            if copy > 0 {
                // Whole hundreds of percent always come; what is left of the last one by chance.
                let share = (self.growth_percent - (copy - 1) * 100).min(100);
                let comes = luck.draw() < share * (DRAWS / 100);
                workload.earliest_start = if comes { self.arrival[at] } else { NEVER };
            }
        }
        let now = self.played.now;
        for (left, running) in self.played.running.iter_mut().zip(&self.running) {
            let Some(p50) = running.end_p50.filter(|end| *end > now) else { continue };
            let p90 = running.end_p90.unwrap_or(p50).max(p50);
            let mut luck = self.draw.of(sample, &running.key, 0);
            let left_over = spread::declared(p50 - now, p90 - now, luck.draw());
            left.end_p50 = Some(now + left_over);
        }
        let simulation = simulate(&self.played, &SimOptions { runtimes: Runtimes::Explicit(lengths) });
        self.place.iter().map(|at| simulation.runs[*at].end).collect()
    }
}

/// Later than any due time, and still with room to add to: a copy that does not come in this sample.
const NEVER: Timestamp = Timestamp(i64::MAX / 4);
