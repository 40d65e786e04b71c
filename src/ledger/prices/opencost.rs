//! OpenCost's CSV price sheet: the rows of class `gpu`, whose instance id is the value of a node label.

use std::collections::BTreeMap;

use super::{CapacityType, Hints, PriceRow, Prices, each, instant};
use crate::ratio::Ratio;

const TITLES: [&str; 4] = ["InstanceID", "AssetClass", "InstanceIDField", "MarketPriceHourly"];

pub(super) fn read(text: &str, hints: &Hints, prices: &mut Prices) -> Result<(), String> {
    let Some(currency) = &hints.currency else {
        return Err("an OpenCost price sheet does not name its currency; give one, such as USD".to_owned());
    };
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).flexible(true).from_reader(text.as_bytes());
    let titles = reader.headers().map_err(|error| format!("this is no price sheet: {error}"))?;
    let columns: BTreeMap<String, usize> =
        titles.iter().enumerate().map(|(at, title)| (title.to_owned(), at)).collect();
    if let Some(missing) = TITLES.iter().find(|title| !columns.contains_key(**title)) {
        return Err(format!("this is no OpenCost price sheet: there is no column {missing}"));
    }
    for (at, record) in reader.records().enumerate() {
        // One line of titles, and people count lines from one.
        let source = format!("OpenCost line {}", at + 2);
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                prices.refuse(&source, error.to_string());
                continue;
            }
        };
        let cell = |title: &str| columns.get(title).and_then(|at| record.get(*at)).filter(|cell| !cell.is_empty());
        if cell("AssetClass") != Some("gpu") {
            prices.leave_out("nodes and storage");
            continue;
        }
        let read = || {
            let price = Ratio::parse(cell("MarketPriceHourly").ok_or("MarketPriceHourly is empty")?)?;
            Ok::<PriceRow, String>(PriceRow {
                device: cell("InstanceID").ok_or("InstanceID is empty")?.to_owned(),
                gpus: 1,
                region: cell("Region").unwrap_or_default().to_owned(),
                capacity: CapacityType::OnDemand,
                price: each(price, 1)?,
                currency: currency.clone(),
                valid_from: None,
                valid_to: cell("EndTimestamp").map(end).transpose()?,
                source: source.clone(),
            })
        };
        match read() {
            Ok(row) => prices.rows.push(row),
            Err(message) => prices.refuse(&source, message),
        }
    }
    Ok(())
}

/// `2028-01-06 23:34:45 UTC`, as OpenCost's samples have it, or RFC 3339.
fn end(text: &str) -> Result<crate::units::Timestamp, String> {
    let spaced = text.strip_suffix(" UTC").map(|rest| format!("{}Z", rest.replace(' ', "T")));
    instant(spaced.as_deref().unwrap_or(text))
}
