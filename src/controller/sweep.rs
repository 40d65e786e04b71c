//! Everything that we hold in the cluster, found by listing: for who has no watches and no plan.
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
use crate::kueue::release::{Hold, Target};
use crate::units::Timestamp;

/// One object that we hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gated {
    pub target: Target,
    /// The start that was written on it.
    pub planned: Option<Timestamp>,
    pub created: Option<Timestamp>,
}

/// Everything that we hold, by planned start, then age; and what could not be listed.
///
/// A Workload whose gated object is among them is left out: Kueue passes the object's release on. One that stands alone,
/// whose object is free already, or that is inactive by our doing, is not.
pub async fn sweep(cluster: &Cluster) -> (Vec<Gated>, Vec<ClusterError>) {
    let (mut found, mut failed) = (Vec::new(), Vec::new());
    let mut owners: BTreeSet<String> = BTreeSet::new();
    for kind in KINDS.iter().filter(|kind| kind.queued && kind.kind != "CronJob") {
        match list(cluster, kind).await {
            Ok(listed) => {
                for (object, hold, api) in listed {
                    let gated = gated(&object, hold, &api);
                    let refers = object.metadata.owner_references.iter().flatten();
                    let owned = kind.kind == "Workload"
                        && gated.target.hold != Hold::Inactive
                        && refers.into_iter().any(|it| owners.contains(&it.uid));
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

type Found = (DynamicObject, Hold, ApiResource);

async fn list(cluster: &Cluster, kind: &Watched) -> Result<Vec<Found>, ClusterError> {
    for version in 0..kind.versions.len() {
        let api = kind.api(version);
        let mut all = Vec::new();
        let take = |object: DynamicObject| {
            if let Some(hold) = hold(&object, kind) {
                all.push((DynamicObject { data: serde_json::Value::Null, ..object }, hold, api.clone()));
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

/// How we hold an object, if we do. A Workload that we made inactive waits for that alone: where Kueue ignores gates, one
/// that it carries says nothing.
fn hold(object: &DynamicObject, kind: &Watched) -> Option<Hold> {
    let inactive = kind.kind == "Workload"
        && annotation(object, keys::HELD) == Some(keys::HELD_INACTIVE)
        && object.data.pointer("/spec/active") == Some(&serde_json::Value::Bool(false));
    if inactive {
        return Some(Hold::Inactive);
    }
    annotation(object, keys::GATES).filter(|gates| keys::holds(gates)).map(|gates| Hold::Gate(gates.to_owned()))
}

fn gated(object: &DynamicObject, hold: Hold, api: &ApiResource) -> Gated {
    let metadata = &object.metadata;
    let created = metadata.creation_timestamp.as_ref().map(|time| Timestamp(time.0.as_second()));
    Gated {
        target: Target {
            api_version: api.api_version.clone(),
            kind: api.kind.clone(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            hold,
        },
        planned: annotation(object, keys::PLANNED_START).and_then(|text| calendar::parse_instant(text).ok()),
        created,
    }
}
