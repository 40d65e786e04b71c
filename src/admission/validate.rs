//! Our own kinds, as far as a schema cannot tell: one object against the others.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use super::answer::{Decision, Outcome};
use super::object::Object;
use super::review::{Request, Verb};
use super::templates;
use super::world::{Mode, World};
use crate::api::capacity_plan::{self, CapacityPlanSpec};
use crate::api::tenant::GpuTenantSpec;

/// Names in one message; more are counted.
const NAMES_MAX: usize = 5;

/// Answers a write to one of our kinds.
#[must_use]
pub fn own_kind(request: &Request<'_>, world: &World) -> Decision {
    if !request.sub_resource.is_empty() {
        return Decision::ignored();
    }
    let writes = matches!(request.operation, Verb::Create | Verb::Update);
    match &*request.resource.resource {
        "gputenants" if writes => tenant(request, world),
        "capacityplans" if writes => plan(request, world),
        "ratecards" if request.operation == Verb::Delete => card(request, world),
        _ => Decision::ignored(),
    }
}

/// What a spec means; a wrong one is the schema's to refuse.
fn spec<T: DeserializeOwned>(object: Option<&Object<'_>>) -> Option<T> {
    serde_json::from_str(object?.spec?.get()).ok()
}

/// A namespace is one tenant's, or it is shared by tenants that all say who acts for them.
fn tenant(request: &Request<'_>, world: &World) -> Decision {
    let Some(spec) = spec::<GpuTenantSpec>(request.object.as_ref()) else { return Decision::ignored() };
    let selected = world.directory.namespaces().filter(|namespace| {
        let selector = spec.namespace_selector.as_ref();
        selector.is_some_and(|selector| selector.matches(|key| namespace.labels.get(key).map(String::as_str)))
    });
    let mine: BTreeSet<&str> =
        spec.namespaces.iter().map(String::as_str).chain(selected.map(|namespace| namespace.name.as_str())).collect();
    let mut contested = Vec::new();
    for namespace in mine {
        let others = world.directory.claimants(namespace).filter(|other| *other.id.name != *request.name);
        for other in others {
            if spec.subjects.is_empty() || other.spec.subjects.is_empty() {
                contested.push(format!("{namespace} (of {})", other.id.name));
            }
        }
    }
    if contested.is_empty() {
        return Decision::unchanged();
    }
    let message = format!(
        "other GpuTenants claim the same namespaces: {}; leave them to one tenant, or give both spec.subjects",
        listed(&contested)
    );
    by_mode(message, world.mode == Mode::Enforce)
}

/// Two plans that both gate one queue would release each other's work.
fn plan(request: &Request<'_>, world: &World) -> Decision {
    let Some(spec) = spec::<CapacityPlanSpec>(request.object.as_ref()) else { return Decision::ignored() };
    let queues = &world.queues;
    let others = queues.plans.iter().filter(|(name, plan)| {
        **name != *request.name
            && plan.mode == capacity_plan::Mode::Enforce
            && spec.mode == capacity_plan::Mode::Enforce
    });
    let mut shared = Vec::new();
    for (name, other) in others {
        let both =
            queues.cluster.keys().filter(|queue| queues.is_in_scope(&spec, queue) && queues.is_in_scope(other, queue));
        shared.extend(both.map(|queue| format!("{queue} (of {name})")));
    }
    if !shared.is_empty() {
        let message = format!(
            "another CapacityPlan in Enforce mode has the same ClusterQueues in scope: {}; only one may gate a queue",
            listed(&shared)
        );
        return by_mode(message, world.mode != Mode::Observe);
    }
    let mut decision = Decision::unchanged();
    let missing: Vec<String> =
        spec.queues.iter().filter(|queue| !queues.cluster.contains_key(*queue)).cloned().collect();
    if !missing.is_empty() {
        decision.warn(&format!("there is no such ClusterQueue yet: {}", listed(&missing)));
    }
    decision
}

/// A card that a close rests on stays, so that the close can be computed again.
fn card(request: &Request<'_>, world: &World) -> Decision {
    let status = request.old_object.as_ref().and_then(|card| card.status);
    match templates::text(status, "usedByClose") {
        Some(close) => {
            let message = format!("the close `{}` rests on RateCard {}; it cannot be deleted", &*close, &*request.name);
            by_mode(message, world.mode != Mode::Observe)
        }
        None => Decision::unchanged(),
    }
}

fn by_mode(message: String, refused: bool) -> Decision {
    if refused {
        return Decision::denied(message);
    }
    let mut decision = Decision::unchanged();
    decision.outcome = Outcome::Tolerated;
    decision.audit("decision", "tolerated");
    decision.warn(&message);
    decision
}

fn listed(names: &[String]) -> String {
    let shown = names.iter().take(NAMES_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
