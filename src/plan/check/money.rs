//! What a use of capacity costs, second by second at the price in force.
//!
//! Exact until the very end: `Σ price × amount × seconds` is summed as one integer and divided once.

use crate::plan::snapshot::{CellId, CellPrice, Snapshot};
use crate::units::{Money, Timestamp, div_round_half_even};

use super::peaks::Use;
use super::seconds;

/// The cost of all uses, or `None` when an accelerator among them has no price (or the total is beyond all money).
pub(super) fn cost(snapshot: &Snapshot, uses: &[Use<'_>]) -> Option<Money> {
    let mut per_hour_seconds: i128 = 0;
    let mut per_milli_hour_seconds: i128 = 0;
    for held in uses {
        for &(cell, amount) in held.uses {
            let resource = &snapshot.cell(cell).resource;
            let Some(price) = price_of(snapshot, cell) else {
                if resource.is_accelerator() {
                    return None;
                }
                continue;
            };
            let due = priced(price, held.start, held.end)?.checked_mul(i128::from(amount.0))?;
            let sum = if resource.is_milli() { &mut per_milli_hour_seconds } else { &mut per_hour_seconds };
            *sum = sum.checked_add(due)?;
        }
    }
    let total = per_hour_seconds.checked_mul(1000)?.checked_add(per_milli_hour_seconds)?;
    Some(Money { nanos: div_round_half_even(total, 3_600_000) })
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
