//! Runs × rate cards → charges. The verb that decides what everything has cost (docs/accounting.md §3 to §5).
//!
//! Laws: Σ charges is exact to the last micro-unit; the order of runs and cards does not matter; a missing or ambiguous
//! price refuses the whole, because half a bill is worse than none. Deliberately absent: a default price.

use crate::failure::{Finding, Severity};
use crate::units::{Money, Timestamp};

use super::card::{Capacity, Card, Credit, Guarantee};
use super::charge::{Charge, Priced};
use super::run::{Run, Window};
use super::tariff::{money, periods};
use super::{direct, share_out};

/// Everything a price depends on.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    pub runs: &'a [Run],
    pub cards: &'a [Card],
    pub guarantees: &'a [Guarantee],
    /// `None`: nobody said what there is, so nothing is known to be idle.
    pub capacity: Option<&'a [Capacity]>,
    pub credits: &'a [Credit],
    /// Runs and capacity are clipped to it.
    pub window: Window,
}

/// Prices everything that happened in a window.
///
/// # Errors
/// Error-level findings: no card (`SG146`), and those of [`super::tariff`].
pub fn price(input: &Input<'_>) -> Result<Priced, Vec<Finding>> {
    let Some(currency) = input.cards.first().map(|card| card.currency.clone()) else {
        let finding = Finding::error("SG146", "RateCard", "there is no rate card, so nothing can be priced")
            .hint("add a RateCard to the files, for example {currency: EUR, rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}]}");
        return Err(vec![finding]);
    };
    let mut order: Vec<usize> = (0..input.runs.len()).collect();
    order.sort_by(|a, b| input.runs[*a].order().cmp(&input.runs[*b].order()));

    let mut priced = Priced {
        window: input.window,
        currency,
        charges: Vec::new(),
        capacity: input.capacity.map(|_| Money::ZERO),
        beyond: Money::ZERO,
        prices_from: prices_from(input),
        findings: Vec::new(),
    };
    let mut errors = Vec::new();
    for period in periods(input.cards, input.window)? {
        match direct::charges(&period, input, &order) {
            Ok(direct) => {
                let micros = |micros: i128| money(micros).unwrap_or(Money::ZERO);
                priced.capacity = priced.capacity.zip(direct.capacity).map(|(sum, more)| sum + micros(more));
                priced.beyond = priced.beyond + micros(direct.beyond);
                let (charges, findings) = share_out::share_out(&period, input, direct);
                priced.charges.extend(charges);
                priced.findings.extend(findings);
            }
            Err(findings) => errors.extend(findings),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (credits, findings) = share_out::credits(input, &priced.charges);
    priced.charges.extend(credits);
    priced.findings.extend(findings);
    priced.findings.sort_by(|a, b| (a.severity, a.code, &a.subject).cmp(&(b.severity, b.code, &b.subject)));
    priced.findings.dedup();
    debug_assert!(priced.findings.iter().all(|finding| finding.severity != Severity::Error), "errors refuse");
    Ok(priced)
}

fn prices_from(input: &Input<'_>) -> Option<Timestamp> {
    input.cards.iter().filter_map(|card| card.from).filter(|from| *from < input.window.to).max()
}

/// Micro-units of an amount; what is finer (only credits and terms can be) is rounded, ties to even.
pub(super) fn micros(amount: Money) -> i128 {
    crate::units::div_round_half_even(amount.nanos, super::tariff::NANOS_PER_MICRO)
}

/// A charge that no run and no cell stands behind yet.
pub(super) fn blank(window: Window, term: super::charge::Term) -> Charge {
    Charge {
        run: None,
        tenant: None,
        term,
        label: None,
        flavor: None,
        resource: None,
        window,
        unit_seconds: 0,
        amount: Money::ZERO,
    }
}
