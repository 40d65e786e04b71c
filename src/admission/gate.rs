//! Whether a new object waits for the plan.
//!
//! A gate is added where Kueue reads it, once, on what Kueue queues as a whole; everywhere else it would have no effect
//! or hold work for ever. Each exception has its reason in `Gate`. What a user writes about himself (an owner, an origin)
//! excuses nothing: it must be verified, or come from who may say so.

use super::kinds::{self, Kind, Role};
use super::object::{Metadata, Object};
use super::queues::PodGroup;
use super::review::Request;
use super::templates;
use super::world::World;
use crate::api::keys::{
    self, ELASTIC_JOB, GATE, GATES, GROUP_WORKLOAD, HELD, HELD_INACTIVE, MULTIKUEUE_ORIGIN, POD_GROUP,
    PREBUILT_WORKLOAD, QUEUE_NAME, SLICE_REPLACEMENT, SUSPENDING_PARENT,
};

/// The LocalQueue that Kueue gives to jobs that name none, where it exists.
const DEFAULT_QUEUE: &str = "default";

/// Whether our gate is added, and if not, why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// With the whole value of Kueue's annotation.
    Add { gates: String, elastic: bool },
    /// Its author asked for it already.
    Present,
    /// Its author asked for it where nobody would take it away.
    Stranded { queue: String },
    /// No queue, or none in a CapacityPlan in Enforce mode.
    OutOfScope,
    /// Part of a queued owner.
    Child,
    /// Kueue does not pass gates on for this kind.
    Serving,
    /// The gate is on the Workload that was made beforehand.
    Prebuilt,
    /// The group was released.
    ReleasedGroup,
    /// It was gated in its own cluster.
    Copy,
    /// Kueue ignores gates: what it makes of this is held instead, as it is made.
    Unsupported,
    /// Kueue ignores gates, and what it makes of this cannot be told from a part of a queued owner: it is not held.
    Loose,
    /// Where Kueue ignores gates: the Workload is made inactive, under our mark, or has been.
    Inactive { already: bool },
    /// Its author made it inactive; that is not ours to change.
    Deactivated,
}

impl Gate {
    /// For the audit log; `None`: not worth a word.
    #[must_use]
    pub fn word(&self) -> Option<&'static str> {
        match self {
            Self::Add { elastic: false, .. } => Some("added"),
            Self::Add { elastic: true, .. } => Some("added-elastic"),
            Self::Present => Some("present"),
            Self::Stranded { .. } => Some("stranded"),
            Self::OutOfScope => None,
            Self::Child => Some("child"),
            Self::Serving => Some("serving"),
            Self::Prebuilt => Some("prebuilt"),
            Self::ReleasedGroup => Some("released-group"),
            Self::Copy => Some("multikueue-copy"),
            Self::Unsupported => Some("unsupported"),
            Self::Loose => Some("loose"),
            Self::Inactive { .. } => Some("inactive"),
            Self::Deactivated => Some("deactivated"),
        }
    }

    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Stranded { queue } => {
                Some(format!("no CapacityPlan in Enforce mode covers queue `{queue}`: nothing takes {GATE} away"))
            }
            Self::Loose => Some("Kueue ignores admission gates here (AdmissionGatedBy is off): not held".to_owned()),
            _ => None,
        }
    }
}

