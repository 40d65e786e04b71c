//! From objects to what is observed of them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Carrier, Observed, Standing, Turn, WorkloadState};
use crate::api::keys;
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::kueue::place::{Ground, Placed};
use crate::kueue::podsets::{self, Submission};
use crate::kueue::types::{OwnerReference, POD_GROUP_NAME, QUEUE_NAME};
use crate::names::{FlavorName, QueueName};

/// Pods by namespace and group.
pub(in crate::kueue) type Members<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Manifest>>;

/// Reads one submission; `None` for a run that does not exist yet.
pub(in crate::kueue) fn of(
    submission: &Submission<'_>,
    placed: &Placed,
    members: &Members<'_>,
    ground: &mut Ground<'_, '_>,
) -> Option<Observed> {
    if submission.arrives.is_some() || submission.manifest.kind == "CronJob" {
        return None;
    }
    let now = ground.frame.now;
    // What there is to tell of its promise has been told by `place`.
    let mut told = crate::kueue::findings::Findings::default();
    let promise = ground.promises.find(submission, &mut told);
    let slo = promise.map(|it| (it.manifest.namespace.clone(), it.manifest.name.clone()));
    let created = submission.created.unwrap_or(now);
    let due = promise.and_then(|promise| promise.due(created)).map(|due| due.at);
    let workload = submission.stands.map(workload_state);
    let flavor = workload.as_ref().and_then(|it| it.flavor.clone());
    let declared = promise.zip(flavor).and_then(|(promise, flavor)| promise.runtime(&[flavor]));
    let standing = match placed {
        Placed::Planned(_) => Standing::Waiting,
        Placed::Running(_) => Standing::Running,
        Placed::Unplaceable(never) => Standing::Never(never.reason.clone()),
        Placed::Finished => Standing::Finished,
        Placed::NotQueued | Placed::LeftOut => Standing::Aside,
    };
    Some(Observed {
        key: submission.key.clone(),
        kind: submission.kind.clone(),
        created: submission.created,
        queue: cluster_queue(submission, ground),
        slo,
        due,
        declared,
        carriers: carriers(submission, members),
        workload,
        standing,
        gates_ignored: ground.frame.gates_ignored,
    })
}

fn cluster_queue(submission: &Submission<'_>, ground: &Ground<'_, '_>) -> Option<QueueName> {
    let facts = submission.workload.as_ref();
    if let Some(admitted) = facts.and_then(|facts| facts.admitted.as_ref()) {
        return Some(admitted.cluster_queue.clone());
    }
    let named = facts.map(|facts| facts.queue_name.as_str()).filter(|name| !name.is_empty());
    let local = named.or_else(|| submission.label(QUEUE_NAME))?;
    let known = ground.catalog.local_queues.get(&(submission.manifest.namespace.as_str(), local))?;
    Some(QueueName::from(known.spec.cluster_queue.as_str()))
}

fn carriers(submission: &Submission<'_>, members: &Members<'_>) -> Vec<Carrier> {
    if submission.kind != "PodGroup" {
        let own = carrier(submission.manifest);
        return vec![podsets::controller(submission.manifest).and_then(|owner| of_owner(&own, owner)).unwrap_or(own)];
    }
    let group = (submission.manifest.namespace.as_str(), submission.key.name());
    members.get(&group).into_iter().flatten().copied().map(carrier).collect()
}

/// The pods of every group, by namespace and group, and each group's by name.
pub(in crate::kueue) fn members<'a>(queued: &[&'a Manifest]) -> Members<'a> {
    let mut found = Members::new();
    for pod in queued.iter().copied().filter(|one| one.kind == "Pod") {
        if let Some(group) = pod.label(POD_GROUP_NAME) {
            found.entry((pod.namespace.as_str(), group)).or_default().push(pod);
        }
    }
    for pods in found.values_mut() {
        pods.sort_by(|a, b| a.name.cmp(&b.name));
    }
    found
}

