//! A list that is kept up to date, and never gives up: errors are items, and only a kind that is gone ends it.
//!
//! The client library recovers from ended watches and versions that are too old, but would wait for a list for ever, and
//! asks again at once after an error; here both have their bounds.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use futures::stream::{StreamExt, unfold};
use kube::runtime::watcher::{self, Event, watcher};
use kube::{Api, Resource};
use serde::de::DeserializeOwned;
use tokio::time::{sleep, timeout};

use super::client::LIST_MAX;
use super::error::{ClusterError, Kind};

/// A watch is asked anew this often, so that a connection that died in silence is noticed a few seconds later.
const WATCH_SECONDS: u32 = 60;
/// The first pause after an error; it doubles with each further one.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
/// The longest pause.
const PAUSE_MOST: Duration = Duration::from_secs(30);
/// How often the first pause can be doubled before the longest is reached.
const DOUBLINGS_MAX: u32 = 6;

/// What is seen of a list.
#[derive(Debug, Clone)]
pub enum Seen<K> {
    /// A whole list follows, which takes the place of everything seen before.
    Begin,
    Listed(K),
    /// The list is whole.
    Complete,
    /// Created or changed.
    Applied(K),
    Deleted(K),
    /// What is known stays as it is, and may be old; it is tried again.
    Failed(ClusterError),
}

type Inner<K> = Pin<Box<dyn Stream<Item = watcher::Result<Event<K>>> + Send>>;

struct State<K: Resource> {
    api: Api<K>,
    config: watcher::Config,
    resource: String,
    inner: Option<Inner<K>>,
    is_listing: bool,
    failures: u32,
    is_gone: bool,
}

/// Follows what `config` selects. `resource` is for messages. The stream ends only when the server knows no such kind.
pub fn follow<K>(api: Api<K>, config: watcher::Config, resource: &str) -> impl Stream<Item = Seen<K>> + Send + use<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
    K::DynamicType: Send + Sync,
{
    let config = config.timeout(WATCH_SECONDS);
    let state = State {
        api,
        config,
        resource: resource.to_owned(),
        inner: None,
        is_listing: true,
        failures: 0,
        is_gone: false,
    };
    unfold(state, |mut state| async move {
        let seen = state.next().await?;
        Some((seen, state))
    })
}

impl<K> State<K>
where
    K: Resource + Clone + Debug + DeserializeOwned + Send + 'static,
    K::DynamicType: Send + Sync,
{
    async fn next(&mut self) -> Option<Seen<K>> {
        if self.is_gone {
            return None;
        }
        if self.failures > 0 {
            sleep(PAUSE_FIRST.saturating_mul(1 << (self.failures - 1).min(DOUBLINGS_MAX)).min(PAUSE_MOST)).await;
        }
        let (api, config) = (&self.api, &self.config);
        let inner = self.inner.get_or_insert_with(|| Box::pin(watcher(api.clone(), config.clone())));
        // Between two events of a watch anything may lie, up to its own time; a list has to come.
        let next = if self.is_listing { timeout(LIST_MAX, inner.next()).await } else { Ok(inner.next().await) };
        let event = match next {
            Ok(Some(Ok(event))) => event,
            Ok(Some(Err(error))) => return Some(Seen::Failed(self.failed(&error))),
            Ok(None) => return None,
            Err(_) => {
                self.inner = None;
                self.failures = self.failures.saturating_add(1);
                return Some(Seen::Failed(ClusterError::late("list", &self.resource, LIST_MAX)));
            }
        };
        // `Init` comes before the request, so it says nothing about the server.
        if !matches!(event, Event::Init) {
            self.failures = 0;
        }
        Some(match event {
            Event::Init => {
                self.is_listing = true;
                Seen::Begin
            }
            Event::InitApply(object) => Seen::Listed(object),
            Event::InitDone => {
                self.is_listing = false;
                Seen::Complete
            }
            Event::Apply(object) => Seen::Applied(object),
            Event::Delete(object) => Seen::Deleted(object),
        })
    }

    fn failed(&mut self, error: &watcher::Error) -> ClusterError {
        self.failures = self.failures.saturating_add(1);
        let (verb, resource) = (if self.is_listing { "list" } else { "watch" }, self.resource.as_str());
        let error = match error {
            watcher::Error::InitialListFailed(error)
            | watcher::Error::WatchStartFailed(error)
            | watcher::Error::WatchFailed(error) => ClusterError::of(verb, resource, error),
            watcher::Error::WatchError(status) => ClusterError::of_status(verb, resource, status),
            watcher::Error::NoResourceVersion => ClusterError {
                kind: Kind::Unreadable,
                message: format!("failed to {verb} {resource}: the answer has no resource version"),
            },
        };
        self.is_gone = error.kind == Kind::NotFound;
        // The library begins anew when a watch says so in its stream, but would ask for the same version for ever when
        // the request itself is refused for it.
        if error.kind == Kind::Gone {
            (self.inner, self.is_listing) = (None, true);
        }
        error
    }
}
