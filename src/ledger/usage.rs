//! One flavor's resource over time: who held how much of it, within a guarantee or beyond, and how much nobody held.
//!
//! Everything is counted in whole units × whole seconds, so that it is exact and splitting time anywhere changes nothing.
//! Deliberately absent: money. A segment of constant price is only a border here.

use std::collections::{BTreeMap, BTreeSet};

use crate::names::TenantId;
use crate::units::Timestamp;

use super::charge::Term;
use super::run::Window;

/// What one run held of the cell, clipped to the window looked at.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    pub tenant: Option<&'a TenantId>,
    pub units: i64,
    pub window: Window,
}

/// What there is of the cell over a stretch of time.
#[derive(Debug, Clone, Copy)]
pub struct Stock {
    pub window: Window,
    pub total: i64,
    pub stranded: i64,
}

/// The question: holders stand in the order in which they fill guarantees.
#[derive(Debug)]
pub struct Cell<'a> {
    pub window: Window,
    pub holders: &'a [Holder<'a>],
    /// Borders of constant price: adjoining, covering the window.
    pub segments: &'a [Window],
    pub guarantees: &'a BTreeMap<TenantId, i64>,
    /// `None`: nobody said what there is, so nothing is known to be idle.
    pub stock: Option<&'a [Stock]>,
}

/// Unit-seconds of one holder in one segment, by term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    pub holder: usize,
    pub segment: usize,
    pub term: Term,
    pub unit_seconds: i128,
}

/// The answer, by segment where it is a vector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage {
    /// By holder, then segment, then term.
    pub parts: Vec<Part>,
    pub idle: Vec<i128>,
    pub stranded: Vec<i128>,
    /// Held beyond the stock.
    pub beyond: Vec<i128>,
    /// The part of `idle` that lay within somebody's unused guarantee.
    pub owned_idle: Vec<i128>,
    /// Unused guarantee while something was idle: the weights by which owned idle is divided.
    pub owners: BTreeMap<TenantId, i128>,
}

/// Sweeps over the instants at which anything changes.
#[must_use]
pub fn sweep(cell: &Cell<'_>) -> Usage {
    let mut cuts: BTreeSet<Timestamp> = BTreeSet::from([cell.window.from, cell.window.to]);
    cuts.extend(cell.holders.iter().flat_map(|holder| [holder.window.from, holder.window.to]));
    cuts.extend(cell.segments.iter().map(|segment| segment.from));
    cuts.extend(cell.stock.unwrap_or_default().iter().flat_map(|stock| [stock.window.from, stock.window.to]));
    let cuts: Vec<Timestamp> = cuts.into_iter().filter(|at| cell.window.from <= *at && *at <= cell.window.to).collect();

    let mut starting: BTreeMap<Timestamp, Vec<usize>> = BTreeMap::new();
    let mut ending: BTreeMap<Timestamp, Vec<usize>> = BTreeMap::new();
    for (at, holder) in cell.holders.iter().enumerate() {
        starting.entry(holder.window.from).or_default().push(at);
        ending.entry(holder.window.to).or_default().push(at);
    }
    let mut tally = Tally::new(cell);
    let mut active: BTreeSet<usize> = BTreeSet::new();
    let mut held: i128 = 0;
    let mut segment = 0;
    for pair in cuts.windows(2) {
        let span = Window { from: pair[0], to: pair[1] };
        let units = |at: &usize| i128::from(cell.holders[*at].units);
        for at in ending.get(&span.from).into_iter().flatten() {
            // A holder of no length ends before it starts being counted.
            held -= if active.remove(at) { units(at) } else { 0 };
        }
        for at in starting.get(&span.from).into_iter().flatten() {
            let lasts = cell.holders[*at].window.to > span.from && cell.holders[*at].units > 0;
            held += if lasts && active.insert(*at) { units(at) } else { 0 };
        }
        while cell.segments.get(segment + 1).is_some_and(|next| next.from <= span.from) {
            segment += 1;
        }
        let left = tally.fill_guarantees(&active, segment, span);
        if let Some(stock) = cell.stock {
            tally.add_unused(stock, held, &left, segment, span);
        }
    }
    tally.finish()
}

struct Tally<'a> {
    cell: &'a Cell<'a>,
    parts: BTreeMap<(usize, usize, Term), i128>,
    usage: Usage,
}

impl<'a> Tally<'a> {
    fn new(cell: &'a Cell<'a>) -> Self {
        let none = || vec![0; cell.segments.len()];
        let usage = Usage {
            parts: Vec::new(),
            idle: none(),
            stranded: none(),
            beyond: none(),
            owned_idle: none(),
            owners: BTreeMap::new(),
        };
        Self { cell, parts: BTreeMap::new(), usage }
    }

    /// One stretch in which nothing changes; gives what is left of each guarantee.
    fn fill_guarantees(&mut self, active: &BTreeSet<usize>, segment: usize, span: Window) -> BTreeMap<TenantId, i64> {
        let mut left = self.cell.guarantees.clone();
        // Without guarantees `finish` counts holder by holder, which spares walking all of them at every instant.
        if left.is_empty() {
            return left;
        }
        let seconds = i128::from(span.length().0);
        for &at in active {
            let holder = &self.cell.holders[at];
            let within = holder.tenant.and_then(|tenant| left.get_mut(tenant)).map_or(0, |left| {
                let taken = holder.units.min(*left).max(0);
                *left -= taken;
                taken
            });
            for (term, units) in [(Term::Guaranteed, within), (Term::Borrowed, holder.units - within)] {
                if units > 0 {
                    *self.parts.entry((at, segment, term)).or_insert(0) += i128::from(units) * seconds;
                }
            }
        }
        left
    }

    fn add_unused(
        &mut self,
        stock: &[Stock],
        held: i128,
        left: &BTreeMap<TenantId, i64>,
        segment: usize,
        span: Window,
    ) {
        let seconds = i128::from(span.length().0);
        let here = || stock.iter().filter(|stock| stock.window.contains(span.from));
        let total: i128 = here().map(|stock| i128::from(stock.total)).sum();
        let stranded: i128 = here().map(|stock| i128::from(stock.stranded)).sum();
        let idle = (total - held - stranded).max(0);
        self.usage.idle[segment] += idle * seconds;
        self.usage.stranded[segment] += stranded * seconds;
        self.usage.beyond[segment] += (held + stranded - total).max(0) * seconds;
        let unused: i128 = left.values().map(|units| i128::from(*units)).sum();
        self.usage.owned_idle[segment] += idle.min(unused) * seconds;
        if idle > 0 {
            for (tenant, units) in left.iter().filter(|(_, units)| **units > 0) {
                *self.usage.owners.entry(tenant.clone()).or_insert(0) += i128::from(*units) * seconds;
            }
        }
    }

    fn finish(mut self) -> Usage {
        if self.cell.guarantees.is_empty() {
            for (at, holder) in self.cell.holders.iter().enumerate().filter(|(_, holder)| holder.units > 0) {
                let pieces = self.cell.segments.iter().map(|segment| holder.window.within(*segment));
                for (segment, piece) in pieces.enumerate().filter_map(|(at, piece)| Some((at, piece?))) {
                    let unit_seconds = i128::from(holder.units) * i128::from(piece.length().0);
                    self.parts.insert((at, segment, Term::Allocated), unit_seconds);
                }
            }
        }
        let part = |((holder, segment, term), unit_seconds)| Part { holder, segment, term, unit_seconds };
        self.usage.parts = self.parts.into_iter().map(part).collect();
        self.usage
    }
}
