//! Kueue's quota algebra: what a node of the cohort tree may still use, borrow and lend, cell by cell.
//!
//! The tree ([`Tree`]) says what is allowed at one instant, windows included; the [`Ledger`] adds what is used.
//! With `nominal`, `borrowing limit` and `lending limit` per node and cell:
//!
//! - `subtree(n)` = nominal(n) + Σ over children of `subtree − local`: what the subtree holds and shares;
//! - `local(n)` = max(0, subtree − lending limit), or 0 without one: what is never lent to the parent;
//! - `usage(n)` = own usage + Σ over children of max(0, usage − local): usage bubbles up above the local part only;
//! - `available(root)` = subtree − usage; elsewhere max(0, local − usage) + min(available(parent),
//!   (subtree − local) − max(0, usage − local) + borrowing limit). It is negative where quota was taken from under usage.
//!
//! Windows: `Add` raises the nominal quota; `Reserve` is usage of the node itself, so it counts in caps too and bubbles
//! like any other; `Cap` is our own addition to the algebra: all that is used in the node's subtree, lent or not,
//! stays at or below it.
//!
//! Invariant: cells never touch each other, and sums are held in 128 bits, so that nothing overflows however large
//! the amounts; what is handed out is clamped to [`Amount`]'s range.
//! Deliberately absent: fair sharing weights, topology. A parent link that leads nowhere or into a circle, and a cell
//! that does not exist, are as good as absent: a snapshot that was validated has none.

mod ledger;
mod tree;

pub use ledger::{Ledger, Level};
pub use tree::{Tree, changes};

use crate::units::Amount;

fn clamped(sum: i128) -> Amount {
    Amount(i64::try_from(sum).unwrap_or(if sum < 0 { i64::MIN } else { i64::MAX }))
}
