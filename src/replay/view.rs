//! What was known at a moment, as the planner's input.
//!
//! Invariant: a view is made of what has arrived, what holds quota since when, and estimates; the history's runtimes and
//! everything that arrives later are not in it.

use crate::kueue::simulate::Steps;
use crate::plan::snapshot::{RunOption, Running, Runtime, Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

use super::history::History;
use super::learn::Learnt;

/// Work that a moment's plan considers. The rest waits for a later one: what does not start within the next hundreds of
/// starts need not be placed now, and a plan of a long queue would cost more than it decides.
pub(super) const CONSIDERED_MAX: usize = 256;
/// How far a moment's plan looks: what starts later will be planned many times before it does.
const HORIZON: Seconds = Seconds(2 * 86_400);

/// A planning problem and which of the history's workloads its own are.
pub(super) struct View {
    pub snapshot: Snapshot,
    pub origin: Vec<usize>,
}

/// The problem at `now`: `waiting` may start, `holding` does not move.
pub(super) fn view(
    history: &History,
    steps: &Steps<'_>,
    learnt: &Learnt,
    now: Timestamp,
    waiting: &[usize],
    holding: &[usize],
) -> View {
    let estimates: Vec<(usize, Runtime)> = waiting
        .iter()
        .map(|workload| {
            let it = &history.snapshot.workloads[*workload];
            (*workload, learnt.estimate(it, history.past(*workload), Seconds::ZERO))
        })
        .collect();
    let considered = considered(history, now, estimates);
    let whole = &history.snapshot;
    let snapshot = Snapshot {
        now,
        horizon_end: now + HORIZON,
        time_zone: whole.time_zone.clone(),
        cells: whole.cells.clone(),
        nodes: whole.nodes.clone(),
        workloads: considered.iter().map(|(at, runtime)| known(&whole.workloads[*at], *runtime)).collect(),
        running: holding
            .iter()
            .filter_map(|at| holder(history, steps, learnt, now, *at))
            // What was running at the beginning is gone at its end; past it, it would count as overdue.
            .chain(whole.running.iter().filter(|running| running.end_p50.is_none_or(|end| end > now)).cloned())
            .collect(),
        windows: whole.windows.clone(),
        prices: Vec::new(),
        currency: None,
        previous: Vec::new(),
    };
    View { snapshot, origin: considered.into_iter().map(|(at, _)| at).collect() }
}

/// The most pressing of those that can still be in time, then the oldest; in the history's order.
fn considered(history: &History, now: Timestamp, mut estimates: Vec<(usize, Runtime)>) -> Vec<(usize, Runtime)> {
    if estimates.len() > CONSIDERED_MAX {
        estimates.sort_by_key(|(workload, runtime)| {
            let due = history.snapshot.workloads[*workload].due.as_ref();
            match due.map(|due| due.at - runtime.p50) {
                Some(latest_start) if latest_start >= now => (0, latest_start, *workload),
                _ => (1, now, *workload),
            }
        });
        estimates.truncate(CONSIDERED_MAX);
    }
    estimates.sort_unstable_by_key(|(workload, _)| *workload);
    estimates
}

/// A workload as it is known: with an estimate in place of its runtime, the same on every flavor.
fn known(workload: &Workload, runtime: Runtime) -> Workload {
    let options = workload.options.iter().map(|option| RunOption { runtime, ..option.clone() }).collect();
    Workload { options, has_slo: true, ..workload.clone() }
}

fn holder(history: &History, steps: &Steps<'_>, learnt: &Learnt, now: Timestamp, at: usize) -> Option<Running> {
    let (start, option) = steps.holds(at)?;
    let workload = &history.snapshot.workloads[at];
    let option = workload.options.get(option)?;
    let runtime = learnt.estimate(workload, history.past(at), now - start);
    Some(Running {
        key: workload.key.clone(),
        tenant: workload.tenant.clone(),
        queue: workload.queue,
        flavor: option.flavor.clone(),
        uses: option.uses.clone(),
        priority: workload.priority,
        start,
        end_p50: Some(start + runtime.p50),
        end_p90: Some(start + runtime.p90),
        due: workload.due.clone(),
    })
}
