//! The planner on the seeded instance families: values, bounds, first checked plan, memory.
//!
//! `cargo bench --bench plan -- FILE late|peak MILLIS [SEED]` prints one line of comma-separated figures, of the second plan
//! that its process makes. The driver
//! `benches/compare.py` makes the instances, runs CP-SAT beside it in the same run, and sets the ratios.
#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

mod instance;

use std::sync::atomic::{AtomicU64, Ordering};

use stagger::clock::Stopwatch;
use stagger::plan::proposal::{Level, LevelName, Release};
use stagger::plan::snapshot::{Objective, Policy, Snapshot};
use stagger::plan::watch::{Progress, Watch};
use stagger::plan::{Plan, propose};

/// Times the first checked plan; otherwise keeps quiet.
struct Clock {
    since: Stopwatch,
    first_micros: AtomicU64,
}

impl Clock {
    fn start() -> Self {
        Self { since: Stopwatch::start(), first_micros: AtomicU64::new(0) }
    }
}

impl Watch for Clock {
    fn elapsed_millis(&self) -> u64 {
        self.since.millis()
    }
    fn stopped(&self) -> bool {
        false
    }
    fn progress(&self, _progress: &Progress) {}
    fn first_plan(&self, _releases: &[Release]) {
        self.first_micros.store(self.since.micros(), Ordering::Relaxed);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [file, problem, millis, rest @ ..] = arguments.as_slice() else {
        println!(
            "usage: cargo bench --bench plan -- FILE late|peak|replan MILLIS [SEED [GAP_PERMILLE]]; see benches/compare.py"
        );
        return;
    };
    let text = std::fs::read_to_string(file).expect("the instance file must be readable");
    let millis: u64 = millis.parse().expect("milliseconds must be a whole number");
    let number = |at: usize, default: u64| rest.get(at).map_or(default, |text| text.parse().expect("a whole number"));
    let peak = problem == "peak";
    let snapshot = instance::read(&text, if peak { instance::Problem::Peak } else { instance::Problem::Late });
    let policy = Policy {
        objective: if peak { Objective::LowestPeak } else { Objective::EarliestFinish },
        time_limit_millis: millis,
        step_limit: Some(u64::MAX),
        seed: number(0, 1),
        gap_permille: u32::try_from(number(1, 0)).expect("a gap in thousandths"),
        ..Policy::default()
    };
    if problem == "replan" {
        replan(&snapshot, &policy);
        return;
    }
    // CP-SAT's process solves one instance after the other, so the program and the heap are there for both.
    drop(propose(&snapshot, &Policy { time_limit_millis: 1, ..policy.clone() }, &Clock::start()));
    let clock = Clock::start();
    let plan = propose(&snapshot, &policy, &clock);
    let name = if peak { LevelName::Peak } else { LevelName::HardMissed };
    let level = plan.quality.levels.iter().find(|level| level.name == name).expect("the level is in every plan");
    let unit = if peak { 1_000_000_000 } else { 1 };
    let Level { value, bound, proof, .. } = level;
    println!(
        "{},{problem},stagger,{},{},{:.6},{:.3},{},{proof:?}",
        file.rsplit('/').next().unwrap_or(file).trim_end_matches(".txt"),
        value / unit,
        bound.map_or_else(|| "none".to_owned(), |bound| (bound / unit).to_string()),
        seconds(clock.first_micros.load(Ordering::Relaxed)),
        seconds(clock.since.micros()),
        peak_memory_mib(),
    );
}

/// Plans, changes one workload in a hundred, and plans again from the first plan.
fn replan(snapshot: &Snapshot, policy: &Policy) {
    let cold = Clock::start();
    let first = propose(snapshot, policy, &cold);
    let cold_seconds = seconds(cold.since.micros());
    let mut again = snapshot.clone();
    again.previous = first.previous_releases();
    let kept = Clock::start();
    let same = propose(&again, policy, &kept);
    let kept_seconds = seconds(kept.since.micros());
    let unchanged =
        same.releases.iter().map(|r| (&r.workload, r.start)).eq(first.releases.iter().map(|r| (&r.workload, r.start)));
    let changed = again.workloads.len().div_ceil(100);
    let step = again.workloads.len() / changed;
    for workload in again.workloads.iter_mut().step_by(step).take(changed) {
        for option in &mut workload.options {
            option.runtime.p50 = stagger::units::Seconds(option.runtime.p50.0 + instance::SLOT);
            option.runtime.p90 = option.runtime.p50;
        }
        if let Some(due) = &mut workload.due {
            due.at = due.at + stagger::units::Seconds(instance::SLOT);
        }
    }
    let warm = Clock::start();
    let second = propose(&again, policy, &warm);
    let starts: std::collections::HashMap<_, _> =
        first.releases.iter().map(|r| (r.workload.clone(), r.start)).collect();
    let moved = second.releases.iter().filter(|r| starts.get(&r.workload) != Some(&r.start)).count();
    let missed = |plan: &Plan| plan.quality.levels[0].value;
    println!(
        "replan: cold {cold_seconds:.3} s, unchanged {kept_seconds:.3} s, warm {:.3} s, changed {changed}, moved {moved}, missed {} -> {}, same plan for unchanged input: {unchanged}",
        seconds(warm.since.micros()),
        missed(&first),
        missed(&second),
    );
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn seconds(micros: u64) -> f64 {
    micros as f64 / 1e6
}

/// The process's high-water mark, from the kernel.
fn peak_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
