//! The watches: one per kind, each event turned into a row at once and then forgotten.
//!
//! An error ends no watch: it is told and tried again with growing pauses. A kind that is not installed is asked for again
//! and again, in each of its versions, for it may be installed later. Kinds begin one after the other, so that a restart
//! does not ask for everything at once.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use kube::api::DynamicObject;
use kube::core::ApiResource;
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{Config, Error, Event, watcher};
use kube::{Api, Client};
use tokio::time::sleep;

use super::kinds::{KINDS, Watched};
use super::project::project;
use super::rows::{Change, Rows, State};
use crate::clock::Clock;
use crate::cluster::{ClusterError, Kind};

/// Objects that are asked for at once: each page is made into rows before the next one is read, so that of a hundred thousand
/// objects a few megabytes are whole at a time. The API server's own clients ask for 500.
const PAGE: u32 = 250;
/// A connection that has died is noticed within this.
const WATCH_SECONDS: u32 = 120;
/// Between two looks for a kind that is not installed.
const ABSENT_AGAIN: Duration = Duration::from_secs(30);
/// Between two versions of a kind.
const NEXT_VERSION: Duration = Duration::from_millis(500);
/// Between the beginnings of two watches.
const APART: Duration = Duration::from_millis(10);

/// What the watches share.
#[derive(Clone)]
pub struct Watching {
    pub client: Client,
    pub rows: Rows,
    pub clock: Clock,
    /// Told of every error, by the kind's resource.
    pub on_error: Arc<dyn Fn(&str, &ClusterError) + Send + Sync>,
}

/// Watches every kind until dropped.
pub async fn watch(watching: Watching) {
    let mut watches = tokio::task::JoinSet::new();
    for (at, kind) in KINDS.iter().enumerate() {
        watches.spawn(watch_kind(watching.clone(), at, *kind));
        sleep(APART).await;
    }
    while watches.join_next().await.is_some() {}
}

async fn watch_kind(watching: Watching, at: usize, kind: Watched) {
    let mut config = Config::default().timeout(WATCH_SECONDS).page_size(PAGE);
    if let Some(label) = kind.label {
        config = config.labels(label);
    }
    let mut version = 0;
    loop {
        let api = kind.api(version);
        let ended = watch_version(&watching, at, &api, config.clone(), &kind).await;
        let tried_all = (version + 1) % kind.versions.len().max(1) == 0;
        match ended {
            Kind::NotFound if tried_all => watching.rows.take(at, Change::Absent),
            Kind::NotFound => {}
            _ => watching.rows.take(at, Change::Forbidden),
        }
        if ended == Kind::NotFound {
            version += 1;
        }
        // One that was there will be there again: its server has only just started.
        let known = watching.rows.state(kind.kind) == State::Listed;
        sleep(if known || !tried_all { NEXT_VERSION } else { ABSENT_AGAIN }).await;
    }
}

/// Watches one version until it is not there or not allowed.
async fn watch_version(watching: &Watching, at: usize, api: &ApiResource, config: Config, kind: &Watched) -> Kind {
    let objects: Api<DynamicObject> = Api::all_with(watching.client.clone(), api);
    let mut events = std::pin::pin!(watcher(objects, config).default_backoff());
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => take(watching, at, api, event),
            Err(error) => {
                let error = told(&error, kind);
                if matches!(error.kind, Kind::NotFound | Kind::Forbidden) {
                    if error.kind == Kind::Forbidden {
                        (watching.on_error)(&kind.resource(), &error);
                    }
                    return error.kind;
                }
                (watching.on_error)(&kind.resource(), &error);
            }
        }
    }
    Kind::NotFound
}

fn take(watching: &Watching, at: usize, api: &ApiResource, event: Event<DynamicObject>) {
    let change = match event {
        Event::Init => Change::Begin,
        Event::InitApply(object) => Change::Listed(project(object, api, &watching.clock)),
        Event::InitDone => Change::Complete,
        Event::Apply(object) => Change::Applied(project(object, api, &watching.clock)),
        Event::Delete(object) => Change::Deleted {
            namespace: object.metadata.namespace.unwrap_or_default(),
            name: object.metadata.name.unwrap_or_default(),
        },
    };
    watching.rows.take(at, change);
}

fn told(error: &Error, kind: &Watched) -> ClusterError {
    let resource = kind.resource();
    match error {
        Error::InitialListFailed(error) => ClusterError::of("list", &resource, error),
        Error::WatchStartFailed(error) | Error::WatchFailed(error) => ClusterError::of("watch", &resource, error),
        Error::WatchError(status) => ClusterError::of_status("watch", &resource, status),
        Error::NoResourceVersion => {
            ClusterError { kind: Kind::Unreadable, message: format!("failed to watch {resource}: {error}") }
        }
    }
}
