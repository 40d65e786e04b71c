//! How the time of a comparison is shared out.
//!
//! Each part may take so many hundredths of the whole limit, and its plans share that equally; what one part leaves unspent
//! goes on to the next. So the last part is reached within the limit, however hard the first ones are: every plan becomes
//! a little worse instead of the last question remaining unanswered. A part that makes more plans than expected gives each
//! a quarter of what it has left, and searches for pools end with their part (the pace is a watch); rows never do. Where
//! steps bound the search there is no limit to share.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::plan::proposal::Plan;
use crate::plan::snapshot::{Policy, Snapshot};
use crate::plan::watch::{Progress, Watch};

use super::{Solve, Tools};

/// No plan gets less: below it not even a greedy plan of a large load is certain.
const MILLIS_MIN: u64 = 100;
/// Plans that are taken to come yet once more were made than expected.
const PLANS_MORE: u64 = 4;

pub(super) struct Pace<'a> {
    watch: &'a dyn Watch,
    limit_millis: Option<u64>,
    /// When the part ends.
    until: AtomicU64,
    /// Plans that it is expected to make yet.
    plans: AtomicU64,
}

impl<'a> Pace<'a> {
    pub(super) fn new(tools: &Tools<'a>) -> Self {
        let (watch, limit_millis) = (tools.watch, tools.limit_millis);
        Self { watch, limit_millis, until: AtomicU64::new(u64::MAX), plans: AtomicU64::new(1) }
    }

    /// From now on, until `percent` of the whole limit have passed, about so many plans are made.
    pub(super) fn share(&self, percent: u64, plans: usize) {
        let until = self.limit_millis.map_or(u64::MAX, |limit| limit.saturating_mul(percent) / 100);
        self.until.store(until, Ordering::Relaxed);
        self.plans.store(u64::try_from(plans).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether the part has had its time.
    pub(super) fn is_over(&self) -> bool {
        self.limit_millis.is_some() && self.watch.elapsed_millis() >= self.until.load(Ordering::Relaxed)
    }

    /// A policy for the next plan.
    fn paced(&self, policy: &Policy) -> Policy {
        if self.limit_millis.is_none() {
            return policy.clone();
        }
        let left = self.until.load(Ordering::Relaxed).saturating_sub(self.watch.elapsed_millis());
        let plans = self.plans.load(Ordering::Relaxed);
        self.plans.store(plans.saturating_sub(1), Ordering::Relaxed);
        let each = (left / if plans > 0 { plans } else { PLANS_MORE }).max(MILLIS_MIN);
        Policy { time_limit_millis: policy.time_limit_millis.min(each), ..policy.clone() }
    }

    /// A plan within what is its share.
    pub(super) fn plan(&self, solve: &Solve<'_>, snapshot: &Snapshot, policy: &Policy) -> Plan {
        solve(snapshot, &self.paced(policy))
    }
}

impl Watch for Pace<'_> {
    fn elapsed_millis(&self) -> u64 {
        self.watch.elapsed_millis()
    }
    fn stopped(&self) -> bool {
        self.watch.stopped() || self.is_over()
    }
    fn progress(&self, progress: &Progress) {
        self.watch.progress(progress);
    }
}
