//! GpuTenant: who uses and who pays. Cluster-scoped, short name `gput`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::refs::LabelSelector;
use super::written::Quantity;

pub const KIND: &str = "GpuTenant";

/// A tenant: the namespaces and subjects that are his, and the capacity he may count on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GpuTenantSpec {
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub display_name: Option<String>,
    /// The department it reports to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub department: Option<String>,
    /// The cost centre it is charged to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 128))]
    pub cost_center: Option<String>,
    /// Namespaces that belong to it, by their labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    /// Namespaces that belong to it, by name. A namespace belongs to one tenant at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256), inner(length(min = 1, max = 63)))]
    pub namespaces: Vec<String>,
    /// Who acts for it in namespaces that several tenants share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    pub subjects: Vec<Subject>,
    /// Capacity that is his by right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub guarantee: Vec<Guarantee>,
    /// How agents' sessions are told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agents: Option<Agents>,
}

/// A user of the Kubernetes API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Subject {
    pub kind: SubjectKind,
    /// Needed by, and only for, a ServiceAccount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 63))]
    pub namespace: Option<String>,
    /// Name of the ServiceAccount, user or group.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// What a subject is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SubjectKind {
    ServiceAccount,
    User,
    Group,
}

/// An amount of one flavor that a tenant may count on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Guarantee {
    /// The ResourceFlavor.
    #[schemars(length(min = 1, max = 253))]
    pub flavor: String,
    /// The resource; absent: the flavor's accelerator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 317))]
    pub resource: Option<String>,
    /// How much of it.
    pub quantity: Quantity,
}

/// How the sessions of agents are told apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Agents {
    /// The label whose value names the session; it is copied to `stagger.dev/agent-session`.
    #[schemars(length(min = 1, max = 317))]
    pub session_label: String,
}
