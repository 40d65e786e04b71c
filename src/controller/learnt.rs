//! How long work really runs: by whose it is, what it is called and what it runs on.
//!
//! A runtime that nobody declared is forecast from earlier runs of the same kind. A declared one stands; how far off it was
//! is told. Runs are read off the finished Workloads that are there, so nothing is lost with the process that the cluster
//! still knows. Integers only: quantiles are ranks, not interpolations.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::kueue::Assembled;
use crate::kueue::observed::{Observed, by_key};
use crate::names::FlavorName;
use crate::plan::snapshot::Runtime;
use crate::units::Seconds;

/// The youngest runs of a kind of work: enough for a p90, young enough to follow a change.
const RUNS_MAX: usize = 50;
/// Fewer runs say nothing about nine of ten.
const RUNS_MIN: usize = 5;
/// Kinds of work that are remembered; beyond it the first by name give way.
const KINDS_MAX: usize = 10_000;

/// Whose, what, and on what.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    pub namespace: String,
    /// The name without what tells one run from another: `nightly-29114` is `nightly`.
    pub pattern: String,
    pub flavor: FlavorName,
}

/// What earlier runs say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    pub p50: Seconds,
    pub p90: Seconds,
    pub runs: usize,
}

/// The runs that were seen.
#[derive(Debug, Default)]
pub struct Learnt {
    runs: BTreeMap<Alike, VecDeque<Seconds>>,
    /// Workloads that were counted, by UID.
    counted: BTreeSet<String>,
}

/// A name without its last part where that has a digit: a number, a date, a hash.
#[must_use]
pub fn pattern(name: &str) -> &str {
    let mut rest = name;
    // Two at most: `train-2026-11` and `sweep-3-x7k2p` are told apart from `train` by dates and hashes alone.
    for _ in 0..2 {
        match rest.rsplit_once('-') {
            Some((head, tail)) if !head.is_empty() && tail.bytes().any(|byte| byte.is_ascii_digit()) => rest = head,
            _ => break,
        }
    }
    rest
}

impl Learnt {
    /// Takes up a look; gives for every new run with a declared runtime by how many percent it differed from its p50.
    pub fn observe(&mut self, observed: &[Observed]) -> Vec<u32> {
        let mut present = BTreeSet::new();
        let mut errors = Vec::new();
        for one in observed {
            let Some(workload) = &one.workload else { continue };
            present.insert(workload.uid.as_str());
            let (Some((start, end)), Some(flavor)) = (one.ran(), &workload.flavor) else { continue };
            let failed = workload.finished.as_ref().is_some_and(|turn| turn.reason.contains("Failed"));
            // What failed may have ended early; what was evicted ran more than once.
            if failed || workload.evictions > 0 || !self.counted.insert(workload.uid.clone()) {
                continue;
            }
            let ran = end - start;
            if let Some(declared) = one.declared.filter(|declared| declared.p50 > Seconds::ZERO) {
                let off = (i128::from(ran.0) - i128::from(declared.p50.0)).unsigned_abs() * 100;
                let percent = off / u128::from(declared.p50.0.unsigned_abs().max(1));
                errors.push(u32::try_from(percent).unwrap_or(u32::MAX));
            }
            let runs = self.runs.entry(alike(one, flavor)).or_default();
            if runs.len() == RUNS_MAX {
                runs.pop_front();
            }
            runs.push_back(ran);
        }
        self.counted.retain(|uid| present.contains(uid.as_str()));
        while self.runs.len() > KINDS_MAX {
            self.runs.pop_first();
        }
        errors
    }

    /// What is known of such work; `None` with too few runs.
    #[must_use]
    pub fn of(&self, alike: &Alike) -> Option<Forecast> {
        let runs = self.runs.get(alike).filter(|runs| runs.len() >= RUNS_MIN)?;
        let mut sorted: Vec<Seconds> = runs.iter().copied().collect();
        sorted.sort_unstable();
        // The smallest run that at least so many percent of the runs do not exceed.
        let rank = |percent: usize| sorted.get((sorted.len() * percent).div_ceil(100).saturating_sub(1)).copied();
        Some(Forecast { p50: rank(50)?, p90: rank(90)?, runs: sorted.len() })
    }

    /// Fills in what nobody declared.
    pub fn forecast(&self, assembled: &mut Assembled) {
        if self.runs.is_empty() {
            return;
        }
        let observed = by_key(&assembled.observed);
        for workload in &mut assembled.snapshot.workloads {
            let Some(one) = observed.get(&workload.key) else { continue };
            for option in workload.options.iter_mut().filter(|option| !option.runtime.known) {
                if let Some(forecast) = self.of(&alike(one, &option.flavor)) {
                    option.runtime = Runtime { p50: forecast.p50, p90: forecast.p90, known: true };
                }
            }
        }
        for running in assembled.snapshot.running.iter_mut().filter(|running| running.end_p50.is_none()) {
            let known = observed.get(&running.key).and_then(|one| self.of(&alike(one, &running.flavor)));
            if let Some(forecast) = known {
                running.end_p50 = Some(running.start + forecast.p50);
                running.end_p90 = Some(running.start + forecast.p90);
            }
        }
    }
}

fn alike(one: &Observed, flavor: &FlavorName) -> Alike {
    let namespace = one.key.namespace().to_owned();
    Alike { namespace, pattern: pattern(one.key.name()).to_owned(), flavor: flavor.clone() }
}
