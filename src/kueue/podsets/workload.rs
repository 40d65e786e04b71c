//! Kueue's own Workload: the truth about its object's PodSets, priority and admission.

use super::{PodSet, Progress, Submission, controller, count};
use crate::api::keys;
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::failure::Finding;
use crate::kueue::types::{Condition, WorkloadSpec, WorkloadStatus};
use crate::names::{FlavorName, QueueName, ResourceName, WorkloadKey};
use crate::units::{Amount, Timestamp};

/// What a Workload adds to what its object says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkloadFacts {
    pub queue_name: String,
    pub priority: Option<i32>,
    /// Of kind WorkloadPriorityClass; used only where the priority itself is absent.
    pub priority_class: Option<String>,
    pub admitted: Option<Admitted>,
    /// `spec.active: false`, and not by us.
    pub deactivated: bool,
}

/// The quota a Workload holds, after the pods it has given back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    pub cluster_queue: QueueName,
    pub uses: Vec<(FlavorName, ResourceName, Amount)>,
    pub since: Option<Timestamp>,
}

/// A Workload goes by the name of the object that owns it, where it has one.
pub(super) fn workload(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let spec: WorkloadSpec = manifest.decode("/spec")?;
    let mut status: WorkloadStatus =
        if manifest.at("/status").is_some() { manifest.decode("/status")? } else { WorkloadStatus::default() };
    // Many have the same one, which then stands apart.
    if status.admission.is_none() && manifest.at("/status/admission").is_some() {
        status.admission = manifest.decode("/status/admission")?;
    }
    let pod_sets: Vec<PodSet> = spec
        .pod_sets
        .iter()
        .enumerate()
        .map(|(at, set)| PodSet {
            name: set.name.clone(),
            count: count(set.count) - given_back(&status, &set.name),
            template: set.template.clone(),
            spec_at: format!("/spec/podSets/{at}/template/spec"),
        })
        .collect();
    let admitted = admitted(&spec, &status);
    let progress = match () {
        () if status.conditions.iter().any(|one| one.kind == "Finished" && one.holds()) => Progress::Finished,
        () if admitted.is_some() => Progress::Active,
        () => Progress::Waiting,
    };
    let ours = manifest.annotation(keys::HELD) == Some(keys::HELD_INACTIVE);
    let of_workloads = spec.priority_class_ref.as_ref().filter(|class| class.kind == "WorkloadPriorityClass");
    let mut submission = Submission::new(manifest, pod_sets, progress);
    submission.workload = Some(WorkloadFacts {
        queue_name: spec.queue_name.clone(),
        priority: spec.priority,
        priority_class: of_workloads.map(|class| class.name.clone()).or(spec.priority_class_name.clone()),
        admitted,
        deactivated: spec.active == Some(false) && !ours,
    });
    submission.stands = Some(manifest);
    if let Some(owner) = controller(manifest) {
        submission.key = WorkloadKey::new(&manifest.namespace, &owner.name);
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        group.clone_into(&mut submission.group);
        submission.kind = owner.kind;
    }
    Ok(submission)
}

fn given_back(status: &WorkloadStatus, pod_set: &str) -> i64 {
    status.reclaimable_pods.iter().find(|pods| pods.name == pod_set).map_or(0, |pods| pods.count.max(0))
}

/// Kueue's own rule: usage as recorded, scaled down where fewer pods are left than were admitted.
fn admitted(spec: &WorkloadSpec, status: &WorkloadStatus) -> Option<Admitted> {
    let admission = status.admission.as_ref()?;
    let mut uses = Vec::new();
    for assignment in &admission.pod_set_assignments {
        let declared = spec.pod_sets.iter().find(|set| set.name == assignment.name).map_or(1, |set| count(set.count));
        let assigned = assignment.count.unwrap_or(declared).max(0);
        let left = (declared - given_back(status, &assignment.name)).clamp(0, assigned);
        for (resource, flavor) in &assignment.flavors {
            let resource = ResourceName::from(resource.as_str());
            let usage = assignment.resource_usage.get(resource.as_str()).copied().unwrap_or_default();
            // Beyond 2^63 nothing was ever admitted.
            let Some(total) = usage.amount(&resource) else { continue };
            let amount = if left < assigned { total.0 / assigned * left } else { total.0 };
            if amount > 0 {
                uses.push((FlavorName::from(flavor.as_str()), resource, Amount(amount)));
            }
        }
    }
    Some(Admitted {
        cluster_queue: QueueName::from(admission.cluster_queue.as_str()),
        uses,
        since: since(&status.conditions, "Admitted").or_else(|| since(&status.conditions, "QuotaReserved")),
    })
}

fn since(conditions: &[Condition], kind: &str) -> Option<Timestamp> {
    let condition = conditions.iter().find(|condition| condition.kind == kind && condition.holds())?;
    calendar::parse_instant(condition.last_transition_time.as_deref()?).ok()
}
