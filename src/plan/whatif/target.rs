//! Whether a pool is large enough for every hard deadline that any pool could meet, and how that is known.
//!
//! Only work with hard deadlines decides: all other work can wait, so it is left out. A deadline that its own runtime
//! misses even when it starts at once is no reason to buy, and is left out too; the verdict names it.
//! *Enough* is shown by a checked plan that ends all of it in time; *too small* by a bound on hard value missed that is
//! above zero, by a workload that fits no option, or by an interval in which more work must be done than fits.
//! Neither is *unknown*, and is called so.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use crate::plan::conflict;
use crate::plan::proposal::{LevelName, Plan};
use crate::plan::snapshot::{Objective, Policy, Snapshot, Workload};
use crate::units::{Amount, Timestamp};

use super::Tools;
use super::pool::{self, Axis, resized};

/// Plans made to find one smallest pool: two bisections of a thousand GPUs take twenty.
pub(super) const TRIALS_MAX: usize = 160;

/// Late workloads for each of which a certificate is sought: one costs as much as a small plan.
const LATE_MAX: usize = 8;

/// What a trial showed.
#[derive(Debug, Clone)]
pub(super) enum Answer {
    Enough(Box<Plan>),
    TooSmall,
    Unknown,
}

/// The hard deadlines alone, tried on pools of different sizes.
pub(super) struct Target<'a> {
    pub(super) snapshot: Snapshot,
    pub(super) policy: Policy,
    pub(super) axes: Vec<Axis>,
    /// By axis: the sizes that can make a difference, where that is known.
    sums: Vec<Option<Vec<Amount>>>,
    tools: &'a Tools<'a>,
    seen: RefCell<BTreeMap<Vec<Amount>, Answer>>,
    left: Cell<usize>,
}

impl<'a> Target<'a> {
    /// `axes` are those of the whole snapshot.
    pub(super) fn new(snapshot: &Snapshot, policy: &Policy, axes: Vec<Axis>, tools: &'a Tools<'a>) -> Self {
        let mut hard = snapshot.clone();
        hard.workloads.retain(|workload| is_attainable(snapshot, policy, workload));
        hard.previous.clear();
        // Deadlines come first under every objective, and this one is solved fastest.
        let policy = Policy {
            objective: Objective::EarliestFinish,
            time_limit_millis: (policy.time_limit_millis / 4).max(1),
            frozen_window: crate::units::Seconds::ZERO,
            ..policy.clone()
        };
        let sums = axes.iter().map(|axis| pool::sums(&hard, axis)).collect();
        let (seen, left) = (RefCell::new(BTreeMap::new()), Cell::new(TRIALS_MAX));
        Self { snapshot: hard, policy, axes, sums, tools, seen, left }
    }

    /// Whether nothing is left to be met.
    pub(super) fn is_empty(&self) -> bool {
        self.snapshot.workloads.is_empty()
    }

    pub(super) fn today(&self) -> Vec<Amount> {
        self.axes.iter().map(|axis| axis.today).collect()
    }

    /// The snapshot of `of` with pools of these sizes, in the order of the axes.
    pub(super) fn with(&self, of: &Snapshot, sizes: &[Amount]) -> Snapshot {
        self.axes.iter().zip(sizes).fold(of.clone(), |snapshot, (axis, size)| resized(&snapshot, axis, *size))
    }

    /// Remembers that pools of these sizes are too small, from a proof made elsewhere.
    pub(super) fn rule_out(&self, sizes: Vec<Amount>) {
        self.seen.borrow_mut().insert(sizes, Answer::TooSmall);
    }

    /// Remembers a plan for pools of these sizes that ends everything in time.
    pub(super) fn remember(&self, sizes: Vec<Amount>, plan: Plan) {
        self.seen.borrow_mut().insert(sizes, Answer::Enough(Box::new(plan)));
    }

    /// Whether pools of these sizes are enough. What is known of smaller and larger ones is used first.
    pub(super) fn enough(&self, sizes: &[Amount]) -> Answer {
        let sizes = &self.worth(sizes)[..];
        if let Some(known) = self.known(sizes) {
            return known;
        }
        let Some(left) = self.left.get().checked_sub(1).filter(|_| !self.tools.watch.stopped()) else {
            return Answer::Unknown;
        };
        self.left.set(left);
        let answer = self.tried(&self.with(&self.snapshot, sizes));
        self.seen.borrow_mut().insert(sizes.to_vec(), answer.clone());
        answer
    }