/// Judges a new object.
#[must_use]
pub fn judge(request: &Request<'_>, kind: &Kind, object: &Object<'_>, world: &World) -> Gate {
    let nothing = Metadata::default();
    let meta = object.metadata.as_ref().unwrap_or(&nothing);
    let written = meta.annotation(GATES).unwrap_or_default();
    let present = keys::holds(written);
    let queue = queue(request, kind, object, meta, world);
    let enforced = queue
        .as_deref()
        .and_then(|queue| world.queues.cluster_queue(&request.namespace, queue))
        .is_some_and(|cluster_queue| world.queues.enforcing(cluster_queue).is_some());
    if !enforced {
        return if present { Gate::Stranded { queue: queue.unwrap_or_default() } } else { Gate::OutOfScope };
    }
    if kind.role == Role::Serving {
        return Gate::Serving;
    }
    if kind.role == Role::Workload && world.queues.gates_ignored {
        return workload(request, object, meta, world);
    }
    if is_child(request, kind, meta, world) {
        return Gate::Child;
    }
    if meta.label(MULTIKUEUE_ORIGIN).is_some() && world.trusted.is_multikueue(request) {
        return Gate::Copy;
    }
    if kind.role != Role::Workload && meta.label(PREBUILT_WORKLOAD).is_some() {
        return Gate::Prebuilt;
    }
    let group = meta.label(POD_GROUP).filter(|_| kind.role == Role::Pod);
    let released = |group: &str| world.queues.pod_group(&request.namespace, group) == Some(PodGroup::Released);
    if group.is_some_and(released) {
        return Gate::ReleasedGroup;
    }
    if world.queues.gates_ignored {
        return if kind.role == Role::Pod && group.is_none() { Gate::Loose } else { Gate::Unsupported };
    }
    if present {
        return Gate::Present;
    }
    let gates = if written.trim().is_empty() { GATE.to_owned() } else { format!("{written},{GATE}") };
    Gate::Add { gates, elastic: meta.annotation(ELASTIC_JOB) == Some("true") }
}

/// Judges a Workload where Kueue ignores gates. Whatever was made of whom, it is new and holds no quota, so that making it
/// inactive takes nothing from anybody. One that Kueue makes anew for the same object is held anew.
fn workload(request: &Request<'_>, object: &Object<'_>, meta: &Metadata<'_>, world: &World) -> Gate {
    if meta.label(MULTIKUEUE_ORIGIN).is_some() && world.trusted.is_multikueue(request) {
        return Gate::Copy;
    }
    // The job that it is a part of runs.
    if meta.annotation(SLICE_REPLACEMENT).is_some() && world.trusted.is_kueue(request) {
        return Gate::Child;
    }
    // A single pod may be one of a Deployment, and its Workload does not say so.
    let of_pod = meta.controller().is_some_and(|owner| owner.group().is_empty() && &*owner.kind == "Pod");
    if of_pod && meta.annotation(GROUP_WORKLOAD) != Some("true") {
        return Gate::Loose;
    }
    let marked = meta.annotation(HELD) == Some(HELD_INACTIVE);
    match templates::flag(object.spec, "active") {
        Some(false) if !marked => Gate::Deactivated,
        active => Gate::Inactive { already: active == Some(false) },
    }
}

/// The LocalQueue that Kueue will put it in.
fn queue(
    request: &Request<'_>,
    kind: &Kind,
    object: &Object<'_>,
    meta: &Metadata<'_>,
    world: &World,
) -> Option<String> {
    if kind.role == Role::Workload {
        return templates::text(object.spec, "queueName").map(|queue| queue.to_string());
    }
    let named = meta.label(QUEUE_NAME).filter(|queue| !queue.is_empty());
    if let Some(named) = named {
        return Some(named.to_owned());
    }
    // Kueue gives its default queue to jobs; pods, and sets of serving pods, must ask to be queued.
    let defaulted = kind.role == Role::Job && kind.group != "apps" && meta.controller().is_none();
    let exists = world.queues.cluster_queue(&request.namespace, DEFAULT_QUEUE).is_some();
    (defaulted && exists).then(|| DEFAULT_QUEUE.to_owned())
}

/// Whether Kueue counts it as part of an owner. The word of who made it is taken from controllers only; others must name
/// an owner that is really there.
fn is_child(request: &Request<'_>, kind: &Kind, meta: &Metadata<'_>, world: &World) -> bool {
    let believed = world.trusted.is_controller(request);
    if kind.role == Role::Pod && believed && meta.annotation(SUSPENDING_PARENT).is_some() {
        return true;
    }
    let Some(owner) = meta.controller() else { return false };
    let verified = believed || world.owners.verify(&request.namespace, owner).is_some();
    match kind.role {
        // Kueue makes the Workload of a job and copies the job's gates onto it.
        Role::Workload => verified,
        // A Deployment's pods are queued one by one, without a gate from above.
        Role::Pod if owner.group() == "apps" && &*owner.kind == "ReplicaSet" => verified,
        _ => verified && kinds::is_queued_owner(owner.group(), &owner.kind),
    }
}
