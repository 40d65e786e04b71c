//! The two identities that every report prints (docs/accounting.md §5).

use crate::ledger::charge::{Priced, Term};
use crate::units::Money;

/// Everything that was charged, and how it adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconciliation {
    /// `None`: no capacity was stated, so the first identity cannot be asked for.
    pub capacity: Option<Money>,
    /// Held beyond the stated capacity.
    pub beyond: Money,
    /// What runs held, at the rate.
    pub allocated: Money,
    /// What nobody held, whoever bears it.
    pub idle: Money,
    pub stranded: Money,
    pub overhead: Money,
    /// What the terms make of the rate: negative for discounts.
    pub adjustments: Money,
    /// Reductions, not negative.
    pub credits: Money,
    /// Σ charges.
    pub total: Money,
    /// What tenants bear.
    pub attributed: Money,
    /// What nobody bears.
    pub unattributed: Money,
    /// What is left over of either identity: always zero.
    pub difference: Money,
}

/// Adds the charges up in both ways.
#[must_use]
pub fn reconcile(priced: &Priced, attributed: Money) -> Reconciliation {
    let sum = |term: Term| priced.sum(term);
    let allocated = sum(Term::Allocated) + sum(Term::Guaranteed) + sum(Term::Borrowed);
    let idle = sum(Term::Idle) + sum(Term::Reserved);
    let (stranded, overhead) = (sum(Term::Stranded), sum(Term::Overhead));
    let (adjustments, credits) = (sum(Term::Adjustment), Money::ZERO - sum(Term::Credit));
    let total = priced.total();
    let apart = priced.charges.iter().filter(|charge| charge.run.is_none() && charge.tenant.is_none());
    let unattributed: Money = apart.map(|charge| charge.amount).sum();
    let of_capacity =
        priced.capacity.map_or(Money::ZERO, |capacity| capacity + priced.beyond - allocated - idle - stranded);
    let of_charges =
        allocated + idle + stranded + overhead + adjustments - credits + sum(Term::Shared) - attributed - unattributed;
    // Both are zero by construction; their magnitudes are added so that neither can hide the other.
    let difference = Money { nanos: of_capacity.nanos.abs() + of_charges.nanos.abs() };
    Reconciliation {
        capacity: priced.capacity,
        beyond: priced.beyond,
        allocated,
        idle,
        stranded,
        overhead,
        adjustments,
        credits,
        total,
        attributed,
        unattributed,
        difference,
    }
}
