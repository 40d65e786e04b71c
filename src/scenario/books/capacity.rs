//! What there is, and what tenants may count on: nominal quota, approved devices, guarantees.

use std::collections::BTreeMap;

use super::windows;
use crate::api::written;
use crate::failure::Finding;
use crate::kueue::catalog::Catalog;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::quantity::Quantity;
use crate::ledger::card::{Capacity, Guarantee};
use crate::ledger::run::Window;
use crate::names::{FlavorName, ResourceName, TenantId};
use crate::units::Amount;

/// The sum of nominal quota over ClusterQueues and Cohorts, for the whole window; where the inventory approves a number
/// of devices for a flavor, that number instead; and what capacity windows add while they last. `None` without quota and
/// devices.
pub(super) fn read(catalog: &Catalog<'_>, window: Window, findings: &mut Findings) -> Option<Vec<Capacity>> {
    let mut total: BTreeMap<(FlavorName, ResourceName), Amount> = BTreeMap::new();
    let queues = catalog.cluster_queues.values().map(|known| (known.manifest, &known.spec.resource_groups));
    let cohorts = catalog.cohorts.values().map(|known| (known.manifest, &known.spec.resource_groups));
    for (manifest, groups) in queues.chain(cohorts) {
        for flavor in groups.iter().flat_map(|group| &group.flavors) {
            for quota in &flavor.resources {
                let resource = ResourceName::from(quota.name.as_str());
                let Some(amount) = quota.nominal_quota.amount(&resource) else {
                    let message = format!("the nominal quota of {resource} on {} is too large to count", flavor.name);
                    findings.push(Finding::error(codes::BAD_VALUE, manifest.subject(), message));
                    continue;
                };
                let sum = total.entry((FlavorName::from(flavor.name.as_str()), resource)).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
    }
    let mut approved: BTreeMap<(FlavorName, ResourceName), Amount> = BTreeMap::new();
    for device in catalog.inventories.values().flat_map(|known| &known.spec.devices) {
        if let (Some(flavor), Some(quantity)) = (&device.flavor, device.quantity) {
            let key = (FlavorName::from(flavor.as_str()), ResourceName::from(device.resource_name.as_str()));
            let sum = approved.entry(key).or_default();
            *sum = sum.saturating_add(Amount(i64::from(quantity)));
        }
    }
    total.extend(approved);
    let row = |((flavor, resource), total): ((FlavorName, ResourceName), Amount)| Capacity {
        flavor,
        resource,
        window,
        total,
        stranded: Amount::ZERO,
    };
    if total.is_empty() {
        return None;
    }
    let standing = total.into_iter().map(row);
    Some(standing.chain(windows::added(catalog, window, findings)).collect())
}

pub(super) fn guarantees(catalog: &Catalog<'_>, findings: &mut Findings) -> Vec<Guarantee> {
    let mut found = Vec::new();
    for (name, known) in &catalog.tenants {
        for (at, row) in known.spec.guarantee.iter().enumerate() {
            let resource = row.resource.clone().unwrap_or_else(|| accelerator(&row.flavor, catalog));
            let resource = ResourceName::from(resource);
            let read = |quantity: &written::Quantity| {
                let amount = Quantity::parse(&quantity.text())?.amount(&resource);
                amount.ok_or_else(|| format!("{} is too large to count", quantity.text()))
            };
            match read(&row.quantity) {
                Ok(quantity) => found.push(Guarantee {
                    tenant: TenantId::from(*name),
                    flavor: FlavorName::from(row.flavor.as_str()),
                    resource,
                    quantity,
                }),
                Err(message) => findings.push(
                    Finding::error(codes::BAD_VALUE, known.manifest.subject(), message)
                        .at(known.manifest.span(&format!("/spec/guarantee/{at}/quantity")), "this value"),
                ),
            }
        }
    }
    found
}

/// The accelerator that queues offer on a flavor; NVIDIA's whole GPU where none does.
fn accelerator(flavor: &str, catalog: &Catalog<'_>) -> String {
    let groups = catalog.cluster_queues.values().flat_map(|known| &known.spec.resource_groups);
    let quotas =
        groups.flat_map(|group| &group.flavors).filter(|one| one.name == flavor).flat_map(|one| &one.resources);
    let mut names = quotas.map(|quota| ResourceName::from(quota.name.as_str())).filter(ResourceName::is_accelerator);
    names.next().map_or_else(|| "nvidia.com/gpu".to_owned(), |name| name.as_str().to_owned())
}
