//! What may not change: stamps, plans and gates, on whatever way a change comes.
//!
//! Only our keys are compared, old with new, each by its full name. An update that drops a key (a replace of the author's
//! own manifest) is completed; one that writes another value is refused. An object on its way out is never patched, and
//! an edit that leaves our keys alone is never refused: finalizers must come off.

use super::answer::{Decision, Outcome};
use super::draft::Draft;
use super::kinds::{Kind, Role};
use super::object::{Metadata, Pairs};
use super::review::{Request, Verb, metadata};
use super::world::{Mode, World};
use crate::api::keys::{
    self, GATE, GATES, HELD, PREFIX, PROTECTED_ANNOTATIONS, PROTECTED_LABELS, QUEUE_NAME, TENANT, TENANT_SINCE,
    TENANT_UID,
};

const WHO: &str = "only stagger's controller may change it";

/// Answers the update of an object that is stamped.
#[must_use]
pub fn update(request: &Request<'_>, kind: &Kind, world: &World) -> Decision {
    // Without an object there is nothing to complete, and nothing that a patch could be applied to.
    if world.trusted.may_stamp(request) || request.object.is_none() {
        return Decision::unchanged();
    }
    let nothing = Metadata::default();
    let new = metadata(request.object.as_ref());
    let old = metadata(request.old_object.as_ref()).unwrap_or(&nothing);
    let leaving = new.is_some_and(Metadata::is_being_deleted) || old.is_being_deleted();
    let mut draft = Draft::new(String::new(), new);
    let mut complaints = Vec::new();
    for key in PROTECTED_LABELS {
        match (old.label(key), new.and_then(|new| new.label(key))) {
            (Some(kept), None) if !leaving => draft.label(key, Some(kept)),
            (before, after) if before == after || is_true_stamp(request, key, before, after, world) => {}
            (before, after) => complaints.push(complaint(key, before, after)),
        }
    }
    let releases = world.trusted.may_release(request);
    for key in PROTECTED_ANNOTATIONS.into_iter().filter(|key| !(releases && *key == HELD)) {
        match (old.annotation(key), new.and_then(|new| new.annotation(key))) {
            (Some(kept), None) if !leaving => draft.annotation(key, Some(kept)),
            (before, after) if before == after => {}
            (before, after) => complaints.push(complaint(key, before, after)),
        }
    }
    complaints.extend(passed_gate(request, kind, old, new.unwrap_or(&nothing), world));
    let mut decision = judged(request, complaints, world.mode);
    if decision.is_allowed() && decision.outcome != Outcome::Tolerated {
        decision.patch = draft.operations();
        if !decision.patch.is_empty() {
            decision.outcome = Outcome::Restored;
            decision.audit("decision", "restored");
        }
    }
    decision
}

/// Answers a write to a subresource: nothing is restored there, so nothing may differ.
#[must_use]
pub fn sub_resource(request: &Request<'_>, _kind: &Kind, world: &World) -> Decision {
    if world.trusted.may_stamp(request) || request.operation != Verb::Update {
        return Decision::unchanged();
    }
    // `scale` and the like carry another object, without our keys on either side.
    let nothing = Metadata::default();
    let new = metadata(request.object.as_ref()).unwrap_or(&nothing);
    let old = metadata(request.old_object.as_ref()).unwrap_or(&nothing);
    judged(request, differences(old, new, true), world.mode)
}

/// Answers a write to a namespace, whose labels are where policies in the API server look a tenant up.
#[must_use]
pub fn namespace(request: &Request<'_>, world: &World) -> Decision {
    if world.trusted.may_stamp(request) || !matches!(request.operation, Verb::Create | Verb::Update) {
        return Decision::unchanged();
    }
    let nothing = Metadata::default();
    let new = metadata(request.object.as_ref()).unwrap_or(&nothing);
    let old = metadata(request.old_object.as_ref()).unwrap_or(&nothing);
    let mut complaints = differences(old, new, false);
    if old.annotation(TENANT_SINCE) != new.annotation(TENANT_SINCE) {
        complaints.push(complaint(TENANT_SINCE, old.annotation(TENANT_SINCE), new.annotation(TENANT_SINCE)));
    }
    judged(request, complaints, world.mode)
}

