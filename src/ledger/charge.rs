//! What `price` gives: charges, rounded once, that add up to the last micro-unit.

use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName, TenantId};
use crate::units::{Money, Timestamp};

use super::run::Window;

/// One amount on somebody's account, or on nobody's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charge {
    /// Index of the run it is for, in the slice that was priced.
    pub run: Option<usize>,
    /// Who bears it; `None` with a run: the run's tenant is not known; `None` without: it stands apart.
    pub tenant: Option<TenantId>,
    pub term: Term,
    /// The overhead's, the credit's or the shared tenant's name.
    pub label: Option<String>,
    pub flavor: Option<FlavorName>,
    pub resource: Option<ResourceName>,
    pub window: Window,
    /// Base units × seconds; zero where the term has none.
    pub unit_seconds: i128,
    /// A whole number of micro-units.
    pub amount: Money,
}

/// What an amount is for. The order is the order of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// Held, where nobody has a guarantee.
    Allocated,
    /// Held within the tenant's guarantee.
    Guaranteed,
    /// Held beyond it.
    Borrowed,
    /// Idle within the tenant's guarantee, where that is charged.
    Reserved,
    /// Idle, attributed or apart.
    Idle,
    /// Capacity that no run could be given.
    Stranded,
    Overhead,
    /// A shared tenant's cost: negative there, positive where it went.
    Shared,
    /// The difference between the rate and what the terms make of it.
    Adjustment,
    /// Negative.
    Credit,
}

impl Term {
    pub const ALL: [Self; 10] = [
        Self::Allocated,
        Self::Guaranteed,
        Self::Borrowed,
        Self::Reserved,
        Self::Idle,
        Self::Stranded,
        Self::Overhead,
        Self::Shared,
        Self::Adjustment,
        Self::Credit,
    ];

    /// The name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allocated => "allocated",
            Self::Guaranteed => "guaranteed",
            Self::Borrowed => "borrowed",
            Self::Reserved => "reserved",
            Self::Idle => "idle",
            Self::Stranded => "stranded",
            Self::Overhead => "overhead",
            Self::Shared => "shared",
            Self::Adjustment => "adjustment",
            Self::Credit => "credit",
        }
    }

    /// Whether it is a run's own cost, before anything is shared out.
    #[must_use]
    pub fn is_direct(self) -> bool {
        matches!(self, Self::Allocated | Self::Guaranteed | Self::Borrowed)
    }
}

/// The outcome of pricing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced {
    pub window: Window,
    pub currency: String,
    /// By period, then the runs' order, then what stands apart.
    pub charges: Vec<Charge>,
    /// What all capacity cost over the window; `None` when no capacity was stated.
    pub capacity: Option<Money>,
    /// What was held beyond the stated capacity.
    pub beyond: Money,
    /// The latest instant at which a price in use came into force: "prices as of".
    pub prices_from: Option<Timestamp>,
    /// Warnings and notes.
    pub findings: Vec<Finding>,
}

impl Priced {
    /// Σ of one term's charges.
    #[must_use]
    pub fn sum(&self, term: Term) -> Money {
        self.charges.iter().filter(|charge| charge.term == term).map(|charge| charge.amount).sum()
    }

    /// Σ of all charges.
    #[must_use]
    pub fn total(&self) -> Money {
        self.charges.iter().map(|charge| charge.amount).sum()
    }
}
