//! From manifests to what accounting needs: rate cards, capacity, guarantees, gates and promises as values.
//!
//! Everything a report depends on besides runs and outcomes stands in the same files that `plan` reads. Deliberately
//! absent: prices for planning (`kueue::prices`), which forget what planning does not need.

mod capacity;
mod cards;
mod gates;
mod promises;
mod windows;

use std::collections::BTreeMap;

use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::catalog::Catalog;
use crate::kueue::findings::Findings;
use crate::ledger::card::{Capacity, Card, Guarantee};
use crate::ledger::run::{Run, Window};
use crate::names::WorkloadKey;
use crate::outcome::gate::Gate;
use crate::outcome::settle::Promise;

/// Everything the manifests say about money and quality.
#[derive(Debug, Clone, Default)]
pub struct Books {
    pub cards: Vec<Card>,
    pub guarantees: Vec<Guarantee>,
    /// `None`: no queue and no inventory says what there is.
    pub capacity: Option<Vec<Capacity>>,
    pub gates: Vec<Gate>,
    pub promises: BTreeMap<WorkloadKey, Promise>,
    /// Errors first.
    pub findings: Vec<Finding>,
}

/// Opens the books for a window. What runs leave out (tenant, class, queue) is filled in from the manifests.
#[must_use]
pub fn open(manifests: &[Manifest], runs: &mut [Run], window: Window) -> Books {
    let mut findings = Findings::default();
    let catalog = Catalog::of(manifests, &mut findings);
    let cards = cards::read(&catalog, window, &mut findings);
    let guarantees = capacity::guarantees(&catalog, &mut findings);
    let capacity = capacity::read(&catalog, window, &mut findings);
    let gates = gates::read(manifests, &mut findings);
    let promises = promises::read(&catalog, runs, &mut findings);
    Books { cards, guarantees, capacity, gates, promises, findings: findings.finish() }
}
