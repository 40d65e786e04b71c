//! Buying against renting: from which utilisation on an owned GPU is cheaper than a rented one.
//!
//! A rented GPU-hour costs `r` and is paid only while it is used; an owned one costs `c` for every hour of its life, used or
//! not (`stagger prices owned` computes `c` and prints its formula). Over `H` hours with utilisation `u` renting costs
//! `u · r · H` and owning `c · H`, so they are equal at `u* = c ÷ r`: above it buy, below it rent. The planned utilisation is
//! GPU-time that the plan holds of the GPUs in question ÷ their number × horizon. All exact fractions.

use crate::names::{FlavorName, ResourceName};
use crate::plan::curve::Steps;
use crate::plan::snapshot::Snapshot;
use crate::ratio::Ratio;
use crate::units::{Amount, Money, div_round_half_even};

use super::idle::price_at;
use super::pool::Axis;

/// One accelerator, bought or rented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BreakEven {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    /// The GPUs in question: those to be bought, else those that are there.
    pub quantity: Amount,
    /// A rented GPU-hour, at the rate in force now.
    pub rent: Option<Money>,
    /// An owned GPU-hour, as stated.
    pub own: Option<Money>,
    /// The utilisation from which owning is cheaper.
    pub utilisation: Option<Ratio>,
    /// What the plan would make of them.
    pub planned: Ratio,
    /// An owned GPU-hour must cost less than this for owning to be cheaper at the planned utilisation.
    pub own_below: Option<Money>,
}

/// The GPUs above `floor` of an axis, `quantity` of them, as a demand uses them over the horizon.
pub(super) fn of_axis(
    snapshot: &Snapshot,
    axis: &Axis,
    demand: &Steps,
    floor: Amount,
    quantity: Amount,
    own: Option<Money>,
) -> Option<BreakEven> {
    let horizon = i128::from((snapshot.horizon_end - snapshot.now).0);
    let used = used_above(snapshot, demand, floor);
    let planned = Ratio::new(used, i128::from(quantity.0).checked_mul(horizon)?)?;
    let priced = snapshot.prices.iter().find(|price| price.cell == axis.cell);
    let per_gpu = |money: Money| Money { nanos: money.nanos.saturating_mul(i128::from(axis.unit)) };
    let rent = priced.map(|price| per_gpu(price_at(price, snapshot.now)));
    let utilisation = own.zip(rent).and_then(|(own, rent)| Ratio::new(own.nanos, rent.nanos));
    let own_below = rent.map(|rent| Money {
        nanos: div_round_half_even(rent.nanos.saturating_mul(planned.numerator()), planned.denominator()),
    });
    let (flavor, resource) = (axis.flavor.clone(), axis.resource.clone());
    Some(BreakEven { flavor, resource, quantity, rent, own, utilisation, planned, own_below })
}

/// Σ (demand − floor) × seconds over the horizon, where it is positive.
fn used_above(snapshot: &Snapshot, demand: &Steps, floor: Amount) -> i128 {
    let mut instants = vec![snapshot.now, snapshot.horizon_end];
    let inside = demand.changes().iter().map(|step| step.0);
    instants.extend(inside.filter(|at| snapshot.now < *at && *at < snapshot.horizon_end));
    instants.sort_unstable();
    let above = |pair: &[crate::units::Timestamp]| {
        i128::from((demand.at(pair[0]) - floor).0.max(0)) * i128::from((pair[1] - pair[0]).0.max(0))
    };
    instants.windows(2).map(above).sum()
}
