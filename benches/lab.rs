mod instance;
use stagger::clock::Stopwatch;
use stagger::plan::{
    Plan, Policy, propose,
    snapshot::Objective,
    watch::{Progress, Watch},
};
use std::sync::atomic::{AtomicU64, Ordering};
struct W {
    w: Stopwatch,
    first: AtomicU64,
}
impl Watch for W {
    fn elapsed_millis(&self) -> u64 {
        self.w.millis()
    }
    fn stopped(&self) -> bool {
        false
    }
    fn progress(&self, _p: &Progress) {}
    fn first_plan(&self, _p: &Plan) {
        self.first.store(self.w.micros(), Ordering::Relaxed);
    }
}
fn main() {
    let args: Vec<String> = std::env::args().filter(|a| a != "--bench").collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let peak = args[2] == "peak";
    let ms: u64 = args[3].parse().unwrap();
    let seed: u64 = args[4].parse().unwrap();
    let snap = instance::read(&text, if peak { instance::Problem::Peak } else { instance::Problem::Late });
    let policy = Policy {
        objective: if peak { Objective::LowestPeak } else { Objective::EarliestFinish },
        time_limit_millis: ms,
        step_limit: Some(u64::MAX),
        seed,
        ..Policy::default()
    };
    let w = W { w: Stopwatch::start(), first: AtomicU64::new(0) };
    let plan = propose(&snap, &policy, &w);
    let lv: Vec<String> = plan
        .quality
        .levels
        .iter()
        .map(|l| {
            let d = if l.name == stagger::plan::proposal::LevelName::Peak { 1_000_000_000 } else { 1 };
            format!("{:?} {}/{:?} {:?}", l.name, l.value / d, l.bound.map(|b| b / d), l.proof)
        })
        .collect();
    println!(
        "{} {} | first {}us | total {}ms | {:?} | {}",
        args[1].rsplit('/').next().unwrap(),
        args[2],
        w.first.load(Ordering::Relaxed),
        w.w.millis(),
        plan.quality.status,
        lv.join(", ")
    );
}
