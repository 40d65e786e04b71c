//! Rate cards as prices of cells: one price outside all windows, and disjoint stretches with prices of their own.
//!
//! Recurring rates become stretches, and so does the everyday rate of a card that is not yet, or no longer, in force now.
//! Deliberately absent: guarantee and borrowing terms, overhead, energy. They are charged afterwards, not planned.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Catalog, Known};
use super::codes;
use super::findings::Findings;
use super::queues::Queues;
use super::windows::BEYOND_HORIZON;
use crate::api::inventory::Device;
use crate::api::rate_card::{Rate, RateCardSpec, RateUnit};
use crate::failure::{Finding, Severity};
use crate::names::{FlavorName, ResourceName};
use crate::plan::snapshot::{CellId, CellPrice, PriceWindow};
use crate::units::{Money, Timestamp, div_round_half_even};

/// Hourly changing prices over a month are 720 stretches; a planner has to look at each.
const STRETCHES_MAX: usize = 1_000;

/// Prices, and the currency all of them are in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Prices {
    pub cells: Vec<CellPrice>,
    pub currency: Option<String>,
}

/// A rate on a cell over a stretch of time.
struct Stretch<'a> {
    start: Timestamp,
    end: Timestamp,
    price: Money,
    card: &'a str,
    /// Pointer of the rate.
    place: String,
}

/// Expands the cards in force between now and a week past the horizon.
pub fn expand<'a>(
    catalog: &'a Catalog<'a>,
    queues: &Queues,
    (now, horizon_end): (Timestamp, Timestamp),
    findings: &mut Findings,
) -> Prices {
    let until = horizon_end + BEYOND_HORIZON;
    let mut everyday: BTreeMap<CellId, Vec<Stretch<'a>>> = BTreeMap::new();
    let mut special: BTreeMap<CellId, Vec<Stretch<'a>>> = BTreeMap::new();
    let mut currency: Option<(&str, &str)> = None;
    for (name, card) in &catalog.rate_cards {
        let Some((from, to)) = in_force(card, findings).map(|(from, to)| (from.max(now), to.min(until))) else {
            continue;
        };
        if from >= to {
            continue;
        }
        match currency {
            Some((first, _)) if first != card.spec.currency => mixed(card, currency, findings),
            _ => currency = Some((&card.spec.currency, name)),
        }
        for (at, rate) in card.spec.rates.iter().enumerate() {
            let place = format!("/spec/rates/{at}");
            let Some(times) = times(card, rate, &place, (from, to), findings) else { continue };
            for (cell, price) in priced_cells(card, (at, rate), catalog, queues, findings) {
                let into = if rate.recurring.is_some() { &mut special } else { &mut everyday };
                let stretch = |(start, end): &(Timestamp, Timestamp)| Stretch {
                    start: *start,
                    end: *end,
                    price,
                    card: name,
                    place: place.clone(),
                };
                into.entry(cell).or_default().extend(times.iter().map(stretch));
            }
        }
    }
    let mut cells = Vec::new();
    let mut told = BTreeSet::new();
    let ids: BTreeSet<CellId> = everyday.keys().chain(special.keys()).copied().collect();
    for cell in ids {
        let mut usual = everyday.remove(&cell).unwrap_or_default();
        let mut windows = special.remove(&cell).unwrap_or_default();
        check_disjoint(&mut usual, catalog, &mut told, findings);
        check_disjoint(&mut windows, catalog, &mut told, findings);
        // Where no everyday rate is in force now, time outside the stretches costs nothing.
        let base = usual.first().filter(|first| first.start <= now).map_or(Money::ZERO, |first| first.price);
        let mut priced: Vec<PriceWindow> = windows.iter().map(window).collect();
        for stretch in usual.iter().filter(|stretch| stretch.price != base) {
            fill(&mut priced, stretch);
        }
        priced.sort_by_key(|window| window.start);
        priced.truncate(STRETCHES_MAX);
        cells.push(CellPrice { cell, per_unit_hour: base, windows: priced });
    }
    Prices { cells, currency: currency.map(|(currency, _)| currency.to_owned()) }
}

