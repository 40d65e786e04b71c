//! What a turn of the loop makes of what it sees: rows put together, plans begun and taken up, the turn decided.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::hand::Hand;
use super::{Loop, TOLD_FRESH};
use crate::api::manifest::Manifest;
use crate::api::{capacity_plan, slo};
use crate::controller::planning::{self, Planned};
use crate::controller::rest::Haste;
use crate::controller::rows::State;
use crate::controller::settings::Patience;
use crate::controller::turn::{self, Seen, Sight, Slo, Turn};
use crate::controller::{changes, evicted, overlap, reservations, rest};
use crate::names::WorkloadKey;
use crate::plan::proposal::Verdict;
use crate::units::Timestamp;

impl Loop {
    /// Puts the rows together where they have changed.
    pub(super) fn look(&mut self, now: Timestamp) {
        let revision = *self.rows.changes().borrow();
        for (name, scope) in &self.scopes {
            let instant = scope.instant(now);
            let known = self.seen.get(name);
            let fresh = known.is_some_and(|(at, seen)| *at == revision && seen.snapshot.now == instant);
            if !fresh {
                let mut seen = self.rows.read(|rows, lent| scope.look_lent(rows, lent, instant, &self.settings));
                for error in self.learnt.observe(&seen.observed) {
                    self.health.metrics.differs(error);
                }
                self.learnt.forecast(&mut seen);
                let kept = self.adherence.observe(&seen.observed, scope.enforces(), &self.settings.clock);
                for kept in kept {
                    self.health.metrics.kept(kept);
                }
                // What is being let go is not decided again.
                if let Some(hand) = &mut self.hand {
                    hand.look(&mut seen.observed);
                }
                self.seen.insert(name.clone(), (revision, seen));
                self.taken_from.remove(name);
            }
        }
    }

    /// What each may not plan with, for a plan that goes first has planned it.
    fn look_at_elders(&mut self) {
        let seen = &self.seen;
        overlap::take(&mut self.scopes, &mut self.taken_from, |name| seen.get(name).map(|(_, seen)| seen));
    }

    /// Begins what must be planned anew; whether nothing must, and nothing is being planned.
    pub(super) fn plan(&mut self, now: Timestamp, patience: &Patience) -> bool {
        let mut still = true;
        self.rests_until = None;
        self.look_at_elders();
        let seen = |name: &String| self.seen.get(name).map(|(_, seen)| &seen.snapshot);
        let waits = |name: &String, scope| seen(name).is_some_and(|seen| overlap::waits(scope, &self.scopes, seen));
        let waiting: BTreeSet<String> =
            self.scopes.iter().filter(|(name, scope)| waits(name, scope)).map(|(name, _)| name.clone()).collect();
        let (begun, many) = (self.begun.elapsed(), self.is_busy());
        for (name, scope) in &mut self.scopes {
            let Some((_, seen)) = self.seen.get(name) else { continue };
            if self.busy.contains_key(name) {
                still = false;
                continue;
            }
            let reasons = scope.reasons(&seen.snapshot, now, patience);
            if reasons.is_empty() {
                continue;
            }
            still = false;
            if waiting.contains(name) {
                continue;
            }
            // After a failure, not at once again.
            if scope.failed.is_some() && scope.tried.is_some_and(|at| now - at < patience.missed) {
                continue;
            }
            let haste = match &scope.planned {
                Some(planned) if many && rest::is_as_planned(&reasons, planned, &seen.snapshot) => Haste::Later,
                Some(planned) if !rest::is_urgent(&reasons, planned, now) => Haste::Soon,
                _ => Haste::Urgent,
            };
            let rest = self.rests.entry(name.clone()).or_default();
            let until = rest.until(haste);
            if until > begun {
                self.rests_until = Some(self.rests_until.map_or(until, |known| known.min(until)));
                continue;
            }
            // Rows may have changed since that look. What is planned and why come from one state of them, so that whatever
            // comes later is a change to this plan and no cause is lost.
            let instant = scope.instant(now);
            let (mut seen, mut assembled) = self.rows.read(|rows, lent| {
                let rows: Vec<&Manifest> = rows.collect();
                let look = |at| scope.look_lent(&mut rows.iter().copied(), lent, at, &self.settings);
                (look(instant), look(now))
            });
            self.learnt.forecast(&mut seen);
            self.learnt.forecast(&mut assembled);
            let changes = scope.reasons(&seen.snapshot, now, patience);
            if changes.is_empty() {
                continue;
            }
            scope.begin(&changes, now);
            rest.begin(begun);
            let request = scope.request(assembled, changes.clone(), &self.settings, patience);
            self.busy.insert(name.clone(), changes);
            let name = name.clone();
            self.planning.spawn(async move { (name, planning::plan(request).await) });
        }
        still
    }

