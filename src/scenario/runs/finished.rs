//! Runs from the manifests of finished work: Kueue Workloads, and Jobs that no Workload speaks for.
//!
//! An object keeps its last admission only: earlier attempts that were evicted are counted in its number, and a note
//! says that their times, and so their cost, are not in it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::manifest::Manifest;
use crate::calendar;
use crate::failure::Finding;
use crate::kueue::catalog::Catalog;
use crate::kueue::findings::Findings;
use crate::kueue::podsets::{self, Coming, controller};
use crate::kueue::requests::{self, Rules};
use crate::kueue::types::{self, Admission};
use crate::ledger::run::{EndReason, Run};
use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::units::{Amount, Timestamp};

use super::ReadRuns;

/// Adds the runs of everything that has finished. Objects that have not are left alone.
pub fn of_manifests(manifests: &[Manifest], into: &mut ReadRuns) {
    let mut ignored = Findings::default();
    let catalog = Catalog::of(manifests, &mut ignored);
    let mut spoken_for: BTreeSet<WorkloadKey> = BTreeSet::new();
    let kind = |manifest: &Manifest, group: &str, kind: &str| manifest.group() == group && manifest.kind == kind;
    for manifest in manifests.iter().filter(|manifest| kind(manifest, types::GROUP, "Workload")) {
        spoken_for.insert(key(manifest));
        if let Some(ended) = condition(manifest, "Finished") {
            workload(manifest, &ended, into);
        }
    }
    for manifest in manifests.iter().filter(|manifest| kind(manifest, "batch", "Job")) {
        let ended = condition(manifest, "Complete").or_else(|| condition(manifest, "Failed"));
        if let Some(ended) = ended.filter(|_| !spoken_for.contains(&key(manifest))) {
            job(manifest, &ended, &catalog, into);
        }
    }
}

/// People know a Workload by the object that owns it.
fn key(manifest: &Manifest) -> WorkloadKey {
    let owner = controller(manifest).filter(|_| manifest.kind == "Workload");
    WorkloadKey::new(&manifest.namespace, owner.as_ref().map_or(&manifest.name, |owner| &owner.name))
}

/// A condition that holds.
struct Condition {
    kind: String,
    reason: String,
    message: String,
    since: Option<Timestamp>,
}

fn condition(manifest: &Manifest, kind: &str) -> Option<Condition> {
    let text = |one: &Value, field: &str| one.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let conditions = manifest.at("/status/conditions")?.as_array()?;
    let one = conditions.iter().find(|one| text(one, "type") == kind && text(one, "status") == "True")?;
    Some(Condition {
        kind: kind.to_owned(),
        reason: text(one, "reason"),
        message: text(one, "message"),
        since: calendar::parse_instant(&text(one, "lastTransitionTime")).ok(),
    })
}

fn instant(manifest: &Manifest, pointer: &str) -> Option<Timestamp> {
    calendar::parse_instant(manifest.at(pointer)?.as_str()?).ok()
}

fn skip(manifest: &Manifest, why: &str, into: &mut ReadRuns) {
    into.findings.push(
        Finding::warning("SG134", manifest.subject(), format!("has finished, but {why}; it is not counted"))
            .at(manifest.span("/status"), "in this status"),
    );
}

fn workload(manifest: &Manifest, ended: &Condition, into: &mut ReadRuns) {
    let admission: Option<Admission> = manifest.decode("/status/admission").ok();
    let Some(admission) = admission.filter(|admission| !admission.pod_set_assignments.is_empty()) else {
        skip(manifest, "nothing says on which flavors it ran", into);
        return;
    };
    let since = ["QuotaReserved", "Admitted"].iter().find_map(|kind| condition(manifest, kind)?.since);
    let (Some(start), Some(end)) = (since, ended.since) else {
        skip(manifest, "nothing says from when to when it held its quota", into);
        return;
    };
    // What was reserved, from the first to the last moment; pods given back in between are not in the object.
    let mut uses: BTreeMap<FlavorName, BTreeMap<ResourceName, Amount>> = BTreeMap::new();
    for assignment in &admission.pod_set_assignments {
        for (resource, flavor) in &assignment.flavors {
            let resource = ResourceName::from(resource.as_str());
            let usage = assignment.resource_usage.get(resource.as_str()).copied().unwrap_or_default();
            let Some(amount) = usage.amount(&resource).filter(|amount| amount.0 > 0) else { continue };
            let sum = uses.entry(FlavorName::from(flavor.as_str())).or_default().entry(resource).or_default();
            *sum = sum.saturating_add(amount);
        }
    }
    let evictions = evictions(manifest);
    if evictions > 0 {
        let message = format!("was evicted {evictions} times before; when those attempts ran is not in the object");
        into.findings.push(Finding::note("SG135", manifest.subject(), message));
    }
    for (flavor, resources) in uses {
        let run = Run {
            workload: key(manifest),
            attempt: u32::try_from(evictions).unwrap_or(u32::MAX).saturating_add(1),
            tenant: None,
            class: None,
            queue: Some(QueueName::from(admission.cluster_queue.as_str())),
            flavor,
            resources,
            created: instant(manifest, "/metadata/creationTimestamp"),
            start,
            end: Some(end.max(start)),
            end_reason: end_reason(ended),
            fingerprint: BTreeMap::new(),
        };
        into.accept(run, manifest.span("/metadata/name"));
    }
}

