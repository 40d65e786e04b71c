//! One kind as it is watched, its objects as rows.

use std::pin::pin;

use futures::StreamExt;
use kube::api::{DynamicObject, PartialObjectMeta};
use kube::core::ApiResource;
use kube::runtime::watcher;
use kube::{Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc::Sender;

use super::sources::{Sight, Source};
use crate::admission::row::{Row, row};
use crate::api::manifest::Manifest;
use crate::cluster::{Patience, Seen, Told, Watched, follow_kind};

/// What happened to a kind's objects.
#[derive(Debug)]
pub(super) enum Change {
    /// The cluster does not have the kind.
    Absent,
    Begin,
    Complete,
    /// Namespace, name, and what the object says now.
    Put(String, String, Option<Box<Row>>),
    Remove(String, String),
    /// Namespace, name, and what cannot be read of it: it counts as not there.
    Unreadable(String, String, String),
    Failed(String),
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) source: Source,
    pub(super) change: Change,
}

/// Follows one kind until nobody listens any more.
pub(super) async fn follow_source(client: Client, source: Source, patience: Patience, tell: Sender<Event>) {
    match source.sight {
        Sight::Whole => objects::<DynamicObject>(client, source, patience, tell).await,
        Sight::Metadata => objects::<PartialObjectMeta<DynamicObject>>(client, source, patience, tell).await,
    }
}

async fn objects<K>(client: Client, source: Source, patience: Patience, tell: Sender<Event>)
where
    K: Resource<DynamicType = ApiResource> + Clone + std::fmt::Debug + DeserializeOwned + Serialize + Send + 'static,
{
    let mut config = watcher::Config::default();
    if let Some(labels) = source.labels {
        config = config.labels(labels);
    }
    let kind = Watched { group: source.group, plural: source.plural, config, patience };
    let mut told = pin!(follow_kind::<K>(client, kind));
    while let Some((told, found)) = told.next().await {
        let change = match (told, found) {
            (Told::Seen(Seen::Listed(object) | Seen::Applied(object)), Some(found)) => put(object, &found),
            (Told::Seen(Seen::Listed(_) | Seen::Applied(_)), None) => continue,
            (Told::Absent, _) => Change::Absent,
            (Told::Seen(Seen::Begin), _) => Change::Begin,
            (Told::Seen(Seen::Complete), _) => Change::Complete,
            (Told::Seen(Seen::Deleted(object)), _) => {
                Change::Remove(object.namespace().unwrap_or_default(), object.name_any())
            }
            (Told::Unknown(error) | Told::Seen(Seen::Failed(error)), _) => Change::Failed(error.message),
        };
        if tell.send(Event { source, change }).await.is_err() {
            return;
        }
    }
}

fn put<K: ResourceExt + Serialize>(mut object: K, found: &ApiResource) -> Change {
    object.managed_fields_mut().clear();
    let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
    let value = serde_json::to_value(&object).unwrap_or_else(|_| json!({}));
    // Of metadata alone the server calls every kind by one name; what counts is what was asked for.
    let manifest = Manifest {
        api_version: found.api_version.clone(),
        kind: found.kind.clone(),
        namespace: namespace.clone(),
        name: name.clone(),
        value,
        shared: Box::default(),
        origin: None,
    };
    match row(&manifest) {
        Ok(row) => Change::Put(namespace, name, row.map(Box::new)),
        Err(finding) => Change::Unreadable(namespace, name, format!("{}: {}", finding.subject, finding.message)),
    }
}
