//! Runtimes learnt from what has finished: what is to be expected of work that has not.
//!
//! Users do not say how long their work runs, but they say what they would allow it: a kill limit, or a due time. What is
//! learnt is the share of that allowance that finished work used (in thousandths), or plain seconds where there is none;
//! by tenant and size, else by size, else over all. Half of what is alike ran no longer than the median, and nine in ten
//! no longer than p90: those two are the estimate. Of work that has run for a while, only what ran longer than that is
//! alike.
//!
//! Invariant: nothing enters but what has ended, so an estimate never rests on the future.
//! Deliberately absent: work still running, which would make early estimates longer; they are known to be short.

use std::collections::BTreeMap;

use crate::names::TenantId;
use crate::plan::snapshot::{Runtime, Workload};
use crate::units::{Amount, Seconds};

use super::history::Past;

/// Fewer alike say too little: with eight, p90 is still the second longest.
const ALIKE_MIN: usize = 8;
/// Before anything is learnt: half of what was allowed, and at most all of it.
const PRIOR_SHARE: (i64, i64) = (500, 1000);
/// The same for work that was allowed nothing in particular: an hour, and at most four.
const PRIOR: (i64, i64) = (3600, 4 * 3600);

#[derive(Debug, Default)]
pub(super) struct Learnt {
    /// Ascending.
    alike: BTreeMap<Group, Vec<i64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    by: Allowance,
    size: Option<Amount>,
    tenant: Option<TenantId>,
}

/// What the values of a group are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Allowance {
    /// Thousandths of the kill limit.
    Limit,
    /// Thousandths of the time from arrival until it is due.
    Due,
    /// Seconds.
    Nothing,
}

impl Learnt {
    /// Takes in work that has ended after running so long.
    pub(super) fn finished(&mut self, workload: &Workload, past: Past, ran: Seconds) {
        let (by, allowed) = allowance(workload, past);
        let value = share(ran.0, allowed);
        for group in groups(workload, by) {
            let alike = self.alike.entry(group).or_default();
            alike.insert(alike.partition_point(|other| *other < value), value);
        }
    }

    /// How long work takes in all that has run for `elapsed` and not ended. `known` is always true: it is an estimate.
    pub(super) fn estimate(&self, workload: &Workload, past: Past, elapsed: Seconds) -> Runtime {
        let (by, allowed) = allowance(workload, past);
        let so_far = share(elapsed.0, allowed);
        let longer = |alike: &'_ Vec<i64>| alike.partition_point(|other| elapsed.0 > 0 && *other <= so_far);
        let found = groups(workload, by).into_iter().find_map(|group| {
            let alike = self.alike.get(&group)?;
            let tail = &alike[longer(alike)..];
            (tail.len() >= ALIKE_MIN).then(|| (tail[(tail.len() - 1) / 2], tail[(tail.len() * 9 - 1) / 10]))
        });
        let prior = if by == Allowance::Nothing { PRIOR } else { PRIOR_SHARE };
        // Nothing alike ran longer: as long again, and at most four times as long.
        let (p50, p90) = found.unwrap_or_else(|| (prior.0.max(so_far * 2), prior.1.max(so_far * 4)));
        let beyond = elapsed.0.saturating_add(1);
        let p50 = seconds(p50, allowed).max(beyond);
        let within = |span: i64| past.limit.filter(|limit| limit.0 > elapsed.0).map_or(span, |limit| span.min(limit.0));
        let p50 = within(p50);
        Runtime { p50: Seconds(p50), p90: Seconds(within(seconds(p90, allowed)).max(p50)), known: true }
    }
}

fn allowance(workload: &Workload, past: Past) -> (Allowance, Option<i64>) {
    let due = workload.due.as_ref().map(|due| (due.at - workload.earliest_start).0);
    match (past.limit, due.filter(|span| *span > 0)) {
        (Some(limit), _) if limit.0 > 0 => (Allowance::Limit, Some(limit.0)),
        (_, Some(span)) => (Allowance::Due, Some(span)),
        _ => (Allowance::Nothing, None),
    }
}

/// From the most alike to all.
fn groups(workload: &Workload, by: Allowance) -> [Group; 3] {
    let size = workload.options.first().and_then(|option| option.uses.first()).map(|(_, amount)| *amount);
    let size = Some(size.unwrap_or(Amount::ZERO));
    [
        Group { by, size, tenant: workload.tenant.clone() },
        Group { by, size, tenant: None },
        Group { by, size: None, tenant: None },
    ]
}

/// Seconds as the values of a group are counted; any positive time is at least one.
fn share(seconds: i64, allowed: Option<i64>) -> i64 {
    let Some(allowed) = allowed else { return seconds };
    let share = i128::from(seconds) * 1000 / i128::from(allowed);
    i64::try_from(share).unwrap_or(i64::MAX / 8).clamp(i64::from(seconds > 0), i64::MAX / 8)
}

fn seconds(value: i64, allowed: Option<i64>) -> i64 {
    let Some(allowed) = allowed else { return value.clamp(1, SPAN_MAX) };
    let seconds = (i128::from(value) * i128::from(allowed) + 999) / 1000;
    i64::try_from(seconds).unwrap_or(SPAN_MAX).clamp(1, SPAN_MAX)
}

/// A hundred years: no log has longer work, and sums of a few stay far inside an `i64`.
const SPAN_MAX: i64 = 100 * 366 * 86_400;