fn carrier(manifest: &Manifest) -> Carrier {
    Carrier {
        api_version: manifest.api_version.clone(),
        kind: manifest.kind.clone(),
        namespace: manifest.namespace.clone(),
        name: manifest.name.clone(),
        uid: text(manifest, "/metadata/uid"),
        gates: manifest.annotation(keys::GATES).unwrap_or_default().to_owned(),
        planned_start: manifest.annotation(keys::PLANNED_START).map(str::to_owned),
        prebuilt: manifest.label(keys::PREBUILT_WORKLOAD).is_some(),
        inactive: false,
    }
}

/// A Workload of an object that is not planned from: Kueue copies that object's gates, and would copy them again.
fn of_owner(workload: &Carrier, owner: OwnerReference) -> Option<Carrier> {
    (workload.kind == "Workload").then(|| Carrier {
        api_version: owner.api_version,
        kind: owner.kind,
        name: owner.name,
        uid: owner.uid,
        ..workload.clone()
    })
}

fn workload_state(manifest: &Manifest) -> WorkloadState {
    let condition = |kind: &str, status: &str| {
        let all = manifest.at("/status/conditions")?.as_array()?;
        let has = |one: &Value, field: &str, text: &str| one.get(field).and_then(Value::as_str) == Some(text);
        let is = |one: &&Value| has(one, "type", kind) && has(one, "status", status);
        all.iter().find(is).map(turn)
    };
    let flavors = manifest.at("/status/admission/podSetAssignments/0/flavors").and_then(Value::as_object);
    let on = |accelerators: bool| {
        let mut all = flavors.into_iter().flatten();
        let (_, flavor) = all.find(|(resource, _)| {
            !accelerators || crate::names::ResourceName::from(resource.as_str()).is_accelerator()
        })?;
        flavor.as_str().map(FlavorName::from)
    };
    let since = |turn: Option<Turn>| turn.and_then(|turn| turn.at);
    WorkloadState {
        name: manifest.name.clone(),
        uid: text(manifest, "/metadata/uid"),
        api_version: manifest.api_version.clone(),
        gates: manifest.annotation(keys::GATES).unwrap_or_default().to_owned(),
        planned_start: manifest.annotation(keys::PLANNED_START).map(str::to_owned),
        active: manifest.at("/spec/active").and_then(Value::as_bool).unwrap_or(true),
        marked: manifest.annotation(keys::HELD) == Some(keys::HELD_INACTIVE),
        reserved: since(condition("QuotaReserved", "True")),
        admitted: since(condition("Admitted", "True")),
        flavor: on(true).or_else(|| on(false)),
        evicted: condition("Evicted", "True"),
        finished: condition("Finished", "True"),
        pending: condition("QuotaReserved", "False"),
        evictions: evictions(manifest),
    }
}

fn turn(condition: &Value) -> Turn {
    let field = |name: &str| condition.get(name).and_then(Value::as_str).unwrap_or_default();
    Turn {
        at: calendar::parse_instant(field("lastTransitionTime")).ok(),
        reason: field("reason").to_owned(),
        message: field("message").to_owned(),
    }
}

/// Kueue counts evictions by their cause. It counts one for a Workload that was made inactive before it ever ran, as we do
/// where gates are ignored; that one is none.
fn evictions(manifest: &Manifest) -> u32 {
    let counted = manifest.at("/status/schedulingStats/evictions").and_then(Value::as_array);
    let ours = manifest.annotation(keys::HELD).is_some();
    let by_nobody =
        |one: &Value| one["reason"] == "Deactivated" && one["underlyingCause"].as_str().is_none_or(str::is_empty);
    let count = |one: &Value| {
        let count = one.get("count")?.as_u64()?;
        Some(count.saturating_sub(u64::from(ours && by_nobody(one))))
    };
    let counts = counted.into_iter().flatten().filter_map(count);
    u32::try_from(counts.fold(0_u64, u64::saturating_add)).unwrap_or(u32::MAX)
}

fn text(manifest: &Manifest, pointer: &str) -> String {
    manifest.at(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}
