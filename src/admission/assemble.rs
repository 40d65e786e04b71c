//! From objects, of files or of watches, to what `decide` knows.
//!
//! Pure. What cannot be read is left out with a finding, as if it were not there; nothing is guessed in its place.

use std::collections::BTreeSet;

use super::gate;
use super::kinds::{KINDS, Role};
use super::owners::LiveOwner;
use super::queues::{ClusterQueue, LocalQueue, PodGroup};
use super::tenancy::{Directory, Namespace, Tenant, TenantRef};
use super::world::{Mode, World};
use crate::api::keys::{GATES, POD_GROUP, TENANT, TENANT_UID};
use crate::api::manifest::Manifest;
use crate::api::{GROUP, capacity_plan, slo, tenant};
use crate::failure::Finding;

const KUEUE: &str = "kueue.x-k8s.io";

/// The world of these objects.
#[must_use]
pub fn assemble(manifests: &[Manifest], mode: Mode) -> (World, Vec<Finding>) {
    let mut world = World { mode, ..World::default() };
    let mut findings = Vec::new();
    let (mut tenants, mut namespaces, mut promises) = (Vec::new(), Vec::new(), BTreeSet::new());
    for object in manifests {
        match (object.group(), object.kind.as_str()) {
            ("", "Namespace") => namespaces.push(namespace(object)),
            (GROUP, tenant::KIND) => match read_tenant(object) {
                Ok(tenant) => tenants.push(tenant),
                Err(finding) => findings.push(finding),
            },
            (GROUP, capacity_plan::KIND) => match object.decode("/spec") {
                Ok(spec) => drop(world.queues.plans.insert(object.name.clone(), spec)),
                Err(finding) => findings.push(finding),
            },
            (GROUP, slo::KIND) => drop(promises.insert(format!("{}/{}", object.namespace, object.name))),
            (KUEUE, "LocalQueue") => {
                let cluster_queue = text(object, &["/spec/clusterQueue"]).unwrap_or_default();
                world.queues.local.insert(key(object, &object.name), LocalQueue { cluster_queue });
            }
            (KUEUE, "ClusterQueue") => {
                let cohort = text(object, &["/spec/cohortName", "/spec/cohort"]);
                world.queues.cluster.insert(object.name.clone(), ClusterQueue { cohort });
            }
            (KUEUE, "Cohort") => {
                if let Some(parent) = text(object, &["/spec/parentName", "/spec/parent"]) {
                    world.queues.cohorts.insert(object.name.clone(), parent);
                }
            }
            _ => live(object, &mut world),
        }
    }
    world.directory = Directory::new(tenants, namespaces);
    world.promises = Some(promises);
    (world, findings)
}

fn key(object: &Manifest, name: &str) -> (String, String) {
    (object.namespace.clone(), name.to_owned())
}

/// The first of these fields that is not empty. Kueue renamed some between versions.
fn text(object: &Manifest, pointers: &[&str]) -> Option<String> {
    let mut found = pointers.iter().filter_map(|pointer| object.at(pointer)?.as_str());
    found.find(|text| !text.is_empty()).map(str::to_owned)
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

/// An object that may own others, and the state of its pod group.
fn live(object: &Manifest, world: &mut World) {
    let known = KINDS.iter().find(|kind| kind.group == object.group() && kind.kind == object.kind);
    let Some(kind) = known else { return };
    if kind.role == Role::Pod
        && let Some(group) = object.label(POD_GROUP)
    {
        let held = object.annotation(GATES).is_some_and(gate::holds);
        let state = if held { PodGroup::Gated } else { PodGroup::Released };
        let entry = world.queues.pod_groups.entry(key(object, group)).or_insert(state);
        // One released member: the group is.
        if state == PodGroup::Released {
            *entry = state;
        }
    }
    let Some(uid) = text(object, &["/metadata/uid"]).filter(|_| kind.role != Role::Pod) else { return };
    let owners = object.at("/metadata/ownerReferences").and_then(|owners| owners.as_array()).into_iter().flatten();
    let controller = owners.clone().find(|owner| owner["controller"] == true).and_then(|owner| owner["uid"].as_str());
    let stamp = object.label(TENANT).zip(object.label(TENANT_UID));
    world.owners.put(
        &uid,
        LiveOwner {
            namespace: object.namespace.clone(),
            group: object.group().to_owned(),
            kind: object.kind.clone(),
            name: object.name.clone(),
            tenant: stamp.map(|(name, uid)| TenantRef { name: name.to_owned(), uid: uid.to_owned() }),
            controller: controller.map(str::to_owned),
        },
    );
}