    /// Takes up a plan that is done.
    pub(super) fn take(&mut self, done: Result<(String, Result<Planned, String>), tokio::task::JoinError>) {
        self.quiet = None;
        let Ok((name, result)) = done else {
            self.busy.clear();
            return;
        };
        let changes = self.busy.remove(&name).unwrap_or_default();
        if let Some(rest) = self.rests.get_mut(&name) {
            rest.end(self.begun.elapsed());
        }
        let Some(scope) = self.scopes.get_mut(&name) else { return };
        let cause = changes.first().map_or("First", |change| change.kind.word());
        self.health.metrics.count(&self.health.metrics.plans, "cause", cause);
        match result {
            Ok(planned) => {
                self.health.metrics.solved(planned.millis);
                let (millis, late) = (planned.millis, planned.plan.summary.late);
                let (jobs, because) = (planned.plan.releases.len(), changes::sentence(&planned.changes));
                tracing::info!(plan = name, cause, jobs, late, millis, because, "planned");
                (scope.planned, scope.failed) = (Some(Arc::new(planned)), None);
                scope.inherited.clear();
            }
            Err(why) => {
                tracing::error!(plan = name, why, "planning failed");
                scope.fail(&changes, self.settings.clock.now(), why);
            }
        }
    }

    pub(super) fn decide(&mut self, now: Timestamp, patience: &Patience) -> Turn {
        let (slos, reservations) = self.rows.read_kinds(&[slo::KIND, "ClusterQueue"], |rows| {
            let (mut slos, mut given) = (Vec::new(), Vec::new());
            for row in rows {
                slos.extend(Slo::of(row));
                given.extend(reservations::of(row));
            }
            (slos, given)
        });
        let slos = self.as_told(slos, now);
        let going: BTreeSet<WorkloadKey> = self.hand.iter().flat_map(Hand::open).cloned().collect();
        let sight = Sight {
            going: &going,
            now,
            settings: &self.settings,
            reservations: &reservations,
            slos: &slos,
            plans_known: self.rows.state(capacity_plan::KIND) == State::Listed,
            since: self.since,
        };
        let both = self.scopes.iter_mut().filter_map(|(name, scope)| Some((scope, &self.seen.get(name)?.1)));
        let mut seen: Vec<Seen<'_>> = both.map(|(scope, assembled)| Seen { scope, assembled }).collect();
        let turn = turn::decide(&mut seen, &sight, patience);
        self.measure(&turn, now);
        turn
    }

    /// What was told a moment ago counts as told, until the watch brings it back.
    pub(super) fn as_told(&mut self, mut slos: Vec<Slo>, now: Timestamp) -> Vec<Slo> {
        let fresh = self.settings.clock.span(TOLD_FRESH);
        self.slo_told.retain(|_, (at, _)| now - *at < fresh);
        for slo in &mut slos {
            if let Some((_, told)) = self.slo_told.get(&(slo.namespace.clone(), slo.name.clone())) {
                slo.status.clone_from(told);
            }
        }
        slos
    }

    pub(super) fn measure(&self, turn: &Turn, now: Timestamp) {
        let metrics = &self.health.metrics;
        let going = self.hand.as_ref().map_or(0, Hand::count);
        metrics.gates_held.set(i64::try_from(turn.gates + going).unwrap_or(i64::MAX));
        let plans = || self.scopes.values().filter_map(|scope| scope.planned.as_deref()).map(|planned| &planned.plan);
        let of = |verdict: Verdict| plans().flat_map(|plan| &plan.releases).filter(|it| it.verdict == verdict).count();
        metrics.late.set(i64::try_from(of(Verdict::Late)).unwrap_or(i64::MAX));
        metrics.at_risk.set(i64::try_from(of(Verdict::AtRisk)).unwrap_or(i64::MAX));
        // Everybody observes the same work.
        let observed = self.seen.values().next().map_or(&[][..], |(_, seen)| seen.observed.as_slice());
        let often = observed.iter().filter(|one| evicted::is_often(one)).count();
        metrics.evicted_often.set(i64::try_from(often).unwrap_or(i64::MAX));
        self.measure_age(now);
        // One plan without a bound, and nothing is known of all together.
        let gaps: Option<Vec<u64>> = plans().map(|plan| plan.quality.gap_millionths).collect();
        let gap = gaps.and_then(|gaps| i64::try_from(gaps.into_iter().max().unwrap_or(0)).ok());
        metrics.gap_millionths.set(gap.unwrap_or(-1));
    }
}
