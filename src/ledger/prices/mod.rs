//! Price lists of others → rows of one shape: a device, a region, a kind of capacity, a price for one GPU-hour.
//!
//! Laws: prices are exact decimals, read as they are written; what is not a GPU price is left out and counted, never
//! guessed; two rows for the same thing at the same time are refused. Deliberately absent: fetching anything.

mod aws;
mod azure;
mod gcp;
mod opencost;
mod owned;
mod sheet;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::calendar;
use crate::failure::{Finding, SourceFile};
use crate::units::Timestamp;

use crate::ratio::Ratio;

pub use owned::{Owned, OwnedPrice, owned};
pub use sheet::{Choice, rate_card};

/// The largest price list that is read: one region of EC2 is about half of it.
pub const FILE_BYTES_MAX: usize = 1 << 30;

/// One price.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceRow {
    /// As the list calls it: an instance type, a GPU model.
    pub device: String,
    /// GPUs that the listed price is for; the row's price is for one.
    pub gpus: u32,
    /// Empty where the list has none.
    pub region: String,
    pub capacity: CapacityType,
    /// For one GPU and one hour.
    pub price: Ratio,
    /// ISO 4217.
    pub currency: String,
    pub valid_from: Option<Timestamp>,
    pub valid_to: Option<Timestamp>,
    /// The list and the place in it: `AWS SKU ABC`.
    pub source: String,
}

/// What is promised for the price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CapacityType {
    OnDemand,
    /// May be taken back.
    Spot,
    Reserved1Year,
    Reserved3Years,
    Owned,
}

impl CapacityType {
    pub const ALL: [Self; 5] = [Self::OnDemand, Self::Spot, Self::Reserved1Year, Self::Reserved3Years, Self::Owned];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OnDemand => "on-demand",
            Self::Spot => "spot",
            Self::Reserved1Year => "reserved-1y",
            Self::Reserved3Years => "reserved-3y",
            Self::Owned => "owned",
        }
    }

    /// # Errors
    /// A fragment that lists what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|known| known.as_str() == text);
        known.ok_or_else(|| format!("`{text}` is not one of on-demand, spot, reserved-1y, reserved-3y, owned"))
    }
}

/// The lists that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// AWS Price List, JSON or CSV: told apart by the first letter.
    Aws,
    /// Azure Retail Prices API.
    Azure,
    /// Google Cloud Billing Catalog API.
    Gcp,
    /// OpenCost's CSV provider.
    OpenCost,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prices {
    /// By device, region, capacity and time.
    pub rows: Vec<PriceRow>,
    /// What the list holds besides, by why it is not taken.
    pub left_out: BTreeMap<&'static str, u64>,
    pub findings: Vec<Finding>,
}

/// What the list does not say.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// GPUs by instance type, before what is built in.
    pub gpus: BTreeMap<String, u32>,
    /// The currency of lists that name none (`OpenCost`).
    pub currency: Option<String>,
}

/// Reads a price list. Codes: `SG160` not this format, `SG161` a bad row, `SG162` overlapping rows, `SG163` more pages.
#[must_use]
pub fn read(file: &Arc<SourceFile>, format: Format, hints: &Hints) -> Prices {
    let mut prices = Prices::default();
    if file.text.len() > FILE_BYTES_MAX {
        let message = format!("the file is larger than {} MiB", FILE_BYTES_MAX >> 20);
        prices.findings.push(Finding::error("SG160", &*file.path, message));
        return prices;
    }
    let text = file.text.trim_start_matches('\u{feff}');
    let outcome = match format {
        Format::Aws if text.trim_start().starts_with('{') => aws::read_json(text, &mut prices),
        Format::Aws => aws::read_csv(text, &mut prices),
        Format::Azure => azure::read(text, hints, &mut prices),
        Format::Gcp => gcp::read(text, &mut prices),
        Format::OpenCost => opencost::read(text, hints, &mut prices),
    };
    if let Err(message) = outcome {
        prices.findings.push(Finding::error("SG160", &*file.path, message));
    }
    prices.settle();
    prices
}

impl Prices {
    fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_insert(0) += 1;
    }

    fn refuse(&mut self, subject: &str, message: String) {
        self.findings.push(Finding::error("SG161", subject, message));
    }

    /// Orders the rows, drops exact repetitions and refuses rows that overlap.
    fn settle(&mut self) {
        let key = |row: &PriceRow| {
            (
                row.device.clone(),
                row.region.clone(),
                row.capacity,
                row.currency.clone(),
                row.valid_from,
                row.source.clone(),
            )
        };
        self.rows.sort_by_key(key);
        self.rows.dedup();
        let same = |a: &PriceRow, b: &PriceRow| {
            (&a.device, &a.region, a.capacity, &a.currency) == (&b.device, &b.region, b.capacity, &b.currency)
        };
        let mut overlaps = Vec::new();
        for pair in self.rows.windows(2).filter(|pair| same(&pair[0], &pair[1])) {
            let until = pair[0].valid_to.unwrap_or(Timestamp(i64::MAX));
            if pair[1].valid_from.unwrap_or(Timestamp(i64::MIN)) < until {
                let subject =
                    format!("{} {} in {}", pair[0].capacity.as_str(), pair[0].device, or_dash(&pair[0].region));
                let message = format!("{} and {} both price it at the same time", pair[0].source, pair[1].source);
                overlaps.push(Finding::error("SG162", subject, message));
            }
        }
        self.findings.extend(overlaps);
    }
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "-" } else { text }
}

/// A JSON number or a text with a number in it, exactly.
fn decimal(raw: &RawValue) -> Result<Ratio, String> {
    let text = raw.get();
    let text = serde_json::from_str::<String>(text).unwrap_or_else(|_| text.to_owned());
    Ratio::parse(&text)
}

/// A list price over the GPUs it is for.
fn each(price: Ratio, gpus: u32) -> Result<Ratio, String> {
    let share = Ratio::new(i128::from(gpus), 1).and_then(|gpus| price.div(gpus));
    share.filter(|price| !price.is_negative()).ok_or_else(|| "the price is negative or too large".to_owned())
}

fn instant(text: &str) -> Result<Timestamp, String> {
    calendar::parse_instant(text)
}
