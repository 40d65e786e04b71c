//! Step one of pricing: what every run held and what nobody held, at the rate, rounded together.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName, TenantId};
use crate::units::Money;

use super::apportion::round_grouped;
use super::card::Guarantee;
use super::charge::{Charge, Term};
use super::price::Input;
use super::run::Window;
use super::tariff::{Period, Segment, money, too_large};
use super::usage::{Cell, Holder, Stock, Usage, sweep};
use crate::ratio::Ratio;

/// A flavor's resource.
pub(super) type CellKey = (FlavorName, ResourceName);

/// One period's direct charges.
pub(super) struct Direct {
    /// Of runs in their order, then what stands apart, cell by cell.
    pub charges: Vec<Charge>,
    /// Micro-units.
    pub capacity: Option<i128>,
    pub beyond: i128,
    /// The part of a cell's idle cost that lay within guarantees, and the weights of their owners.
    pub owned: BTreeMap<CellKey, (i128, BTreeMap<TenantId, i128>)>,
    pub findings: Vec<Finding>,
}

struct Draft {
    charge: Charge,
    exact: Ratio,
}

/// Prices one period. `order` lists the runs in the order of charges.
pub(super) fn charges(period: &Period<'_>, input: &Input<'_>, order: &[usize]) -> Result<Direct, Vec<Finding>> {
    let mut cells = cells(period, input, order);
    let (mut drafts, mut beyond, mut owned) = (Vec::new(), Ratio::ZERO, BTreeMap::new());
    let (mut errors, mut findings) = (Vec::new(), std::mem::take(&mut cells.unpriced));
    for (key, runs) in &cells.used {
        let (flavor, resource) = key;
        let span = cells.span(key, period, input);
        let segments = match period.segments(flavor, resource, span) {
            Ok(segments) => segments,
            // Capacity that nobody used needs no price to charge anybody; the reconciliation leaves it out and says so.
            Err(mut finding) if runs.is_empty() && finding.code == "SG144" => {
                finding.severity = crate::failure::Severity::Warning;
                findings.push(finding);
                continue;
            }
            Err(finding) => {
                errors.push(finding);
                continue;
            }
        };
        let priced = price_cell(key, runs, &segments, span, input).ok_or_else(|| vec![too_large(&subject(key))])?;
        drafts.extend(priced.drafts);
        beyond = beyond.add(priced.beyond).ok_or_else(|| vec![too_large(&subject(key))])?;
        if priced.beyond > Ratio::ZERO {
            findings.push(beyond_capacity(key));
        }
        owned.insert(key.clone(), (priced.owned.round_half_even(), priced.owners));
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let rank: BTreeMap<usize, usize> = order.iter().enumerate().map(|(rank, run)| (*run, rank)).collect();
    drafts.sort_by(|a, b| draft_order(&rank, a).cmp(&draft_order(&rank, b)));
    let exact: Vec<Ratio> = drafts.iter().map(|draft| draft.exact).collect();
    let whole_subject = || vec![too_large("the sum of all charges")];
    // Tenant by tenant, so that nobody's bill is off by a unit, however many runs it has.
    let tenants: Vec<(bool, Option<TenantId>)> =
        drafts.iter().map(|draft| (draft.charge.run.is_none(), draft.charge.tenant.clone())).collect();
    let rounded = round_grouped(&exact, &tenants).ok_or_else(whole_subject)?;
    let amounts = rounded.parts.iter().map(|micros| money(*micros)).collect::<Option<Vec<Money>>>();
    let amounts = amounts.ok_or_else(whole_subject)?;
    let beyond = beyond.round_half_even();
    let charges = drafts.into_iter().zip(amounts).map(|(draft, amount)| Charge { amount, ..draft.charge }).collect();
    let capacity = input.capacity.map(|_| rounded.whole - beyond);
    Ok(Direct { charges, capacity, beyond, owned, findings })
}

fn draft_order<'a>(
    rank: &BTreeMap<usize, usize>,
    draft: &'a Draft,
) -> (usize, Option<&'a FlavorName>, Option<&'a ResourceName>, Term, Window) {
    let charge = &draft.charge;
    let at = charge.run.and_then(|run| rank.get(&run).copied()).unwrap_or(usize::MAX);
    (at, charge.flavor.as_ref(), charge.resource.as_ref(), charge.term, charge.window)
}

fn subject((flavor, resource): &CellKey) -> String {
    format!("{resource} on {flavor}")
}

fn beyond_capacity(key: &CellKey) -> Finding {
    Finding::warning("SG147", subject(key), "more was held than the stated capacity; the excess is a line of its own")
        .hint("check the quota in the files: it may have been larger when these runs were admitted")
}

struct Cells {
    /// Runs in the order in which they fill guarantees; empty for capacity that nobody used.
    used: BTreeMap<CellKey, Vec<usize>>,
    /// Notes about resources that no row prices.
    unpriced: Vec<Finding>,
}

