//! RateCard manifests as rate cards: text read, devices resolved to flavors, recurring rows expanded to instants.

use crate::api::rate_card::{self, OverheadPeriod, RateCardSpec, RateUnit};
use crate::failure::Finding;
use crate::kueue::catalog::{Catalog, Known};
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::prices::flavors_of;
use crate::ledger::card::{Card, Overhead, Rate, Split, Terms};
use crate::ledger::run::Window;
use crate::names::{FlavorName, ResourceName};
use crate::units::{Seconds, Timestamp};

/// Hourly changing prices over a year; a longer report is asked for in parts.
const OCCURRENCES_MAX: usize = 10_000;

pub(super) fn read(catalog: &Catalog<'_>, window: Window, findings: &mut Findings) -> Vec<Card> {
    let one = |(name, known): (&&str, &Known<'_, RateCardSpec>)| {
        let mut reader = Reader { known, findings: &mut *findings };
        reader.card(name, catalog, window)
    };
    catalog.rate_cards.iter().map(one).collect()
}

struct Reader<'r, 'a> {
    known: &'r Known<'a, RateCardSpec>,
    findings: &'r mut Findings,
}

impl Reader<'_, '_> {
    fn value<T>(&mut self, place: &str, read: Result<T, String>) -> Option<T> {
        let manifest = self.known.manifest;
        read.map_err(|message| {
            let finding = Finding::error(codes::BAD_VALUE, manifest.subject(), message);
            self.findings.push(finding.at(manifest.span(place), "this value"));
        })
        .ok()
    }

    fn card(&mut self, name: &str, catalog: &Catalog<'_>, window: Window) -> Card {
        let spec = &self.known.spec;
        let instant =
            |written: &Option<crate::api::written::Instant>| written.as_ref().map(crate::api::written::Instant::read);
        let from = instant(&spec.effective_from).and_then(|read| self.value("/spec/effectiveFrom", read));
        let to = instant(&spec.effective_to).and_then(|read| self.value("/spec/effectiveTo", read));
        let rates = spec.rates.iter().enumerate().flat_map(|(at, rate)| self.rate(name, at, rate, catalog, window));
        let rates = rates.collect();
        let overheads = spec.overhead.iter().enumerate().filter_map(|(at, row)| {
            let amount = self.value(&format!("/spec/overhead/{at}/amount"), row.amount.read())?;
            let per = match row.per {
                OverheadPeriod::Hour => Seconds::HOUR,
                OverheadPeriod::Day => Seconds::DAY,
            };
            Some(Overhead { name: row.name.clone(), amount, per, split: split(row.split) })
        });
        Card {
            name: name.to_owned(),
            currency: spec.currency.clone(),
            from,
            to,
            overheads: overheads.collect(),
            rates,
            guaranteed: terms(&spec.guaranteed),
            borrowed: terms(&spec.borrowed),
            idle: split(spec.idle.split),
            shared: Vec::new(),
        }
    }

    /// A row for every flavor that a device stands for; otherwise one. Energy is charged from meters, not from runs.
    fn rate(
        &mut self,
        card: &str,
        at: usize,
        rate: &rate_card::Rate,
        catalog: &Catalog<'_>,
        window: Window,
    ) -> Vec<Rate> {
        let resource = ResourceName::from(rate.resource.as_str());
        let per_units = match rate.unit {
            RateUnit::KWh => return Vec::new(),
            RateUnit::GpuHour => resource.units_per_gpu(),
            RateUnit::CpuHour => 1000,
            RateUnit::GiBHour => 1 << 30,
        };
        let fits = match rate.unit {
            RateUnit::CpuHour => resource.is_milli(),
            RateUnit::GpuHour => resource.is_accelerator() || rate.device.is_some(),
            _ => !resource.is_milli() && !resource.is_accelerator(),
        };
        let place = format!("/spec/rates/{at}");
        let wrong_unit = || if fits { Ok(()) } else { Err(format!("{:?} does not measure {resource}", rate.unit)) };
        let Some(()) = self.value(&format!("{place}/unit"), wrong_unit()) else { return Vec::new() };
        let Some(amount) = self.value(&format!("{place}/amount"), rate.amount.read()) else { return Vec::new() };
        let windows = match &rate.recurring {
            None => None,
            Some(recurring) => {
                let expanded = recurring.read().and_then(|recurrence| expand(&recurrence, window));
                let Some(windows) = self.value(&format!("{place}/recurring"), expanded) else { return Vec::new() };
                Some(windows)
            }
        };
        let row = |flavor: Option<FlavorName>| Rate {
            flavor,
            resource: resource.clone(),
            per_units,
            amount,
            windows: windows.clone(),
            place: format!("rates[{at}] of RateCard {card}"),
        };
        match flavors_of(rate, catalog) {
            None => vec![row(None)],
            Some(flavors) => flavors.into_iter().map(|flavor| row(Some(flavor))).collect(),
        }
    }
}

fn expand(recurrence: &crate::calendar::Recurrence, window: Window) -> Result<Vec<Window>, String> {
    let found = recurrence.occurrences(window.from, window.to, OCCURRENCES_MAX + 1);
    if found.len() > OCCURRENCES_MAX {
        return Err(format!("recurs more than {OCCURRENCES_MAX} times in the window; report on a shorter one"));
    }
    Ok(found.into_iter().map(|(from, to): (Timestamp, Timestamp)| Window { from, to }).collect())
}

fn terms(terms: &rate_card::Terms) -> Terms {
    Terms { reserved: terms.charge == rate_card::ChargeBasis::Reserved, rate_percent: terms.rate_percent }
}

fn split(split: rate_card::Split) -> Split {
    match split {
        rate_card::Split::Apart => Split::Apart,
        rate_card::Split::ByCost => Split::ByCost,
        rate_card::Split::ByGuarantee => Split::ByGuarantee,
        rate_card::Split::Even => Split::Even,
    }
}
