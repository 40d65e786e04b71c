//! Outcomes: what came of the work, whether anybody can vouch for it, and whether it came in time.
//!
//! `read` turns files into events, `judge` holds one event against its gate, `settle` gives every outcome one verdict.
//! Laws (docs/accounting.md §6): a missing value never counts as verified; the order of events does not matter.
//! Deliberately absent: a store, a clock, and floating point.

pub mod bound;
pub mod evidence;
pub mod gate;
pub mod judge;
pub mod read;
pub mod reason;
pub mod settle;
