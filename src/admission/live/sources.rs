//! What is watched: of most kinds the metadata alone, of pods only those in groups.

use crate::admission::kinds::{KINDS, Role};
use crate::admission::row::KUEUE;
use crate::api::keys::POD_GROUP;
use crate::api::{GROUP, capacity_plan, slo, tenant};

/// How much of an object is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sight {
    Whole,
    Metadata,
}

/// A kind that is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    pub group: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub sight: Sight,
    pub labels: Option<&'static str>,
}

impl Source {
    /// `localqueues.kueue.x-k8s.io`, `namespaces`: for messages and as a metric's label.
    #[must_use]
    pub fn resource(&self) -> String {
        let dot = if self.group.is_empty() { "" } else { "." };
        format!("{}{dot}{}", self.plural, self.group)
    }
}

/// All of them. A cluster need not have every kind: what is not installed is empty.
#[must_use]
pub fn sources() -> Vec<Source> {
    use Sight::{Metadata, Whole};
    let of = |group, plural, kind, sight| Source { group, plural, kind, sight, labels: None };
    let mut all = vec![
        of("", "namespaces", "Namespace", Metadata),
        of(GROUP, "gputenants", tenant::KIND, Whole),
        of(GROUP, "capacityplans", capacity_plan::KIND, Whole),
        of(GROUP, "workloadslos", slo::KIND, Metadata),
        of(KUEUE, "localqueues", "LocalQueue", Whole),
        of(KUEUE, "clusterqueues", "ClusterQueue", Whole),
        of(KUEUE, "cohorts", "Cohort", Whole),
    ];
    for kind in KINDS {
        let labels = (kind.role == Role::Pod).then_some(POD_GROUP);
        all.push(Source { labels, ..of(kind.group, kind.resource, kind.kind, Metadata) });
    }
    all
}
