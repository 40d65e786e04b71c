//! Options of a what-if, from what people write to what the planner can apply.
//!
//! The same for a Scenario's `options` and for flags: whoever has an option says where it was written. Everything wrong
//! with it is told at once; an option with an error gives no change.

use super::codes;
use super::findings::nearest;
use super::quantity::Quantity;
use super::windows::BEYOND_HORIZON;
use crate::api::manifest::Manifest;
use crate::api::rate_card::{Rate, RateUnit};
use crate::api::scenario::{CapacityChange, WhatIfOption};
use crate::failure::{Finding, Severity};
use crate::names::{FlavorName, ResourceName};
use crate::plan::limits::WORKLOADS_MAX;
use crate::plan::snapshot::{CellId, NodeId, Snapshot};
use crate::plan::whatif::change::{Change, Edit, EditKind, NewPrice};
use crate::plan::whatif::{growth, pool};
use crate::units::{Amount, Seconds, Timestamp, div_round_half_even};

/// Weekly hours over a year are fifty stretches, daily ones 366; a planner has to look at each.
const OCCURRENCES_MAX: usize = 1_000;

/// Where an option was written.
#[derive(Debug, Clone)]
pub struct Source<'a> {
    /// `Scenario noon`, or the flag as given.
    pub subject: String,
    pub manifest: Option<&'a Manifest>,
    /// Of the option within the manifest.
    pub pointer: String,
}

/// The change an option describes.
///
/// # Errors
/// Everything that is wrong with it, at least one finding.
pub fn resolve(option: &WhatIfOption, snapshot: &Snapshot, source: &Source<'_>) -> Result<Change, Vec<Finding>> {
    let mut reader = Reader { snapshot, source, findings: Vec::new() };
    let mut edits = Vec::new();
    for (field, kind, changes) in [
        ("add", EditKind::Add, &option.add),
        ("remove", EditKind::Remove, &option.remove),
        ("outage", EditKind::Outage, &option.outage),
    ] {
        for (at, change) in changes.iter().enumerate() {
            edits.extend(reader.edit(&format!("/{field}/{at}"), kind, change));
        }
    }
    let mut prices = Vec::new();
    for (at, rate) in option.price.iter().enumerate() {
        prices.extend(reader.prices(&format!("/price/{at}"), rate));
    }
    let growth_percent = option.growth_percent.unwrap_or(0);
    let grown = growth::count(snapshot.workloads.len(), growth_percent);
    if growth_percent < -100 || grown > WORKLOADS_MAX {
        let message =
            format!("growth of {growth_percent} % gives {grown} workloads; up to {WORKLOADS_MAX} can be planned");
        reader.tell(codes::BAD_VALUE, "/growthPercent", message, None);
    }
    if reader.findings.is_empty() {
        Ok(Change { name: option.name.clone(), edits, growth_percent, prices })
    } else {
        Err(reader.findings)
    }
}

struct Reader<'a> {
    snapshot: &'a Snapshot,
    source: &'a Source<'a>,
    findings: Vec<Finding>,
}

