//! Which price holds when: rate cards over time, and the refusal of prices that overlap or are missing.
//!
//! Law: at any instant a flavor's resource has one price or none; there is no default price and no nearest match.

use std::collections::BTreeSet;

use crate::calendar;
use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName};
use crate::units::{Money, Timestamp};

use super::card::{Card, Overhead, Rate, Shared, Split, Terms};
use super::run::Window;
use crate::ratio::Ratio;

/// A stretch of time in which the same cards are in force.
#[derive(Debug, Clone)]
pub struct Period<'a> {
    pub window: Window,
    pub rates: Vec<&'a Rate>,
    pub guaranteed: Terms,
    pub borrowed: Terms,
    pub idle: Split,
    pub overheads: Vec<&'a Overhead>,
    pub shared: Vec<&'a Shared>,
}

/// A constant price over a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub window: Window,
    /// Micro-units of money for one base unit for one second.
    pub micros_per_unit_second: Ratio,
}

/// Cuts `window` where cards begin and end. Stretches without any card are periods without rates.
///
/// # Errors
/// `SG140` for several currencies, `SG141` for a negative price or amount, `SG142` for cards that are in force together
/// but disagree on terms.
pub fn periods(cards: &[Card], window: Window) -> Result<Vec<Period<'_>>, Vec<Finding>> {
    let mut findings = Vec::new();
    let currencies: BTreeSet<&str> = cards.iter().map(|card| card.currency.as_str()).collect();
    if currencies.len() > 1 {
        let listed = currencies.into_iter().collect::<Vec<_>>().join(", ");
        findings.push(
            Finding::error("SG140", "RateCard", format!("the rate cards are in several currencies: {listed}"))
                .hint("convert them to one; nothing is converted here, because the rate of the day is a choice"),
        );
    }
    for card in cards {
        findings.extend(negative_amounts(card));
    }
    let spans: Vec<Window> = cards.iter().map(|card| in_force(card, cards)).collect();
    let mut cuts: BTreeSet<Timestamp> = BTreeSet::from([window.from, window.to]);
    cuts.extend(spans.iter().flat_map(|span| [span.from, span.to]).filter(|at| window.contains(*at)));
    let cuts: Vec<Timestamp> = cuts.into_iter().collect();
    let mut found = Vec::new();
    for pair in cuts.windows(2) {
        let piece = Window { from: pair[0], to: pair[1] };
        let active = cards.iter().zip(&spans).filter(|(_, span)| span.contains(piece.from)).map(|(card, _)| card);
        match period(piece, &active.collect::<Vec<_>>()) {
            Ok(period) => found.push(period),
            Err(finding) => findings.push(finding),
        }
    }
    if findings.is_empty() { Ok(found) } else { Err(findings) }
}

/// An open end yields to the next start of another card.
fn in_force(card: &Card, cards: &[Card]) -> Window {
    let from = card.from.unwrap_or(Timestamp(i64::MIN));
    let next = || cards.iter().filter_map(|other| other.from).filter(|start| *start > from).min();
    Window { from, to: card.to.or_else(next).unwrap_or(Timestamp(i64::MAX)) }
}

fn negative_amounts(card: &Card) -> Vec<Finding> {
    let rates = card.rates.iter().map(|rate| (rate.place.clone(), rate.amount));
    let overheads = card.overheads.iter().map(|row| (format!("{}, overhead {}", card.name, row.name), row.amount));
    rates
        .chain(overheads)
        .filter(|(_, amount)| amount.nanos < 0)
        .map(|(place, amount)| Finding::error("SG141", place, format!("the amount {amount} is negative")))
        .collect()
}

fn period<'a>(window: Window, cards: &[&'a Card]) -> Result<Period<'a>, Finding> {
    let mut merged = Period {
        window,
        rates: Vec::new(),
        guaranteed: Terms::default(),
        borrowed: Terms::default(),
        idle: Split::default(),
        overheads: Vec::new(),
        shared: Vec::new(),
    };
    for (at, card) in cards.iter().enumerate() {
        let terms = (card.guaranteed, card.borrowed, card.idle);
        if at == 0 {
            (merged.guaranteed, merged.borrowed, merged.idle) = terms;
        } else if terms != (merged.guaranteed, merged.borrowed, merged.idle) {
            let message = format!(
                "cards {} and {} are in force together from {} but disagree on terms or on who pays for idle time",
                cards[0].name,
                card.name,
                calendar::rfc3339(window.from, chrono_tz::UTC)
            );
            return Err(Finding::error("SG142", format!("RateCard {}", card.name), message));
        }
        merged.rates.extend(&card.rates);
        merged.overheads.extend(&card.overheads);
        merged.shared.extend(&card.shared);
    }
    Ok(merged)
}

