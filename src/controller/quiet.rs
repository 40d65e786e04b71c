//! Until when a turn can decide nothing else, as long as no row changes: so that a cluster in which nothing happens costs
//! next to nothing.
//!
//! Pure. Every instant that planning or deciding compares the clock with is named here, by what compares it. One that is
//! named too often costs a turn; one that is missing would delay what it brings to the next change, so a property of whole
//! days holds this list against turns that were taken all the same.

use super::changes::ChangeKind;
use super::planning::Planned;
use super::scope::Scope;
use super::settings::{Patience, Settings};
use crate::kueue::Assembled;
use crate::kueue::release::TroubleKind;
use crate::plan::overdue::latest_safe_start;
use crate::units::{Seconds, Timestamp};

/// Sentences name the day where it is not today's; in every zone days begin at a quarter of an hour of UTC.
const DAYS_BEGIN: i64 = 15 * 60;

/// What one scope decided from, after a turn in which there was nothing to plan and nothing to write.
#[derive(Debug, Clone, Copy)]
pub struct Still<'a> {
    pub scope: &'a Scope,
    pub assembled: &'a Assembled,
}

/// The first instant after `now` at which a turn may decide otherwise; `None`: the next one may at once.
#[must_use]
pub fn until(
    stills: &[Still<'_>],
    (now, since): (Timestamp, Timestamp),
    settings: &Settings,
    patience: &Patience,
) -> Option<Timestamp> {
    let mut bound = Bound { now, first: Timestamp((now.0.div_euclid(DAYS_BEGIN) + 1) * DAYS_BEGIN) };
    for still in stills {
        if !still.is_settled(now, patience) {
            return None;
        }
        still.bounds(since, settings, patience, &mut |at| bound.take(at));
    }
    Some(bound.first)
}

/// The earliest instant that has not come yet.
struct Bound {
    now: Timestamp,
    first: Timestamp,
}

impl Bound {
    fn take(&mut self, at: Timestamp) {
        if at > self.now {
            self.first = self.first.min(at);
        }
    }
}

impl Still<'_> {
    /// Whether the decision that was just made is no reason for a new plan.
    fn is_settled(&self, now: Timestamp, patience: &Patience) -> bool {
        let Some(planned) = &self.scope.planned else { return true };
        if self.scope.pinned || self.scope.changed {
            return false;
        }
        let young = now - planned.plan.now < patience.missed;
        let mut reasons = Vec::new();
        self.scope.clock_reasons(planned, now, patience, &mut |kind: ChangeKind, _| reasons.push(kind));
        young || reasons.is_empty()
    }

    fn bounds(&self, since: Timestamp, settings: &Settings, patience: &Patience, tell: &mut dyn FnMut(Timestamp)) {
        let Self { scope, assembled } = *self;
        // Whether the plan is stale.
        tell(since + patience.stale);
        if let Some((failed, _)) = &scope.failed {
            tell(*failed + patience.stale);
        }
        if let Some(tried) = scope.tried {
            tell(tried + patience.missed);
        }
        // What is overdue, what is held for too long, what Kueue has not taken up.
        for workload in &assembled.snapshot.workloads {
            tell(workload.earliest_start);
            tell(workload.created + settings.hold_max);
            latest_safe_start(workload).into_iter().for_each(&mut *tell);
            let longest = workload.options.iter().map(|option| option.runtime.p90).max();
            workload.due.iter().zip(longest).for_each(|(due, longest)| tell(due.at - longest));
        }
        for release in &scope.inherited {
            tell(release.start);
        }
        for since in scope.held_since.values() {
            tell(*since + patience.disputed);
        }
        for since in scope.loose_since.values() {
            tell(*since + patience.pace.grace);
            tell(*since + patience.pace.reserve_within);
        }
        for window in &assembled.snapshot.windows {
            tell(window.start);
            tell(window.end);
        }
        for one in &assembled.observed {
            one.created.into_iter().for_each(|created| tell(created + settings.hold_max));
            one.planned_start().into_iter().for_each(&mut *tell);
            // A promise is broken the second after.
            one.due.into_iter().for_each(|due| tell(due + Seconds(1)));
        }
        if let Some(planned) = &scope.planned {
            self.of_plan(planned, patience, tell);
        }
    }

    /// Starts that come, and what makes a plan old.
    fn of_plan(&self, planned: &Planned, patience: &Patience, tell: &mut dyn FnMut(Timestamp)) {
        let Planned { plan, snapshot, .. } = planned;
        tell(plan.now + patience.missed);
        tell(plan.now + patience.age);
        for release in &plan.releases {
            tell(release.start);
            if self.scope.held_since.contains_key(&release.workload) {
                tell(release.start + patience.missed);
            }
        }
        for running in &snapshot.running {
            tell(running.held_until(plan.promise, snapshot.now, snapshot.horizon_end) + patience.handover);
        }
        if self.scope.troubles.iter().any(|trouble| trouble.kind == TroubleKind::NotReserved) {
            tell(plan.now + patience.missed);
        }
    }
}
