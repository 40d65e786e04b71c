//! AWS Price List of EC2: JSON (`products`, `terms`) and CSV (five lines of metadata, then titles).
//!
//! The price of an instance, shared over its GPUs. Only Linux without licences, shared tenancy, capacity that is used;
//! reservations only without upfront payment, because the others need two rows to make one price. Spot is not in it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CapacityType, PriceRow, Prices, decimal, each, instant};
use crate::ratio::Ratio;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct List {
    products: BTreeMap<String, Product>,
    terms: Terms,
}

#[derive(Deserialize)]
struct Product {
    #[serde(default)]
    attributes: Attributes,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Attributes {
    instance_type: Option<String>,
    region_code: Option<String>,
    operating_system: Option<String>,
    tenancy: Option<String>,
    capacitystatus: Option<String>,
    pre_installed_sw: Option<String>,
    gpu: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Terms {
    #[serde(default)]
    on_demand: BTreeMap<String, BTreeMap<String, Term>>,
    #[serde(default)]
    reserved: BTreeMap<String, BTreeMap<String, Term>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Term {
    effective_date: Option<String>,
    #[serde(default)]
    price_dimensions: BTreeMap<String, Dimension>,
    #[serde(default)]
    term_attributes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimension {
    unit: String,
    price_per_unit: BTreeMap<String, Box<RawValue>>,
}

pub(super) fn read_json(text: &str, prices: &mut Prices) -> Result<(), String> {
    let list: List = serde_json::from_str(text).map_err(|error| format!("this is no AWS price list: {error}"))?;
    for (sku, product) in &list.products {
        let Some(machine) = machine(&product.attributes, prices) else { continue };
        let on_demand = list.terms.on_demand.get(sku).into_iter().flatten();
        let reserved = list.terms.reserved.get(sku).into_iter().flatten();
        for (term, is_reserved) in
            on_demand.map(|(_, term)| (term, false)).chain(reserved.map(|(_, term)| (term, true)))
        {
            let attribute = |name: &str| term.term_attributes.get(name).map(String::as_str);
            let lease = attribute("LeaseContractLength").filter(|_| is_reserved);
            let Some(capacity) =
                capacity(lease, attribute("PurchaseOption"), attribute("OfferingClass"), is_reserved, prices)
            else {
                continue;
            };
            for dimension in term.price_dimensions.values() {
                for (currency, price) in &dimension.price_per_unit {
                    let price = decimal(price);
                    let row =
                        Row { sku, capacity, unit: &dimension.unit, currency, from: term.effective_date.as_deref() };
                    add(&machine, &row, price, prices);
                }
            }
        }
    }
    Ok(())
}

/// An instance type with GPUs.
struct Machine {
    name: String,
    region: String,
    gpus: u32,
}

struct Row<'a> {
    sku: &'a str,
    capacity: CapacityType,
    unit: &'a str,
    currency: &'a str,
    from: Option<&'a str>,
}

fn machine(attributes: &Attributes, prices: &mut Prices) -> Option<Machine> {
    let is = |value: &Option<String>, wanted: &str| value.as_deref() == Some(wanted);
    let gpus = attributes.gpu.as_deref().and_then(|gpus| gpus.parse::<u32>().ok()).filter(|gpus| *gpus > 0);
    let (Some(name), Some(gpus)) = (&attributes.instance_type, gpus) else {
        prices.leave_out("without a GPU");
        return None;
    };
    let plain = is(&attributes.operating_system, "Linux")
        && is(&attributes.tenancy, "Shared")
        && is(&attributes.capacitystatus, "Used")
        && is(&attributes.pre_installed_sw, "NA");
    if !plain {
        prices.leave_out("licences, dedicated tenancy or unused reservations");
        return None;
    }
    Some(Machine { name: name.clone(), region: attributes.region_code.clone().unwrap_or_default(), gpus })
}

fn capacity(
    lease: Option<&str>,
    option: Option<&str>,
    class: Option<&str>,
    is_reserved: bool,
    prices: &mut Prices,
) -> Option<CapacityType> {
    if !is_reserved {
        return Some(CapacityType::OnDemand);
    }
    if option != Some("No Upfront") || class == Some("convertible") {
        prices.leave_out("reservations with upfront payment, or convertible");
        return None;
    }
    match lease {
        Some("1yr" | "1 yr") => Some(CapacityType::Reserved1Year),
        Some("3yr" | "3 yr") => Some(CapacityType::Reserved3Years),
        _ => {
            prices.leave_out("reservations of another length");
            None
        }
    }
}

fn add(machine: &Machine, row: &Row<'_>, price: Result<Ratio, String>, prices: &mut Prices) {
    let source = format!("AWS SKU {}", row.sku);
    if row.unit != "Hrs" {
        prices.leave_out("not by the hour");
        return;
    }
    let read = price.and_then(|price| Ok((each(price, machine.gpus)?, row.from.map(instant).transpose()?)));
    match read {
        Ok((price, valid_from)) => prices.rows.push(PriceRow {
            device: machine.name.clone(),
            gpus: machine.gpus,
            region: machine.region.clone(),
            capacity: row.capacity,
            price,
            currency: row.currency.to_owned(),
            valid_from,
            valid_to: None,
            source,
        }),
        Err(message) => prices.refuse(&source, message),
    }
}

/// The titles of the columns that are read.
const TITLES: [&str; 5] = ["SKU", "TermType", "Unit", "PricePerUnit", "Instance Type"];

pub(super) fn read_csv(text: &str, prices: &mut Prices) -> Result<(), String> {
    // The metadata lines have two cells, the rest has many: the reader must not insist on equal lengths.
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    let mut titles: Option<BTreeMap<String, usize>> = None;
    for record in reader.records() {
        let record = record.map_err(|error| format!("this is no AWS price list: {error}"))?;
        let Some(columns) = &titles else {
            if TITLES.iter().all(|title| record.iter().any(|cell| cell == *title)) {
                titles = Some(record.iter().enumerate().map(|(at, title)| (title.to_owned(), at)).collect());
            }
            continue;
        };
        let cell = |title: &str| columns.get(title).and_then(|at| record.get(*at)).filter(|cell| !cell.is_empty());
        let text = |title: &str| cell(title).map(str::to_owned);
        let attributes = Attributes {
            instance_type: text("Instance Type"),
            region_code: text("Region Code"),
            operating_system: text("Operating System"),
            tenancy: text("Tenancy"),
            capacitystatus: text("CapacityStatus"),
            pre_installed_sw: text("Pre Installed S/W"),
            gpu: text("GPU"),
        };
        let Some(machine) = machine(&attributes, prices) else { continue };
        let is_reserved = cell("TermType") == Some("Reserved");
        let lease = cell("LeaseContractLength");
        let Some(capacity) = capacity(lease, cell("PurchaseOption"), cell("OfferingClass"), is_reserved, prices) else {
            continue;
        };
        let sku = cell("SKU").unwrap_or("?");
        let day = cell("EffectiveDate").map(|date| format!("{date}T00:00:00Z"));
        let row = Row {
            sku,
            capacity,
            unit: cell("Unit").unwrap_or_default(),
            currency: cell("Currency").unwrap_or("USD"),
            from: day.as_deref(),
        };
        let price = cell("PricePerUnit").ok_or_else(|| "PricePerUnit is empty".to_owned()).and_then(Ratio::parse);
        add(&machine, &row, price, prices);
    }
    if titles.is_none() {
        return Err(format!("this is no AWS price list: no line has the titles {}", TITLES.join(", ")));
    }
    Ok(())
}