impl Period<'_> {
    /// Whether any row prices this resource on some flavor.
    #[must_use]
    pub fn prices_somewhere(&self, resource: &ResourceName) -> bool {
        self.rates.iter().any(|rate| rate.resource == *resource)
    }

    /// The prices of a flavor's resource over `window`, which lies inside the period: adjoining segments, no gap.
    ///
    /// # Errors
    /// `SG143` where two rows of equal standing hold at once, `SG144` where none does.
    pub fn segments(
        &self,
        flavor: &FlavorName,
        resource: &ResourceName,
        window: Window,
    ) -> Result<Vec<Segment>, Finding> {
        let rows = self
            .rates
            .iter()
            .filter(|rate| rate.resource == *resource && rate.flavor.as_ref().is_none_or(|priced| priced == flavor));
        let rows: Vec<&Rate> = rows.copied().collect();
        let mut cuts: BTreeSet<Timestamp> = BTreeSet::from([window.from, window.to]);
        let borders = rows.iter().filter_map(|rate| rate.windows.as_ref()).flatten().flat_map(|w| [w.from, w.to]);
        cuts.extend(borders.filter(|at| window.contains(*at)));
        let cuts: Vec<Timestamp> = cuts.into_iter().collect();
        let mut segments: Vec<Segment> = Vec::new();
        for pair in cuts.windows(2) {
            let piece = Window { from: pair[0], to: pair[1] };
            let rate = row_at(&rows, flavor, resource, piece.from)?;
            let per_second = price_of(rate).ok_or_else(|| too_large(&rate.place))?;
            match segments.last_mut() {
                Some(last) if last.micros_per_unit_second == per_second => last.window.to = piece.to,
                _ => segments.push(Segment { window: piece, micros_per_unit_second: per_second }),
            }
        }
        Ok(segments)
    }
}

/// Micro-units per base unit and second.
fn price_of(rate: &Rate) -> Option<Ratio> {
    let unit_seconds = i128::from(rate.per_units).checked_mul(3600)?;
    Ratio::new(rate.amount.nanos, unit_seconds.checked_mul(NANOS_PER_MICRO)?)
}

/// A micro-unit of money in the billionths that [`Money`] counts.
pub const NANOS_PER_MICRO: i128 = 1000;

/// Whole micro-units as money; `None` when it does not fit.
#[must_use]
pub fn money(micros: i128) -> Option<Money> {
    Some(Money { nanos: micros.checked_mul(NANOS_PER_MICRO)? })
}

/// `SG145`: a figure that 128 bits cannot hold exactly.
#[must_use]
pub fn too_large(subject: &str) -> Finding {
    Finding::error("SG145", subject, "the figures are too large to be exact")
        .hint("check the price, the quantity and the times for a slip of the pen")
}

/// The one row of the highest standing that holds at `at`: flavor before all flavors, then recurring before always.
fn row_at<'a>(
    rows: &[&'a Rate],
    flavor: &FlavorName,
    resource: &ResourceName,
    at: Timestamp,
) -> Result<&'a Rate, Finding> {
    let holds = |rate: &Rate| rate.windows.as_ref().is_none_or(|windows| windows.iter().any(|w| w.contains(at)));
    let standing = |rate: &Rate| (rate.flavor.is_some(), rate.windows.is_some());
    let best = rows.iter().filter(|rate| holds(rate)).map(|rate| standing(rate)).max();
    let mut top = rows.iter().filter(|rate| holds(rate) && Some(standing(rate)) == best);
    let when = calendar::rfc3339(at, chrono_tz::UTC);
    match (top.next(), top.next()) {
        (Some(rate), None) => Ok(rate),
        (Some(first), Some(second)) => {
            let message = format!("{} and {} both price {resource} on {flavor} at {when}", first.place, second.place);
            Err(Finding::error("SG143", format!("price of {resource} on {flavor}"), message)
                .hint("end one of them with effectiveTo, or remove it"))
        }
        (None, _) => {
            let message = format!("no rate card has a price for {resource} on {flavor} at {when}");
            Err(Finding::error("SG144", format!("price of {resource} on {flavor}"), message).hint(format!(
                "add a row with flavor: {flavor}, resource: {resource}; nothing is ever priced at 0 for want of a row"
            )))
        }
    }
}
