//! A kind that may not be installed: found, listed, followed, and looked for again when it goes.

use std::fmt::Debug;
use std::pin::Pin;
use std::time::Duration;

use futures::Stream;
use futures::stream::{StreamExt, unfold};
use kube::core::ApiResource;
use kube::runtime::watcher;
use kube::{Api, Client, Resource};
use serde::de::DeserializeOwned;
use tokio::time::sleep;

use super::discover::discover;
use super::error::ClusterError;
use super::follow::{Seen, follow};

/// How long to wait for what is not there.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Between two looks for a kind that is not installed.
    pub absent: Duration,
    /// After the server did not say whether it is.
    pub unknown: Duration,
}

impl Default for Patience {
    /// A kind that somebody installs counts half a minute later; an API server that comes back, after five seconds.
    fn default() -> Self {
        Self { absent: Duration::from_secs(30), unknown: Duration::from_secs(5) }
    }
}

/// What is told of such a kind.
#[derive(Debug)]
pub enum Told<K> {
    /// The cluster does not have it.
    Absent,
    /// Whether it does could not be found out.
    Unknown(ClusterError),
    /// What was seen of its objects.
    Seen(Seen<K>),
}

/// Where a kind is, and how it is followed.
#[derive(Debug, Clone)]
pub struct Watched {
    pub group: &'static str,
    pub plural: &'static str,
    pub config: watcher::Config,
    pub patience: Patience,
}

type Inner<K> = Pin<Box<dyn Stream<Item = Seen<K>> + Send>>;

struct State<K> {
    client: Client,
    kind: Watched,
    /// What is followed, and what it is called there.
    inner: Option<(Inner<K>, ApiResource)>,
    pause: Option<Duration>,
}

/// Follows a kind in the version that the server prefers, for as long as it is asked. With what it tells goes what the
/// kind is called there, where that is known.
pub fn follow_kind<K>(
    client: Client,
    kind: Watched,
) -> impl Stream<Item = (Told<K>, Option<ApiResource>)> + Send + use<K>
where
    K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    unfold(State { client, kind, inner: None, pause: None }, |mut state| async move {
        let told = state.next().await;
        Some((told, state))
    })
}

impl<K> State<K>
where
    K: Resource<DynamicType = ApiResource> + Clone + Debug + DeserializeOwned + Send + 'static,
{
    async fn next(&mut self) -> (Told<K>, Option<ApiResource>) {
        let Watched { group, plural, ref config, patience } = self.kind;
        loop {
            if let Some((seen, found)) = &mut self.inner {
                if let Some(seen) = seen.next().await {
                    return (Told::Seen(seen), Some(found.clone()));
                }
                // It ends when the kind is gone.
                self.inner = None;
            }
            if let Some(pause) = self.pause.take() {
                sleep(pause).await;
            }
            let (told, pause) = match discover(&self.client, group, plural).await {
                Ok(Some(found)) => {
                    let resource = if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") };
                    let api = Api::<K>::all_with(self.client.clone(), &found);
                    self.inner = Some((Box::pin(follow(api, config.clone(), &resource)), found));
                    continue;
                }
                Ok(None) => (Told::Absent, patience.absent),
                Err(error) => (Told::Unknown(error), patience.unknown),
            };
            self.pause = Some(pause);
            return (told, None);
        }
    }
}
