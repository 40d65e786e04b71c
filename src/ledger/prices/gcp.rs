//! Google Cloud's catalog: GPU SKUs are priced apart from the machines they are attached to, one row for each region.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CapacityType, PriceRow, Prices, decimal, each, instant};
use crate::failure::Finding;
use crate::ratio::Ratio;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page {
    skus: Vec<Sku>,
    next_page_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sku {
    #[serde(default)]
    sku_id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    category: Category,
    #[serde(default)]
    service_regions: Vec<String>,
    #[serde(default)]
    pricing_info: Vec<PricingInfo>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Category {
    resource_group: String,
    usage_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PricingInfo {
    effective_time: Option<String>,
    pricing_expression: Expression,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expression {
    usage_unit: String,
    #[serde(default)]
    tiered_rates: Vec<Tier>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tier {
    start_usage_amount: Option<Box<RawValue>>,
    unit_price: UnitPrice,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitPrice {
    currency_code: String,
    units: Option<Box<RawValue>>,
    nanos: Option<i64>,
}

pub(super) fn read(text: &str, prices: &mut Prices) -> Result<(), String> {
    let page: Page =
        serde_json::from_str(text).map_err(|error| format!("this is no page of Google Cloud's catalog: {error}"))?;
    if page.next_page_token.is_some_and(|token| !token.is_empty()) {
        let message = "there are more pages; only this one was read";
        prices.findings.push(Finding::warning("SG163", "Google Cloud's catalog", message));
    }
    for sku in &page.skus {
        if sku.category.resource_group != "GPU" {
            prices.leave_out("not a GPU: machines, memory and cores have SKUs of their own");
        } else if let Err(message) = rows(sku, prices) {
            prices.refuse(&format!("Google Cloud SKU {}", sku.sku_id), message);
        }
    }
    Ok(())
}

fn rows(sku: &Sku, prices: &mut Prices) -> Result<(), String> {
    let capacity = match sku.category.usage_type.as_str() {
        "OnDemand" => CapacityType::OnDemand,
        "Preemptible" => CapacityType::Spot,
        "Commit1Yr" => CapacityType::Reserved1Year,
        "Commit3Yr" => CapacityType::Reserved3Years,
        _ => {
            prices.leave_out("another kind of usage");
            return Ok(());
        }
    };
    // "Nvidia Tesla A100 GPU attached to Spot Preemptible VMs running in Americas": the model comes first.
    let cut = [" running in ", " attached to "].iter().filter_map(|word| sku.description.find(word)).min();
    let device = sku.description[..cut.unwrap_or(sku.description.len())].trim_end_matches(" GPU").to_owned();
    for info in &sku.pricing_info {
        if info.pricing_expression.usage_unit != "h" {
            return Err(format!("the unit is {}, not h", info.pricing_expression.usage_unit));
        }
        let (price, currency) = only_price(&info.pricing_expression.tiered_rates)?;
        let valid_from = info.effective_time.as_deref().map(instant).transpose()?;
        for region in &sku.service_regions {
            prices.rows.push(PriceRow {
                device: device.clone(),
                gpus: 1,
                region: region.clone(),
                capacity,
                price: each(price, 1)?,
                currency: currency.clone(),
                valid_from,
                valid_to: None,
                source: format!("Google Cloud SKU {}", sku.sku_id),
            });
        }
    }
    Ok(())
}

/// A price that depends on how much is used is no price of a GPU-hour; a free first tier beside it neither.
fn only_price(tiers: &[Tier]) -> Result<(Ratio, String), String> {
    let [tier] = tiers else { return Err(format!("there are {} price tiers, not one", tiers.len())) };
    if let Some(start) = &tier.start_usage_amount
        && decimal(start)? != Ratio::ZERO
    {
        return Err("the only price tier does not start at zero".to_owned());
    }
    let units = tier.unit_price.units.as_deref().map_or(Ok(Ratio::ZERO), decimal)?;
    let nanos = Ratio::new(i128::from(tier.unit_price.nanos.unwrap_or(0)), 1_000_000_000);
    let price = nanos.and_then(|nanos| units.add(nanos)).ok_or("the price is too large")?;
    Ok((price, tier.unit_price.currency_code.clone()))
}
