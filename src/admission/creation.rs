//! What a new object gets: its tenant, and our gate where a plan enforces.

use super::answer::{Decision, Operation, Outcome};
use super::draft::Draft;
use super::gate::{self, Gate};
use super::kinds::{Kind, Role};
use super::object::Metadata;
use super::review::{Request, metadata};
use super::templates;
use super::tenancy::{self, Attribution, By};
use super::world::{Mode, World};
use crate::api::keys::{
    AGENT_SESSION, ATTRIBUTION, GATES, HELD, HELD_INACTIVE, PLAN, PLANNED_START, SLO, TENANT, TENANT_UID,
};

/// Answers the creation of a pod, a job or a Workload.
#[must_use]
pub fn create(request: &Request<'_>, kind: &Kind, world: &World) -> Decision {
    let Some(object) = request.object.as_ref() else { return Decision::ignored() };
    let meta = metadata(request.object.as_ref());
    // 1. Whose is it?
    let attribution = tenancy::attribute(request, meta, world);
    if let Some(message) = refusal(request, &attribution, world.mode) {
        let mut denied = Decision::denied(message);
        denied.audit("attribution", word(&attribution));
        return denied;
    }
    let mut decision = Decision::unchanged();
    // 2. What its author wrote into our keys gives way to what is so.
    let mut draft = Draft::new(String::new(), meta);
    stamp(&mut draft, &attribution);
    session(&mut draft, meta, &attribution, world);
    if !world.trusted.may_stamp(request) {
        draft.annotation(PLANNED_START, None);
        draft.annotation(PLAN, None);
    }
    draft.annotation(ATTRIBUTION, mark(&attribution));
    // 3. Held until its planned start?
    let gate = gate::judge(request, kind, object, world);
    if let Gate::Add { gates, .. } = &gate {
        draft.annotation(GATES, Some(gates));
    }
    let inactive = matches!(gate, Gate::Inactive { .. });
    draft.annotation(HELD, inactive.then_some(HELD_INACTIVE));
    decision.patch = draft.operations();
    if gate == (Gate::Inactive { already: false }) {
        decision.patch.push(Operation::Add { path: "/spec/active".to_owned(), value: false.into() });
    }
    // 4. The templates of what nobody else made; its children take theirs from it.
    if meta.and_then(Metadata::controller).is_none() {
        for template in templates::find(object.spec, kind.templates) {
            let mut draft = Draft::new(template.at, template.metadata.as_ref());
            stamp(&mut draft, &attribution);
            decision.patch.extend(draft.operations());
        }
    }
    tell(&mut decision, request, kind, meta, &attribution, &gate, world);
    decision
}

fn stamp(draft: &mut Draft<'_, '_>, attribution: &Attribution) {
    let tenant = attribution.tenant.as_ref();
    draft.label(TENANT, tenant.map(|tenant| tenant.name.as_str()));
    draft.label(TENANT_UID, tenant.map(|tenant| tenant.uid.as_str()));
}

/// The session is what the tenant's own label says, or nothing.
fn session(draft: &mut Draft<'_, '_>, meta: Option<&Metadata<'_>>, attribution: &Attribution, world: &World) {
    let tenant = attribution.tenant.as_ref().and_then(|id| world.directory.tenant(id));
    let agents = tenant.and_then(|tenant| tenant.spec.agents.as_ref());
    let session = agents.and_then(|agents| meta?.label(&agents.session_label));
    draft.label(AGENT_SESSION, session);
}

fn mark(attribution: &Attribution) -> Option<&'static str> {
    match (&attribution.by, attribution.fallback) {
        (By::Ambiguous(_), _) => Some("ambiguous"),
        (_, true) => Some("fallback"),
        _ => None,
    }
}

/// Why work is refused whose tenant cannot be told.
fn refusal(request: &Request<'_>, attribution: &Attribution, mode: Mode) -> Option<String> {
    let namespace = &*request.namespace;
    match &attribution.by {
        _ if mode != Mode::Enforce => None,
        By::Ambiguous(tenants) => {
            let names: Vec<&str> = tenants.iter().map(|tenant| tenant.name.as_str()).collect();
            Some(format!(
                "namespace {namespace} is shared by the GpuTenants {}, and {} acts for no single one of them; \
                 whoever manages GpuTenants can name it in spec.subjects of one",
                names.join(", "),
                &*request.user_info.username
            ))
        }
        By::Unknown => {
            Some(format!("namespace {namespace} is not known yet, so its GpuTenant cannot be told; try again"))
        }
        _ => None,
    }
}

fn word(attribution: &Attribution) -> &'static str {
    match attribution.by {
        By::Namespace => "namespace",
        By::Owner => "owner",
        By::Subject => "subject",
        By::Ambiguous(_) => "ambiguous",
        By::Nobody => "unattributed",
        By::Unknown => "unknown",
    }
}

/// Fills in what the audit log and the author are told.
fn tell(
    decision: &mut Decision,
    request: &Request<'_>,
    kind: &Kind,
    meta: Option<&Metadata<'_>>,
    attribution: &Attribution,
    gate: &Gate,
    world: &World,
) {
    if let Some(tenant) = &attribution.tenant {
        decision.audit("tenant-uid", tenant.uid.as_str());
    }
    decision.audit("attribution", word(attribution));
    if let Some(reason) = gate.word() {
        decision.audit("gate", reason);
    }
    let top_level = kind.role == Role::Job && meta.and_then(Metadata::controller).is_none();
    match &attribution.by {
        By::Ambiguous(_) => {
            decision.warn(&format!("several GpuTenants share namespace {}; nobody is charged", &*request.namespace));
        }
        By::Nobody if top_level && !world.directory.tenants().is_empty() => {
            decision.warn(&format!("namespace {} has no GpuTenant; its use is unattributed", &*request.namespace));
        }
        _ => {}
    }
    if let Some(warning) = gate.warning() {
        decision.warn(&warning);
    }
    let promise = meta.and_then(|meta| meta.annotation(SLO));
    if let (Some(promise), Some(known)) = (promise, &world.promises)
        && !known.contains(&format!("{}/{promise}", &*request.namespace))
    {
        decision.warn(&format!("{SLO}: there is no WorkloadSLO {promise} in namespace {} yet", &*request.namespace));
    }
    decision.outcome = match gate {
        Gate::Add { .. } | Gate::Inactive { already: false } => Outcome::Gated,
        _ if decision.patch.is_empty() => Outcome::Unchanged,
        _ => Outcome::Stamped,
    };
    decision.audit("decision", decision.outcome.label());
}