fn window(stretch: &Stretch<'_>) -> PriceWindow {
    PriceWindow { start: stretch.start, end: stretch.end, per_unit_hour: stretch.price }
}

/// Adds a stretch wherever no window is yet.
fn fill(windows: &mut Vec<PriceWindow>, stretch: &Stretch<'_>) {
    windows.sort_by_key(|window| window.start);
    let mut free = Vec::new();
    let mut at = stretch.start;
    for window in windows.iter().filter(|window| window.end > stretch.start && window.start < stretch.end) {
        if window.start > at {
            free.push((at, window.start));
        }
        at = at.max(window.end);
    }
    if at < stretch.end {
        free.push((at, stretch.end));
    }
    windows.extend(free.into_iter().map(|(start, end)| PriceWindow { start, end, per_unit_hour: stretch.price }));
}

fn in_force(card: &Known<'_, RateCardSpec>, findings: &mut Findings) -> Option<(Timestamp, Timestamp)> {
    let mut bound = |field: &str, written: Option<&crate::api::written::Instant>, open: Timestamp| match written {
        None => Some(open),
        Some(written) => written
            .read()
            .map_err(|message| {
                findings.push(
                    Finding::error(codes::BAD_VALUE, card.manifest.subject(), message)
                        .at(card.manifest.span(field), "this value"),
                );
            })
            .ok(),
    };
    let from = bound("/spec/effectiveFrom", card.spec.effective_from.as_ref(), Timestamp(i64::MIN));
    let to = bound("/spec/effectiveTo", card.spec.effective_to.as_ref(), Timestamp(i64::MAX));
    Some((from?, to?))
}

fn mixed(card: &Known<'_, RateCardSpec>, first: Option<(&str, &str)>, findings: &mut Findings) {
    let (currency, name) = first.unwrap_or_default();
    let message = format!("is in {} while `{name}`, in force together with it, is in {currency}", card.spec.currency);
    findings.push(
        Finding::error(codes::CURRENCIES_MIXED, card.manifest.subject(), message)
            .at(card.manifest.span("/spec/currency"), "another currency")
            .hint("give all rate cards in one currency; nothing here converts money"),
    );
}

fn times(
    card: &Known<'_, RateCardSpec>,
    rate: &Rate,
    place: &str,
    (from, to): (Timestamp, Timestamp),
    findings: &mut Findings,
) -> Option<Vec<(Timestamp, Timestamp)>> {
    let Some(recurring) = &rate.recurring else { return Some(vec![(from, to)]) };
    match recurring.read() {
        Ok(recurrence) => {
            let clipped = recurrence.occurrences(from, to, STRETCHES_MAX).into_iter();
            Some(clipped.map(|(start, end)| (start.max(from), end.min(to))).collect())
        }
        Err(message) => {
            findings.push(
                Finding::error(codes::BAD_VALUE, card.manifest.subject(), message)
                    .at(card.manifest.span(&format!("{place}/recurring")), "here"),
            );
            None
        }
    }
}

