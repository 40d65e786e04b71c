//! Groups: what runs, outcomes and charges have in common, and their sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::charge::{Charge, Term};
use crate::names::WorkloadKey;
use crate::outcome::reason::Verdict;
use crate::outcome::settle::Outcome;
use crate::ratio::Ratio;
use crate::units::Money;

use super::cause::Cause;
use super::unit_cost::{Undefined, cost_per_verified_outcome, per};

/// What a report is broken down by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dimension {
    Tenant,
    Class,
    Flavor,
    Queue,
}

impl Dimension {
    pub const ALL: [Self; 4] = [Self::Tenant, Self::Class, Self::Flavor, Self::Queue];

    /// The name in documents and on the command line.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Class => "class",
            Self::Flavor => "flavor",
            Self::Queue => "queue",
        }
    }

    /// # Errors
    /// A fragment that lists what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|dimension| dimension.as_str() == text);
        known.ok_or_else(|| format!("`{text}` is not one of tenant, class, flavor, queue"))
    }
}

/// What something is called in each dimension; `None`: it has no such name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Key {
    pub tenant: Option<String>,
    pub class: Option<String>,
    pub flavor: Option<String>,
    pub queue: Option<String>,
}

impl Key {
    #[must_use]
    pub fn get(&self, dimension: Dimension) -> Option<&str> {
        match dimension {
            Dimension::Tenant => self.tenant.as_deref(),
            Dimension::Class => self.class.as_deref(),
            Dimension::Flavor => self.flavor.as_deref(),
            Dimension::Queue => self.queue.as_deref(),
        }
    }

    /// Only what the breakdown asks for.
    #[must_use]
    pub fn cut(mut self, by: &[Dimension]) -> Self {
        let keep = |dimension: Dimension, value: Option<String>| value.filter(|_| by.contains(&dimension));
        self.tenant = keep(Dimension::Tenant, self.tenant);
        self.class = keep(Dimension::Class, self.class);
        self.flavor = keep(Dimension::Flavor, self.flavor);
        self.queue = keep(Dimension::Queue, self.queue);
        self
    }
}

/// Outcomes by verdict, each counted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub verified: u64,
    pub late: u64,
    pub rejected: u64,
    pub unverified: u64,
}

impl Counts {
    /// Good, on time or not.
    #[must_use]
    pub fn good(self) -> u64 {
        self.verified + self.late
    }

    #[must_use]
    pub fn all(self) -> u64 {
        self.verified + self.late + self.rejected + self.unverified
    }

    fn add(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Verified => self.verified += 1,
            Verdict::Late => self.late += 1,
            Verdict::Rejected => self.rejected += 1,
            Verdict::Unverified => self.unverified += 1,
        }
    }
}

/// How much of one kind verified outcomes have delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivered {
    /// `None`: too large to be exact.
    pub quantity: Option<Ratio>,
    /// Verified outcomes that say how much.
    pub outcomes: u64,
}

/// The sums of one group.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    pub key: Key,
    pub cost: Money,
    /// Adds up to `cost`; terms without an amount are absent.
    pub by_term: BTreeMap<Term, Money>,
    /// Adds up to `cost`; causes without an amount are absent.
    pub by_cause: BTreeMap<Cause, Money>,
    pub attempts: u64,
    /// Held by runs inside the window, in thousandths of a GPU-second.
    pub gpu_milli_seconds: i128,
    pub outcomes: Counts,
    /// Outcomes that the workloads were to bring; `None`: no promise says how many.
    pub expected: Option<u64>,
    /// Of these, those of which nothing was ever heard.
    pub missing: u64,
    /// What verified outcomes have delivered, by kind of unit.
    pub units: BTreeMap<String, Delivered>,
    pub(super) seen: BTreeSet<(WorkloadKey, u32)>,
}

impl Group {
    /// The headline.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn per_verified_outcome(&self) -> Result<Money, Undefined> {
        cost_per_verified_outcome(self.cost, self.outcomes.verified, self.attempts)
    }

    /// Cost per outcome that was good, late ones included: beside the headline, never instead of it.
    #[must_use]
    pub fn per_good_outcome(&self) -> Option<Money> {
        per(self.cost, self.outcomes.good())
    }

    /// Cost per unit that verified outcomes delivered, in billionths. `None` unless every verified outcome says how much it
    /// was: the cost of the silent ones would be charged to the others.
    #[must_use]
    pub fn per_unit(&self, delivered: Delivered) -> Option<Money> {
        let quantity = delivered.quantity.filter(|_| delivered.outcomes == self.outcomes.verified)?;
        let nanos = Ratio::new(self.cost.nanos, 1)?.div(quantity)?;
        Some(Money { nanos: nanos.round_half_even() })
    }

    /// An outcome with its verdict; what it delivered counts when it is verified.
    pub(super) fn add_outcome(&mut self, outcome: &Outcome) {
        self.outcomes.add(outcome.verdict);
        if let Some(units) = outcome.units.as_ref().filter(|_| outcome.verdict == Verdict::Verified) {
            let none = Delivered { quantity: Some(Ratio::whole(0)), outcomes: 0 };
            let delivered = self.units.entry(units.kind.clone()).or_insert(none);
            delivered.quantity = delivered.quantity.and_then(|sum| sum.add(units.quantity));
            delivered.outcomes += 1;
        }
    }

    /// A workload that was to bring so many outcomes, and those that somebody spoke about.
    pub(super) fn add_expected(&mut self, expected: u64, known: u64) {
        self.expected = Some(self.expected.unwrap_or(0) + expected);
        self.missing += expected.saturating_sub(known);
    }

    #[must_use]
    pub fn per_attempt(&self) -> Option<Money> {
        per(self.cost, self.attempts)
    }

    /// Everything that delivered nothing verified.
    #[must_use]
    pub fn waste(&self) -> Money {
        self.cost - self.by_cause.get(&Cause::Productive).copied().unwrap_or(Money::ZERO)
    }

    /// The part of the cost that is waste, in thousandths; `None` where there is no cost.
    #[must_use]
    pub fn waste_permille(&self) -> Option<i64> {
        let scaled = self.waste().nanos.checked_mul(1000)?;
        (self.cost.nanos > 0).then(|| i64::try_from(scaled / self.cost.nanos).ok()).flatten()
    }

    pub(super) fn add_charge(&mut self, charge: &Charge, cause: Cause) {
        self.cost = self.cost + charge.amount;
        let term = self.by_term.entry(charge.term).or_insert(Money::ZERO);
        *term = *term + charge.amount;
        let spent = self.by_cause.entry(cause).or_insert(Money::ZERO);
        *spent = *spent + charge.amount;
    }

    pub(super) fn add_attempt(&mut self, workload: &WorkloadKey, attempt: u32, gpu_milli_seconds: i128) {
        if self.seen.insert((workload.clone(), attempt)) {
            self.attempts += 1;
        }
        self.gpu_milli_seconds += gpu_milli_seconds;
    }
}
