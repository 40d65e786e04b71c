//! A report document read back, as far as a what-if depends on it: verified ratios, runtimes, and money that bought nothing.
//!
//! Reads `stagger.dev/report/v1`, whoever wrote it, and ignores fields it does not know. Everything wrong is told at once.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::calendar;
use crate::plan::whatif::measured::{Measured, Ratio, Runtime};
use crate::units::{Money, Seconds};

use super::document::API_VERSION;

/// Sentences about wasted money: a manager reads three.
const SAVINGS_MAX: usize = 3;
/// Waste below this share, in thousandths, is not worth a sentence.
const WORTH_TELLING_PERMILLE: i128 = 50;
/// Groups of a report: a report with more is no summary.
const GROUPS_MAX: usize = 100_000;

/// What the document says.
///
/// # Errors
/// Every place that is wrong, each with what was read and what was expected.
pub fn from_json(text: &str) -> Result<Measured, Vec<String>> {
    let value: Value = serde_json::from_str(text).map_err(|error| vec![format!("it is no JSON: {error}")])?;
    let mut reader = Reader { wrong: Vec::new() };
    match value["apiVersion"].as_str() {
        Some(API_VERSION) => {}
        other => reader.wrong.push(format!("apiVersion: read {}; expected {API_VERSION}", quoted(other))),
    }
    let total = reader.ratio("total", &value["total"]);
    let groups = value["groups"].as_array().map_or(&[][..], Vec::as_slice);
    if groups.len() > GROUPS_MAX {
        reader.wrong.push(format!("groups: read {} of them; expected at most {GROUPS_MAX}", groups.len()));
        return Err(reader.wrong);
    }
    let seconds = reader.window(&value["window"]);
    let mut by_class: BTreeMap<String, Ratio> = BTreeMap::new();
    let mut spent: BTreeMap<String, Spent> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        let place = format!("groups[{at}]");
        let ratio = reader.ratio(&place, group);
        let class = group["class"].as_str();
        if let Some(class) = class {
            by_class.entry(class.to_owned()).or_default().add(ratio);
        }
        // The class is what people act on; without classes, the tenant.
        if let Some(name) = class.or_else(|| group["tenant"].as_str()) {
            let one = reader.spent(&place, group);
            spent.entry(name.to_owned()).or_default().add(one);
        }
    }
    let runtimes = reader.runtimes(&value["runtimes"]);
    if !reader.wrong.is_empty() {
        return Err(reader.wrong);
    }
    let currency = value["currency"].as_str().unwrap_or_default();
    let input_digest = value["inputDigest"].as_str().unwrap_or_default().to_owned();
    Ok(Measured { input_digest, total, by_class, runtimes, savings: savings(spent, seconds, currency) })
}

/// `62 % of eval-nightly's cost (74.40 EUR) produced nothing verified; fixing that frees 3 GPUs.`
fn savings(spent: BTreeMap<String, Spent>, seconds: Seconds, currency: &str) -> Vec<String> {
    let mut wasteful: Vec<(String, Spent)> = spent
        .into_iter()
        .filter(|(_, one)| one.cost > 0 && one.waste.saturating_mul(1000) / one.cost >= WORTH_TELLING_PERMILLE)
        .collect();
    wasteful.sort_by(|a, b| b.1.waste.cmp(&a.1.waste).then_with(|| a.0.cmp(&b.0)));
    let sentence = |(name, one): (String, Spent)| {
        let percent = one.waste.saturating_mul(100) / one.cost;
        let wasted_seconds = one.milli_gpu_seconds.saturating_mul(one.waste) / one.cost / 1000;
        let gpus = wasted_seconds / i128::from(seconds.0.max(1));
        let frees = match gpus {
            _ if seconds.0 <= 0 => "its GPU time".to_owned(),
            0 => format!("{} GPU-hours", wasted_seconds / 3600),
            1 => "1 GPU".to_owned(),
            gpus => format!("{gpus} GPUs"),
        };
        let money = Money { nanos: one.waste }.cents();
        let money = format!("{money} {currency}");
        let money = money.trim_end();
        format!("{percent} % of {name}'s cost ({money}) produced nothing verified; fixing that frees {frees}.")
    };
    wasteful.into_iter().take(SAVINGS_MAX).map(sentence).collect()
}