impl Reader<'_> {
    fn tell(&mut self, code: &'static str, field: &str, message: String, hint: Option<String>) {
        let span = self.source.manifest.and_then(|manifest| manifest.span(&format!("{}{field}", self.source.pointer)));
        let mut finding = Finding::new(code, Severity::Error, self.source.subject.clone(), message).at(span, "here");
        finding.hint = hint;
        self.findings.push(finding);
    }

    fn edit(&mut self, field: &str, kind: EditKind, change: &CapacityChange) -> Option<Edit> {
        let cell = self.cell(field, change)?;
        let node = self.node(field, kind, change, cell)?;
        let quantity = self.quantity(field, change, cell)?;
        let stretches = self.stretches(field, kind, change)?;
        let held: Amount =
            pool::below(self.snapshot, node).into_iter().map(|node| pool::nominal(self.snapshot, node, cell)).sum();
        if kind != EditKind::Add && quantity > held {
            let resource = &self.snapshot.cell(cell).resource;
            let (wanted, there) = (resource.quantity(quantity), resource.quantity(held));
            let name = &self.snapshot.node(node).name;
            let message = format!("takes {wanted} {} away where {name} has {there}", change.flavor);
            self.tell(codes::BAD_VALUE, &format!("{field}/quantity"), message, Some(format!("at most {there}")));
            return None;
        }
        Some(Edit { kind, node, cell, quantity, stretches })
    }

    /// The named resource on the flavor; without a name its accelerator, or its only resource.
    fn cell(&mut self, field: &str, change: &CapacityChange) -> Option<CellId> {
        let flavor = FlavorName::from(change.flavor.as_str());
        let ids = (0_u32..).map(CellId).zip(&self.snapshot.cells);
        let of_flavor: Vec<_> = ids.filter(|(_, cell)| cell.flavor == flavor).collect();
        if of_flavor.is_empty() {
            let mut known: Vec<&str> = self.snapshot.cells.iter().map(|cell| cell.flavor.as_str()).collect();
            known.sort_unstable();
            known.dedup();
            let message = format!("no queue knows the flavor `{flavor}`; there are: {}", known.join(", "));
            let hint = nearest(flavor.as_str(), known.iter().copied());
            let hint = hint.or_else(|| Some("give a ClusterQueue the flavor, with a nominalQuota of 0".to_owned()));
            self.tell(codes::UNKNOWN_FLAVOR, &format!("{field}/flavor"), message, hint);
            return None;
        }
        let wanted = change.resource.as_ref().map(|resource| ResourceName::from(resource.as_str()));
        let found: Vec<CellId> = match &wanted {
            Some(resource) => {
                of_flavor.iter().filter(|(_, cell)| cell.resource == *resource).map(|(id, _)| *id).collect()
            }
            None => {
                let accelerators = of_flavor.iter().filter(|(_, cell)| cell.resource.is_accelerator());
                let accelerators: Vec<CellId> = accelerators.map(|(id, _)| *id).collect();
                if accelerators.is_empty() { of_flavor.iter().map(|(id, _)| *id).collect() } else { accelerators }
            }
        };
        if let [only] = found.as_slice() {
            return Some(*only);
        }
        let resources: Vec<&str> = of_flavor.iter().map(|(_, cell)| cell.resource.as_str()).collect();
        let resources = resources.join(", ");
        let message = match wanted {
            Some(resource) => format!("no queue has quota of {resource} on {flavor}; it has: {resources}"),
            None => format!("{flavor} has several resources: {resources}; say which"),
        };
        self.tell(codes::BAD_WINDOW_TARGET, &format!("{field}/resource"), message, None);
        None
    }

    /// The named node; without a name the only one with quota, else the root of the only tree that has any.
    fn node(&mut self, field: &str, kind: EditKind, change: &CapacityChange, cell: CellId) -> Option<NodeId> {
        if let Some(name) = &change.queue {
            let found = self.snapshot.find_node(name);
            if found.is_none() {
                let known: Vec<&str> = self.snapshot.nodes.iter().map(|node| node.name.as_str()).collect();
                let message = format!("no ClusterQueue or Cohort `{name}` is there; there are: {}", known.join(", "));
                let hint = nearest(name, known.iter().copied());
                self.tell(codes::BAD_WINDOW_TARGET, &format!("{field}/queue"), message, hint);
            }
            return found;
        }
        let ids = (0_u32..).take(self.snapshot.nodes.len()).map(NodeId);
        let stated: Vec<NodeId> = ids.filter(|node| self.snapshot.node(*node).quotas.contains_key(&cell)).collect();
        let with_quota = stated.iter().copied().filter(|node| pool::nominal(self.snapshot, *node, cell).0 > 0);
        let mut candidates: Vec<NodeId> = with_quota.collect();
        if candidates.is_empty() {
            candidates = stated;
        }
        if let [only] = candidates.as_slice()
            && kind != EditKind::Remove
        {
            return Some(*only);
        }
        let mut roots: Vec<NodeId> = candidates.iter().map(|node| pool::root_of(self.snapshot, *node)).collect();
        roots.sort_unstable();
        roots.dedup();
        if let [only] = roots.as_slice() {
            return Some(*only);
        }
        let names: Vec<&str> = candidates.iter().map(|node| self.snapshot.node(*node).name.as_str()).collect();
        let message = format!("several queues have quota of {}: {}; say which", change.flavor, names.join(", "));
        self.tell(codes::BAD_WINDOW_TARGET, field, message, Some("name the queue".to_owned()));
        None
    }

    fn quantity(&mut self, field: &str, change: &CapacityChange, cell: CellId) -> Option<Amount> {
        let text = change.quantity.text();
        let resource = &self.snapshot.cell(cell).resource;
        let read = Quantity::parse(&text)
            .and_then(|quantity| quantity.amount(resource).ok_or_else(|| "is too large to count".to_owned()))
            .and_then(|amount| if amount.0 > 0 { Ok(amount) } else { Err("must be more than nothing".to_owned()) });
        match read {
            Ok(amount) => Some(amount),
            Err(message) => {
                let message = format!("the quantity `{text}`: {message}");
                self.tell(codes::BAD_VALUE, &format!("{field}/quantity"), message, None);
                None
            }
        }
    }

    /// When it holds; empty: for good. A reservation begins no sooner than its lead time and lasts its minimum at least.
    fn stretches(
        &mut self,
        field: &str,
        kind: EditKind,
        change: &CapacityChange,
    ) -> Option<Vec<(Timestamp, Timestamp)>> {
        let (now, until) = (self.snapshot.now, self.snapshot.horizon_end + BEYOND_HORIZON);
        let mut read = |name: &str, value: Option<Result<i64, String>>| match value {
            None => Some(None),
            Some(Ok(value)) => Some(Some(value)),
            Some(Err(message)) => {
                self.tell(codes::BAD_VALUE, &format!("{field}/{name}"), message, None);
                None
            }
        };
        let from = read("from", change.from.as_ref().map(|at| at.read().map(|at| at.0)))?;
        let to = read("to", change.to.as_ref().map(|at| at.read().map(|at| at.0)))?;
        let lead = read("leadTime", change.lead_time.as_ref().map(|span| span.read().map(|span| span.0)))?;
        let least =
            read("minimumDuration", change.minimum_duration.as_ref().map(|span| span.read().map(|span| span.0)))?;
        let reserved = |(start, end): (Timestamp, Timestamp)| {
            let start = start.max(now + Seconds(lead.unwrap_or(0)));
            (start, end.max(start + Seconds(least.unwrap_or(0))))
        };
        let stretches: Vec<(Timestamp, Timestamp)> = match (from, to, &change.recurring) {
            (_, _, Some(recurring)) => match recurring.read() {
                Ok(recurrence) => recurrence.occurrences(now, until, OCCURRENCES_MAX),
                Err(message) => {
                    self.tell(codes::BAD_VALUE, &format!("{field}/recurring"), message, None);
                    return None;
                }
            },
            (None, None, None) if lead.is_none() && least.is_none() && kind != EditKind::Outage => {
                return Some(Vec::new());
            }
            (None, None, None) if kind == EditKind::Outage => {
                let message = "an outage needs a beginning and an end".to_owned();
                self.tell(codes::BAD_WINDOW_TIME, field, message, Some("give from and to, or recurring".to_owned()));
                return None;
            }
            (from, to, None) => {
                let end = to.or(from.or(Some(now.0)).zip(least).map(|(from, least)| from.saturating_add(least)));
                vec![(Timestamp(from.unwrap_or(now.0)), Timestamp(end.unwrap_or(until.0)))]
            }
        };
        let stretches: Vec<_> = stretches.into_iter().map(reserved).collect();
        if stretches.iter().any(|(start, end)| start >= end) {
            let message = "it ends before it begins, its lead time included".to_owned();
            self.tell(codes::BAD_WINDOW_TIME, field, message, None);
            return None;
        }
        Some(stretches)
    }

    fn prices(&mut self, field: &str, rate: &Rate) -> Vec<NewPrice> {
        let resource = ResourceName::from(rate.resource.as_str());
        let units: i128 = match rate.unit {
            RateUnit::GpuHour => i128::from(resource.units_per_gpu()),
            _ => 1,
        };
        let amount = match rate.amount.read() {
            Ok(amount) if amount.nanos >= 0 => amount,
            Ok(_) => {
                self.tell(codes::BAD_VALUE, &format!("{field}/amount"), "a price is at least 0".to_owned(), None);
                return Vec::new();
            }
            Err(message) => {
                self.tell(codes::BAD_VALUE, &format!("{field}/amount"), message, None);
                return Vec::new();
            }
        };
        let named = |flavor: &FlavorName| rate.flavor.as_ref().is_none_or(|wanted| flavor.as_str() == wanted);
        let ids = (0_u32..).map(CellId).zip(&self.snapshot.cells);
        let per_unit_hour = crate::units::Money { nanos: div_round_half_even(amount.nanos, units) };
        let prices: Vec<NewPrice> = ids
            .filter(|(_, cell)| cell.resource == resource && named(&cell.flavor))
            .map(|(cell, _)| NewPrice { cell, per_unit_hour })
            .collect();
        if prices.is_empty() {
            let known: Vec<String> =
                self.snapshot.cells.iter().map(|cell| format!("{} ({})", cell.flavor, cell.resource)).collect();
            let flavor = rate.flavor.as_deref().unwrap_or("any flavor");
            let message =
                format!("prices {resource} on {flavor}, which nothing here has; there are: {}", known.join(", "));
            let hint = nearest(flavor, self.snapshot.cells.iter().map(|cell| cell.flavor.as_str()));
            self.tell(codes::UNKNOWN_FLAVOR, field, message, hint);
        }
        prices
    }
}
