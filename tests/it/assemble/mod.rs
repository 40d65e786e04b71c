//! `kueue::assemble`: small manifests in, what a planner is told out, as text a person would read.

mod belonging;
mod flavors;
mod kinds;
mod lacking;
mod parts;
mod promises;
mod queues;
mod running;
mod scale;
mod show;
mod touchstone;
mod windows;

use stagger::api::manifest::Manifest;
use stagger::failure::Severity;
use stagger::kueue::{Assembled, Given, assemble};
use stagger::scenario::{Input, Limits, read};
use stagger::units::Timestamp;

pub use show::{findings, options, snapshot, whole};

/// Monday 30 November 2026, 12:00 in Madrid.
pub const NOON: Timestamp = Timestamp(1_796_036_400);

/// Reads YAML that must be sound by itself.
pub fn manifests(yaml: &str) -> Vec<Manifest> {
    let reading = read(&[Input::text("case.yaml", yaml)], &Limits::default());
    let errors: Vec<_> = reading.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    reading.manifests
}

/// Assembles YAML at [`NOON`].
pub fn assembled(yaml: &str) -> Assembled {
    assemble(&manifests(yaml), &Given::at(NOON))
}

/// One queue `batch` with four a100 GPUs and its LocalQueue in `evals`; what most cases stand on.
pub const BATCH: &str = "
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: evals}
spec: {clusterQueue: batch}
---
";

/// [`BATCH`] and more documents.
pub fn with_batch(yaml: &str) -> String {
    format!("{BATCH}{yaml}")
}
