//! What capacity windows add to what there is, while they last.
//!
//! Only `Add` does. `Cap` and `Reserve` say who may use what there is, not that it costs less.

use crate::api::capacity_plan::{Window as Planned, WindowEffect};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::catalog::Catalog;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::stretches::{self, Fault, Stretches};
use crate::ledger::card::Capacity;
use crate::ledger::run::Window;
use crate::names::{FlavorName, ResourceName};
use crate::units::Amount;

/// A daily window over ten years; a report on more is not one of ours.
const OCCURRENCES_MAX: usize = 4_000;

pub(super) fn added(catalog: &Catalog<'_>, within: Window, findings: &mut Findings) -> Vec<Capacity> {
    let mut found = Vec::new();
    for known in catalog.capacity_plans.values() {
        for (at, planned) in known.spec.windows.iter().enumerate() {
            if planned.effect != WindowEffect::Add {
                continue;
            }
            match rows(planned, within) {
                Ok(rows) => found.extend(rows),
                Err(faults) => {
                    for fault in &faults {
                        findings.push(refused(known.manifest, (at, planned), fault));
                    }
                }
            }
        }
    }
    found
}

fn refused(manifest: &Manifest, (at, planned): (usize, &Planned), fault: &Fault) -> Finding {
    let message = format!("window `{}`: {}", planned.name, fault.message);
    let place = format!("/spec/windows/{at}{}", fault.field);
    Finding::error(fault.code, manifest.subject(), message).at(manifest.span(&place), fault.label)
}

fn rows(planned: &Planned, within: Window) -> Result<Vec<Capacity>, Vec<Fault>> {
    let resource = ResourceName::from(planned.resource.as_str());
    let total = stretches::quantity(planned, &resource).map_err(|fault| vec![fault])?;
    let Stretches { found, capped } = stretches::stretches(planned, within.from, within.to, OCCURRENCES_MAX)?;
    if capped {
        let message = format!("it recurs more than {OCCURRENCES_MAX} times; report on a shorter time");
        return Err(vec![Fault { field: "/recurring", code: codes::CAPPED, message, label: "here" }]);
    }
    let row = |window: Window| Capacity {
        flavor: FlavorName::from(planned.flavor.as_str()),
        resource: resource.clone(),
        window,
        total,
        stranded: Amount::ZERO,
    };
    let windows = found.into_iter().map(|(from, to)| Window { from, to });
    Ok(windows.filter_map(|window| window.within(within)).map(row).collect())
}
