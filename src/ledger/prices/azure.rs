//! Azure Retail Prices: pages of `Items`. The API does not say how many GPUs a size has: a table does, or the caller.
//!
//! A reservation's price is that of its whole term although its unit still says one hour. Spot and Windows hide in names.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CapacityType, Hints, PriceRow, Prices, decimal, each, instant};
use crate::failure::Finding;
use crate::ratio::Ratio;

/// GPUs of the sizes that have whole ones (Azure's documentation of the NC and ND families).
const GPUS: [(&str, u32); 16] = [
    ("Standard_NC4as_T4_v3", 1),
    ("Standard_NC8as_T4_v3", 1),
    ("Standard_NC16as_T4_v3", 1),
    ("Standard_NC64as_T4_v3", 4),
    ("Standard_NC24ads_A100_v4", 1),
    ("Standard_NC48ads_A100_v4", 2),
    ("Standard_NC96ads_A100_v4", 4),
    ("Standard_NC40ads_H100_v5", 1),
    ("Standard_NC80adis_H100_v5", 2),
    ("Standard_ND96asr_v4", 8),
    ("Standard_ND96amsr_A100_v4", 8),
    ("Standard_ND96isr_H100_v5", 8),
    ("Standard_ND96isr_H200_v5", 8),
    ("Standard_NC6s_v3", 1),
    ("Standard_NC12s_v3", 2),
    ("Standard_NC24s_v3", 4),
];

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Page {
    items: Vec<Item>,
    next_page_link: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    currency_code: String,
    retail_price: Box<RawValue>,
    #[serde(default)]
    arm_region_name: String,
    #[serde(default)]
    arm_sku_name: String,
    #[serde(default)]
    meter_name: String,
    #[serde(default)]
    sku_name: String,
    #[serde(default)]
    product_name: String,
    #[serde(default)]
    unit_of_measure: String,
    #[serde(default, rename = "type")]
    kind: String,
    reservation_term: Option<String>,
    effective_start_date: Option<String>,
    effective_end_date: Option<String>,
    #[serde(default)]
    meter_id: String,
}

pub(super) fn read(text: &str, hints: &Hints, prices: &mut Prices) -> Result<(), String> {
    let page: Page =
        serde_json::from_str(text).map_err(|error| format!("this is no page of Azure retail prices: {error}"))?;
    if page.next_page_link.is_some_and(|link| !link.is_empty()) {
        let message = "there are more pages; only this one was read";
        prices.findings.push(Finding::warning("SG163", "Azure retail prices", message));
    }
    for item in &page.items {
        if let Err(message) = row(item, hints, prices) {
            prices.refuse(&format!("Azure meter {}", item.meter_id), message);
        }
    }
    Ok(())
}

fn row(item: &Item, hints: &Hints, prices: &mut Prices) -> Result<(), String> {
    let built_in = || GPUS.iter().find(|(name, _)| *name == item.arm_sku_name).map(|(_, gpus)| *gpus);
    let Some(gpus) = hints.gpus.get(&item.arm_sku_name).copied().or_else(built_in).filter(|gpus| *gpus > 0) else {
        prices.leave_out("sizes of which nobody says how many GPUs they have");
        return Ok(());
    };
    let named =
        |word: &str| [&item.meter_name, &item.sku_name, &item.product_name].iter().any(|text| text.contains(word));
    if named("Windows")
        || named("Low Priority")
        || item.kind == "DevTestConsumption"
        || item.unit_of_measure != "1 Hour"
    {
        prices.leave_out("Windows, low priority, development terms, or not by the hour");
        return Ok(());
    }
    let listed = decimal(&item.retail_price)?;
    let hours = |years: i64| Ratio::whole(years * 8760);
    let whole_term = |hours: Ratio| listed.div(hours).ok_or_else(|| "the price is too large".to_owned());
    let (capacity, hourly) = match (item.kind.as_str(), item.reservation_term.as_deref()) {
        ("Reservation", Some("1 Year")) => (CapacityType::Reserved1Year, whole_term(hours(1))?),
        ("Reservation", Some("3 Years")) => (CapacityType::Reserved3Years, whole_term(hours(3))?),
        ("Consumption", _) if named("Spot") => (CapacityType::Spot, listed),
        ("Consumption", _) => (CapacityType::OnDemand, listed),
        _ => {
            prices.leave_out("reservations of another length");
            return Ok(());
        }
    };
    prices.rows.push(PriceRow {
        device: item.arm_sku_name.clone(),
        gpus,
        region: item.arm_region_name.clone(),
        capacity,
        price: each(hourly, gpus)?,
        currency: item.currency_code.clone(),
        valid_from: item.effective_start_date.as_deref().map(instant).transpose()?,
        valid_to: item.effective_end_date.as_deref().map(instant).transpose()?,
        source: format!("Azure meter {}", item.meter_id),
    });
    Ok(())
}
