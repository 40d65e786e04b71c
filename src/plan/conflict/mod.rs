//! Deadlines that cannot all be met: which ones, why, and the smallest changes that would help.
//!
//! For each hard deadline that a plan misses, first a certificate is sought (`certificate`): an interval in which some
//! workloads must do more work than the capacity holds, whoever plans. Without one, the deadlines around it are left out
//! one after the other for as long as the rest still conflicts (`filter`). Then changes are tried (`fixes`).
//!
//! Every claim is backed. A set is called irreducible only when it was shown to conflict (certificate or proven bound)
//! and each set of one less was shown to be feasible by a checked plan. A fix is listed only when planning again with it
//! gave a checked plan that meets every deadline of the conflict and misses no more elsewhere.
//!
//! The planner itself is handed in as `solve`, and asked a bounded number of times; what it cannot decide in time is left
//! out or labelled unproven. Deliberately absent: conflicts of soft deadlines, and any change of the plan.

mod certificate;
mod filter;
mod fixes;
mod free;
mod trial;
mod words;

pub(in crate::plan) use fixes::TOLERANT;

use crate::plan::proposal::{Conflict, Plan};
use crate::plan::snapshot::{Policy, Snapshot};

use trial::Trials;

/// How the conflicts' own plans are made.
pub type Solve<'a> = dyn Fn(&Snapshot, &Policy) -> Plan + 'a;

/// What finding conflicts may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Conflicts reported; the deadlines missed first come first.
    pub conflicts_max: usize,
    /// Calls of `solve` for each conflict, to find it and to verify its fixes.
    pub solves_max: usize,
    /// Fixes listed for each conflict.
    pub fixes_max: usize,
}

impl Default for Limits {
    /// A person reads three conflicts; forty small plans take about as long as one large one.
    fn default() -> Self {
        Self { conflicts_max: 3, solves_max: 40, fixes_max: 5 }
    }
}

impl Limits {
    /// Large inputs get fewer trials: each costs a plan of everything.
    #[must_use]
    pub fn for_workloads(count: usize) -> Self {
        let solves_max = match count {
            0..=300 => 40,
            301..=1_500 => 12,
            _ => 0,
        };
        Self { solves_max, ..Self::default() }
    }
}

/// Whether some interval proves that no plan meets this workload's hard deadline together with those of others.
pub(in crate::plan) fn is_proven(snapshot: &Snapshot, policy: &Policy, late: usize) -> bool {
    certificate::find(snapshot, policy, late).is_some()
}

/// Whether some interval proves that no plan meets every hard deadline; `false` says nothing.
pub(in crate::plan) fn is_overloaded(snapshot: &Snapshot, policy: &Policy) -> bool {
    certificate::is_overloaded(snapshot, policy)
}

/// Search steps of each plan made to explain a conflict: enough to settle the few workloads that stand in one.
const TRIAL_STEPS: u64 = 20_000;
/// Milliseconds of each such plan at most.
const TRIAL_MILLIS: u64 = 300;

/// The policy under which conflicts are tried out: the same, on a small budget.
#[must_use]
pub fn trial_policy(policy: &Policy) -> Policy {
    Policy { step_limit: Some(TRIAL_STEPS), time_limit_millis: TRIAL_MILLIS, ..policy.clone() }
}

/// The conflicts behind the hard deadlines that `plan` misses, by due time; a workload that stands in one is not looked at
/// again. A deadline that turns out to be attainable (the plan was not the best) gives none.
#[must_use]
pub fn conflicts(
    snapshot: &Snapshot,
    policy: &Policy,
    plan: &Plan,
    solve: &Solve<'_>,
    limits: &Limits,
) -> Vec<Conflict> {
    let mut found: Vec<Conflict> = Vec::new();
    for late in trial::missed(snapshot, plan) {
        if found.len() == limits.conflicts_max {
            break;
        }
        let key = &snapshot.workloads[late].key;
        if found.iter().any(|conflict| conflict.workloads.contains(key)) {
            continue;
        }
        let trials = Trials::new(snapshot, policy, solve, limits.solves_max);
        found.extend(conflict_of(&trials, plan, late, limits));
    }
    found
}

fn conflict_of(trials: &Trials<'_>, plan: &Plan, late: usize, limits: &Limits) -> Option<Conflict> {
    let (snapshot, policy) = (trials.snapshot, trials.policy);
    let (set, irreducible, message, certificate) = if let Some(runtime) = certificate::too_long(snapshot, policy, late)
    {
        // Alone it is impossible, and without it nothing is: no smaller set conflicts.
        (vec![late], true, words::too_long(snapshot, late, runtime), None)
    } else if let Some(certificate) = certificate::find(snapshot, policy, late) {
        let irreducible = filter::is_irreducible(trials, &certificate.workloads);
        (certificate.workloads.clone(), irreducible, words::overload(snapshot, &certificate), Some(certificate))
    } else {
        let filtered = filter::reduce(trials, late)?;
        let message = words::no_plan(snapshot, &filtered);
        (filtered.workloads, filtered.irreducible, message, None)
    };
    let workloads = set.iter().map(|at| snapshot.workloads[*at].key.clone()).collect();
    let fixes = fixes::find(trials, plan, &set, certificate.as_ref(), limits.fixes_max);
    Some(Conflict { workloads, irreducible, message, fixes })
}
