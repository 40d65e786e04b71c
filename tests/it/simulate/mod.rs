//! Kueue's admission rules, one small case each: the expected timeline was worked out by hand.

mod cohort;
mod flavors;
mod queue;
mod reserve;
mod time;

use expect_test::Expect;
use stagger::kueue::simulate::{Attempt, SimOptions, Simulation, simulate};
use stagger::plan::snapshot::Snapshot;

use crate::world::{World, a_snapshot, clock};

/// One line per workload, in the snapshot's order.
pub fn timeline(snapshot: &Snapshot, simulation: &Simulation) -> String {
    let mut text = String::new();
    for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
        let attempt = |attempt: &Attempt| {
            let flavor = &workload.options[attempt.option].flavor;
            let end = if attempt.evicted { " evicted" } else { "" };
            format!(" {}-{} {flavor}{end}", clock(attempt.start), clock(attempt.end))
        };
        let attempts: Vec<String> = run.attempts.iter().map(attempt).collect();
        let shown = if attempts.is_empty() { " never".to_owned() } else { attempts.join(",") };
        text.push_str(&format!("{}:{shown}\n", workload.key.name()));
    }
    text
}

fn check(world: World, expected: &Expect) {
    let snapshot = world.build();
    expected.assert_eq(&timeline(&snapshot, &simulate(&snapshot, &SimOptions::default())));
}

/// Two queues of four GPUs each in one cohort.
fn two_teams() -> World {
    a_snapshot().queue("blue").gpus("a100", 4).under("all").queue("red").gpus("a100", 4).under("all").queue("blue")
}
