//! The slices of Kubernetes' pod template that decide what a pod asks for and where it may run.
//!
//! Deliberately absent: images, commands, volumes. A template is small enough to copy once per PodSet.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::quantity::Quantity;
use super::types::{Metadata, or_default};

/// Quantities by resource name.
pub type ResourceList = BTreeMap<String, Quantity>;

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PodTemplate {
    #[serde(deserialize_with = "or_default")]
    pub metadata: Metadata,
    #[serde(deserialize_with = "or_default")]
    pub spec: PodSpec,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    #[serde(deserialize_with = "or_default")]
    pub containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub init_containers: Vec<Container>,
    #[serde(deserialize_with = "or_default")]
    pub node_selector: BTreeMap<String, String>,
    pub affinity: Option<Affinity>,
    #[serde(deserialize_with = "or_default")]
    pub tolerations: Vec<Toleration>,
    pub runtime_class_name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub overhead: ResourceList,
    /// Pod-level resources (Kubernetes 1.34).
    pub resources: Option<Resources>,
    pub priority_class_name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    #[serde(deserialize_with = "or_default")]
    pub name: String,
    #[serde(deserialize_with = "or_default")]
    pub resources: Resources,
    /// `Always` on an init container makes it a sidecar.
    pub restart_policy: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Resources {
    #[serde(deserialize_with = "or_default")]
    pub requests: ResourceList,
    #[serde(deserialize_with = "or_default")]
    pub limits: ResourceList,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    pub node_affinity: Option<NodeAffinity>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub required: Option<NodeSelector>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    #[serde(deserialize_with = "or_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    #[serde(deserialize_with = "or_default")]
    pub match_expressions: Vec<NodeRequirement>,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct NodeRequirement {
    pub key: String,
    pub operator: NodeOperator,
    #[serde(default, deserialize_with = "or_default")]
    pub values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum NodeOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Taint {
    pub key: String,
    #[serde(deserialize_with = "or_default")]
    pub value: String,
    pub effect: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct Toleration {
    #[serde(deserialize_with = "or_default")]
    pub key: String,
    /// `Equal` when absent.
    pub operator: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub value: String,
    /// Every effect when absent.
    #[serde(deserialize_with = "or_default")]
    pub effect: String,
}

/// `spec.limits[]` of a LimitRange.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LimitRangeItem {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(deserialize_with = "or_default")]
    pub default: ResourceList,
    #[serde(deserialize_with = "or_default")]
    pub default_request: ResourceList,
    #[serde(deserialize_with = "or_default")]
    pub max: ResourceList,
    #[serde(deserialize_with = "or_default")]
    pub min: ResourceList,
}
