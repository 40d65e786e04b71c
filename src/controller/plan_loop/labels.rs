//! Tenants' labels on their namespaces, kept right beside the loop.

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::beside::FAILED_AGAIN;
use crate::api::manifest::Manifest;
use crate::api::tenant;
use crate::cluster::Cluster;
use crate::controller::acts::{self, Ended, Fence};
use crate::controller::rows::{Rows, State};
use crate::controller::tenants::{self, Relabel};

/// Namespaces that are labelled at a time; the rest comes with a later turn.
const WRITES: usize = 512;

/// What one tenure knows of them.
#[derive(Default)]
pub(super) struct Labels {
    /// The rows by which they are right.
    right_by: Option<u64>,
    writing: JoinSet<Written>,
}

struct Written {
    labels: Vec<(Relabel, Ended)>,
    /// The rows by which all are right now, if all are.
    right_by: Option<u64>,
}

impl Labels {
    /// Whether nothing is to be written by these rows, as far as is known of tenants.
    pub(super) fn are_right(&self, rows: &Rows, revision: u64) -> bool {
        self.right_by == Some(revision) || rows.state(tenant::KIND) != State::Listed
    }

    /// Writes those that are wrong, where both kinds are known.
    pub(super) fn mend(&mut self, rows: &Rows, cluster: &Cluster, fence: &Fence) {
        let revision = *rows.changes().borrow();
        if self.are_right(rows, revision) || !self.writing.is_empty() {
            return;
        }
        let of_tenancy: Vec<Manifest> = rows.read_kinds(&tenants::OF_TENANCY, |rows| rows.cloned().collect());
        let mut wrong = tenants::relabel(&of_tenancy);
        if wrong.is_empty() {
            self.right_by = Some(revision);
            return;
        }
        let is_all = wrong.len() <= WRITES;
        wrong.truncate(WRITES);
        let (cluster, fence) = (cluster.clone(), fence.clone());
        self.writing.spawn(async move {
            let labels = acts::relabel(&cluster, wrong, &fence).await;
            let all_done = labels.iter().all(|(_, ended)| *ended == Ended::Done);
            if !all_done {
                // Under way for a while, so that it is not tried all the time.
                sleep(FAILED_AGAIN).await;
            }
            Written { labels, right_by: (is_all && all_done).then_some(revision) }
        });
    }

    /// How writes ended since this was asked last.
    pub(super) fn take(&mut self) -> Vec<Ended> {
        let mut found = Vec::new();
        while let Some(done) = self.writing.try_join_next() {
            let Ok(Written { labels, right_by }) = done else { continue };
            self.right_by = right_by;
            for (label, ended) in labels {
                if ended == Ended::Done {
                    tracing::info!(namespace = label.namespace, tenant = ?label.tenant, "the namespace's tenant is written");
                }
                found.push(ended);
            }
        }
        found
    }
}