/// The cells a rate prices, with the price of one base unit (of one core for cpu) for one hour.
fn priced_cells(
    card: &Known<'_, RateCardSpec>,
    (at, rate): (usize, &Rate),
    catalog: &Catalog<'_>,
    queues: &Queues,
    findings: &mut Findings,
) -> Vec<(CellId, Money)> {
    let place = format!("/spec/rates/{at}");
    let resource = ResourceName::from(rate.resource.as_str());
    let mut refuse = |severity: Severity, code: &'static str, field: &str, message: String| {
        let span = card.manifest.span(&format!("{place}{field}"));
        findings.push(Finding::new(code, severity, card.manifest.subject(), message).at(span, "here"));
        Vec::new()
    };
    let amount = match rate.amount.read() {
        Ok(amount) => amount,
        Err(message) => return refuse(Severity::Error, codes::BAD_VALUE, "/amount", message),
    };
    let units_per_price: i128 = match rate.unit {
        RateUnit::KWh => return Vec::new(),
        RateUnit::GpuHour => i128::from(resource.units_per_gpu()),
        RateUnit::CpuHour => 1,
        RateUnit::GiBHour => 1 << 30,
    };
    let fits = match rate.unit {
        RateUnit::CpuHour => resource.is_milli(),
        RateUnit::GpuHour => resource.is_accelerator() || rate.device.is_some(),
        _ => !resource.is_milli() && !resource.is_accelerator(),
    };
    if !fits {
        let message = format!("{:?} does not measure {resource}", rate.unit);
        return refuse(Severity::Error, codes::BAD_VALUE, "/unit", message);
    }
    let nanos = div_round_half_even(amount.nanos, units_per_price);
    // A byte's price is below a billionth in most currencies; a plan with a price off by over a percent would mislead.
    if (nanos * units_per_price - amount.nanos).abs() * 100 > amount.nanos.abs() {
        let message = format!("rates[{at}] is too small per unit of {resource} to plan with; only reports count it");
        return refuse(Severity::Note, codes::RATE_UNUSED, "/amount", message);
    }
    let flavors = flavors_of(rate, catalog);
    let named = |flavor: &FlavorName| flavors.as_ref().is_none_or(|flavors| flavors.contains(flavor));
    let ids = (0u32..).map(CellId).zip(&queues.cells);
    let cells = ids.filter(|(_, cell)| cell.resource == resource && named(&cell.flavor));
    let priced: Vec<(CellId, Money)> = cells.map(|(id, _)| (id, Money { nanos })).collect();
    if priced.is_empty() {
        let whose = match (&rate.flavor, &rate.device) {
            (Some(flavor), _) => format!(" on {flavor}"),
            (None, Some(device)) => format!(" on a flavor with the device {device}"),
            (None, None) => String::new(),
        };
        let message = format!("rates[{at}] prices nothing here: no queue has quota of {resource}{whose}");
        refuse(Severity::Note, codes::RATE_UNUSED, "", message);
    }
    priced
}

/// The flavors a rate speaks of; `None`: all of them.
#[must_use]
pub fn flavors_of(rate: &Rate, catalog: &Catalog<'_>) -> Option<Vec<FlavorName>> {
    if let Some(flavor) = &rate.flavor {
        return Some(vec![FlavorName::from(flavor.as_str())]);
    }
    let name = rate.device.as_ref()?;
    let carries = |flavor: &str, device: &Device| match (&device.flavor, catalog.flavors.get(flavor)) {
        (Some(named), _) => named == flavor,
        (None, Some(known)) => {
            !device.node_labels.is_empty()
                && device.node_labels.iter().all(|(key, value)| known.spec.node_labels.get(key) == Some(value))
        }
        (None, None) => false,
    };
    let devices: Vec<&Device> = catalog
        .inventories
        .values()
        .flat_map(|known| &known.spec.devices)
        .filter(|device| device.name == *name)
        .collect();
    let flavors = catalog.flavors.keys().filter(|flavor| devices.iter().any(|device| carries(flavor, device)));
    Some(flavors.map(|flavor| FlavorName::from(*flavor)).collect())
}

/// Sorts the stretches, drops those that begin before the one before them ends, and tells of each such rate once.
fn check_disjoint(
    stretches: &mut Vec<Stretch<'_>>,
    catalog: &Catalog<'_>,
    told: &mut BTreeSet<(String, String)>,
    findings: &mut Findings,
) {
    stretches.sort_by(|a, b| (a.start, a.end, a.card, &a.place).cmp(&(b.start, b.end, b.card, &b.place)));
    let mut end = Timestamp(i64::MIN);
    let mut holder: Option<(String, String)> = None;
    stretches.retain(|stretch| {
        if stretch.start >= end {
            end = stretch.end;
            holder = Some((stretch.card.to_owned(), stretch.place.clone()));
            return true;
        }
        if let (Some(card), Some((other, place))) = (catalog.rate_cards.get(stretch.card), &holder)
            && told.insert((stretch.card.to_owned(), stretch.place.clone()))
        {
            let row = place.rsplit('/').next().unwrap_or_default();
            let message = format!("prices what rates[{row}] of `{other}` prices at the same time");
            findings.push(
                Finding::error(codes::RATES_OVERLAP, card.manifest.subject(), message)
                    .at(card.manifest.span(&stretch.place), "the second price")
                    .hint("end one before the other begins, or remove one"),
            );
        }
        false
    });
}
