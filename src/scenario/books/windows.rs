//! What capacity windows add to what there is, while they last.
//!
//! Only `Add` does. `Cap` and `Reserve` say who may use what there is, not that it costs less.

use crate::api::capacity_plan::{Window as Planned, WindowEffect};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::catalog::Catalog;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::quantity::Quantity;
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
                Err(wrong) => findings.push(refused(known.manifest, (at, planned), &wrong)),
            }
        }
    }
    found
}

/// The field that is wrong, and how.
type Wrong = (&'static str, &'static str, String);

fn refused(manifest: &Manifest, (at, planned): (usize, &Planned), (field, code, message): &Wrong) -> Finding {
    let message = format!("window `{}`: {message}", planned.name);
    Finding::error(code, manifest.subject(), message).at(manifest.span(&format!("/spec/windows/{at}{field}")), "here")
}

fn rows(planned: &Planned, within: Window) -> Result<Vec<Capacity>, Wrong> {
    let resource = ResourceName::from(planned.resource.as_str());
    let total = quantity(planned, &resource).map_err(|message| ("/quantity", codes::BAD_VALUE, message))?;
    let row = |window: Window| Capacity {
        flavor: FlavorName::from(planned.flavor.as_str()),
        resource: resource.clone(),
        window,
        total,
        stranded: Amount::ZERO,
    };
    Ok(stretches(planned, within)?.into_iter().filter_map(|stretch| stretch.within(within)).map(row).collect())
}

fn quantity(planned: &Planned, resource: &ResourceName) -> Result<Amount, String> {
    let amount = Quantity::parse(&planned.quantity.text())?.amount(resource);
    amount.ok_or_else(|| format!("{} is too large to count", planned.quantity.text()))
}

fn stretches(planned: &Planned, within: Window) -> Result<Vec<Window>, Wrong> {
    let instant = |field: &'static str| move |message: String| (field, codes::BAD_VALUE, message);
    match (&planned.start, &planned.end, &planned.recurring) {
        (Some(start), Some(end), None) => {
            let from = start.read().map_err(instant("/start"))?;
            let to = end.read().map_err(instant("/end"))?;
            if from >= to {
                return Err(("/end", codes::BAD_WINDOW_TIME, "it ends before it starts".to_owned()));
            }
            Ok(vec![Window { from, to }])
        }
        (None, None, Some(recurring)) => {
            let recurrence = recurring.read().map_err(instant("/recurring"))?;
            let found = recurrence.occurrences(within.from, within.to, OCCURRENCES_MAX + 1);
            if found.len() > OCCURRENCES_MAX {
                let message = format!("it recurs more than {OCCURRENCES_MAX} times; report on a shorter time");
                return Err(("/recurring", codes::CAPPED, message));
            }
            Ok(found.into_iter().map(|(from, to)| Window { from, to }).collect())
        }
        _ => Err(("", codes::BAD_WINDOW_TIME, "it needs either start and end, or recurring".to_owned())),
    }
}
