//! Whether everything there is has exactly one price at every moment.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName};
use crate::units::Amount;

use super::card::{Capacity, Card};
use super::run::Window;
use super::tariff::{Period, Segment, periods};
use crate::ratio::Ratio;

/// A flavor's resource and what it costs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPrice {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    /// The most that is there at any time.
    pub capacity: Amount,
    /// `2.5 EUR per GPU-hour`, several where it changes; or why there is none.
    pub price: Result<String, Finding>,
    /// The rows that price it.
    pub places: Vec<String>,
}

/// The price of everything in `capacity` over a window, by flavor and resource.
///
/// # Errors
/// What makes the cards unusable altogether; a price that is missing or ambiguous stands with its cell.
pub fn cell_prices(cards: &[Card], capacity: &[Capacity], window: Window) -> Result<Vec<CellPrice>, Vec<Finding>> {
    let periods = periods(cards, window)?;
    let currency = cards.first().map_or("", |card| card.currency.as_str());
    let mut cells: BTreeMap<(&FlavorName, &ResourceName), Amount> = BTreeMap::new();
    for row in capacity {
        // What a window adds is there at its time only; the most that is ever there begins where some row does.
        let here = |other: &&Capacity| {
            (&other.flavor, &other.resource) == (&row.flavor, &row.resource) && other.window.contains(row.window.from)
        };
        let sum = capacity.iter().filter(here).fold(Amount::ZERO, |sum, other| sum.saturating_add(other.total));
        let most = cells.entry((&row.flavor, &row.resource)).or_default();
        *most = sum.max(*most).max(row.total);
    }
    let priced = |((flavor, resource), capacity): ((&FlavorName, &ResourceName), Amount)| CellPrice {
        flavor: flavor.clone(),
        resource: resource.clone(),
        capacity,
        price: price(&periods, flavor, resource, currency),
        places: places(&periods, flavor, resource),
    };
    Ok(cells.into_iter().map(priced).collect())
}

fn price(
    periods: &[Period<'_>],
    flavor: &FlavorName,
    resource: &ResourceName,
    currency: &str,
) -> Result<String, Finding> {
    if !resource.is_accelerator() && !periods.iter().any(|period| period.prices_somewhere(resource)) {
        return Ok("inside the price of the GPUs".to_owned());
    }
    let mut amounts: Vec<String> = Vec::new();
    for period in periods {
        for segment in period.segments(flavor, resource, period.window)? {
            let amount = per_hour(&segment, resource);
            if !amounts.contains(&amount) {
                amounts.push(amount);
            }
        }
    }
    let unit = match resource {
        resource if resource.is_accelerator() => "GPU-hour",
        resource if resource.is_milli() => "core-hour",
        _ => "GiB-hour",
    };
    Ok(format!("{} {currency} per {unit}", amounts.join(", ")))
}

/// What one GPU, core or GiB costs for an hour.
fn per_hour(segment: &Segment, resource: &ResourceName) -> String {
    let units = match resource {
        resource if resource.is_accelerator() => resource.units_per_gpu(),
        resource if resource.is_milli() => 1000,
        _ => 1 << 30,
    };
    let hourly =
        segment.micros_per_unit_second.mul(Ratio::whole(3600)).and_then(|price| price.mul(Ratio::whole(units)));
    let amount = hourly.and_then(|micros| micros.div(Ratio::whole(1_000_000)));
    amount.map_or_else(|| "?".to_owned(), |amount| amount.decimal_floor(9))
}

fn places(periods: &[Period<'_>], flavor: &FlavorName, resource: &ResourceName) -> Vec<String> {
    let rates = periods.iter().flat_map(|period| &period.rates);
    let fits =
        rates.filter(|rate| rate.resource == *resource && rate.flavor.as_ref().is_none_or(|priced| priced == flavor));
    fits.map(|rate| rate.place.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}
