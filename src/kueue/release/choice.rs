//! Which flavor Kueue would give now: its assignment, as far as it can be told before it is made.
//!
//! Options are tried in Kueue's order under the queue's `flavorFungibility`. What others would have to be preempted for is
//! only counted where Kueue would not try the next flavor first. Deliberately absent: `preference`, which matters only
//! between preempting and borrowing.

use crate::kueue::quota::Ledger;
use crate::plan::snapshot::{CellId, NodeId, PreemptionPolicy, QueueRules, RunOption};
use crate::units::Amount;

/// The place among `options` that Kueue would take beside what the ledger says is used; `None`: it would wait or preempt.
pub(super) fn choice(ledger: &Ledger, rules: &QueueRules, queue: NodeId, options: &[RunOption]) -> Option<usize> {
    let mut best: Option<(u32, usize)> = None;
    for (at, option) in options.iter().enumerate() {
        if !ledger.fits(queue, &option.uses) {
            if !rules.try_next_flavor_before_preempting && may_reclaim(ledger, rules, queue, &option.uses) {
                return Some(at);
            }
            continue;
        }
        let height = |(cell, amount): &(_, _)| ledger.level(queue, *cell, *amount).height;
        let borrows = option.uses.iter().map(height).max().unwrap_or(0);
        if borrows == 0 || !rules.try_next_flavor_before_borrowing {
            return Some(at);
        }
        // The least borrowing, the first of those.
        if best.is_none_or(|(least, _)| borrows < least) {
            best = Some((borrows, at));
        }
    }
    best.map(|(_, at)| at)
}

/// What others borrowed of the queue's own quota, Kueue takes back.
pub(super) fn may_reclaim(ledger: &Ledger, rules: &QueueRules, queue: NodeId, uses: &[(CellId, Amount)]) -> bool {
    rules.reclaim_within_cohort != PreemptionPolicy::Never
        && uses.iter().all(|(cell, amount)| ledger.within_quota_with(queue, *cell, *amount))
}
