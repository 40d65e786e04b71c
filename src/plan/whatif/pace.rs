//! How the time of a comparison is shared out.
//!
//! Each part may take so many hundredths of the whole limit, and its plans share that equally; what one part leaves unspent
//! goes on to the next. So the last part is reached within the limit, however hard the first ones are: every plan becomes
//! a little worse instead of the last question remaining unanswered. Where steps bound the search there is no limit to share.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::proposal::Plan;
use crate::plan::snapshot::{Policy, Snapshot};

use super::Tools;

/// No plan gets less: below it not even a greedy plan of a large load is certain.
const MILLIS_MIN: u64 = 100;

pub(super) struct Pace<'a> {
    tools: &'a Tools<'a>,
    /// What each plan may take now.
    each: AtomicU64,
}

impl<'a> Pace<'a> {
    pub(super) fn new(tools: &'a Tools<'a>) -> Self {
        Self { tools, each: AtomicU64::new(u64::MAX) }
    }

    /// From now on, until `percent` of the whole limit have passed, about so many plans are made.
    pub(super) fn share(&self, percent: u64, plans: usize) {
        let Some(limit) = self.tools.limit_millis else { return };
        let until = limit.saturating_mul(percent) / 100;
        let left = until.saturating_sub(self.tools.watch.elapsed_millis());
        let plans = u64::try_from(plans.max(1)).unwrap_or(u64::MAX);
        self.each.store((left / plans).max(MILLIS_MIN), Ordering::Relaxed);
    }

    pub(super) fn solve(&self, snapshot: &Snapshot, policy: &Policy) -> Plan {
        (self.tools.solve)(snapshot, &self.paced(policy))
    }

    pub(super) fn probe(&self, snapshot: &Snapshot, policy: &Policy) -> Plan {
        (self.tools.probe)(snapshot, &self.paced(policy))
    }

    fn paced(&self, policy: &Policy) -> Policy {
        let each = self.each.load(Ordering::Relaxed);
        Policy { time_limit_millis: policy.time_limit_millis.min(each), ..policy.clone() }
    }
}