/// Kueue counts evictions in its scheduling statistics, older versions re-queueings.
pub fn evictions(manifest: &Manifest) -> u64 {
    let by_reason = manifest.at("/status/schedulingStats/evictions").and_then(Value::as_array);
    let counted = by_reason.map(|rows| rows.iter().filter_map(|row| row.get("count")?.as_u64()).sum());
    counted.or_else(|| manifest.at("/status/requeueState/count")?.as_u64()).unwrap_or(0)
}

fn end_reason(ended: &Condition) -> EndReason {
    match (ended.kind.as_str(), ended.reason.as_str()) {
        ("Complete", _) | (_, "Succeeded") => EndReason::Succeeded,
        ("Failed", _) | (_, "Failed") => EndReason::Failed,
        // Kueue before 0.9 tells success and failure apart in the message only.
        (_, "JobFinished") if ended.message.to_lowercase().contains("fail") => EndReason::Failed,
        (_, "JobFinished") => EndReason::Succeeded,
        _ => EndReason::Cancelled,
    }
}

/// A Job does not say on which flavor it ran; where its queue offers only one, it was that one.
fn job(manifest: &Manifest, ended: &Condition, catalog: &Catalog<'_>, into: &mut ReadRuns) {
    let Some(queue) = manifest.label(types::QUEUE_NAME) else { return };
    let local = catalog.local_queues.get(&(manifest.namespace.as_str(), queue));
    let cluster = local.and_then(|local| {
        Some((local.spec.cluster_queue.as_str(), catalog.cluster_queues.get(local.spec.cluster_queue.as_str())?))
    });
    let Some((queue, cluster)) = cluster else {
        skip(manifest, "its queue is not in the files, so its flavor is not known", into);
        return;
    };
    let start = instant(manifest, "/status/startTime");
    let (Some(start), Some(end)) = (start, instant(manifest, "/status/completionTime").or(ended.since)) else {
        skip(manifest, "nothing says from when to when it ran", into);
        return;
    };
    let mut by_flavor: BTreeMap<FlavorName, BTreeMap<ResourceName, Amount>> = BTreeMap::new();
    for (resource, amount) in requests(manifest, catalog) {
        let group = cluster
            .spec
            .resource_groups
            .iter()
            .find(|group| group.covered_resources.iter().any(|name| name == resource.as_str()));
        match group.map(|group| group.flavors.as_slice()) {
            Some([only]) => {
                by_flavor.entry(FlavorName::from(only.name.as_str())).or_default().insert(resource, amount);
            }
            Some(_) => {
                skip(manifest, "its queue offers several flavors; its Workload would say which it was", into);
                return;
            }
            None => {}
        }
    }
    for (flavor, resources) in by_flavor {
        let run = Run {
            workload: key(manifest),
            attempt: 1,
            tenant: None,
            class: None,
            queue: Some(QueueName::from(queue)),
            flavor,
            resources,
            created: instant(manifest, "/metadata/creationTimestamp"),
            start,
            end: Some(end.max(start)),
            end_reason: end_reason(ended),
            fingerprint: BTreeMap::new(),
        };
        into.accept(run, manifest.span("/metadata/name"));
    }
}

/// What all pods of a Job ask for together, by the rules by which Kueue counts them.
fn requests(manifest: &Manifest, catalog: &Catalog<'_>) -> BTreeMap<ResourceName, Amount> {
    let mut ignored = Findings::default();
    let limits = catalog.limits.get(manifest.namespace.as_str());
    let rules = Rules { overheads: &catalog.overheads, limits, configuration: &catalog.configuration };
    // A Job's own PodSets do not depend on when anything is asked; the stretch is for CronJobs.
    let coming = Coming { from: Timestamp(0), to: Timestamp(0) };
    let mut total: BTreeMap<ResourceName, Amount> = BTreeMap::new();
    for submission in podsets::read(manifest, coming, &mut ignored) {
        for set in submission.pod_sets.iter() {
            for (resource, amount) in requests::of_pod_set(&set.template.spec, set.count, rules).unwrap_or_default() {
                let sum = total.entry(resource).or_default();
                *sum = sum.saturating_add(amount);
            }
        }
    }
    total
}
