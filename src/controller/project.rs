//! From an object as the API server sends it to what planning reads of it: a few kilobytes at most.
//!
//! A pod template's environment, volumes and commands are most of an object and say nothing about quota. What is left is
//! a `Manifest` like one from a file. Times that Kubernetes wrote are put on the controller's clock here and nowhere else.

use kube::api::DynamicObject;
use kube::core::ApiResource;
use serde_json::{Map, Value, json};

use crate::api::manifest::Manifest;
use crate::calendar;
use crate::clock::Clock;

/// What of a container says something about quota.
const OF_CONTAINER: [&str; 3] = ["name", "resources", "restartPolicy"];
/// Members that are dropped wherever they stand.
const DROPPED: [&str; 12] = [
    "managedFields",
    "volumes",
    "volumeClaimTemplates",
    "containerStatuses",
    "initContainerStatuses",
    "ephemeralContainerStatuses",
    "ephemeralContainers",
    "uncountedTerminatedPods",
    "resourceRequests",
    "topologyAssignment",
    "selfLink",
    "imagePullSecrets",
];
/// Lists of containers.
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];
/// Written by Kubernetes or Kueue about what has happened. Times that a user wrote stay as they are.
const TIMES: [&str; 6] =
    ["creationTimestamp", "lastTransitionTime", "startTime", "completionTime", "deletionTimestamp", "requeueAt"];
/// Of a pod's status; there may be very many pods.
const OF_POD_STATUS: [&str; 2] = ["phase", "startTime"];
/// Of a pod's spec: what it asks for, where it may run and what holds it.
const OF_POD_SPEC: [&str; 11] = [
    "containers",
    "initContainers",
    "resources",
    "overhead",
    "runtimeClassName",
    "priority",
    "priorityClassName",
    "nodeSelector",
    "affinity",
    "tolerations",
    "schedulingGates",
];
/// Of the status of a queue. What else queues, cohorts and flavors say there changes with every Workload and is not read.
const OF_QUEUE_STATUS: [&str; 1] = ["flavorsReservation"];
/// kubectl keeps a second copy of the object there.
const SECOND_COPY: &str = "kubectl.kubernetes.io/last-applied-configuration";
/// Objects nest a dozen levels deep; what is deeper says nothing about quota.
const DEPTH_MAX: usize = 24;

/// The row of an object.
#[must_use]
pub fn project(object: DynamicObject, api: &ApiResource, clock: &Clock) -> Manifest {
    let DynamicObject { mut metadata, data, .. } = object;
    // Two versions of an object that say the same are the same to us.
    metadata.resource_version = None;
    metadata.managed_fields = None;
    let (namespace, name) = (metadata.namespace.clone().unwrap_or_default(), metadata.name.clone().unwrap_or_default());
    let metadata = serde_json::to_value(&metadata).unwrap_or_default();
    let mut value = match data {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    value.insert("metadata".to_owned(), metadata);
    value.insert("apiVersion".to_owned(), json!(api.api_version));
    value.insert("kind".to_owned(), json!(api.kind));
    let mut value = Value::Object(value);
    let own = api.group == crate::api::GROUP;
    if api.group.is_empty() && api.kind == "Pod" {
        for (part, kept) in [("status", &OF_POD_STATUS[..]), ("spec", &OF_POD_SPEC[..])] {
            if let Some(members) = value.get_mut(part).and_then(Value::as_object_mut) {
                members.retain(|member, _| kept.contains(&member.as_str()));
            }
        }
    }
    let refers = api.group == "kueue.x-k8s.io" && api.kind != "Workload";
    if let Some(status) = value.get_mut("status").and_then(Value::as_object_mut).filter(|_| refers) {
        status.retain(|member, _| OF_QUEUE_STATUS.contains(&member.as_str()));
    }
    if let Some(annotations) = value.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(SECOND_COPY);
    }
    // Our own kinds are read whole, and their status is ours: it is on our clock already.
    for (part, content) in value.as_object_mut().into_iter().flatten() {
        if !own || part == "metadata" {
            prune(content, clock, 0);
        }
    }
    Manifest {
        api_version: api.api_version.clone(),
        kind: api.kind.clone(),
        namespace,
        name,
        value,
        shared: Box::default(),
        origin: None,
    }
}

fn prune(value: &mut Value, clock: &Clock, depth: usize) {
    if depth > DEPTH_MAX {
        *value = Value::Null;
        return;
    }
    match value {
        Value::Object(members) => {
            for dropped in DROPPED {
                members.remove(dropped);
            }
            for (name, member) in members {
                if CONTAINERS.contains(&name.as_str()) {
                    containers(member);
                } else if TIMES.contains(&name.as_str()) {
                    retime(member, clock);
                } else {
                    prune(member, clock, depth + 1);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, clock, depth + 1)),
        _ => {}
    }
}

fn containers(list: &mut Value) {
    for container in list.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        container.retain(|member, _| OF_CONTAINER.contains(&member.as_str()));
    }
}

fn retime(value: &mut Value, clock: &Clock) {
    if clock.is_plain() {
        return;
    }
    let at = value.as_str().and_then(|text| calendar::parse_instant(text).ok());
    if let Some(at) = at {
        *value = Value::from(calendar::rfc3339(clock.shown(at), chrono_tz::UTC));
    }
}
