//! Planning as it goes: at every arrival and end a new plan, and what it starts now is released.
//!
//! The rule, so that it can be repeated: something happened (work arrived or ended, capacity changed) or the time has
//! come that the last plan named as its next start. If the last plan is at least [`Rules::debounce`] old, plan now; if
//! not, as soon as it is. A plan that waits for work to end which does not end as estimated is looked at again at the start
//! it named, but not sooner than [`REFRESH_DEBOUNCES`] times the debounce. Work that uses no quota is released as it
//! arrives, and so is work for which the planner finds no place at all: Kueue then has the last word.

use crate::kueue::SimOptions;
use crate::kueue::simulate::{Simulation, Steps};
use crate::plan::snapshot::Policy;
use crate::units::{Seconds, Timestamp};

use super::history::History;
use super::learn::Learnt;
use super::sketch::sketch;
use super::view::view;

/// How the rolling plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The least time between two plans.
    pub debounce: Seconds,
    /// Search steps per plan.
    pub steps: u64,
    pub seed: u64,
}

/// Looking again although nothing happened is worth less than looking because something did.
pub const REFRESH_DEBOUNCES: i64 = 10;

impl Default for Rules {
    fn default() -> Self {
        Self { debounce: Seconds::MINUTE, steps: 1_000, seed: 1 }
    }
}

/// What the rolling plan made of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rolled {
    pub simulation: Simulation,
    /// By workload: when it was released.
    pub released: Vec<Option<Timestamp>>,
    /// By workload: when it was first planned, and the start that plan gave it.
    pub forecast: Vec<Option<(Timestamp, Timestamp)>>,
    pub plans: u64,
}

/// Plays a history with a rolling plan.
#[must_use]
pub fn roll(history: &History, rules: &Rules) -> Rolled {
    let options = SimOptions::default();
    let mut run = Run::new(history, rules, &options);
    while let Some(at) = run.next() {
        // 1. What happens by itself.
        run.observe(at);
        // 2. A plan, when something happened and the last one is old enough.
        if run.stale && run.may_plan(at) {
            run.plan(at);
        }
        // 3. Kueue admits what was released.
        for workload in run.steps.admit() {
            run.queued.retain(|other| *other != workload);
            if !run.holding.contains(&workload) {
                run.holding.push(workload);
            }
        }
    }
    let Run { steps, released, forecast, plans, .. } = run;
    Rolled { simulation: steps.close(), released, forecast, plans }
}

struct Run<'a> {
    history: &'a History,
    debounce: Seconds,
    policy: Policy,
    steps: Steps<'a>,
    learnt: Learnt,
    /// Arrived and held, in the history's order.
    waiting: Vec<usize>,
    /// Released, but not admitted yet.
    queued: Vec<usize>,
    holding: Vec<usize>,
    /// Something happened since the last plan.
    stale: bool,
    last_plan: Option<Timestamp>,
    /// When to look again although nothing happens.
    wake: Option<Timestamp>,
    released: Vec<Option<Timestamp>>,
    forecast: Vec<Option<(Timestamp, Timestamp)>>,
    plans: u64,
}

impl<'a> Run<'a> {
    fn new(history: &'a History, rules: &Rules, options: &'a SimOptions) -> Self {
        let count = history.snapshot.workloads.len();
        Self {
            history,
            debounce: rules.debounce.max(Seconds(1)),
            policy: Policy { step_limit: Some(rules.steps), seed: rules.seed, ..Policy::default() },
            steps: Steps::new(&history.snapshot, options),
            learnt: Learnt::default(),
            waiting: Vec::new(),
            queued: Vec::new(),
            holding: Vec::new(),
            stale: false,
            last_plan: None,
            wake: None,
            released: vec![None; count],
            forecast: vec![None; count],
            plans: 0,
        }
    }

    fn next(&self) -> Option<Timestamp> {
        let due = self.stale.then(|| self.last_plan.map(|last| last + self.debounce)).flatten();
        self.steps.next().into_iter().chain(self.wake).chain(due).min()
    }

    fn may_plan(&self, at: Timestamp) -> bool {
        self.last_plan.is_none_or(|last| at >= last + self.debounce)
    }

    fn observe(&mut self, at: Timestamp) {
        let happened = self.steps.advance(at);
        let woken = self.wake.is_some_and(|wake| wake <= at);
        if woken {
            self.wake = None;
        }
        self.stale |= woken || !happened.nothing();
        for workload in happened.finished {
            self.holding.retain(|other| *other != workload);
            if let Some(start) = self.started(workload) {
                let it = &self.history.snapshot.workloads[workload];
                self.learnt.finished(it, self.history.past(workload), at - start);
            }
        }
        for workload in happened.arrived {
            if self.history.snapshot.workloads[workload].options.iter().all(|option| option.uses.is_empty()) {
                self.release(workload, at);
            } else {
                self.waiting.insert(self.waiting.partition_point(|other| *other < workload), workload);
            }
        }
        self.stale &= !self.waiting.is_empty();
    }

    fn plan(&mut self, at: Timestamp) {
        // Who was evicted queues again without us, and holds nothing until then.
        let open: Vec<usize> = self.waiting.iter().chain(&self.queued).copied().collect();
        let view = view(self.history, &self.steps, &self.learnt, at, &open, &self.holding);
        let stands = sketch(&view.snapshot, &self.policy);
        self.plans += 1;
        (self.stale, self.last_plan, self.wake) = (false, Some(at), None);
        let mut next: Option<Timestamp> = None;
        let mut starts: Vec<usize> = Vec::new();
        for (workload, stand) in view.origin.iter().zip(&stands) {
            let planned = stand.as_ref().map_or(at, crate::plan::stand::Stand::start);
            if self.released[*workload].is_some() {
                continue;
            }
            self.forecast[*workload].get_or_insert((at, planned));
            if planned <= at {
                starts.push(*workload);
            } else {
                next = next.into_iter().chain([planned]).min();
            }
        }
        // Nothing runs, no change is announced, and yet nothing would start: there is nothing to wait for.
        if starts.is_empty() && self.holding.is_empty() && !self.expects_change(at) {
            starts.clone_from(&self.waiting);
        }
        for workload in &starts {
            self.release(*workload, at);
        }
        self.waiting.retain(|workload| self.released[*workload].is_none());
        self.wake = next.map(|next| next.max(at + Seconds(self.debounce.0.saturating_mul(REFRESH_DEBOUNCES))));
    }

    /// Whether capacity is known to change later on. Arrivals are not known.
    fn expects_change(&self, at: Timestamp) -> bool {
        let snapshot = &self.history.snapshot;
        let window = snapshot.windows.iter().any(|window| window.start > at || window.end > at);
        window || snapshot.running.iter().any(|running| running.end_p50.is_some_and(|end| end > at))
    }

    fn release(&mut self, workload: usize, at: Timestamp) {
        self.released[workload] = Some(at);
        self.queued.push(workload);
        self.steps.release(workload);
    }

    /// When the attempt that has just ended began.
    fn started(&self, workload: usize) -> Option<Timestamp> {
        self.steps.last_attempt(workload).map(|attempt| attempt.start)
    }
}
