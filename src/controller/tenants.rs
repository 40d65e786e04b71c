//! Tenants on their namespaces: the labels that policies compare stamps with while the webhook is down.
//!
//! Invariant: a namespace that exactly one GpuTenant claims carries its name and UID; any other carries neither. What is
//! there already is left alone, and nothing is taken away while tenants or namespaces are not known.

use serde_json::{Value, json};

use crate::admission::policy::LEFT_OUT;
use crate::admission::{Mode, assemble};
use crate::api::keys::{TENANT, TENANT_UID};
use crate::api::manifest::Manifest;

/// The labels of one namespace that are not as they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relabel {
    pub namespace: String,
    /// Name and UID; `None`: nobody's, or not one tenant's alone.
    pub tenant: Option<(String, String)>,
}

impl Relabel {
    /// A merge patch that says so.
    #[must_use]
    pub fn patch(&self) -> Value {
        let (name, uid) = self.tenant.clone().unzip();
        json!({"metadata": {"labels": {TENANT: name, TENANT_UID: uid}}})
    }
}

/// What is to be written, by namespace. Both kinds must have been listed.
#[must_use]
pub fn relabel(rows: &[Manifest]) -> Vec<Relabel> {
    let (world, _) = assemble(rows, Mode::Observe);
    let directory = &world.directory;
    let due = directory.namespaces().filter(|namespace| !LEFT_OUT.contains(&namespace.name.as_str()));
    due.filter_map(|namespace| {
        let tenant = directory.sole_claimant(&namespace.name).map(|it| (it.id.name.clone(), it.id.uid.clone()));
        let label = |key: &str| namespace.labels.get(key).cloned();
        let written = (label(TENANT), label(TENANT_UID));
        (written != tenant.clone().unzip()).then(|| Relabel { namespace: namespace.name.clone(), tenant })
    })
    .collect()
}
