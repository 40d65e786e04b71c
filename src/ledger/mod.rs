//! The ledger's arithmetic: runs and rate cards in, charges out that add up to the last unit (docs/accounting.md).
//!
//! Pure: values in, values out. Deliberately absent here: a store, a cluster, a clock, floating point, and the names of
//! YAML fields (`books` maps our kinds to these values).

pub mod apportion;
pub mod card;
pub mod charge;
pub mod coverage;
mod direct;
pub mod price;
pub mod prices;
pub mod run;
mod share_out;
pub mod split;
pub mod tariff;
pub mod usage;
