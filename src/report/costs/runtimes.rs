//! How long attempts that succeeded took, class by class: what a later plan may expect.
//!
//! Quantiles by nearest rank: the p-quantile of n values is the one at rank ⌈n · p⌉, so it is a value that occurred.
//! Attempts that failed, were evicted or have not ended say nothing about how long success takes, and are left out.

use std::collections::BTreeMap;

use crate::ledger::run::{EndReason, Run};
use crate::units::Seconds;

/// One class's runtimes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRuntime {
    pub class: String,
    /// Attempts that succeeded and took time.
    pub samples: u64,
    pub p50: Seconds,
    pub p90: Seconds,
}

/// By class; runs without one are left out.
#[must_use]
pub fn runtimes(runs: &[Run]) -> Vec<ClassRuntime> {
    let mut by_class: BTreeMap<&str, Vec<Seconds>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.end_reason == EndReason::Succeeded) {
        if let (Some(class), Some(end)) = (&run.class, run.end)
            && end > run.start
        {
            by_class.entry(class).or_default().push(end - run.start);
        }
    }
    let each = by_class.into_iter().map(|(class, mut lengths)| {
        lengths.sort_unstable();
        let at = |percent: usize| lengths[(lengths.len() * percent).div_ceil(100).max(1) - 1];
        let samples = u64::try_from(lengths.len()).unwrap_or(u64::MAX);
        ClassRuntime { class: class.to_owned(), samples, p50: at(50), p90: at(90) }
    });
    each.collect()
}
