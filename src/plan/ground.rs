//! What any plan stands on, in exact time: capacity with frozen work taken, what can never fit, and the plan that list
//! scheduling makes of it at once.
//!
//! No grid and no model: a plan is here before either is made.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::plan::exact::{Cut, Timeline};
use crate::plan::lane::ExactLanes;
use crate::plan::model::Use;
use crate::plan::proposal::Piece;
use crate::plan::snapshot::{Interruption, NodeKind, Policy, RunOption, Snapshot, Workload};
use crate::plan::stand::{Stand, Stands};
use crate::units::{Seconds, Timestamp};

/// Capacity and work in exact time.
#[derive(Debug, Clone)]
pub struct Ground<'a> {
    pub snapshot: &'a Snapshot,
    pub policy: &'a Policy,
    /// Capacity with frozen work taken.
    pub base: Timeline,
    /// Frozen work.
    pub fixed: Stands,
    /// Per workload and option: its uses in lane terms, or `None` where it can never fit.
    uses: Vec<Vec<Option<Vec<Use>>>>,
}

impl<'a> Ground<'a> {
    #[must_use]
    pub fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let mut base = Timeline::new(ExactLanes::of(snapshot, policy));
        let uses = lane_uses(snapshot, policy, &base);
        let fixed = frozen(snapshot, policy, &mut base, &uses);
        Self { snapshot, policy, base, fixed, uses }
    }

    /// Whether an option of a workload can ever fit.
    #[must_use]
    pub fn can_run(&self, workload: usize, option: usize) -> bool {
        self.uses[workload][option].is_some()
    }

    /// Workloads that can run on some option, alone.
    #[must_use]
    pub fn placeable(&self) -> usize {
        self.uses.iter().filter(|options| options.iter().any(Option::is_some)).count()
    }

    /// An option's uses in lane terms; `None` where it can never fit.
    #[must_use]
    pub fn uses(&self, workload: usize, option: usize) -> Option<&Vec<Use>> {
        self.uses[workload][option].as_ref()
    }

    #[must_use]
    pub fn earliest_start(&self, workload: usize) -> Timestamp {
        self.snapshot.workloads[workload].earliest_start.max(self.snapshot.now)
    }

    /// The stand with the least loss, then the earliest end, in what the timeline has left.
    #[must_use]
    pub fn first_stand(&self, timeline: &Timeline, index: usize) -> Option<Stand> {
        let workload = &self.snapshot.workloads[index];
        let from = self.earliest_start(index);
        let mut best: Option<((i64, i64, Timestamp), Stand)> = None;
        for (option, uses) in self.uses[index].iter().enumerate() {
            let Some(uses) = uses else { continue };
            let length = workload.options[option].held(self.policy.promise);
            let Some(start) = timeline.earliest(uses, from, length) else { continue };
            let mut consider = |end: Timestamp, pieces: &dyn Fn() -> Vec<Piece>| {
                let losses = workload.losses_at(end);
                let key = (losses.hard, losses.soft, end);
                if best.as_ref().is_none_or(|(least, _)| key < *least) {
                    best = Some((key, Stand { option, pieces: pieces() }));
                }
            };
            consider(start + length, &|| vec![Piece { start, end: start + length }]);
            if let (Some(cut), Some(due)) = (cut(&workload.interruption), &workload.due)
                && start + length > due.at
                && let Some(pieces) = timeline.in_holes(uses, from, due.at, length, cut)
                && let Some(last) = pieces.last()
            {
                consider(last.end, &|| pieces.clone());
            }
        }
        best.map(|(_, stand)| stand)
    }

    /// A complete plan in one pass: what is pressed first, each with the least loss, then the earliest end.
    #[must_use]
    pub fn listed(&self) -> Stands {
        let mut timeline = self.base.clone();
        let mut stands = self.fixed.clone();
        let mut order: Vec<_> = (0..stands.len())
            .filter(|index| stands[*index].is_none())
            .map(|index| (self.pressure(index), index))
            .collect();
        order.sort_unstable();
        self.fill(&mut timeline, &mut stands, order.into_iter().map(|(_, index)| index));
        stands
    }

    /// Gives each workload in turn its first stand in what the timeline has left; who finds none stays without.
    pub fn fill(&self, timeline: &mut Timeline, stands: &mut Stands, order: impl Iterator<Item = usize>) {
        for index in order {
            let Some(stand) = self.first_stand(timeline, index) else { continue };
            if let Some(uses) = self.uses(index, stand.option) {
                for piece in &stand.pieces {
                    timeline.take(uses, *piece);
                }
            }
            stands[index] = Some(stand);
        }
    }

    /// In the objective, then with something to lose, then by the latest start that loses nothing.
    fn pressure(&self, index: usize) -> impl Ord + use<> {
        let workload = &self.snapshot.workloads[index];
        let due = workload.due.as_ref().map_or(Timestamp(i64::MAX), |due| due.at);
        let shortest = workload.options.iter().map(|option| option.held(self.policy.promise)).min();
        let losses = workload.losses_at(Timestamp(i64::MAX / 2));
        let latest = due.0.saturating_sub(shortest.unwrap_or(Seconds::ZERO).0);
        let rank = -i64::from(workload.priority);
        let is_backfill = !self.policy.in_objective(workload);
        let may_lose = losses.hard > 0 || losses.soft > 0;
        (is_backfill, if is_backfill { rank } else { 0 }, Reverse(may_lose), latest, due)
    }

    /// Whether a workload may be planned in pieces.
    #[must_use]
    pub fn is_cut(&self, workload: usize) -> bool {
        cut(&self.snapshot.workloads[workload].interruption).is_some()
    }

    /// Per workload: whether it can run, but on no option once capacity has stopped changing, so that only a window lets it in.
    #[must_use]
    pub fn narrow(&self) -> Vec<bool> {
        let (snapshot, policy) = (self.snapshot, self.policy);
        let last = self.base.exact.times.iter().filter_map(|times| times.last()).max().copied().unwrap_or(snapshot.now);
        if last == snapshot.now {
            // Capacity never changes.
            return vec![false; self.uses.len()];
        }
        let later = |workload: &Workload, option: usize, uses: &Vec<Use>| {
            let from = last.max(workload.earliest_start);
            self.base.earliest(uses, from, workload.options[option].held(policy.promise)).is_some()
        };
        let narrow = |(workload, options): (&Workload, &Vec<Option<Vec<Use>>>)| {
            let mut able =
                options.iter().enumerate().filter_map(|(option, uses)| Some((option, uses.as_ref()?))).peekable();
            able.peek().is_some() && !able.any(|(option, uses)| later(workload, option, uses))
        };
        snapshot.workloads.iter().zip(&self.uses).map(narrow).collect()
    }
}

