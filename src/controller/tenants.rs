//! Tenants on their namespaces: the labels that policies compare stamps with while the webhook is down, and since when.
//!
//! Invariant: a namespace that exactly one GpuTenant claims carries its name, its UID and the instant at which that began;
//! any other carries none of them. What is there already is left alone, and nothing is taken away while tenants or
//! namespaces are not known.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::admission::policy::LEFT_OUT;
use crate::admission::{Mode, assemble};
use crate::api::keys::{TENANT, TENANT_SINCE, TENANT_UID};
use crate::api::manifest::Manifest;
use crate::api::tenant;
use crate::calendar;
use crate::units::Timestamp;

/// The kinds that say whose a namespace is.
pub const OF_TENANCY: [&str; 2] = [tenant::KIND, "Namespace"];

/// The labels of one namespace that are not as they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relabel {
    pub namespace: String,
    /// Name and UID; `None`: nobody's, or not one tenant's alone.
    pub tenant: Option<(String, String)>,
}

impl Relabel {
    /// A merge patch that says so, from this instant on.
    #[must_use]
    pub fn patch(&self, now: Timestamp) -> Value {
        let (name, uid) = self.tenant.clone().unzip();
        let since = self.tenant.as_ref().map(|_| calendar::rfc3339(now, chrono_tz::UTC));
        json!({"metadata": {"labels": {TENANT: name, TENANT_UID: uid}, "annotations": {TENANT_SINCE: since}}})
    }
}

/// What is to be written, by namespace. Both kinds must have been listed.
#[must_use]
pub fn relabel(rows: &[Manifest]) -> Vec<Relabel> {
    let (world, _) = assemble(rows, Mode::Observe);
    let directory = &world.directory;
    let dated = |row: &&Manifest| row.annotation(TENANT_SINCE).is_some_and(|at| calendar::parse_instant(at).is_ok());
    let namespaces = rows.iter().filter(|row| row.kind == "Namespace" && row.group().is_empty());
    let dated: BTreeSet<&str> = namespaces.filter(dated).map(|row| row.name.as_str()).collect();
    let due = directory.namespaces().filter(|namespace| !LEFT_OUT.contains(&namespace.name.as_str()));
    due.filter_map(|namespace| {
        let tenant = directory.sole_claimant(&namespace.name).map(|it| (it.id.name.clone(), it.id.uid.clone()));
        let label = |key: &str| namespace.labels.get(key).cloned();
        let written = (label(TENANT), label(TENANT_UID));
        let is_dated = dated.contains(namespace.name.as_str()) == tenant.is_some();
        let is_right = written == tenant.clone().unzip() && is_dated;
        (!is_right).then(|| Relabel { namespace: namespace.name.clone(), tenant })
    })
    .collect()
}
