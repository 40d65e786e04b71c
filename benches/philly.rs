//! Deadlines met on the Philly trace: the planner beside FIFO with backfill, earliest deadline first, and Kueue alone.
//!
//! `cargo bench --bench philly [-- ROWS GPUS[,GPUS…] SECONDS]`; without arguments the named sizes below. The trace is
//! found through `STAGGER_DATA` (default `../shared/data`); without it nothing is measured, and that is said.
//! All five see the same workloads, exact runtimes and the same pool. The planner and EDF know every arrival in advance,
//! FIFO with backfill and Kueue do not.
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(clippy::disallowed_methods, reason = "arguments and the data folder come from outside")]

use std::path::PathBuf;

use stagger::clock::Stopwatch;
use stagger::kueue::{SimOptions, simulate};
use stagger::plan::peers::{LateWork, PeerSchedule, earliest_deadline_first, fifo_backfill};
use stagger::plan::proposal::{Level, LevelName};
use stagger::plan::snapshot::Snapshot;
use stagger::plan::watch::{Progress, Watch};
use stagger::plan::{Plan, Policy, propose};
use stagger::scenario::import::{Settings, decode, philly, pool_of};
use stagger::units::Timestamp;

/// Rows and pools: from a pool that is busy all the time to one with room to spare.
const SIZES: [(usize, &[i64]); 3] =
    [(500, &[32, 40, 48]), (2_000, &[80, 96, 112, 128]), (8_000, &[300, 340, 384, 448])];

/// Wall time a plan may take.
const SECONDS: u64 = 20;

struct Clock(Stopwatch);

impl Watch for Clock {
    fn elapsed_millis(&self) -> u64 {
        self.0.millis()
    }
    fn stopped(&self) -> bool {
        false
    }
    fn progress(&self, _progress: &Progress) {}
}

fn main() {
    let folder = std::env::var_os("STAGGER_DATA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data"), PathBuf::from);
    let path = folder.join("chronus-philly-deadlines/trace_job_Philly_SLO.first8000.csv");
    let Ok(bytes) = std::fs::read(&path) else {
        println!("SKIPPED: {} is not at hand; set STAGGER_DATA", path.display());
        return;
    };
    let file = decode("philly", bytes).expect("the trace must be text");
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |word: &String| word.parse::<u64>().expect("ROWS and SECONDS must be numbers");
    let seconds = words.get(2).map_or(SECONDS, number);
    let sizes: Vec<(usize, Vec<i64>)> = match words.as_slice() {
        [rows, pools, ..] => {
            let pools = pools.split(',').map(|pool| pool.parse().expect("GPUS must be numbers")).collect();
            vec![(usize::try_from(number(rows)).expect("ROWS must fit"), pools)]
        }
        _ => SIZES.iter().map(|(rows, pools)| (*rows, pools.to_vec())).collect(),
    };
    println!(
        "| rows | GPUs | deadlines | plan | bound | EDF, late last | EDF | FIFO+backfill | Kueue | plan s | peers s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (rows, pools) in sizes {
        for gpus in pools {
            let settings = Settings {
                rows: Some(rows),
                pool: pool_of(gpus).expect("a pool must be positive"),
                ..Settings::default()
            };
            let snapshot = philly::read(&file, &settings).expect("the trace must be readable").snapshot;
            measure(&snapshot, rows, gpus, seconds);
        }
    }
}

fn measure(snapshot: &Snapshot, rows: usize, gpus: i64, seconds: u64) {
    let deadlines = snapshot.workloads.iter().filter(|workload| workload.due.is_some()).count();
    let peers = Stopwatch::start();
    let met = |schedule: &PeerSchedule| schedule.score(snapshot).hard_met;
    let last = met(&earliest_deadline_first(snapshot, LateWork::GoesLast));
    let edf = met(&earliest_deadline_first(snapshot, LateWork::KeepsPlace));
    let fifo = met(&fifo_backfill(snapshot));
    let peer_millis = peers.millis();
    let kueue = simulate(snapshot, &SimOptions::default());
    let kueue = in_time(snapshot, kueue.runs.iter().map(|run| run.end));

    let policy = Policy { time_limit_millis: seconds * 1000, step_limit: Some(u64::MAX), ..Policy::default() };
    let watch = Clock(Stopwatch::start());
    let plan = propose(snapshot, &policy, &watch);
    let plan_millis = watch.0.millis();
    let planned = plan_met(snapshot, &plan);
    let bound = bound(snapshot, &plan).map_or_else(|| "?".to_owned(), |bound| format!("≤ {bound}"));
    println!(
        "| {rows} | {gpus} | {deadlines} | {planned} | {bound} | {last} | {edf} | {fifo} | {kueue} | {}.{} | {}.{} |",
        plan_millis / 1000,
        plan_millis % 1000 / 100,
        peer_millis / 1000,
        peer_millis % 1000 / 100
    );
}

fn in_time(snapshot: &Snapshot, ends: impl Iterator<Item = Option<Timestamp>>) -> usize {
    let pairs = snapshot.workloads.iter().zip(ends);
    pairs
        .filter(|(workload, end)| workload.due.as_ref().is_some_and(|due| end.is_some_and(|end| end <= due.at)))
        .count()
}

fn plan_met(snapshot: &Snapshot, plan: &Plan) -> usize {
    let ends: std::collections::BTreeMap<_, _> =
        plan.releases.iter().map(|release| (&release.workload, release.end)).collect();
    in_time(snapshot, snapshot.workloads.iter().map(|workload| ends.get(&workload.key).copied()))
}

/// The most deadlines any schedule can meet, where the plan's bound says so. All values are alike in this trace.
fn bound(snapshot: &Snapshot, plan: &Plan) -> Option<i128> {
    let missed = |level: &&Level| level.name == LevelName::HardMissed;
    let least = plan.quality.levels.iter().find(missed)?.bound?;
    let value = i128::from(snapshot.workloads.first()?.value);
    let deadlines = i128::try_from(snapshot.workloads.iter().filter(|workload| workload.due.is_some()).count()).ok()?;
    // Part of a value cannot be missed, so a bound between two counts is the larger one.
    Some(deadlines - (least + value - 1) / value)
}