/// The planned interruption of a checkpointed workload; restarting from nothing never pays in a plan.
fn cut(interruption: &Interruption) -> Option<Cut> {
    match interruption {
        Interruption::Checkpointable { interval, cost, max } if *max > 0 => Some(Cut {
            pieces_max: usize::try_from(*max).unwrap_or(usize::MAX).saturating_add(1),
            cost: *cost,
            interval: *interval,
        }),
        _ => None,
    }
}

fn lane_uses(snapshot: &Snapshot, policy: &Policy, base: &Timeline) -> Vec<Vec<Option<Vec<Use>>>> {
    let mut lane_of_cell: Vec<Option<usize>> = vec![None; snapshot.cells.len()];
    for (index, lane) in base.exact.lanes.iter().enumerate() {
        lane_of_cell[lane.cell.0 as usize] = Some(index);
    }
    let of_option = |workload: &Workload, option: &RunOption| {
        let uses: Option<Vec<Use>> = option
            .uses
            .iter()
            .map(|(cell, amount)| {
                let lane = lane_of_cell[cell.0 as usize]?;
                Some(Use { lane, path: base.exact.lanes[lane].path_of(workload.queue)?, amount: amount.0 })
            })
            .collect();
        let uses = uses?;
        base.earliest(&uses, workload.earliest_start.max(snapshot.now), option.held(policy.promise)).map(|_| uses)
    };
    snapshot
        .workloads
        .iter()
        .map(|workload| {
            let stopped = matches!(&snapshot.node(workload.queue).kind, NodeKind::ClusterQueue(rules) if rules.stopped);
            workload.options.iter().map(|option| if stopped { None } else { of_option(workload, option) }).collect()
        })
        .collect()
}

/// Promises inside the frozen window that can still be kept, in the order of their starts.
fn frozen(snapshot: &Snapshot, policy: &Policy, base: &mut Timeline, uses: &[Vec<Option<Vec<Use>>>]) -> Stands {
    let mut fixed: Stands = vec![None; snapshot.workloads.len()];
    if policy.frozen_window <= Seconds::ZERO || snapshot.previous.is_empty() {
        return fixed;
    }
    let by_key: HashMap<&str, usize> =
        snapshot.workloads.iter().enumerate().map(|(index, workload)| (workload.key.as_str(), index)).collect();
    let mut promises: Vec<_> = snapshot
        .previous
        .iter()
        .filter(|previous| previous.start >= snapshot.now && previous.start < snapshot.now + policy.frozen_window)
        .filter_map(|previous| Some((previous.start, *by_key.get(previous.key.as_str())?, previous)))
        .collect();
    promises.sort_by_key(|(start, index, _)| (*start, *index));
    for (start, index, previous) in promises {
        let workload = &snapshot.workloads[index];
        if workload.earliest_start > start {
            continue;
        }
        let option = workload.options.iter().position(|option| option.flavor == previous.flavor);
        let Some(option) = option else { continue };
        let Some(uses) = &uses[index][option] else { continue };
        let stand = Stand::whole(option, start, workload.options[option].held(policy.promise));
        let piece: Piece = stand.pieces[0];
        if base.fits(uses, piece) {
            base.take(uses, piece);
            fixed[index] = Some(stand);
        }
    }
    fixed
}
