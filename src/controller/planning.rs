//! One plan, made and checked, within a time that does not depend on the search.
//!
//! The search runs on a thread of its own. It is told to stop when its time is over, and given up when it does not; a
//! panic in it is an error like any other. Nobody waits for it in order to let go what is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::timeout;

use super::changes::Change;
use crate::clock::Stopwatch;
use crate::failure::Severity;
use crate::plan::explain::sentences;
use crate::plan::proposal::{Conflict, LevelName, Plan};
use crate::plan::snapshot::{Objective, Policy, PreviousRelease, Snapshot, Window};
use crate::plan::watch::{Progress, Watch};
use crate::plan::{check, conflict, limits, propose};

/// What is to be planned.
#[derive(Debug, Clone)]
pub struct Request {
    /// As it was assembled, to tell by what changes later.
    pub basis: Snapshot,
    /// With the previous starts.
    pub snapshot: Snapshot,
    /// What of its windows is planned by other CapacityPlans.
    pub taken: Vec<Window>,
    pub policy: Policy,
    pub changes: Vec<Change>,
}

/// A plan that has passed its check.
#[derive(Debug, Clone)]
pub struct Planned {
    pub basis: Snapshot,
    /// What was planned.
    pub snapshot: Snapshot,
    pub taken: Vec<Window>,
    pub policy: Policy,
    pub plan: Plan,
    /// One sentence for each release, in the plan's order.
    pub sentences: Vec<Option<String>>,
    /// Why it was made.
    pub changes: Vec<Change>,
    pub millis: u64,
}

/// Beyond so many workloads the second look for work that could start sooner costs more than it gives.
const PULL_IN_MAX: usize = 2_000;
/// Beyond so many, trials cost more than a plan may take.
const CONFLICT_MAX: usize = 400;
/// How much longer than its own limit a search may take to stop.
const STOP_MAX: Duration = Duration::from_secs(3);

/// A watch that is told to stop.
struct Timed {
    watch: Stopwatch,
    stop: Arc<AtomicBool>,
}

impl Watch for Timed {
    fn elapsed_millis(&self) -> u64 {
        self.watch.millis()
    }
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
    fn progress(&self, _progress: &Progress) {}
}

/// Plans on a thread of its own.
///
/// # Errors
/// One sentence without a full stop: too large, not in time, or a plan that failed its check.
pub async fn plan(request: Request) -> Result<Planned, String> {
    let stop = Arc::new(AtomicBool::new(false));
    let limit = Duration::from_millis(request.policy.time_limit_millis.saturating_mul(3)) + STOP_MAX;
    let told = Arc::clone(&stop);
    let task = tokio::task::spawn_blocking(move || think(request, &told));
    match timeout(limit, task).await {
        Ok(Ok(result)) => result,
        Ok(Err(panicked)) => Err(format!("planning ended in a bug ({panicked})")),
        Err(_) => {
            stop.store(true, Ordering::Relaxed);
            Err(format!("planning did not end within {} s", limit.as_secs()))
        }
    }
}

/// The same on this thread.
///
/// # Errors
/// As [`plan`].
pub fn think(request: Request, stop: &Arc<AtomicBool>) -> Result<Planned, String> {
    let Request { basis, snapshot, taken, policy, changes } = request;
    if let Some(exceeded) = limits::exceeded(&snapshot) {
        return Err(exceeded);
    }
    let watch = Timed { watch: Stopwatch::start(), stop: Arc::clone(stop) };
    let mut chosen = (propose(&snapshot, &policy, &watch), snapshot);
    if wants_pull_in(&chosen.1, &policy, &changes) {
        let again = Timed { watch: Stopwatch::start(), stop: Arc::clone(stop) };
        let free = unpromised(&chosen.1, &policy);
        let other = propose(&free, &policy, &again);
        if ends_sooner(&other, &chosen.0) {
            chosen = (other, free);
        }
    }
    let (mut plan, snapshot) = chosen;
    let wrong = check(&snapshot, &policy, &plan).into_iter().find(|finding| finding.severity == Severity::Error);
    if let Some(wrong) = wrong {
        return Err(format!("the plan failed its check: {} {}: {}", wrong.code, wrong.subject, wrong.message));
    }
    if plan.summary.late > 0 && snapshot.workloads.len() <= CONFLICT_MAX {
        plan.infeasible = conflicts(&snapshot, &policy, &plan, stop);
    }
    let sentences = sentences(&snapshot, &policy, &plan);
    Ok(Planned { basis, snapshot, taken, policy, plan, sentences, changes, millis: watch.watch.millis() })
}

/// Which deadlines cannot be met together, and what would help: as far as one more time limit goes for all trials.
fn conflicts(snapshot: &Snapshot, policy: &Policy, plan: &Plan, stop: &Arc<AtomicBool>) -> Vec<Conflict> {
    let watch = Timed { watch: Stopwatch::start(), stop: Arc::clone(stop) };
    let limits = conflict::Limits::for_workloads(snapshot.workloads.len());
    // One watch for all of them: whoever begins after its time has the first plan that is found.
    let solve = |snapshot: &Snapshot, policy: &Policy| propose(snapshot, policy, &watch);
    conflict::conflicts(snapshot, &conflict::trial_policy(policy), plan, &solve, &limits)
}

/// A kept plan is stable, and leaves idle what has become free. Where everything done early is what is wanted, a look is
/// worth it whenever something may have become free.
fn wants_pull_in(snapshot: &Snapshot, policy: &Policy, changes: &[Change]) -> bool {
    policy.objective == Objective::EarliestFinish
        && !snapshot.previous.is_empty()
        && snapshot.workloads.len() <= PULL_IN_MAX
        && changes.iter().any(|change| change.kind.frees())
}

/// The same snapshot with only those promises that may not be moved.
fn unpromised(snapshot: &Snapshot, policy: &Policy) -> Snapshot {
    let frozen = |previous: &&PreviousRelease| {
        previous.start <= snapshot.now || previous.start - snapshot.now < policy.frozen_window
    };
    let previous = snapshot.previous.iter().filter(frozen).cloned().collect();
    Snapshot { previous, ..snapshot.clone() }
}

fn ends_sooner(a: &Plan, b: &Plan) -> bool {
    let value = |plan: &Plan, name: LevelName| {
        plan.quality.levels.iter().find(|level| level.name == name).map_or(0, |level| level.value)
    };
    let values = |plan: &Plan| {
        let names = [LevelName::HardMissed, LevelName::SoftLost, LevelName::Completion, LevelName::Backfill];
        (plan.releases.len(), names.map(|name| value(plan, name)))
    };
    let ((planned_a, a), (planned_b, b)) = (values(a), values(b));
    planned_a == planned_b && a < b
}