fn cells(period: &Period<'_>, input: &Input<'_>, order: &[usize]) -> Cells {
    let mut used: BTreeMap<CellKey, Vec<usize>> = BTreeMap::new();
    let mut unpriced: BTreeSet<&ResourceName> = BTreeSet::new();
    let is_priced = |resource: &ResourceName| resource.is_accelerator() || period.prices_somewhere(resource);
    for &at in order {
        let run = &input.runs[at];
        for (resource, amount) in run.resources.iter().filter(|(_, amount)| amount.0 > 0) {
            if !is_priced(resource) {
                unpriced.insert(resource);
            } else if amount.0 > 0 && run.held(period.window).is_some() {
                used.entry((run.flavor.clone(), resource.clone())).or_default().push(at);
            }
        }
    }
    for holders in used.values_mut() {
        holders.sort_by_key(|at| {
            let run = &input.runs[*at];
            (run.start, &run.workload, run.attempt)
        });
    }
    for stock in input.capacity.unwrap_or_default() {
        if is_priced(&stock.resource) && stock.window.within(period.window).is_some() {
            used.entry((stock.flavor.clone(), stock.resource.clone())).or_default();
        }
    }
    let note = |resource: &ResourceName| {
        Finding::note("SG148", resource.as_str(), "no row prices it; it is taken to be inside the price of the GPUs")
    };
    Cells { used, unpriced: unpriced.into_iter().map(note).collect() }
}

impl Cells {
    /// The stretch in which the cell needs a price.
    fn span(&self, key: &CellKey, period: &Period<'_>, input: &Input<'_>) -> Window {
        let held = self.used[key].iter().filter_map(|at| input.runs[*at].held(period.window));
        let stocked = input.capacity.unwrap_or_default().iter().filter(|stock| is_cell(key, stock));
        let stocked = stocked.filter_map(|stock| stock.window.within(period.window));
        let hull = |a: Window, b: Window| Window { from: a.from.min(b.from), to: a.to.max(b.to) };
        held.chain(stocked).reduce(hull).unwrap_or(period.window)
    }
}

fn is_cell(key: &CellKey, stock: &super::card::Capacity) -> bool {
    stock.flavor == key.0 && stock.resource == key.1
}

struct PricedCell {
    drafts: Vec<Draft>,
    beyond: Ratio,
    owned: Ratio,
    owners: BTreeMap<TenantId, i128>,
}

fn price_cell(
    key: &CellKey,
    runs: &[usize],
    segments: &[Segment],
    span: Window,
    input: &Input<'_>,
) -> Option<PricedCell> {
    let held = runs.iter().filter_map(|at| Some((*at, input.runs[*at].held(span)?)));
    let held: Vec<(usize, Window)> = held.collect();
    let holder = |(at, window): &(usize, Window)| Holder {
        tenant: input.runs[*at].tenant.as_ref(),
        units: input.runs[*at].resources.get(&key.1).map_or(0, |amount| amount.0),
        window: *window,
    };
    let holders: Vec<Holder<'_>> = held.iter().map(holder).collect();
    let stock = input.capacity.map(|capacity| {
        let here = capacity.iter().filter(|stock| is_cell(key, stock));
        let clipped = here.filter_map(|stock| Some((stock, stock.window.within(span)?)));
        clipped
            .map(|(stock, window)| Stock { window, total: stock.total.0, stranded: stock.stranded.0 })
            .collect::<Vec<_>>()
    });
    let borders: Vec<Window> = segments.iter().map(|segment| segment.window).collect();
    let guarantees = guarantees(key, input.guarantees);
    let usage = sweep(&Cell {
        window: span,
        holders: &holders,
        segments: &borders,
        guarantees: &guarantees,
        stock: stock.as_deref(),
    });
    drafts(key, &held, segments, span, input, usage)
}

pub(super) fn guarantees(key: &CellKey, all: &[Guarantee]) -> BTreeMap<TenantId, i64> {
    let mut found = BTreeMap::new();
    for row in all.iter().filter(|row| row.flavor == key.0 && row.resource == key.1) {
        let total: &mut i64 = found.entry(row.tenant.clone()).or_insert(0);
        *total = total.saturating_add(row.quantity.0);
    }
    found
}

fn drafts(
    key: &CellKey,
    held: &[(usize, Window)],
    segments: &[Segment],
    span: Window,
    input: &Input<'_>,
    usage: Usage,
) -> Option<PricedCell> {
    let cost =
        |segment: usize, unit_seconds: i128| segments[segment].micros_per_unit_second.mul(Ratio::new(unit_seconds, 1)?);
    let sum = |by_segment: &[i128]| {
        let costs = by_segment.iter().enumerate().map(|(segment, unit_seconds)| cost(segment, *unit_seconds));
        costs.into_iter().try_fold(Ratio::ZERO, |sum, cost| sum.add(cost?))
    };
    let charge = |run: Option<usize>, term: Term, window: Window, unit_seconds: i128| Charge {
        run,
        tenant: run.and_then(|run| input.runs[run].tenant.clone()),
        term,
        label: None,
        flavor: Some(key.0.clone()),
        resource: Some(key.1.clone()),
        window,
        unit_seconds,
        amount: Money::ZERO,
    };
    let mut drafts = Vec::new();
    for part in &usage.parts {
        let (run, held) = held[part.holder];
        let window = held.within(segments[part.segment].window).unwrap_or(held);
        let exact = cost(part.segment, part.unit_seconds)?;
        drafts.push(Draft { charge: charge(Some(run), part.term, window, part.unit_seconds), exact });
    }
    for (term, by_segment) in [(Term::Idle, &usage.idle), (Term::Stranded, &usage.stranded)] {
        let unit_seconds: i128 = by_segment.iter().sum();
        if unit_seconds > 0 {
            drafts.push(Draft { charge: charge(None, term, span, unit_seconds), exact: sum(by_segment)? });
        }
    }
    Some(PricedCell { drafts, beyond: sum(&usage.beyond)?, owned: sum(&usage.owned_idle)?, owners: usage.owners })
}