/// Answers a binding: Kubernetes copies its labels and annotations onto the pod, over those that are there.
#[must_use]
pub fn binding(request: &Request<'_>, world: &World) -> Decision {
    if world.trusted.may_stamp(request) || request.operation != Verb::Create {
        return Decision::unchanged();
    }
    let Some(new) = metadata(request.object.as_ref()) else { return Decision::unchanged() };
    let keys = [&new.labels, &new.annotations].into_iter().flatten().flat_map(Pairs::keys);
    let complaints: Vec<String> = keys
        .filter(|key| key.starts_with(PREFIX) || *key == GATES)
        .map(|key| format!("a binding may not carry {key}: it would be written over the pod's; {WHO}"))
        .collect();
    judged(request, complaints, world.mode)
}

fn differences(old: &Metadata<'_>, new: &Metadata<'_>, annotations: bool) -> Vec<String> {
    let mut complaints = Vec::new();
    for key in PROTECTED_LABELS {
        if old.label(key) != new.label(key) {
            complaints.push(complaint(key, old.label(key), new.label(key)));
        }
    }
    for key in PROTECTED_ANNOTATIONS.into_iter().filter(|_| annotations) {
        if old.annotation(key) != new.annotation(key) {
            complaints.push(complaint(key, old.annotation(key), new.annotation(key)));
        }
    }
    if annotations && is_held(old) && !is_held(new) {
        complaints.push(gate_passed());
    }
    complaints
}

/// Whether an unstamped object gets the stamp that it should have had.
fn is_true_stamp(request: &Request<'_>, key: &str, before: Option<&str>, after: Option<&str>, world: &World) -> bool {
    let Some(tenant) = world.directory.sole_claimant(&request.namespace) else { return false };
    let due = match key {
        TENANT => &tenant.id.name,
        TENANT_UID => &tenant.id.uid,
        _ => return false,
    };
    before.is_none() && after == Some(due)
}

fn is_held(meta: &Metadata<'_>) -> bool {
    meta.annotation(GATES).is_some_and(keys::holds)
}

fn gate_passed() -> String {
    format!("{GATE} in {GATES} holds it until its planned start; {WHO}")
}

/// Our gate comes off by the plan only, and the queue that the plan is about stays.
fn passed_gate(
    request: &Request<'_>,
    kind: &Kind,
    old: &Metadata<'_>,
    new: &Metadata<'_>,
    world: &World,
) -> Option<String> {
    // Kueue passes on what was released at the job.
    let passed_on = matches!(kind.role, Role::Workload | Role::Pod) && world.trusted.is_kueue(request);
    if !is_held(old) || passed_on || world.trusted.may_release(request) {
        return None;
    }
    if !is_held(new) {
        return Some(gate_passed());
    }
    let (before, after) = (old.label(QUEUE_NAME), new.label(QUEUE_NAME));
    let enforced = |queue: &str| {
        let cluster_queue = world.queues.cluster_queue(&request.namespace, queue);
        cluster_queue.is_some_and(|cluster_queue| world.queues.enforcing(cluster_queue).is_some())
    };
    (before != after && !after.is_some_and(enforced))
        .then(|| format!("while {GATE} holds it, {QUEUE_NAME} may only name a queue in a CapacityPlan in Enforce mode"))
}

fn complaint(key: &str, before: Option<&str>, after: Option<&str>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("{key} is `{before}` and cannot become `{after}`; {WHO}"),
        (Some(before), None) => format!("{key} is `{before}` and cannot be removed; {WHO}"),
        (None, _) => format!("{key} cannot be added; {WHO}"),
    }
}

/// One answer for what was found, by the mode: a refusal, or warnings of one.
fn judged(request: &Request<'_>, complaints: Vec<String>, mode: Mode) -> Decision {
    if complaints.is_empty() {
        return Decision::unchanged();
    }
    let mut decision = match mode {
        Mode::Protect | Mode::Enforce => Decision::denied(complaints.join("; ")),
        Mode::Observe => {
            let mut tolerated = Decision::unchanged();
            tolerated.outcome = Outcome::Tolerated;
            tolerated.audit("decision", "tolerated");
            for complaint in &complaints {
                tolerated.warn(&format!("not refused in observe mode: {complaint}"));
            }
            tolerated
        }
    };
    decision.audit("user", &*request.user_info.username);
    decision
}
