//! Step two of pricing: idle time, overheads, shared tenants, terms and credits find whoever bears them.
//!
//! Law: nothing is created or lost except what has a name of its own (an adjustment, an overhead, a credit).

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::Finding;
use crate::names::TenantId;
use crate::units::{Money, div_round_half_even};

use super::card::{Overhead, Shared, Split};
use super::charge::{Charge, Term};
use super::direct::{CellKey, Direct, guarantees};
use super::price::{Input, blank, micros};
use super::split::{Part, Receiver, over_tenants, spread};
use super::tariff::{Period, money, too_large};
use crate::ratio::Ratio;

/// Completes one period's charges.
pub(super) fn share_out(period: &Period<'_>, input: &Input<'_>, direct: Direct) -> (Vec<Charge>, Vec<Finding>) {
    let mut findings = direct.findings;
    let (mut charges, apart): (Vec<Charge>, Vec<Charge>) =
        direct.charges.into_iter().partition(|charge| charge.term != Term::Idle);
    for idle in apart {
        let shared = share_idle(period, input, &charges, &direct.owned, idle, &mut findings);
        charges.extend(shared);
    }
    for overhead in &period.overheads {
        let shared = share_overhead(period, input, &charges, overhead, &mut findings);
        charges.extend(shared);
    }
    let adjustments: Vec<Charge> = charges.iter().filter_map(|charge| adjustment(period, charge)).collect();
    charges.extend(adjustments);
    let shared: BTreeSet<&TenantId> = period.shared.iter().map(|shared| &shared.tenant).collect();
    for row in &period.shared {
        let moved = move_shared(period, input, &charges, row, &shared, &mut findings);
        charges.extend(moved);
    }
    (charges, findings)
}

/// Every run's own cost among `charges`, in the order in which runs first appear.
fn receivers<'a>(input: &Input<'a>, charges: &[Charge], counts: impl Fn(&Charge) -> bool) -> Vec<Receiver<'a>> {
    let mut found: Vec<Receiver<'a>> = Vec::new();
    let mut place: BTreeMap<usize, usize> = BTreeMap::new();
    for charge in charges.iter().filter(|charge| charge.term.is_direct() && counts(charge)) {
        let Some(run) = charge.run else { continue };
        let at = *place.entry(run).or_insert_with(|| {
            found.push(Receiver { run, tenant: input.runs[run].tenant.as_ref(), direct: 0 });
            found.len() - 1
        });
        found[at].direct += micros(charge.amount);
    }
    found
}

fn charge_of(part: Part, like: &Charge) -> Option<Charge> {
    let amount = money(part.micros)?;
    Some(Charge { run: part.run, tenant: part.tenant, unit_seconds: 0, amount, ..like.clone() })
}

fn share_idle(
    period: &Period<'_>,
    input: &Input<'_>,
    charges: &[Charge],
    owned: &BTreeMap<CellKey, (i128, BTreeMap<TenantId, i128>)>,
    idle: Charge,
    findings: &mut Vec<Finding>,
) -> Vec<Charge> {
    let Some(key) = idle.flavor.clone().zip(idle.resource.clone()) else { return vec![idle] };
    let in_cell = |charge: &Charge| charge.flavor == idle.flavor && charge.resource == idle.resource;
    let receivers = receivers(input, charges, in_cell);
    let mut rest = micros(idle.amount);
    let mut found = Vec::new();
    if let Some((cost, owners)) = owned.get(&key).filter(|_| period.guaranteed.reserved) {
        let tenants: Vec<Option<&TenantId>> = owners.keys().map(Some).collect();
        let weights: Vec<i128> = owners.values().copied().collect();
        let cost = (*cost).min(rest);
        let like = Charge { term: Term::Reserved, ..idle.clone() };
        if let Some(parts) = over_tenants(cost, &tenants, &weights, &receivers) {
            rest -= cost;
            found.extend(parts.into_iter().filter_map(|part| charge_of(part, &like)));
        }
    }
    let weights = guarantees(&key, input.guarantees).into_iter().map(|(tenant, units)| (tenant, i128::from(units)));
    match spread(rest, period.idle, &receivers, &weights.collect()) {
        Some(parts) => found.extend(parts.into_iter().filter_map(|part| charge_of(part, &idle))),
        None => {
            if period.idle != Split::Apart && rest != 0 {
                findings.push(nothing_to_go_by(&format!("idle {} on {}", key.1, key.0), period.idle));
            }
            found.extend(money(rest).filter(|amount| *amount != Money::ZERO).map(|amount| Charge { amount, ..idle }));
        }
    }
    found
}

fn nothing_to_go_by(subject: &str, split: Split) -> Finding {
    let message = format!("split {} finds nothing to go by, so it stands apart", split.as_str());
    Finding::warning("SG149", subject, message)
}