    /// A certificate of too little where there is one, which takes no search; else a plan, and what its bounds say.
    fn tried(&self, snapshot: &Snapshot) -> Answer {
        if conflict::is_overloaded(snapshot, &self.policy) {
            return Answer::TooSmall;
        }
        let plan = (self.tools.probe)(snapshot, &self.policy);
        if meets_all(snapshot, &plan) {
            Answer::Enough(Box::new(plan))
        } else if is_too_small(snapshot, &self.policy, &plan) {
            Answer::TooSmall
        } else {
            Answer::Unknown
        }
    }

    /// The smallest pools that hold whatever pools of these sizes can hold.
    fn worth(&self, sizes: &[Amount]) -> Vec<Amount> {
        let each = sizes.iter().zip(&self.sums).map(|(size, sums)| {
            let sums = sums.as_ref().filter(|_| size.0 >= 0)?;
            sums.partition_point(|sum| sum <= size).checked_sub(1).map(|at| sums[at])
        });
        each.zip(sizes).map(|(worth, size)| worth.unwrap_or(*size)).collect()
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.tools.watch.stopped()
    }

    pub(super) fn solve(&self, snapshot: &Snapshot, policy: &Policy) -> Plan {
        (self.tools.solve)(snapshot, policy)
    }

    /// Hard deadlines that a plan with these pools misses; nothing is looked for beyond them.
    pub(super) fn misses(&self, sizes: &[Amount]) -> Option<usize> {
        if self.is_empty() || matches!(self.enough(sizes), Answer::Enough(_)) {
            return Some(0);
        }
        let snapshot = self.with(&self.snapshot, sizes);
        (!self.is_stopped()).then(|| missed(&snapshot, &(self.tools.probe)(&snapshot, &self.policy)).len())
    }

    /// Whether this snapshot of the same work, capacity changed in some other way, lets all of it end in time.
    pub(super) fn suffices(&self, snapshot: &Snapshot) -> bool {
        !self.is_stopped() && missed(snapshot, &(self.tools.probe)(snapshot, &self.policy)).is_empty()
    }

    fn known(&self, sizes: &[Amount]) -> Option<Answer> {
        let seen = self.seen.borrow();
        if let Some(answer) = seen.get(sizes) {
            return Some(answer.clone());
        }
        let within = |small: &[Amount], large: &[Amount]| small.iter().zip(large).all(|(small, large)| small <= large);
        seen.iter()
            .find(|(known, answer)| match answer {
                Answer::Enough(_) => within(known, sizes),
                Answer::TooSmall => within(sizes, known),
                Answer::Unknown => false,
            })
            .map(|(_, answer)| answer.clone())
    }
}

/// A hard deadline that it meets when it starts as early as it may, on its fastest option.
#[must_use]
pub(super) fn is_attainable(snapshot: &Snapshot, policy: &Policy, workload: &Workload) -> bool {
    let Some(due) = workload.hard_due() else { return false };
    let shortest = workload.options.iter().map(|option| option.held(policy.promise)).min();
    shortest.is_some_and(|held| workload.earliest_start.max(snapshot.now) + held <= due)
}

/// Indices of workloads whose hard deadline the plan misses at the promised quantile; work without a place misses it.
#[must_use]
pub(super) fn missed(snapshot: &Snapshot, plan: &Plan) -> Vec<usize> {
    let ends: HashMap<&str, Timestamp> = plan
        .releases
        .iter()
        .filter_map(|release| Some((release.workload.as_str(), release.pieces.last()?.end)))
        .collect();
    let is_missed = |workload: &Workload| {
        workload.hard_due().is_some_and(|due| ends.get(workload.key.as_str()).is_none_or(|end| *end > due))
    };
    (0..snapshot.workloads.len()).filter(|at| is_missed(&snapshot.workloads[*at])).collect()
}

fn meets_all(snapshot: &Snapshot, plan: &Plan) -> bool {
    missed(snapshot, plan).is_empty()
}

/// No plan at all meets every deadline of a snapshot in which all are attainable.
fn is_too_small(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> bool {
    // Work without a place fits on none of its options, ever.
    if plan.releases.len() < snapshot.workloads.len() {
        return true;
    }
    let hard = plan.quality.levels.iter().find(|level| level.name == LevelName::HardMissed);
    hard.and_then(|level| level.bound).is_some_and(|bound| bound > 0)
        || missed(snapshot, plan).into_iter().take(LATE_MAX).any(|late| conflict::is_proven(snapshot, policy, late))
}
