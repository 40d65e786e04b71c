//! What a use of capacity costs, second by second at the price in force.
//!
//! Exact until the end: per cell `Σ price × amount × seconds` is summed as one integer and rounded once, half to even.

use crate::plan::snapshot::{CellId, CellPrice, Snapshot};
use crate::units::{Amount, Money, Timestamp, div_round_half_even};

use super::peaks::Use;
use super::seconds;

/// The cost of all uses; `None` without a rate card, when an accelerator among them has no price, or beyond all money.
pub(super) fn cost(snapshot: &Snapshot, uses: &[Use<'_>]) -> Option<Money> {
    if snapshot.prices.is_empty() {
        return None;
    }
    let mut by_cell = vec![0_i128; snapshot.cells.len()];
    for held in uses.iter().filter(|held| held.start < held.end) {
        for &(cell, Amount(amount)) in held.uses {
            if let Some(price) = price_of(snapshot, cell) {
                let due = priced(price, held.start, held.end)?.checked_mul(i128::from(amount))?;
                by_cell[cell.0 as usize] = by_cell[cell.0 as usize].checked_add(due)?;
            } else if snapshot.cell(cell).resource.is_accelerator() {
                return None;
            }
        }
    }
    let rounded = snapshot.cells.iter().zip(by_cell).map(|(cell, due)| {
        let units_per_priced = if cell.resource.is_milli() { 1000 } else { 1 };
        div_round_half_even(due, 3600 * units_per_priced)
    });
    Some(Money { nanos: rounded.sum() })
}

/// The price of a cell, when the rate card has one.
pub(super) fn price_of(snapshot: &Snapshot, cell: CellId) -> Option<&CellPrice> {
    snapshot.prices.iter().find(|price| price.cell == cell)
}

/// Price × seconds over `[start, end)` for one unit.
fn priced(price: &CellPrice, start: Timestamp, end: Timestamp) -> Option<i128> {
    let mut total: i128 = 0;
    let mut at = start;
    let first = price.windows.partition_point(|window| window.end <= start);
    for window in price.windows[first..].iter().take_while(|window| window.start < end) {
        let (from, to) = (window.start.max(at), window.end.min(end));
        total = total.checked_add(times(price.per_unit_hour, at, from)?)?;
        total = total.checked_add(times(window.per_unit_hour, from, to)?)?;
        at = to;
    }
    total.checked_add(times(price.per_unit_hour, at, end)?)
}

fn times(price: Money, from: Timestamp, to: Timestamp) -> Option<i128> {
    price.nanos.checked_mul(seconds(from, to).max(0))
}
