//! Propose, check, and set beside it what Kueue alone would do.

use super::before;
use super::exit::{Exit, Failed};
use super::interrupt;
use super::load::Loaded;
use super::progress::Ticker;
use super::shell::Shell;
use crate::clock::Stopwatch;
use crate::failure::Severity;
use crate::plan::curve::{Baseline, Scene};
use crate::plan::proposal::{Conflict, Plan, Release, StoppedBy, Verdict};
use crate::plan::snapshot::{DeadlinePolicy, Policy, Snapshot};
use crate::plan::watch::{Progress, Watch};
use crate::plan::whatif::journal::Kind;
use crate::plan::{check, conflict, limits, propose};

/// A plan that has passed its check, with what belongs beside it.
pub(super) struct Solved {
    pub(super) plan: Plan,
    pub(super) kueue: Baseline,
}

impl Solved {
    /// What pictures are drawn from.
    pub(super) fn scene<'a>(&'a self, loaded: &'a Loaded) -> Scene<'a> {
        let assembled = &loaded.assembled;
        let promise = assembled.policy.promise;
        Scene { snapshot: &assembled.snapshot, plan: &self.plan, promise, kueue: Some(&self.kueue) }
    }
}

/// How plans are made: the kind, what for, and who watches.
pub(super) type Make<'a> = dyn Fn(Kind, &Snapshot, &Policy, &dyn Watch) -> Plan + 'a;

/// Plans. Ctrl-C stops the search, not the command.
///
/// # Errors
/// A plan that does not pass its own check is a bug, and is not shown.
pub(super) fn solve(loaded: &Loaded, shell: &Shell) -> Result<Solved, Failed> {
    solve_by(loaded, shell, &|_, snapshot, policy, watch| propose(snapshot, policy, watch))
}

/// The same with plans made in another way, such as taken from where they were kept.
///
/// # Errors
/// As [`solve`].
pub(super) fn solve_by(loaded: &Loaded, shell: &Shell, make: &Make<'_>) -> Result<Solved, Failed> {
    let (snapshot, policy) = (&loaded.assembled.snapshot, &loaded.assembled.policy);
    if let Some(exceeded) = limits::exceeded(snapshot) {
        let hint = Some("plan by queue or by namespace (-n), or with a shorter --horizon".to_owned());
        return Err(Failed { exit: Exit::Refused, message: format!("the input is refused: {exceeded}"), hint });
    }
    let ticker = Ticker::start(shell, policy.time_limit_millis);
    let mut plan = make(Kind::Plan, snapshot, policy, &ticker);
    ticker.finish(shell);
    let found = check(snapshot, policy, &plan);
    if found.iter().any(|finding| finding.severity == Severity::Error) {
        shell.findings(&found);
        let message = "the plan did not pass its own check and is not shown: this is a bug in stagger".to_owned();
        let hint = "please report it with the input".to_owned();
        return Err(Failed { exit: Exit::Bug, message, hint: Some(hint) });
    }
    plan.infeasible = conflicts(snapshot, policy, &plan, make);
    let (summary, kueue) = before::kueue_alone(snapshot);
    plan.before.kueue_alone = Some(summary);
    plan.problems.extend(loaded.findings.iter().cloned());
    Ok(Solved { plan, kueue })
}

/// The conflicts behind missed hard deadlines.
fn conflicts(snapshot: &Snapshot, policy: &Policy, plan: &Plan, make: &Make<'_>) -> Vec<Conflict> {
    let limits = conflict::Limits::for_workloads(snapshot.workloads.len());
    let solve = |snapshot: &Snapshot, policy: &Policy| make(Kind::Trial, snapshot, policy, &Timed::start());
    conflict::conflicts(snapshot, &conflict::trial_policy(policy), plan, &solve, &limits)
}

/// A watch with a clock and nothing else, stopped by Ctrl-C.
struct Timed(Stopwatch);

impl Timed {
    fn start() -> Self {
        Self(Stopwatch::start())
    }
}

impl Watch for Timed {
    fn elapsed_millis(&self) -> u64 {
        self.0.millis()
    }
    fn stopped(&self) -> bool {
        interrupt::pressed()
    }
    fn progress(&self, _progress: &Progress) {}
}

/// How a command that planned ends.
pub(super) fn exit(loaded: &Loaded, plan: &Plan, fail_on_risk: bool) -> Exit {
    if interrupt::pressed() {
        return Exit::Interrupted;
    }
    if misses_hard_deadline(loaded, plan) {
        return Exit::Infeasible;
    }
    let summary = &plan.summary;
    if fail_on_risk && summary.at_risk + summary.late > 0 {
        return Exit::AtRisk;
    }
    if plan.quality.stopped_by == Some(StoppedBy::TimeLimit) { Exit::Limit } else { Exit::Fine }
}

/// A hard deadline is missed by work that is planned late, and by work that can never be admitted.
fn misses_hard_deadline(loaded: &Loaded, plan: &Plan) -> bool {
    let assembled = &loaded.assembled;
    let hard = |due: Option<&crate::plan::snapshot::Due>| due.is_some_and(|due| due.policy == DeadlinePolicy::Hard);
    let late = |release: &&Release| release.verdict == Verdict::Late;
    let of = |snapshot: &Snapshot, release: &Release| {
        snapshot
            .workloads
            .iter()
            .any(|it| it.key == release.workload && it.kind == release.kind && hard(it.due.as_ref()))
    };
    plan.releases.iter().filter(late).any(|release| of(&assembled.snapshot, release))
        || assembled.unplaceable.iter().any(|one| hard(one.due.as_ref()))
}

/// Whether two plans release the same work at the same time on the same flavor.
pub(super) fn unchanged(plan: &Plan, previous: &Plan) -> bool {
    let place =
        |release: &Release| (release.workload.clone(), release.flavor.clone(), release.start, release.pieces.clone());
    plan.releases.iter().map(place).eq(previous.releases.iter().map(place))
}