fn share_overhead(
    period: &Period<'_>,
    input: &Input<'_>,
    charges: &[Charge],
    overhead: &Overhead,
    findings: &mut Vec<Finding>,
) -> Vec<Charge> {
    let seconds = i128::from(period.window.length().0);
    let Some(product) = overhead.amount.nanos.checked_mul(seconds) else {
        findings.push(too_large(&overhead.name));
        return Vec::new();
    };
    let per = i128::from(overhead.per.0.max(1)) * super::tariff::NANOS_PER_MICRO;
    let total = div_round_half_even(product, per);
    let like = Charge { label: Some(overhead.name.clone()), ..blank(period.window, Term::Overhead) };
    let receivers = receivers(input, charges, |_| true);
    let weights = if overhead.split == Split::ByGuarantee { guarantee_value(period, input) } else { BTreeMap::new() };
    let parts = spread(total, overhead.split, &receivers, &weights).unwrap_or_else(|| {
        if overhead.split != Split::Apart && total != 0 {
            findings.push(nothing_to_go_by(&format!("overhead {}", overhead.name), overhead.split));
        }
        vec![Part { run: None, tenant: None, micros: total }]
    });
    parts.into_iter().filter(|part| part.micros != 0).filter_map(|part| charge_of(part, &like)).collect()
}

/// What each tenant's guarantees would cost in full use over the period, in micro-units.
fn guarantee_value(period: &Period<'_>, input: &Input<'_>) -> BTreeMap<TenantId, i128> {
    let mut value: BTreeMap<TenantId, i128> = BTreeMap::new();
    for row in input.guarantees {
        let segments = period.segments(&row.flavor, &row.resource, period.window).unwrap_or_default();
        let costs = segments.iter().map(|segment| {
            let seconds = Ratio::whole(segment.window.length().0);
            segment.micros_per_unit_second.mul(seconds)?.mul(Ratio::whole(row.quantity.0))
        });
        let cost = costs.into_iter().try_fold(Ratio::ZERO, |sum, cost| sum.add(cost?));
        *value.entry(row.tenant.clone()).or_insert(0) += cost.map_or(0, Ratio::round_half_even);
    }
    value
}

/// What the terms make of a charge, beside it.
fn adjustment(period: &Period<'_>, charge: &Charge) -> Option<Charge> {
    let terms = match charge.term {
        Term::Guaranteed | Term::Reserved => period.guaranteed,
        Term::Borrowed => period.borrowed,
        _ => return None,
    };
    let percent = i128::from(terms.rate_percent) - 100;
    let product = micros(charge.amount).checked_mul(percent)?;
    let amount = money(div_round_half_even(product, 100)).filter(|amount| *amount != Money::ZERO)?;
    let label = Some(format!("{} at {} %", charge.term.as_str(), terms.rate_percent));
    Some(Charge { term: Term::Adjustment, label, unit_seconds: 0, amount, ..charge.clone() })
}

/// Moves everything a shared tenant bears to the others: one negative row per run, positive rows where it goes.
fn move_shared(
    period: &Period<'_>,
    input: &Input<'_>,
    charges: &[Charge],
    row: &Shared,
    shared: &BTreeSet<&TenantId>,
    findings: &mut Vec<Finding>,
) -> Vec<Charge> {
    let mut borne: BTreeMap<Option<usize>, i128> = BTreeMap::new();
    for charge in charges.iter().filter(|charge| charge.tenant.as_ref() == Some(&row.tenant)) {
        *borne.entry(charge.run).or_insert(0) += micros(charge.amount);
    }
    let others = |charge: &Charge| charge.tenant.as_ref().is_none_or(|tenant| !shared.contains(tenant));
    let receivers = receivers(input, charges, others);
    let total: i128 = borne.values().sum();
    let Some(parts) = spread(total, row.split, &receivers, &BTreeMap::new()) else {
        if row.split != Split::Apart && total != 0 {
            findings.push(nothing_to_go_by(&format!("shared tenant {}", row.tenant), row.split));
        }
        return Vec::new();
    };
    let like = Charge { label: Some(row.tenant.to_string()), ..blank(period.window, Term::Shared) };
    let taken = borne.into_iter().map(|(run, micros)| Part { run, tenant: Some(row.tenant.clone()), micros: -micros });
    taken.chain(parts).filter(|part| part.micros != 0).filter_map(|part| charge_of(part, &like)).collect()
}

/// Credits, each over its tenant's runs by their cost.
pub(super) fn credits(input: &Input<'_>, charges: &[Charge]) -> (Vec<Charge>, Vec<Finding>) {
    let (mut found, mut findings) = (Vec::new(), Vec::new());
    for credit in input.credits {
        if credit.amount.nanos < 0 {
            let message = format!("the credit of {} is negative and is left out", credit.amount);
            findings.push(Finding::warning("SG141", format!("credit to {}", credit.tenant), message));
            continue;
        }
        let receivers = receivers(input, charges, |charge| charge.tenant.as_ref() == Some(&credit.tenant));
        let like = Charge { label: Some(credit.reason.clone()), ..blank(input.window, Term::Credit) };
        let parts = over_tenants(-micros(credit.amount), &[Some(&credit.tenant)], &[1], &receivers);
        found.extend(parts.unwrap_or_default().into_iter().filter_map(|part| charge_of(part, &like)));
    }
    (found, findings)
}
