//! What ClusterQueues say of themselves: the quota that is given out, workloads waiting on admission checks included.

use serde_json::Value;

use crate::api::manifest::Manifest;
use crate::kueue::quantity::Quantity;
use crate::kueue::release::Reservation;
use crate::names::{FlavorName, QueueName, ResourceName};
use crate::units::Amount;

/// `status.flavorsReservation` of one ClusterQueue; nothing of any other object.
#[must_use]
pub fn of(manifest: &Manifest) -> Vec<Reservation> {
    if manifest.kind != "ClusterQueue" {
        return Vec::new();
    }
    let flavors = manifest.at("/status/flavorsReservation").and_then(Value::as_array);
    let mut found = Vec::new();
    for flavor in flavors.into_iter().flatten() {
        let name = flavor.get("name").and_then(Value::as_str).unwrap_or_default();
        for resource in flavor.get("resources").and_then(Value::as_array).into_iter().flatten() {
            let total = resource.get("total").map(written).and_then(|text| Quantity::parse(&text).ok());
            let resource = ResourceName::from(resource.get("name").and_then(Value::as_str).unwrap_or_default());
            let amount = total.and_then(|total| total.amount(&resource)).unwrap_or_default();
            if amount > Amount::ZERO {
                let (queue, flavor) = (QueueName::from(manifest.name.as_str()), FlavorName::from(name));
                found.push(Reservation { queue, flavor, resource, amount });
            }
        }
    }
    found
}

fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
