//! The slices of Kueue's own objects that planning reads.
//!
//! They take v1beta1 and v1beta2 alike (`cohort` is `cohortName`, `Borrow` and `Preempt` are `MayStopSearch`), treat
//! `null` as absent, ignore everything else, and never write. Deliberately absent: anything that only Kueue itself needs.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::pod::{PodTemplate, Taint, Toleration};
use super::quantity::Quantity;
use crate::api::refs::LabelSelector;

/// API group of Kueue's objects.
pub const GROUP: &str = "kueue.x-k8s.io";
/// API group of Kueue's configuration document.
pub const CONFIG_GROUP: &str = "config.kueue.x-k8s.io";
pub const QUEUE_NAME: &str = "kueue.x-k8s.io/queue-name";
pub const PRIORITY_CLASS: &str = "kueue.x-k8s.io/priority-class";
pub const POD_GROUP_NAME: &str = "kueue.x-k8s.io/pod-group-name";
pub const POD_GROUP_TOTAL: &str = "kueue.x-k8s.io/pod-group-total-count";
pub const POD_GROUP_FAST: &str = "kueue.x-k8s.io/pod-group-fast-admission";
pub const PREBUILT_WORKLOAD: &str = "kueue.x-k8s.io/prebuilt-workload-name";
pub const JOB_UID: &str = "kueue.x-k8s.io/job-uid";

/// `null` is as good as absent: `kubectl -o yaml` writes both.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(from: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

/// The part of `metadata` that planning reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    #[serde(deserialize_with = "or_default")]
    pub uid: String,
    pub creation_timestamp: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub annotations: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub owner_references: Vec<OwnerReference>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: Option<bool>,
}

impl Metadata {
    /// The reference to the object that made this one.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClusterQueueSpec {
    #[serde(deserialize_with = "or_default")]
    pub resource_groups: Vec<ResourceGroup>,
    #[serde(alias = "cohort")]
    pub cohort_name: Option<String>,
    /// Kueue: absent matches no namespace, `{}` every one.
    pub namespace_selector: Option<LabelSelector>,
    pub queueing_strategy: Option<QueueingStrategy>,
    pub stop_policy: Option<StopPolicy>,
    #[serde(deserialize_with = "or_default")]
    pub preemption: Preemption,
    #[serde(deserialize_with = "or_default")]
    pub flavor_fungibility: FlavorFungibility,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceGroup {
    #[serde(deserialize_with = "or_default")]
    pub covered_resources: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub flavors: Vec<FlavorQuotas>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct FlavorQuotas {
    pub name: String,
    #[serde(default, deserialize_with = "or_default")]
    pub resources: Vec<ResourceQuota>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceQuota {
    pub name: String,
    #[serde(default)]
    pub nominal_quota: Quantity,
    pub borrowing_limit: Option<Quantity>,
    pub lending_limit: Option<Quantity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum QueueingStrategy {
    StrictFIFO,
    BestEffortFIFO,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum StopPolicy {
    #[default]
    None,
    Hold,
    HoldAndDrain,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Preemption {
    pub within_cluster_queue: Option<PreemptionPolicy>,
    pub reclaim_within_cohort: Option<PreemptionPolicy>,
    pub borrow_within_cohort: Option<BorrowWithinCohort>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum PreemptionPolicy {
    Never,
    LowerPriority,
    LowerOrNewerEqualPriority,
    Any,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct BorrowWithinCohort {
    pub policy: Option<PreemptionPolicy>,
    pub max_priority_threshold: Option<i32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FlavorFungibility {
    pub when_can_borrow: Option<Search>,
    pub when_can_preempt: Option<Search>,
    pub preference: Option<Preference>,
}

/// Whether the search for a flavor ends at one that needs borrowing or preemption.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Search {
    #[serde(alias = "Borrow", alias = "Preempt")]
    MayStopSearch,
    TryNextFlavor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Preference {
    BorrowingOverPreemption,
    PreemptionOverBorrowing,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CohortSpec {
    /// v1alpha1 called it `parent`.
    #[serde(alias = "parent")]
    pub parent_name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub resource_groups: Vec<ResourceGroup>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LocalQueueSpec {
    #[serde(deserialize_with = "or_default")]
    pub cluster_queue: String,
    pub stop_policy: Option<StopPolicy>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceFlavorSpec {
    #[serde(deserialize_with = "or_default")]
    pub node_labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    pub node_taints: Vec<Taint>,
    #[serde(deserialize_with = "or_default")]
    pub tolerations: Vec<Toleration>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadSpec {
    #[serde(deserialize_with = "or_default")]
    pub pod_sets: Vec<WorkloadPodSet>,
    #[serde(deserialize_with = "or_default")]
    pub queue_name: String,
    pub priority: Option<i32>,
    /// v1beta1.
    pub priority_class_name: Option<String>,
    /// v1beta2.
    pub priority_class_ref: Option<PriorityClassRef>,
    pub active: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct WorkloadPodSet {
    #[serde(default, deserialize_with = "or_default")]
    pub name: String,
    pub count: Option<i64>,
    #[serde(default, deserialize_with = "or_default")]
    pub template: PodTemplate,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PriorityClassRef {
    pub kind: String,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadStatus {
    pub admission: Option<Admission>,
    #[serde(deserialize_with = "or_default")]
    pub conditions: Vec<Condition>,
    #[serde(deserialize_with = "or_default")]
    pub reclaimable_pods: Vec<ReclaimablePod>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Admission {
    pub cluster_queue: String,
    #[serde(deserialize_with = "or_default")]
    pub pod_set_assignments: Vec<PodSetAssignment>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSetAssignment {
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub flavors: BTreeMap<String, String>,
    /// Of all its pods together.
    #[serde(deserialize_with = "or_default")]
    pub resource_usage: BTreeMap<String, Quantity>,
    pub count: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct ReclaimablePod {
    pub name: String,
    pub count: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    pub status: String,
    pub last_transition_time: Option<String>,
}

impl Condition {
    #[must_use]
    pub fn holds(&self) -> bool {
        self.status == "True"
    }
}

/// `resources` of Kueue's Configuration: how requests become quota.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ConfigurationResources {
    #[serde(deserialize_with = "or_default")]
    pub exclude_resource_prefixes: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    pub transformations: Vec<Transformation>,
    /// Kueue 0.19: `IgnoreUndeclared` lets work in whose other resources the queue has no quota.
    pub quota_check_strategy: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transformation {
    pub input: String,
    #[serde(default, deserialize_with = "or_default")]
    pub strategy: Strategy,
    pub multiply_by: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub outputs: BTreeMap<String, Quantity>,
}

/// Whether the input stays beside the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Strategy {
    #[default]
    Retain,
    Replace,
}
