//! A rate card as a value: prices, terms, and who pays for what nobody used.
//!
//! Recurring rows are expanded to instants before they get here, text is read, and names are names.
//! Deliberately absent: which card is in force when (`tariff`).

use crate::names::{FlavorName, ResourceName, TenantId};
use crate::units::{Amount, Money, Seconds, Timestamp};

use super::run::Window;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    pub name: String,
    /// ISO 4217.
    pub currency: String,
    /// In force over `[from, to)`; open where it is `None`. An open end yields to the next card's start.
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
    pub rates: Vec<Rate>,
    pub guaranteed: Terms,
    pub borrowed: Terms,
    pub idle: Split,
    pub overheads: Vec<Overhead>,
    /// Tenants whose whole cost the others bear.
    pub shared: Vec<Shared>,
}

/// One price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rate {
    /// `None`: all flavors.
    pub flavor: Option<FlavorName>,
    pub resource: ResourceName,
    /// The base units that `amount` pays for, for one hour: 1 GPU, 1000 millicores, 2^30 bytes.
    pub per_units: i64,
    pub amount: Money,
    /// `Some`: only then, and before any row without.
    pub windows: Option<Vec<Window>>,
    /// For people: `RateCard eur-2026, rates[3]`.
    pub place: String,
}

/// How capacity within, or beyond, a tenant's guarantee is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The owner pays for its unused guarantee too, as far as it stood idle.
    pub reserved: bool,
    /// In percent of the rate.
    pub rate_percent: u32,
}

impl Default for Terms {
    fn default() -> Self {
        Self { reserved: false, rate_percent: 100 }
    }
}

/// How a cost that belongs to nobody in particular is divided (docs/accounting.md §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Split {
    #[default]
    Apart,
    ByCost,
    ByGuarantee,
    Even,
}

impl Split {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Apart => "Apart",
            Self::ByCost => "ByCost",
            Self::ByGuarantee => "ByGuarantee",
            Self::Even => "Even",
        }
    }
}

/// `amount` for every `per` of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overhead {
    pub name: String,
    pub amount: Money,
    pub per: Seconds,
    pub split: Split,
}

/// A tenant whose cost the others bear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    pub tenant: TenantId,
    pub split: Split,
}

/// What a tenant may count on, at all times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarantee {
    pub tenant: TenantId,
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub quantity: Amount,
}

/// What there is of one resource on one flavor over a stretch of time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    pub window: Window,
    pub total: Amount,
    /// The part of `total` that no run could be given.
    pub stranded: Amount,
}

/// An approved reduction of what a tenant pays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credit {
    pub tenant: TenantId,
    /// Not negative.
    pub amount: Money,
    pub reason: String,
}
