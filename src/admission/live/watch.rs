//! One kind: found, listed, watched, and looked for again when it goes.

use std::pin::pin;

use futures::StreamExt;
use kube::api::{DynamicObject, PartialObjectMeta};
use kube::core::ApiResource;
use kube::runtime::watcher;
use kube::{Api, Client, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

use super::Patience;
use super::sources::{Sight, Source};
use crate::admission::row::{Row, row};
use crate::api::manifest::Manifest;
use crate::cluster::{Seen, discover, follow};

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
    loop {
        let (change, pause) = match discover(&client, source.group, source.plural).await {
            Ok(Some(found)) => {
                let listens = match source.sight {
                    Sight::Whole => objects::<DynamicObject>(&client, &source, &found, &tell).await,
                    Sight::Metadata => {
                        objects::<PartialObjectMeta<DynamicObject>>(&client, &source, &found, &tell).await
                    }
                };
                if !listens {
                    return;
                }
                continue;
            }
            Ok(None) => (Change::Absent, patience.absent),
            Err(error) => (Change::Failed(error.message), patience.unknown),
        };
        if tell.send(Event { source, change }).await.is_err() {
            return;
        }
        sleep(pause).await;
    }
}

/// Passes on what is seen; `false`: nobody listens. Ends when the kind is gone.
async fn objects<K>(client: &Client, source: &Source, found: &ApiResource, tell: &Sender<Event>) -> bool
where
    K: Resource<DynamicType = ApiResource> + Clone + std::fmt::Debug + DeserializeOwned + Serialize + Send + 'static,
{
    let mut config = watcher::Config::default();
    if let Some(labels) = source.labels {
        config = config.labels(labels);
    }
    let api = Api::<K>::all_with(client.clone(), found);
    let mut seen = pin!(follow(api, config, &source.resource()));
    while let Some(seen) = seen.next().await {
        let change = match seen {
            Seen::Begin => Change::Begin,
            Seen::Complete => Change::Complete,
            Seen::Listed(object) | Seen::Applied(object) => put(object, found),
            Seen::Deleted(object) => Change::Remove(object.namespace().unwrap_or_default(), object.name_any()),
            Seen::Failed(error) => Change::Failed(error.message),
        };
        if tell.send(Event { source: *source, change }).await.is_err() {
            return false;
        }
    }
    true
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
        origin: None,
    };
    match row(&manifest) {
        Ok(row) => Change::Put(namespace, name, row.map(Box::new)),
        Err(finding) => Change::Unreadable(namespace, name, format!("{}: {}", finding.subject, finding.message)),
    }
}
