//! What is known about each level: bounds, where they come from, and the quality that follows.
//!
//! A bound holds for every plan, or for every plan that is equal in the earlier levels when those are proven. The best of
//! several bounds is kept; none is ever taken on trust from a search.

use crate::plan::desk::Desk;
use crate::plan::proposal::{Level, LevelName, Proof as Kind, Quality};
use crate::plan::snapshot::{DeadlinePolicy, Losses, Promise, Workload};
use crate::units::Timestamp;

/// Bounds found so far, with their source.
#[derive(Debug, Clone, Default)]
pub struct Proof {
    bounds: Vec<(LevelName, i128, Kind)>,
    /// Levels whose value was met by a bound in another unit.
    met: Vec<(LevelName, Kind)>,
}

impl Proof {
    /// Starts with what holds by nature.
    #[must_use]
    pub fn new(desk: &Desk<'_>) -> Self {
        let mut proof = Self::default();
        let (hard, soft) = loss_floors(desk);
        proof.learn(LevelName::HardMissed, hard, Kind::Trivial);
        proof.learn(LevelName::SoftLost, soft, Kind::Trivial);
        proof.learn(LevelName::Completion, completion_floor(desk, true), Kind::Trivial);
        proof.learn(LevelName::Backfill, completion_floor(desk, false), Kind::Trivial);
        proof.learn(LevelName::Stability, 0, Kind::Trivial);
        proof
    }

    /// Keeps a bound if it is better than what is known.
    pub fn learn(&mut self, level: LevelName, bound: i128, kind: Kind) {
        match self.bounds.iter_mut().find(|(name, _, _)| *name == level) {
            Some(known) if known.1 >= bound => {}
            Some(known) => *known = (level, bound, kind),
            None => self.bounds.push((level, bound, kind)),
        }
    }

    /// Somebody loses more than alone on an empty board. Where only hard due times can be missed, that is the least value
    /// of one of them; where soft ones can, nothing is said of one level by itself.
    pub fn learn_of_losses(&mut self, desk: &Desk<'_>, kind: Kind) {
        let at_stake = |workload: &&Workload| workload.losses_at(Timestamp(i64::MAX / 4)) != Losses::default();
        let mut values = Vec::new();
        for workload in desk.snapshot.workloads.iter().filter(at_stake) {
            if workload.due.as_ref().is_none_or(|due| due.policy != DeadlinePolicy::Hard || !due.tiers.is_empty()) {
                return;
            }
            values.push(i128::from(workload.value));
        }
        let (hard, _) = loss_floors(desk);
        if let Some(least) = values.into_iter().min() {
            self.learn(LevelName::HardMissed, hard + least, kind);
        }
    }

    /// The plan's value of a level is its bound, whatever the unit in which that was found.
    pub fn meets(&mut self, level: LevelName, kind: Kind) {
        self.met.push((level, kind));
    }

    #[must_use]
    pub fn bound(&self, level: LevelName) -> Option<i128> {
        self.bounds.iter().find(|(name, _, _)| *name == level).map(|(_, bound, _)| *bound)
    }

    /// Whether the packed loss of a board on the grid cannot be beaten.
    #[must_use]
    pub fn losses_proven(&self, desk: &Desk<'_>, loss: i64) -> bool {
        let (hard, soft) = desk.model.unpack(loss);
        self.bound(LevelName::HardMissed).is_some_and(|bound| bound >= i128::from(hard))
            && self.bound(LevelName::SoftLost).is_some_and(|bound| bound >= i128::from(soft))
    }

    /// The quality of a plan with these level values.
    #[must_use]
    pub fn quality(&self, desk: &Desk<'_>, values: &[(LevelName, i128)], millis: u64) -> Quality {
        let cost_known = desk.snapshot.currency.is_some();
        let levels: Vec<Level> = values
            .iter()
            .map(|(name, value)| {
                let known = self.bounds.iter().find(|(level, _, _)| level == name);
                let known = known.filter(|_| *name != LevelName::Cost || cost_known);
                if let Some((_, kind)) = self.met.iter().find(|(level, _)| *level == *name && cost_known) {
                    return Level { name: *name, value: *value, bound: Some(*value), proof: *kind };
                }
                match known {
                    // Bounds are about plans that place all work that can be placed. Where a window is all that lets some of
                    // it in, a plan may have to leave it out; a sum over what is placed can then lie below the bound.
                    Some((_, bound, _)) if bound > value && desk.model.jobs.iter().any(|job| job.narrow > 0) => {
                        Level { name: *name, value: *value, bound: None, proof: Kind::Heuristic }
                    }
                    // A bound above the value would be a bug; it is shown as it is, and the check refuses the plan.
                    Some((_, bound, kind)) => {
                        let proof = if bound == value || *bound > 0 { *kind } else { Kind::Heuristic };
                        Level { name: *name, value: *value, bound: Some(*bound), proof }
                    }
                    None => Level { name: *name, value: *value, bound: None, proof: Kind::Heuristic },
                }
            })
            .collect();
        Quality::of(levels, millis, desk.policy.seed)
    }
}

/// Σ of what each workload loses even alone: (hard, soft).
#[must_use]
pub fn loss_floors(desk: &Desk<'_>) -> (i128, i128) {
    let mut floors = (0, 0);
    for (index, workload) in desk.snapshot.workloads.iter().enumerate() {
        let Some(end) = earliest_end(desk, index) else { continue };
        let losses = workload.losses_at(end);
        floors.0 += i128::from(losses.hard);
        floors.1 += i128::from(losses.soft);
    }
    floors
}

fn completion_floor(desk: &Desk<'_>, in_objective: bool) -> i128 {
    let of = desk.snapshot.workloads.iter().enumerate().filter(|(_, w)| desk.policy.in_objective(w) == in_objective);
    of.filter_map(|(index, workload)| {
        let weight = if in_objective { workload.value } else { 1 };
        Some(i128::from(weight) * i128::from((earliest_end(desk, index)? - desk.snapshot.now).0))
    })
    .sum()
}

/// The end of a workload that has everything to itself; `None` when it can never run. Interruptions only delay.
#[must_use]
pub fn earliest_end(desk: &Desk<'_>, index: usize) -> Option<Timestamp> {
    if let Some(stand) = &desk.ground.fixed[index] {
        return Some(stand.end());
    }
    let start = desk.ground.earliest_start(index);
    let options = &desk.snapshot.workloads[index].options;
    let held = |promise: Promise| {
        (0..options.len()).filter(|option| desk.ground.can_run(index, *option)).map(|o| options[o].held(promise)).min()
    };
    held(desk.policy.promise).map(|length| start + length)
}
