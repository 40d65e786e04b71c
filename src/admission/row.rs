//! One object, reduced to what `decide` reads of it: a cluster has many, and a pod's own text is long.

use std::sync::Arc;

use super::kinds::{KINDS, Role};
use super::owners::LiveOwner;
use super::queues::{ClusterQueue, LocalQueue, PodGroup};
use super::tenancy::{Namespace, Tenant, TenantRef};
use crate::api::capacity_plan::CapacityPlanSpec;
use crate::api::keys::{self, GATES, POD_GROUP, TENANT, TENANT_UID};
use crate::api::manifest::Manifest;
use crate::api::status::tells_gates_ignored;
use crate::api::{GROUP, capacity_plan, slo, tenant};
use crate::failure::Finding;

/// Kueue's API group.
pub const KUEUE: &str = "kueue.x-k8s.io";

/// A CapacityPlan.
#[derive(Debug, Clone)]
pub struct Plan {
    pub spec: CapacityPlanSpec,
    /// Its UID, and which of its generations this is; files need not say.
    pub version: Option<(String, i64)>,
    /// The controller has found that Kueue ignores gates.
    pub gates_ignored: bool,
}

/// What one object says.
#[derive(Debug, Clone)]
#[expect(clippy::large_enum_variant, reason = "tenants are few beside what a box for each would cost to read")]
pub enum Row {
    /// Shared with the directory, for there may be many.
    Namespace(Arc<Namespace>),
    Tenant(Tenant),
    Plan(Box<Plan>),
    /// A WorkloadSLO is there; its name is all that counts.
    Promise,
    LocalQueue(LocalQueue),
    ClusterQueue(ClusterQueue),
    /// The cohort's parent, if it has one.
    Cohort(Option<String>),
    /// A pod of a group that is queued as one.
    Member {
        group: String,
        state: PodGroup,
    },
    /// An object that may own others.
    Owner {
        uid: String,
        live: Arc<LiveOwner>,
    },
}

impl Row {
    /// The UID of an object that may own others.
    #[must_use]
    pub fn owner(&self) -> Option<&str> {
        match self {
            Self::Owner { uid, .. } => Some(uid),
            _ => None,
        }
    }
}

/// The row of an object; `None`: it says nothing to us.
///
/// # Errors
/// When a field that counts cannot be read.
pub fn row(object: &Manifest) -> Result<Option<Row>, Finding> {
    Ok(Some(match (object.group(), object.kind.as_str()) {
        ("", "Namespace") => Row::Namespace(Arc::new(namespace(object))),
        (GROUP, tenant::KIND) => Row::Tenant(read_tenant(object)?),
        (GROUP, capacity_plan::KIND) => Row::Plan(Box::new(plan(object)?)),
        (GROUP, slo::KIND) => Row::Promise,
        (KUEUE, "LocalQueue") => {
            let cluster_queue = text(object, &["/spec/clusterQueue"]).unwrap_or_default();
            Row::LocalQueue(LocalQueue { cluster_queue })
        }
        (KUEUE, "ClusterQueue") => {
            Row::ClusterQueue(ClusterQueue { cohort: text(object, &["/spec/cohortName", "/spec/cohort"]) })
        }
        (KUEUE, "Cohort") => Row::Cohort(text(object, &["/spec/parentName", "/spec/parent"])),
        _ => return Ok(live(object)),
    }))
}

/// The first of these fields that is not empty. Kueue renamed some between versions.
fn text(object: &Manifest, pointers: &[&str]) -> Option<String> {
    let mut found = pointers.iter().filter_map(|pointer| object.at(pointer)?.as_str());
    found.find(|text| !text.is_empty()).map(str::to_owned)
}

fn plan(object: &Manifest) -> Result<Plan, Finding> {
    let generation = object.at("/metadata/generation").and_then(serde_json::Value::as_i64);
    Ok(Plan {
        spec: object.decode("/spec")?,
        version: text(object, &["/metadata/uid"]).zip(generation),
        gates_ignored: tells_gates_ignored(&object.value),
    })
}

fn namespace(object: &Manifest) -> Namespace {
    let labels = object.at("/metadata/labels").and_then(|labels| labels.as_object()).into_iter().flatten();
    Namespace {
        name: object.name.clone(),
        uid: text(object, &["/metadata/uid"]).unwrap_or_default(),
        labels: labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect(),
    }
}

fn read_tenant(object: &Manifest) -> Result<Tenant, Finding> {
    let spec = object.decode("/spec")?;
    let uid = text(object, &["/metadata/uid"]).ok_or_else(|| {
        Finding::error("SG003", object.subject(), "has no metadata.uid, which is what objects are stamped with")
            .hint("take it from the cluster: kubectl get gputenants -o yaml")
    })?;
    Ok(Tenant { id: TenantRef { name: object.name.clone(), uid }, spec })
}

/// An object that may own others, or the state of a pod in its group.
fn live(object: &Manifest) -> Option<Row> {
    let kind = KINDS.iter().find(|kind| kind.group == object.group() && kind.kind == object.kind)?;
    if kind.role == Role::Pod {
        let held = object.annotation(GATES).is_some_and(keys::holds);
        let state = if held { PodGroup::Gated } else { PodGroup::Released };
        return Some(Row::Member { group: object.label(POD_GROUP)?.to_owned(), state });
    }
    let uid = text(object, &["/metadata/uid"])?;
    let owners = object.at("/metadata/ownerReferences").and_then(|owners| owners.as_array()).into_iter().flatten();
    let controller = owners.clone().find(|owner| owner["controller"] == true).and_then(|owner| owner["uid"].as_str());
    let stamp = object.label(TENANT).zip(object.label(TENANT_UID));
    let live = LiveOwner {
        namespace: object.namespace.clone(),
        group: object.group().to_owned(),
        kind: object.kind.clone(),
        name: object.name.clone(),
        tenant: stamp.map(|(name, uid)| TenantRef { name: name.to_owned(), uid: uid.to_owned() }),
        controller: controller.map(str::to_owned),
    };
    Some(Row::Owner { uid, live: Arc::new(live) })
}
