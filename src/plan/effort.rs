//! What a search may spend: search moves, which make it repeatable, and wall time, which ends it.

use crate::plan::policy::Policy;
use crate::plan::proposal::{LevelName, StoppedBy};
use crate::plan::search::Budget;
use crate::plan::watch::{Phase, Progress, Watch};

/// Search moves when the policy names no step limit: about a second's worth on an ordinary core.
const STEPS_DEFAULT: u64 = 300_000;

/// Percent from which on a part that time ends counts as cut short; smaller ones only warm up.
const LARGE: u64 = 10;

/// What is left to spend.
pub struct Effort<'w> {
    pub watch: &'w dyn Watch,
    time_limit_millis: u64,
    steps_left: u64,
    steps: u64,
    /// Where the search stands, for whoever watches.
    standing: Progress,
    /// Time, not steps, has ended some part of the search.
    cut: bool,
}

impl<'w> Effort<'w> {
    #[must_use]
    pub fn new(policy: &Policy, watch: &'w dyn Watch) -> Self {
        let steps = policy.step_limit.unwrap_or(STEPS_DEFAULT);
        let (phase, level) = (Phase::Greedy, LevelName::HardMissed);
        let standing = Progress { phase, level, value: 0, bound: None, late: 0, workloads: 0 };
        Self { watch, time_limit_millis: policy.time_limit_millis, steps_left: steps, steps, standing, cut: false }
    }

    /// A part of the whole budget, in percent; what earlier parts left unspent is not added.
    pub fn slice(&mut self, percent: u64) -> Slice<'_, 'w> {
        self.share(percent, percent)
    }

    /// A part of the steps and a part of the time, in percent each; whichever ends first.
    pub fn share(&mut self, steps_percent: u64, time_percent: u64) -> Slice<'_, 'w> {
        let moves_max = (self.steps / 100).saturating_mul(steps_percent).max(1).min(self.steps_left);
        let until = self.watch.elapsed_millis() + self.time_limit_millis * time_percent / 100;
        let until = until.min(self.time_limit_millis);
        Slice { effort: self, until, moves_max, large: time_percent >= LARGE, counted: 0, base: 0 }
    }

    /// An effort of its own within this one: all the steps that are left, and a part of the whole time, in percent.
    /// [`Effort::rejoin`] tells this one what became of it.
    #[must_use]
    pub fn part(&self, time_percent: u64) -> Self {
        let until = self.watch.elapsed_millis() + self.time_limit_millis * time_percent / 100;
        Self { time_limit_millis: until.min(self.time_limit_millis), cut: false, ..*self }
    }

    pub fn rejoin(&mut self, part: &Self) {
        self.steps_left = part.steps_left;
        self.standing = part.standing;
        self.cut |= part.stopped_by() == Some(StoppedBy::TimeLimit);
    }

    #[must_use]
    pub fn total_millis(&self) -> u64 {
        self.time_limit_millis
    }

    /// Whether steps rather than time bound the search.
    #[must_use]
    pub fn deterministic(&self) -> bool {
        self.steps != u64::MAX
    }

    /// Milliseconds until the end of the budget.
    #[must_use]
    pub fn millis_left(&self) -> u64 {
        if self.watch.stopped() { 0 } else { self.time_limit_millis.saturating_sub(self.watch.elapsed_millis()) }
    }

    /// Tells who watches where the search stands.
    pub fn tell(&mut self, phase: Phase, level: LevelName, value: i128, bound: Option<i128>) {
        self.standing = Progress { phase, level, value, bound, ..self.standing };
        self.watch.progress(&self.standing);
    }

    /// How many workloads there are, and how many of them are late as things stand.
    pub fn count(&mut self, late: usize, workloads: usize) {
        let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        self.standing.late = number(late);
        self.standing.workloads = number(workloads);
    }

    /// What ended the search before it was done, if anything did.
    #[must_use]
    pub fn stopped_by(&self) -> Option<StoppedBy> {
        if self.watch.stopped() {
            Some(StoppedBy::Interrupt)
        } else if self.cut || self.watch.elapsed_millis() >= self.time_limit_millis {
            Some(StoppedBy::TimeLimit)
        } else {
            None
        }
    }
}

pub struct Slice<'e, 'w> {
    effort: &'e mut Effort<'w>,
    until: u64,
    moves_max: u64,
    large: bool,
    /// Moves of the run under way.
    counted: u64,
    /// Moves of finished runs within this slice.
    base: u64,
}

impl Budget for Slice<'_, '_> {
    fn exhausted(&mut self, moves: u64) -> bool {
        if moves < self.counted {
            self.base += self.counted;
        }
        self.counted = moves;
        if moves.is_multiple_of(1024) {
            self.effort.watch.progress(&self.effort.standing);
        }
        if self.base + moves >= self.moves_max || self.effort.watch.stopped() {
            return true;
        }
        let late = self.effort.watch.elapsed_millis() >= self.until;
        self.effort.cut |= late && self.large;
        late
    }
}

impl Drop for Slice<'_, '_> {
    fn drop(&mut self) {
        self.effort.steps_left = self.effort.steps_left.saturating_sub(self.base + self.counted);
    }
}
