//! Leader election on a Lease of coordination.k8s.io: create, or replace by resource version; never patch.
//!
//! `candidate` decides; here is the reading and writing around it. Losing the lease ends no process: whoever acts asks
//! [`Leadership::epoch`] at the moment of the act, which looks at the clock, so that a process that was paused knows.

mod candidate;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kube::api::{DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

pub use candidate::{Action, Candidate, Monotonic, Record, Timing};

use super::client::{CALL_MAX, within};
use super::error::{ClusterError, Kind};
use crate::clock::{self, Stopwatch};

const RESOURCE: &str = "leases.coordination.k8s.io";

/// Which lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub namespace: String,
    pub name: String,
}

/// What all who ask share.
struct Shared {
    candidate: Mutex<Candidate>,
    watch: Stopwatch,
}

/// Whether this process leads. Clones ask the same candidate.
#[derive(Clone)]
pub struct Leadership {
    shared: Arc<Shared>,
    told: watch::Receiver<Option<i64>>,
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership").field("epoch", &self.epoch()).finish_non_exhaustive()
    }
}

impl Leadership {
    /// Whether this process leads at this moment.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.epoch().is_some()
    }

    /// The epoch of the tenure at this moment, to be written beside whatever must not be overwritten by a former leader.
    #[must_use]
    pub fn epoch(&self) -> Option<i64> {
        lock(&self.shared).epoch(self.shared.watch.millis())
    }

    /// Tells of every beginning (with its epoch) and end of a tenure.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<Option<i64>> {
        self.told.clone()
    }
}

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, Candidate> {
    shared.candidate.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stands for leadership until `until` resolves, and then hands the lease back before the task ends.
///
/// `on_error` is told what went wrong with each look; a lost race is no error.
pub fn stand(
    client: Client,
    place: &Place,
    candidate: Candidate,
    timing: Timing,
    until: impl Future<Output = ()> + Send + 'static,
    on_error: impl Fn(&ClusterError) + Send + 'static,
) -> (Leadership, JoinHandle<()>) {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("coordination.k8s.io", "v1", "Lease"));
    let shared = Arc::new(Shared { candidate: Mutex::new(candidate), watch: Stopwatch::start() });
    let (tell, told) = watch::channel(None);
    let leases = Leases {
        api: Api::namespaced_with(client, &place.namespace, &resource),
        resource,
        name: place.name.clone(),
        shared: Arc::clone(&shared),
    };
    let task = tokio::spawn(async move {
        tokio::pin!(until);
        loop {
            let turn = leases.turn();
            // A leader does not wait for an answer beyond the end of its tenure.
            let result = match leases.remaining() {
                Some(remaining) => timeout(remaining, turn).await.unwrap_or(Ok(())),
                None => turn.await,
            };
            if let Err(error) = result {
                on_error(&error);
            }
            publish(&tell, leases.epoch());
            let pause = leases.remaining().map_or(timing.retry, |remaining| remaining.min(timing.retry));
            tokio::select! {
                () = &mut until => break,
                () = sleep(pause) => publish(&tell, leases.epoch()),
            }
        }
        tell.send_replace(None);
        if let Err(error) = leases.resign().await {
            on_error(&error);
        }
    });
    (Leadership { shared, told }, task)
}

fn publish(tell: &watch::Sender<Option<i64>>, epoch: Option<i64>) {
    tell.send_if_modified(|known| std::mem::replace(known, epoch) != epoch);
}

struct Leases {
    api: Api<DynamicObject>,
    resource: ApiResource,
    name: String,
    shared: Arc<Shared>,
}

impl Leases {
    fn now(&self) -> Monotonic {
        self.shared.watch.millis()
    }

    fn epoch(&self) -> Option<i64> {
        lock(&self.shared).epoch(self.now())
    }

    fn remaining(&self) -> Option<Duration> {
        lock(&self.shared).remaining(self.now())
    }

    /// One look, and at most one write.
    async fn turn(&self) -> Result<(), ClusterError> {
        let found = self.read().await?;
        let record = found.as_ref().map(record);
        let begun = self.now();
        let action = lock(&self.shared).step(record.as_ref(), clock::now_micros(), begun);
        let (wanted, written) = match (action, found) {
            (Action::Wait, _) | (Action::Replace(_), None) => return Ok(()),
            (Action::Create(wanted), _) => {
                let mut object = DynamicObject::new(&self.name, &self.resource);
                object.data = json!({"spec": wanted});
                let made = within(CALL_MAX, "create", RESOURCE, self.api.create(&PostParams::default(), &object)).await;
                (wanted, made)
            }
            (Action::Replace(wanted), Some(object)) => {
                let replaced = self.replace(object, &wanted).await;
                (wanted, replaced)
            }
        };
        match written {
            Ok(_) => lock(&self.shared).written(&wanted, begun, self.now()),
            // Somebody else was first; the next look says who.
            Err(error) if matches!(error.kind, Kind::Conflict | Kind::AlreadyExists | Kind::NotFound) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    async fn resign(&self) -> Result<(), ClusterError> {
        if self.epoch().is_none() {
            return Ok(());
        }
        let Some(object) = self.read().await? else { return Ok(()) };
        let farewell = lock(&self.shared).resign(&record(&object), clock::now_micros());
        match farewell {
            Some(farewell) => self.replace(object, &farewell).await.map(drop),
            None => Ok(()),
        }
    }

    async fn read(&self) -> Result<Option<DynamicObject>, ClusterError> {
        within(CALL_MAX, "get", RESOURCE, self.api.get_opt(&self.name)).await
    }

    /// The object keeps what others wrote on it, and its resource version.
    async fn replace(&self, mut object: DynamicObject, wanted: &Record) -> Result<DynamicObject, ClusterError> {
        object.data["spec"] = json!(wanted);
        within(CALL_MAX, "update", RESOURCE, self.api.replace(&self.name, &PostParams::default(), &object)).await
    }
}

/// What cannot be read counts as a lease that nobody holds; whoever replaces it writes a good one.
fn record(object: &DynamicObject) -> Record {
    object.data.get("spec").and_then(|spec| serde_json::from_value(spec.clone()).ok()).unwrap_or_default()
}
