//! Every gate of ours in the cluster, found by listing: for who has no watches and no plan.
//!
//! The watchdog and the uninstaller share it. Objects are read page by page and only their metadata is kept, so that it
//! works when nothing else does and costs little.

use std::collections::BTreeSet;

use kube::api::DynamicObject;
use kube::core::ApiResource;

use super::kinds::{KINDS, Watched};
use super::survey::pages;
use crate::api::keys;
use crate::calendar;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::kueue::observed::holds;
use crate::kueue::release::Target;
use crate::units::Timestamp;

/// One object that our gate holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    pub target: Target,
    /// The start that was written on it.
    pub planned: Option<Timestamp>,
    pub created: Option<Timestamp>,
}

/// Everything our gate holds, by planned start, then age; and what could not be listed.
///
/// A Workload whose object is among them is left out: Kueue passes the object's release on. One that stands alone, or
/// whose object is free already, is not.
pub async fn sweep(cluster: &Cluster) -> (Vec<Gated>, Vec<ClusterError>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut owners: BTreeSet<String> = BTreeSet::new();
    for kind in KINDS.iter().filter(|kind| kind.queued && kind.kind != "CronJob") {
        match list(cluster, kind).await {
            Ok(listed) => {
                for (object, api) in listed {
                    let Some(gated) = gated(&object, &api) else { continue };
                    let refers = object.metadata.owner_references.iter().flatten();
                    let owned = kind.kind == "Workload" && refers.into_iter().any(|it| owners.contains(&it.uid));
                    owners.insert(gated.target.uid.clone());
                    if !owned {
                        found.push(gated);
                    }
                }
            }
            Err(error) => failed.push(error),
        }
    }
    found.sort_by(|a: &Gated, b: &Gated| order(a).cmp(&order(b)));
    (found, failed)
}

fn order(gated: &Gated) -> (bool, Option<Timestamp>, Option<Timestamp>, &str, &str) {
    let target = &gated.target;
    (gated.planned.is_none(), gated.planned, gated.created, &target.namespace, &target.name)
}

async fn list(cluster: &Cluster, kind: &Watched) -> Result<Vec<(DynamicObject, ApiResource)>, ClusterError> {
    for version in 0..kind.versions.len() {
        let api = kind.api(version);
        let mut all = Vec::new();
        let take = |object: DynamicObject| {
            if is_gated(&object) {
                all.push((DynamicObject { data: serde_json::Value::Null, ..object }, api.clone()));
            }
        };
        match pages(cluster, kind, &api, take).await {
            Ok(()) => return Ok(all),
            // Not installed, or in another version.
            Err(error) if error.kind == Kind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(Vec::new())
}

fn annotation<'o>(object: &'o DynamicObject, key: &str) -> Option<&'o str> {
    object.metadata.annotations.as_ref()?.get(key).map(String::as_str)
}

fn is_gated(object: &DynamicObject) -> bool {
    annotation(object, keys::GATES).is_some_and(holds)
}

fn gated(object: &DynamicObject, api: &ApiResource) -> Option<Gated> {
    let gates = annotation(object, keys::GATES).filter(|gates| holds(gates))?;
    let metadata = &object.metadata;
    let created = metadata.creation_timestamp.as_ref().map(|time| Timestamp(time.0.as_second()));
    Some(Gated {
        target: Target {
            api_version: api.api_version.clone(),
            kind: api.kind.clone(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            gates: gates.to_owned(),
        },
        planned: annotation(object, keys::PLANNED_START).and_then(|text| calendar::parse_instant(text).ok()),
        created,
    })
}
