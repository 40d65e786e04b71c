//! What is known of the cluster, kept in step by watches.
//!
//! Invariants: nothing is answered before every kind was listed once; from then on an error leaves what is known as it
//! is, is counted and told, and ends nothing. A kind that is not installed is empty, and looked for again.
//! Whether Kueue honours gates is not found out here: that takes the right to create jobs, which the webhook has not.

mod sources;
mod watch;

use std::collections::BTreeMap;
use std::sync::Arc;

use kube::Client;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use sources::{Sight, Source, sources};
use watch::{Change, Event};

use super::assemble::{Rows, Table};
use super::server::Webhook;
use super::told::Told;
use super::world::Mode;
use crate::cluster::Patience;

/// What is changed between two worlds at most, so that a flood of events does not keep the world from being renewed.
const BATCH_MAX: usize = 4096;
/// Events on their way; the watches wait when the world is slower than they are.
const QUEUE_MAX: usize = 1024;

/// How far one source is.
#[derive(Debug, Default)]
struct Progress {
    /// The list that is under way.
    listing: Option<Table>,
    is_complete: bool,
    /// The last thing that was told of it.
    trouble: Option<String>,
}

/// Keeps the webhook's world in step with the cluster, for as long as it is polled. `tell` hears of troubles, each once
/// until it is over, and of their end.
pub async fn learn(client: Client, webhook: Arc<Webhook>, mode: Mode, patience: Patience, tell: impl Fn(Told<'_>)) {
    let (send, mut events) = mpsc::channel(QUEUE_MAX);
    let mut watches = JoinSet::new();
    let mut progress = BTreeMap::new();
    for source in sources() {
        progress.insert((source.group, source.kind), (source, Progress::default()));
        watches.spawn(watch::follow_source(client.clone(), source, patience, send.clone()));
    }
    drop(send);
    let mut rows = Rows::new(mode);
    let mut batch = Vec::new();
    while events.recv_many(&mut batch, BATCH_MAX).await > 0 {
        let mut changed = false;
        for Event { source, change } in batch.drain(..) {
            if let Some((_, state)) = progress.get_mut(&(source.group, source.kind)) {
                changed |= apply(&source, change, state, &mut rows, &webhook, &tell);
            }
        }
        let missing: Vec<String> =
            progress.values().filter(|(_, state)| !state.is_complete).map(|(source, _)| source.resource()).collect();
        if missing.is_empty() && (changed || webhook.world().is_none()) {
            webhook.learn(rows.world());
        }
        webhook.wait_for(missing);
    }
}

/// One change; whether it made a difference to the rows.
fn apply(
    source: &Source,
    change: Change,
    state: &mut Progress,
    rows: &mut Rows,
    webhook: &Webhook,
    tell: &impl Fn(Told<'_>),
) -> bool {
    let resource = source.resource();
    let over = |state: &mut Progress| {
        state.is_complete = true;
        if state.trouble.take().is_some() {
            tell(Told::Done(&format!("{resource} is watched again")));
        }
    };
    match change {
        Change::Absent => {
            over(state);
            rows.replace(source.group, source.kind, Table::new());
            return true;
        }
        Change::Begin => state.listing = Some(Table::new()),
        Change::Complete => {
            over(state);
            if let Some(table) = state.listing.take() {
                rows.replace(source.group, source.kind, table);
            }
            return true;
        }
        Change::Put(namespace, name, row) => match (&mut state.listing, row) {
            (Some(table), Some(row)) => drop(table.insert((namespace, name), *row)),
            (Some(_), None) => {}
            (None, Some(row)) => {
                rows.put(source.group, source.kind, &namespace, &name, *row);
                return true;
            }
            (None, None) => {
                rows.remove(source.group, source.kind, &namespace, &name);
                return true;
            }
        },
        Change::Unreadable(namespace, name, why) => {
            webhook.metrics.count_watch_error(&resource);
            tell(Told::Trouble(&why));
            rows.remove(source.group, source.kind, &namespace, &name);
            return true;
        }
        Change::Remove(namespace, name) => {
            rows.remove(source.group, source.kind, &namespace, &name);
            return true;
        }
        Change::Failed(error) => {
            webhook.metrics.count_watch_error(&resource);
            if state.trouble.as_ref() != Some(&error) {
                tell(Told::Trouble(&error));
                state.trouble = Some(error);
            }
        }
    }
    false
}
