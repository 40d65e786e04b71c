//! The shelf: plans where the next leader and the commands find them, put there beside the loop.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::beside::FAILED_AGAIN;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::controller::acts::Fence;
use crate::controller::planning::Planned;
use crate::controller::stored;
use crate::plan::proposal::Release;

/// A plan is stored again after so many times what storing it took, so that a long one that changes all the time does not
/// fill the API server. Until then the starts on the work itself are what the next leader finds.
const STORE_PAUSE: u32 = 10;

/// A plan that was stored: what it says, since when, and how long writing it took.
struct Stored {
    releases: Vec<Release>,
    at: Instant,
    took: Duration,
}

/// What one tenure has stored of each plan, by its CapacityPlan's name.
#[derive(Default)]
pub(super) struct Shelf {
    stored: BTreeMap<String, Stored>,
    writing: JoinSet<(String, Result<Stored, ClusterError>)>,
    /// Of each one write at a time.
    under_way: BTreeSet<String>,
}

impl Shelf {
    /// Stores a plan that says something else than what is stored of it. `scope` is its CapacityPlan, if there is one.
    pub(super) fn put(
        &mut self,
        (name, scope): (&str, Option<&str>),
        planned: &Arc<Planned>,
        (cluster, namespace): (&Cluster, &str),
        fence: &Fence,
    ) {
        let rests =
            |known: &Stored| known.releases == planned.plan.releases || known.at.elapsed() < known.took * STORE_PAUSE;
        if self.stored.get(name).is_some_and(rests) || !fence.holds() || !self.under_way.insert(name.to_owned()) {
            return;
        }
        let (cluster, namespace, epoch) = (cluster.clone(), namespace.to_owned(), fence.epoch);
        let (name, scope, planned) = (name.to_owned(), scope.map(str::to_owned), Arc::clone(planned));
        self.writing.spawn(async move {
            let begun = Instant::now();
            let written = stored::write(&cluster, &namespace, scope.as_deref(), &planned.plan, epoch).await;
            let took = begun.elapsed();
            if written.is_err() {
                // It counts as under way for a while, so that it is not tried all the time.
                sleep(FAILED_AGAIN).await;
            }
            let releases = planned.plan.releases.clone();
            (name, written.map(|()| Stored { releases, at: Instant::now(), took }))
        });
    }

    /// Takes up what was written since this was asked last.
    pub(super) fn take(&mut self) {
        while let Some(done) = self.writing.try_join_next() {
            let Ok((name, stored)) = done else {
                // Nothing that panicked says which one it was.
                self.under_way.clear();
                continue;
            };
            self.under_way.remove(&name);
            match stored {
                Ok(stored) => drop(self.stored.insert(name, stored)),
                Err(error) if error.kind == Kind::Conflict => tracing::info!(%error, "the plan was not stored"),
                Err(error) => tracing::warn!(%error, "the plan was not stored"),
            }
        }
    }
}
