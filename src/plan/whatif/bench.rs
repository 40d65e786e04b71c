//! Planning options one after the other, and keeping the best plan known for each.

use std::cell::RefCell;

use crate::plan::proposal::Plan;
use crate::plan::snapshot::{Policy, Snapshot};

use super::Tools;
use super::adopt::{adopt, rank};

/// Plans kept to be tried on other rows: trying one costs about as much as checking it.
const KNOWN_MAX: usize = 48;

/// The planner, and the plans it has made so far.
pub(super) struct Bench<'a> {
    pub(super) policy: &'a Policy,
    pub(super) tools: &'a Tools<'a>,
    /// With the growth of the load each is about: plans of one load say something about each other.
    known: RefCell<Vec<(i32, Plan)>>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(policy: &'a Policy, tools: &'a Tools<'a>) -> Self {
        Self { policy, tools, known: RefCell::new(Vec::new()) }
    }

    /// A plan for the snapshot, never worse than any known plan that fits it.
    pub(super) fn plan(&self, snapshot: &Snapshot, growth: i32) -> Plan {
        let plan = (self.tools.solve)(snapshot, self.policy);
        self.settle(snapshot, growth, plan)
    }

    /// Remembers a plan without planning.
    pub(super) fn know(&self, growth: i32, plan: &Plan) {
        let mut known = self.known.borrow_mut();
        if known.len() < KNOWN_MAX && known.iter().all(|(of, other)| *of != growth || other.releases != plan.releases) {
            known.push((growth, plan.clone()));
        }
    }

    /// The better of a plan and every known one that fits; also remembers it.
    pub(super) fn settle(&self, snapshot: &Snapshot, growth: i32, plan: Plan) -> Plan {
        let mut best = plan;
        for (_, other) in self.known.borrow().iter().filter(|(of, _)| *of == growth) {
            if let Some(adopted) = adopt(snapshot, self.policy, other, &best)
                && rank(snapshot, &adopted) < rank(snapshot, &best)
            {
                best = adopted;
            }
        }
        self.know(growth, &best);
        best
    }

    /// A plan that starts from another one and loses no more than it, if there is one.
    pub(super) fn plan_from(&self, snapshot: &Snapshot, growth: i32, from: &Plan) -> Plan {
        let plan = self.plan(snapshot, growth);
        let mut warm = snapshot.clone();
        warm.previous = from.previous_releases();
        let kept = (self.tools.solve)(&warm, self.policy);
        match adopt(snapshot, self.policy, &kept, &plan) {
            Some(adopted) if rank(snapshot, &adopted) < rank(snapshot, &plan) => {
                self.know(growth, &adopted);
                adopted
            }
            _ => plan,
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.tools.watch.stopped()
    }
}
