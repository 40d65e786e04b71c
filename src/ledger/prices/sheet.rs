//! Price rows → a RateCard that a person can read, check and apply.

use std::collections::{BTreeMap, BTreeSet};

use crate::calendar;
use crate::units::Timestamp;

use super::{CapacityType, PriceRow};
use crate::ratio::Ratio;

/// Which rows make the card.
#[derive(Debug, Clone)]
pub struct Choice<'a> {
    /// The card's name.
    pub name: &'a str,
    /// `None`: the only region there is.
    pub region: Option<&'a str>,
    pub capacity: CapacityType,
    /// `None`: rows without an end, the newest of each device.
    pub at: Option<Timestamp>,
    /// The resource that pods ask for.
    pub resource: &'a str,
}

/// The manifest, one row for each device. Amounts have nine decimals at most, ties to even; where that is not exact, a
/// comment says so.
///
/// # Errors
/// A fragment that says why no card can be made of these rows.
pub fn rate_card(rows: &[PriceRow], choice: &Choice<'_>) -> Result<String, String> {
    let regions: BTreeSet<&str> = rows.iter().map(|row| row.region.as_str()).collect();
    let region = match (choice.region, regions.len()) {
        (Some(region), _) => region,
        (None, 1) => regions.first().copied().unwrap_or_default(),
        (None, 0) => return Err("there are no GPU prices in it".to_owned()),
        (None, _) => {
            let listed = regions.into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("it has several regions, name one of: {listed}"));
        }
    };
    let holds = |row: &&PriceRow| match choice.at {
        Some(at) => row.valid_from.is_none_or(|from| from <= at) && row.valid_to.is_none_or(|to| at < to),
        None => true,
    };
    let mut chosen: BTreeMap<&str, &PriceRow> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.region == region && row.capacity == choice.capacity).filter(holds) {
        let newest = |row: &PriceRow| (row.valid_to.is_none(), row.valid_from);
        let known = chosen.entry(&row.device).or_insert(row);
        if newest(row) > newest(known) {
            *known = row;
        }
    }
    let currencies: BTreeSet<&str> = chosen.values().map(|row| row.currency.as_str()).collect();
    let currency = match currencies.into_iter().collect::<Vec<_>>()[..] {
        [] => return Err(format!("it has no {} prices in {}", choice.capacity.as_str(), super::or_dash(region))),
        [one] => one,
        ref several => return Err(format!("its prices are in several currencies: {}", several.join(", "))),
    };
    let from = chosen.values().filter_map(|row| row.valid_from).max();
    let mut text = format!(
        "# {} prices in {}, each for one GPU. `device` names a device of the GpuInventory.\n\
         apiVersion: stagger.dev/v1alpha1\nkind: RateCard\nmetadata:\n  name: {}\nspec:\n  currency: {currency}\n",
        choice.capacity.as_str(),
        super::or_dash(region),
        choice.name
    );
    if let Some(from) = from {
        text.push_str(&format!("  effectiveFrom: {}\n", quoted(&calendar::rfc3339(from, chrono_tz::UTC))));
    }
    text.push_str("  rates:\n");
    for row in chosen.values() {
        let (amount, exact) =
            nine_places(row.price).ok_or_else(|| format!("the price of {} is too large", row.device))?;
        let share = if row.gpus == 1 { String::new() } else { format!(", the price of {} GPUs shared", row.gpus) };
        let rounded = if exact { "" } else { ", rounded to nine places" };
        text.push_str(&format!(
            "  - {{device: {}, resource: {}, unit: GpuHour, amount: {}}}  # {}{share}{rounded}\n",
            quoted(&row.device),
            choice.resource,
            quoted(&amount),
            row.source
        ));
    }
    Ok(text)
}

/// The amount as a decimal, and whether it is exact.
fn nine_places(price: Ratio) -> Option<(String, bool)> {
    let nanos = price.mul(Ratio::whole(1_000_000_000))?;
    let rounded = nanos.round_half_even();
    Some((crate::units::Money { nanos: rounded }.decimal(), nanos.denominator() == 1))
}

/// JSON's quoting is YAML's too.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
