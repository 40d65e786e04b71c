//! What stands idle: capacity that is there and not held, over the horizon, in GPU time and in money.

use crate::plan::curve::{self, Steps};
use crate::plan::snapshot::{CellId, CellPrice, Snapshot};
use crate::units::{Amount, Money, Timestamp, div_round_half_even};

/// Idle accelerators from now to the end of the horizon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Idle {
    /// Whole GPU-seconds.
    pub gpu_seconds: i128,
    /// `None` when an idle cell has no price.
    pub cost: Option<Money>,
}

/// Idle of a demand against the snapshot's capacity; with `owned`, at least the demand's own peak is there all the time.
#[must_use]
pub fn idle(snapshot: &Snapshot, demand: &dyn Fn(CellId) -> Steps, owned: bool) -> Idle {
    let mut thousandths: i128 = 0;
    let mut cost = Some(Money::ZERO);
    for (id, cell) in (0_u32..).map(CellId).zip(&snapshot.cells) {
        if !cell.resource.is_accelerator() {
            continue;
        }
        let held = demand(id);
        let floor = if owned { held.most() } else { Amount::ZERO };
        let price = snapshot.prices.iter().find(|price| price.cell == id);
        let (unit_seconds, nano_seconds) = stands(snapshot, id, &held, floor, price);
        thousandths += unit_seconds * 1000 / i128::from(cell.resource.units_per_gpu());
        cost = match (cost, price) {
            (Some(sum), Some(_)) => Some(sum + Money { nanos: div_round_half_even(nano_seconds, 3600) }),
            (Some(sum), None) if unit_seconds == 0 => Some(sum),
            _ => None,
        };
    }
    let cost = cost.filter(|_| !snapshot.prices.is_empty());
    Idle { gpu_seconds: div_round_half_even(thousandths, 1000), cost }
}

/// Σ idle units × seconds, and the same weighted by price.
fn stands(snapshot: &Snapshot, cell: CellId, held: &Steps, floor: Amount, price: Option<&CellPrice>) -> (i128, i128) {
    let capacity = curve::capacity(snapshot, cell);
    let mut instants: Vec<Timestamp> = vec![snapshot.now, snapshot.horizon_end];
    instants.extend(capacity.changes().iter().chain(held.changes()).map(|step| step.0));
    instants.extend(price.into_iter().flat_map(|price| &price.windows).flat_map(|window| [window.start, window.end]));
    instants.retain(|at| snapshot.now <= *at && *at <= snapshot.horizon_end);
    instants.sort_unstable();
    instants.dedup();
    let mut sums = (0, 0);
    for pair in instants.windows(2) {
        let there = capacity.at(pair[0]).max(floor);
        let free = i128::from((there - held.at(pair[0])).0.max(0)) * i128::from((pair[1] - pair[0]).0);
        sums.0 += free;
        sums.1 += free.saturating_mul(price.map_or(0, |price| price_at(price, pair[0]).nanos));
    }
    sums
}

/// The price in force at an instant.
#[must_use]
pub fn price_at(price: &CellPrice, at: Timestamp) -> Money {
    let window = price.windows.iter().find(|window| window.start <= at && at < window.end);
    window.map_or(price.per_unit_hour, |window| window.per_unit_hour)
}
