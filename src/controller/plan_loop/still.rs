//! Turns in which nothing can have changed: they are not taken.

use super::{Loop, TOLD_FRESH};
use crate::controller::quiet::{self, Still};
use crate::controller::settings::Patience;
use crate::units::Timestamp;

/// A turn that found nothing to do, and until when, as long as no row changes, the next ones would find nothing either.
pub(super) struct Quiet {
    revision: u64,
    from: Timestamp,
    until: Timestamp,
}

impl Loop {
    /// Whether a turn would find nothing: no row has changed since one did, and no instant has come that could matter.
    pub(super) fn is_quiet(&self, epoch: i64, revision: u64, now: Timestamp) -> bool {
        let lasts = |quiet: &Quiet| quiet.revision == revision && (quiet.from..quiet.until).contains(&now);
        self.epoch == Some(epoch) && self.quiet.as_ref().is_some_and(lasts)
    }

    pub(super) fn quiet_from(&self, revision: u64, now: Timestamp, patience: &Patience) -> Option<Quiet> {
        let stills = self.scopes.iter().map(|(name, scope)| Some(Still { scope, assembled: &self.seen.get(name)?.1 }));
        let stills: Vec<Still<'_>> = stills.collect::<Option<_>>()?;
        let until = quiet::until(&stills, (now, self.since), &self.settings, patience)?;
        // What was told a moment ago is looked at again when the watch should have brought it back.
        let fresh = self.settings.clock.span(TOLD_FRESH);
        let again = self.slo_told.values().map(|(at, _)| *at + fresh).filter(|at| *at > now).min();
        Some(Quiet { revision, from: now, until: again.map_or(until, |again| until.min(again)) })
    }

    /// All that changes in a turn in which nothing happens.
    pub(super) fn measure_age(&self, now: Timestamp) {
        let plans = self.scopes.values().filter_map(|scope| scope.planned.as_deref());
        let made = plans.map(|planned| planned.plan.now).min();
        self.health.metrics.plan_made.set(made.map_or(0, |made| made.0));
        self.health.metrics.plan_age.set(made.map_or(0, |made| (now - made).0));
    }
}
