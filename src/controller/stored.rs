//! The plan as it is kept in the cluster: the document that `stagger plan -o json` writes, in ConfigMaps.
//!
//! Whoever leads next begins from it, and commands read it. An object holds a megabyte at most, so a long document is cut
//! into parts: the parts first, then the head that names their number and the digest of the whole. A reader that finds
//! parts of two documents notices by the digest. The epoch of the writer stands on the head: a former leader that wakes up
//! finds a greater one there and writes nothing.

use kube::Api;
use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::cluster::{CALL_MAX, Cluster, ClusterError, Kind, within};
use crate::plan::document;
use crate::plan::proposal::Plan;

/// Well below the megabyte and a half that etcd takes for an object.
pub const PART_BYTES_MAX: usize = 700 * 1024;
/// A document longer than this is of more workloads than one plan may have.
pub const PARTS_MAX: usize = 64;

const RESOURCE: &str = "configmaps";
const KEY: &str = "plan.json";
const DIGEST: &str = "stagger.dev/digest";
const PARTS: &str = "stagger.dev/parts";
const EPOCH: &str = "stagger.dev/epoch";

/// The name of the ConfigMap that begins a CapacityPlan's document.
#[must_use]
pub fn name(plan: Option<&str>) -> String {
    match plan {
        None => "stagger-plan".to_owned(),
        // Names of both kinds may have 253 characters; beyond what fits the digest tells them apart.
        Some(plan) if plan.len() > 200 => format!("stagger-plan-{}", &digest(plan)[..32]),
        Some(plan) => format!("stagger-plan-{plan}"),
    }
}

/// A text in parts of at most so many bytes, cut between characters.
#[must_use]
pub fn parts(text: &str, bytes_max: usize) -> Vec<&str> {
    let mut rest = text;
    let mut found = Vec::new();
    while rest.len() > bytes_max {
        let at = rest.floor_char_boundary(bytes_max.max(4));
        let (part, after) = rest.split_at(at);
        found.push(part);
        rest = after;
    }
    found.push(rest);
    found
}

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn maps(cluster: &Cluster, namespace: &str) -> (Api<DynamicObject>, ApiResource) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", "ConfigMap"));
    (Api::namespaced_with(cluster.client.clone(), namespace, &resource), resource)
}

/// Writes a plan, unless a later leader has.
///
/// # Errors
/// When it cannot be written; `Conflict` when a later leader has written, or somebody else at the same moment.
pub async fn write(
    cluster: &Cluster,
    namespace: &str,
    scope: Option<&str>,
    plan: &Plan,
    epoch: i64,
) -> Result<(), ClusterError> {
    let text = serde_json::to_string(&document::from_plan(plan)).map_err(|error| unreadable(&error.to_string()))?;
    let parts = parts(&text, PART_BYTES_MAX);
    if parts.len() > PARTS_MAX {
        return Err(unreadable("the plan's document is too long to be stored"));
    }
    let (api, resource) = maps(cluster, namespace);
    let (name, digest) = (name(scope), digest(&text));
    let head = within(CALL_MAX, "get", RESOURCE, api.get_opt(&name)).await?;
    let written = head.as_ref().and_then(|head| annotation(head, EPOCH)?.parse::<i64>().ok());
    if written.is_some_and(|written| written > epoch) {
        let message = format!("failed to store the plan: a later leader (epoch {}) has", written.unwrap_or_default());
        return Err(ClusterError { kind: Kind::Conflict, message });
    }
    for (at, part) in parts.iter().enumerate().skip(1) {
        let name = format!("{name}.{at}");
        let known = within(CALL_MAX, "get", RESOURCE, api.get_opt(&name)).await?;
        put(&api, &resource, known, &name, (part, &digest, parts.len(), epoch)).await?;
    }
    put(&api, &resource, head, &name, (parts.first().copied().unwrap_or_default(), &digest, parts.len(), epoch)).await
}

/// Replaces what was read by its resource version, or creates it.
async fn put(
    api: &Api<DynamicObject>,
    resource: &ApiResource,
    known: Option<DynamicObject>,
    name: &str,
    (part, digest, parts, epoch): (&str, &str, usize, i64),
) -> Result<(), ClusterError> {
    let existed = known.is_some();
    let mut object = known.unwrap_or_else(|| DynamicObject::new(name, resource));
    let annotations = object.metadata.annotations.get_or_insert_default();
    annotations.insert(DIGEST.to_owned(), digest.to_owned());
    annotations.insert(PARTS.to_owned(), parts.to_string());
    annotations.insert(EPOCH.to_owned(), epoch.to_string());
    let labels = object.metadata.labels.get_or_insert_default();
    labels.insert("app.kubernetes.io/part-of".to_owned(), "stagger".to_owned());
    object.data = json!({"data": {KEY: part}});
    let params = PostParams::default();
    if existed {
        within(CALL_MAX, "update", RESOURCE, api.replace(name, &params, &object)).await?;
    } else {
        within(CALL_MAX, "create", RESOURCE, api.create(&params, &object)).await?;
    }
    Ok(())
}

/// Reads a stored plan; `None` when there is none, or one that was being written.
///
/// # Errors
/// When the cluster does not answer, or the document is of another version.
pub async fn read(cluster: &Cluster, namespace: &str, scope: Option<&str>) -> Result<Option<Plan>, ClusterError> {
    let (api, _) = maps(cluster, namespace);
    let name = name(scope);
    let Some(head) = within(CALL_MAX, "get", RESOURCE, api.get_opt(&name)).await? else { return Ok(None) };
    let wanted = annotation(&head, DIGEST).unwrap_or_default().to_owned();
    let count = annotation(&head, PARTS).and_then(|count| count.parse::<usize>().ok()).unwrap_or(1);
    let mut text = content(&head).to_owned();
    for at in 1..count.min(PARTS_MAX) {
        let part = within(CALL_MAX, "get", RESOURCE, api.get_opt(&format!("{name}.{at}"))).await?;
        let Some(part) = part else { return Ok(None) };
        text.push_str(content(&part));
    }
    if digest(&text) != wanted {
        return Ok(None);
    }
    document::from_json(&text).map(Some).map_err(|error| unreadable(&error.to_string()))
}

fn annotation<'o>(object: &'o DynamicObject, key: &str) -> Option<&'o str> {
    object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn content(object: &DynamicObject) -> &str {
    object.data.pointer("/data/plan.json").and_then(Value::as_str).unwrap_or_default()
}

fn unreadable(why: &str) -> ClusterError {
    ClusterError { kind: Kind::Unreadable, message: format!("the stored plan is not one: {why}") }
}
