//! How lists merge: by a key where their items have one, as a set where they are plain words.
//!
//! The API server then refuses doubles by itself and server-side apply owns single items. Lists that stand nowhere here
//! are replaced as a whole, which is also Kubernetes' own choice.

use serde_json::{Value, json};

use super::at;
use crate::api::{capacity_plan, inventory, quality_gate, rate_card, serving_baseline, slo, tenant};

/// How the items of a list are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    /// By this field of each item.
    Map(&'static str),
    /// Each is its own key.
    Set,
}

use ListKind::{Map, Set};

/// Kind, path of the list, how it merges.
const LISTS: &[(&str, &str, ListKind)] = &[
    (slo::KIND, "spec.flavorRuntimes", Map("flavor")),
    (slo::KIND, "spec.valueAfterDeadline", Map("after")),
    (slo::KIND, "spec.allowedFlavors", Set),
    (quality_gate::KIND, "spec.criteria", Map("name")),
    (quality_gate::KIND, "spec.evaluators", Set),
    (quality_gate::KIND, "spec.fingerprint", Set),
    (tenant::KIND, "spec.namespaces", Set),
    (inventory::KIND, "spec.devices", Map("name")),
    (rate_card::KIND, "spec.overhead", Map("name")),
    (rate_card::KIND, "spec.weights", Map("version")),
    (rate_card::KIND, "spec.weights[].units", Map("kind")),
    (capacity_plan::KIND, "spec.queues", Set),
    (capacity_plan::KIND, "spec.cohorts", Set),
    (capacity_plan::KIND, "spec.windows", Map("name")),
    (capacity_plan::KIND, "spec.windows[].recurring.days", Set),
    (serving_baseline::KIND, "spec.demand.points[].days", Set),
];

/// Writes into the schema of a kind how its lists merge.
///
/// # Panics
/// When a path of the table leads nowhere, which a test would find first.
pub fn mark(root: &mut Value, kind: &str) {
    let own = LISTS.iter().filter(|(of, ..)| *of == kind).map(|(_, path, list)| (*path, *list));
    for (path, list) in own.chain([("status.conditions", Map("type"))]) {
        let schema = at(root, path).expect("the table of lists must follow the types");
        match list {
            Map(key) => {
                schema["x-kubernetes-list-type"] = json!("map");
                schema["x-kubernetes-list-map-keys"] = json!([key]);
            }
            Set => schema["x-kubernetes-list-type"] = json!("set"),
        }
    }
}
