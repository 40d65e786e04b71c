//! RateCard: what capacity costs and how shared costs are split. Cluster-scoped, short name `rates`.
//!
//! Immutable once a close has used it: a new price is a new card.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::Recurring;
use super::written::{Decimal, Instant};

pub const KIND: &str = "RateCard";

/// Prices in one currency, in force over `[effectiveFrom, effectiveTo)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RateCardSpec {
    /// ISO 4217 code, such as `EUR`.
    #[schemars(extend("pattern" = "^[A-Z]{3}$"))]
    pub currency: String,
    /// In force from this instant on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Instant>,
    /// In force until just before this instant. Absent: until another card replaces it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_to: Option<Instant>,
    /// The prices. No two rows may price the same thing at the same time.
    #[schemars(length(max = 512))]
    pub rates: Vec<Rate>,
    /// How capacity within a tenant's guarantee is charged.
    #[serde(default)]
    pub guaranteed: Terms,
    /// How capacity beyond a tenant's guarantee is charged.
    #[serde(default)]
    pub borrowed: Terms,
    /// Who pays for capacity that nobody used.
    #[serde(default)]
    pub idle: IdleRule,
    /// Costs that belong to nobody in particular.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub overhead: Vec<Overhead>,
    /// How the cost of a shared model server is split, by version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    pub weights: Vec<WeightSet>,
}

/// One price.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rate {
    /// The ResourceFlavor it prices. At most one of `flavor` and `device`; with neither, it holds for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 253))]
    pub flavor: Option<String>,
    /// The device of the GpuInventory it prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub device: Option<String>,
    /// The resource, such as `nvidia.com/gpu`, `cpu`, `memory`, `ephemeral-storage`; `energy` with `KWh`.
    #[schemars(length(min = 1, max = 317))]
    pub resource: String,
    /// What `amount` is paid for.
    pub unit: RateUnit,
    /// The price, in quotes: `"2.50"`.
    pub amount: Decimal,
    /// Only at these times. A row without it holds at all other times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurring: Option<Recurring>,
}

/// What a price is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum RateUnit {
    /// One device for one hour.
    GpuHour,
    /// One core for one hour.
    CpuHour,
    /// One GiB (2^30 bytes) for one hour.
    GiBHour,
    /// One kilowatt-hour.
    KWh,
}

/// How one class of capacity is charged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Terms {
    /// What is charged.
    #[serde(default)]
    pub charge: ChargeBasis,
    /// The price, in percent of the rate.
    #[serde(default = "hundred")]
    #[schemars(range(min = 0, max = 10_000))]
    pub rate_percent: u32,
}

fn hundred() -> u32 {
    100
}

impl Default for Terms {
    fn default() -> Self {
        Self { charge: ChargeBasis::default(), rate_percent: hundred() }
    }
}

/// What is charged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum ChargeBasis {
    /// What was allocated.
    #[default]
    Allocated,
    /// What was reserved, whether or not it was allocated.
    Reserved,
}

/// Who pays for what nobody used.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct IdleRule {
    /// How it is split.
    #[serde(default)]
    pub split: Split,
}

/// How a shared cost is split among tenants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum Split {
    /// Not at all: it stands as a line of its own.
    #[default]
    Apart,
    /// In proportion to what each tenant's own charges are.
    ByCost,
    /// In proportion to what each tenant was guaranteed.
    ByGuarantee,
    /// In equal parts among tenants with charges.
    Even,
}

/// A cost that belongs to nobody in particular.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// Unique within the card.
    #[schemars(length(min = 1, max = 63))]
    pub name: String,
    /// Its cost for one `per`, in quotes.
    pub amount: Decimal,
    /// The time that `amount` pays for.
    pub per: OverheadPeriod,
    /// How it is split.
    #[serde(default)]
    pub split: Split,
}

/// The time that an overhead's amount pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum OverheadPeriod {
    /// 3,600 seconds.
    Hour,
    /// 86,400 seconds.
    Day,
}

/// The weights in force from one instant on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WeightSet {
    /// Its version, unique within the card.
    #[schemars(length(min = 1, max = 63))]
    pub version: String,
    /// In force from this instant on; absent: from the card's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_from: Option<Instant>,
    /// The weights, unique by kind.
    #[schemars(length(min = 1, max = 32))]
    pub units: Vec<UnitWeight>,
}

/// What one unit weighs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnitWeight {
    /// The kind of unit, such as `input-tokens`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Its weight, in quotes: `"0.25"`. Not negative.
    pub weight: Decimal,
}
