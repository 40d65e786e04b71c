//! RateCard: every thing has one price at every time, in a unit that measures it.

use std::collections::BTreeMap;

use super::Judge;
use crate::api::rate_card::{Rate, RateCardSpec, RateUnit};
use crate::kueue::codes as meaning;
use crate::names::ResourceName;
use crate::scenario::codes;
use crate::units::{Seconds, Timestamp};

pub fn check(spec: &RateCardSpec, judge: &mut Judge<'_>) {
    let (from, to) = (spec.effective_from.as_ref(), spec.effective_to.as_ref());
    judge.ascending(codes::CONTRADICTION, "/spec/effectiveFrom", "/spec/effectiveTo", from, to);
    rates("/spec/rates", &spec.rates, judge);
    judge.unique("/spec/overhead", "/name", spec.overhead.iter().map(|one| one.name.as_str()));
    for (index, one) in spec.overhead.iter().enumerate() {
        judge.not_negative(&format!("/spec/overhead/{index}/amount"), &one.amount);
    }
    judge.unique("/spec/weights", "/version", spec.weights.iter().map(|one| one.version.as_str()));
    for (index, set) in spec.weights.iter().enumerate() {
        let list = format!("/spec/weights/{index}/units");
        judge.unique(&list, "/kind", set.units.iter().map(|one| one.kind.as_str()));
        for (unit, one) in set.units.iter().enumerate() {
            judge.not_negative(&format!("{list}/{unit}/weight"), &one.weight);
        }
    }
}

/// The rules of a list of prices, here and in a scenario's options.
pub fn rates(list: &str, rates: &[Rate], judge: &mut Judge<'_>) {
    for (index, rate) in rates.iter().enumerate() {
        let pointer = format!("{list}/{index}");
        judge.not_negative(&format!("{pointer}/amount"), &rate.amount);
        if rate.flavor.is_some() && rate.device.is_some() {
            let message = "flavor and device are both given; a price is for one of them";
            judge.out_of_place(codes::CONTRADICTION, &format!("{pointer}/device"), message, "beside flavor");
        }
        unit(&pointer, rate, judge);
    }
    overlaps(list, rates, judge);
}

fn unit(pointer: &str, rate: &Rate, judge: &mut Judge<'_>) {
    let resource = ResourceName::from(rate.resource.as_str());
    let expected = match rate.resource.as_str() {
        "cpu" => RateUnit::CpuHour,
        "memory" | "ephemeral-storage" => RateUnit::GiBHour,
        "energy" => RateUnit::KWh,
        _ if resource.is_accelerator() => RateUnit::GpuHour,
        _ => return,
    };
    if rate.unit != expected {
        let message = format!("{:?} does not measure {resource}", rate.unit);
        let finding = judge.error(meaning::BAD_VALUE, &format!("{pointer}/unit"), message, "another unit");
        finding.hint = Some(format!("{resource} is priced by the {expected:?}"));
    }
}

/// Two weeks of ordinary time, from a Monday: any two weekly recurrences that overlap do so within them.
const WEEKS: (Timestamp, Timestamp) = (Timestamp(1_767_571_200), Timestamp(1_767_571_200 + 14 * Seconds::DAY.0));
/// A row recurs at most once a day.
const OCCURRENCES: usize = 20;

type Stretch = (Timestamp, Timestamp, usize);

fn overlaps(list: &str, rates: &[Rate], judge: &mut Judge<'_>) {
    let mut by_thing: BTreeMap<(Option<&str>, Option<&str>, &str), (Vec<usize>, Vec<Stretch>)> = BTreeMap::new();
    for (index, rate) in rates.iter().enumerate() {
        let thing = (rate.flavor.as_deref(), rate.device.as_deref(), rate.resource.as_str());
        let (always, sometimes) = by_thing.entry(thing).or_default();
        match &rate.recurring {
            None => always.push(index),
            Some(recurring) => {
                let occurrences = recurring.read().map(|read| read.occurrences(WEEKS.0, WEEKS.1, OCCURRENCES));
                sometimes.extend(occurrences.unwrap_or_default().into_iter().map(|(from, to)| (from, to, index)));
            }
        }
    }
    let mut clashes: Vec<(usize, usize)> = Vec::new();
    for (always, mut sometimes) in by_thing.into_values() {
        clashes.extend(always.windows(2).map(|pair| (pair[0], pair[1])));
        sometimes.sort_unstable();
        let mut open: Option<Stretch> = None;
        for stretch in sometimes {
            if let Some(before) = open.filter(|before| stretch.0 < before.1 && stretch.2 != before.2) {
                clashes.push((before.2.min(stretch.2), before.2.max(stretch.2)));
            }
            open = Some(open.filter(|before| before.1 > stretch.1).unwrap_or(stretch));
        }
    }
    clashes.sort_unstable();
    clashes.dedup();
    for (first, second) in clashes {
        let rate = &rates[second];
        let on = rate.flavor.as_deref().or(rate.device.as_deref()).map_or_else(String::new, |on| format!(" on {on}"));
        let message = format!("rates {first} and {second} price {}{on} at the same time", rate.resource);
        let finding =
            judge.error(meaning::RATES_OVERLAP, &format!("{list}/{second}"), message, "which of the two holds?");
        finding.hint = Some("remove one, or give them times that do not meet".to_owned());
    }
}