/// Money in billionths and GPU time of one class or tenant.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    cost: i128,
    waste: i128,
    milli_gpu_seconds: i128,
}

impl Spent {
    fn add(&mut self, other: Self) {
        self.cost = self.cost.saturating_add(other.cost);
        self.waste = self.waste.saturating_add(other.waste);
        self.milli_gpu_seconds = self.milli_gpu_seconds.saturating_add(other.milli_gpu_seconds);
    }
}

struct Reader {
    wrong: Vec<String>,
}

impl Reader {
    fn count(&mut self, place: &str, value: &Value) -> u64 {
        value.as_u64().unwrap_or_else(|| {
            self.wrong.push(format!("{place}: read {value}; expected a count"));
            0
        })
    }

    fn decimal(&mut self, place: &str, value: &Value) -> i128 {
        let read = value.as_str().ok_or_else(|| "no text".to_owned()).and_then(Money::parse);
        read.map_or_else(
            |_| {
                self.wrong.push(format!("{place}: read {value}; expected a decimal in quotes"));
                0
            },
            |money| money.nanos,
        )
    }

    fn ratio(&mut self, place: &str, group: &Value) -> Ratio {
        let attempts = self.count(&format!("{place}.attempts"), &group["attempts"]);
        let outcomes = &group["outcomes"];
        let mut of = |name: &str| self.count(&format!("{place}.outcomes.{name}"), &outcomes[name]);
        let (verified, late) = (of("verified"), of("late"));
        let others = of("rejected").saturating_add(of("unverified"));
        let good = verified.saturating_add(late);
        Ratio { attempts, outcomes: good.saturating_add(others), good }
    }

    fn spent(&mut self, place: &str, group: &Value) -> Spent {
        let cost = self.decimal(&format!("{place}.cost.total"), &group["cost"]["total"]);
        let waste = self.decimal(&format!("{place}.waste"), &group["waste"]);
        // GPU-seconds are decimals with three places.
        let gpu_seconds = self.decimal(&format!("{place}.gpuSeconds"), &group["gpuSeconds"]);
        Spent { cost, waste, milli_gpu_seconds: gpu_seconds / 1_000_000 }
    }

    fn window(&mut self, window: &Value) -> Seconds {
        let mut at = |name: &str| {
            let read = window[name].as_str().ok_or_else(|| "no text".to_owned()).and_then(calendar::parse_instant);
            if read.is_err() {
                self.wrong.push(format!("window.{name}: read {}; expected an RFC 3339 instant", window[name]));
            }
            read.ok()
        };
        at("from").zip(at("to")).map_or(Seconds::ZERO, |(from, to)| to - from)
    }

    fn runtimes(&mut self, list: &Value) -> BTreeMap<String, Runtime> {
        let mut runtimes = BTreeMap::new();
        for (at, one) in list.as_array().map_or(&[][..], Vec::as_slice).iter().enumerate() {
            let place = format!("runtimes[{at}]");
            let mut seconds = |name: &str| {
                let count = self.count(&format!("{place}.{name}"), &one[name]);
                Seconds(i64::try_from(count).unwrap_or(i64::MAX))
            };
            let (p50, p90) = (seconds("p50Seconds"), seconds("p90Seconds"));
            let samples = self.count(&format!("{place}.samples"), &one["samples"]);
            if p50 <= Seconds::ZERO || p90 < p50 {
                self.wrong.push(format!("{place}: read p50 {} s, p90 {} s; expected 0 < p50 ≤ p90", p50.0, p90.0));
            }
            if let Some(class) = one["class"].as_str() {
                runtimes.insert(class.to_owned(), Runtime { samples, p50, p90 });
            }
        }
        runtimes
    }
}

fn quoted(text: Option<&str>) -> String {
    text.map_or_else(|| "nothing".to_owned(), |text| format!("`{}`", text.chars().take(60).collect::<String>()))
}
