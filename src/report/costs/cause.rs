//! What a unit of cost was spent on. Every charge has exactly one cause, so the causes add up to the total.

use std::collections::BTreeMap;

use crate::ledger::charge::{Charge, Term};
use crate::ledger::run::{EndReason, Run};
use crate::names::WorkloadKey;
use crate::outcome::reason::Verdict;
use crate::outcome::settle::Outcome;

/// The order is that of columns. All but the first are waste.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The attempt that delivered a verified outcome.
    Productive,
    Failed,
    Evicted,
    Cancelled,
    Rejected,
    Late,
    Unverified,
    /// A second delivery of an outcome that is counted already.
    Duplicate,
    /// Still running at the end of the window.
    Unfinished,
    /// Nobody used it, or nobody's attempt stands behind it.
    Idle,
}

impl Cause {
    pub const ALL: [Self; 10] = [
        Self::Productive,
        Self::Failed,
        Self::Evicted,
        Self::Cancelled,
        Self::Rejected,
        Self::Late,
        Self::Unverified,
        Self::Duplicate,
        Self::Unfinished,
        Self::Idle,
    ];

    /// The name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Productive => "productive",
            Self::Failed => "failed",
            Self::Evicted => "evicted",
            Self::Cancelled => "cancelled",
            Self::Rejected => "rejected",
            Self::Late => "late",
            Self::Unverified => "unverified",
            Self::Duplicate => "duplicate",
            Self::Unfinished => "unfinished",
            Self::Idle => "idle",
        }
    }
}

/// What is known of every attempt.
pub(super) struct Causes<'a> {
    by_attempt: BTreeMap<(&'a WorkloadKey, u32), Cause>,
}

impl<'a> Causes<'a> {
    pub(super) fn of(outcomes: &'a [Outcome]) -> Self {
        let mut by_attempt: BTreeMap<(&'a WorkloadKey, u32), Cause> = BTreeMap::new();
        for outcome in outcomes {
            for ((workload, attempt), verdict) in &outcome.attempts {
                let decides = outcome.workload.as_ref() == Some(workload) && outcome.attempt == Some(*attempt);
                let cause = match verdict {
                    Verdict::Verified if decides => Cause::Productive,
                    Verdict::Verified => Cause::Duplicate,
                    Verdict::Late => Cause::Late,
                    Verdict::Rejected => Cause::Rejected,
                    Verdict::Unverified => Cause::Unverified,
                };
                // An attempt that made several outcomes is as good as the best of them.
                let known = by_attempt.entry((workload, *attempt)).or_insert(cause);
                *known = merit(cause).max(merit(*known)).1;
            }
        }
        Self { by_attempt }
    }

    pub(super) fn of_run(&self, run: &'a Run) -> Cause {
        let spoken = self.by_attempt.get(&(&run.workload, run.attempt)).copied();
        match (run.end_reason, spoken) {
            // Whatever its exit code: somebody vouched for what it delivered.
            (_, Some(cause @ (Cause::Productive | Cause::Duplicate))) | (EndReason::Succeeded, Some(cause)) => cause,
            (EndReason::Succeeded, None) => Cause::Unverified,
            (EndReason::Failed, _) => Cause::Failed,
            (EndReason::Evicted, _) => Cause::Evicted,
            (EndReason::Cancelled, _) => Cause::Cancelled,
            (EndReason::Unfinished, _) => Cause::Unfinished,
        }
    }

    pub(super) fn of_charge(&self, charge: &Charge, runs: &'a [Run]) -> Cause {
        match (charge.term, charge.run) {
            (Term::Idle | Term::Stranded | Term::Reserved, _) | (_, None) => Cause::Idle,
            (_, Some(run)) => self.of_run(&runs[run]),
        }
    }
}

fn merit(cause: Cause) -> (u8, Cause) {
    let rank = match cause {
        Cause::Productive => 4,
        Cause::Duplicate => 3,
        Cause::Late => 2,
        Cause::Rejected => 1,
        _ => 0,
    };
    (rank, cause)
}
