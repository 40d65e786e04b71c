//! What was found in a cluster, as it was answered.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::cluster::ClusterError;

/// An object, its absence, or why neither is known.
pub type Answer = Result<Option<Value>, ClusterError>;

/// What a dry run of a Job with a malformed gate came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Kueue refused it: gates are read.
    Refused,
    /// It was let through: gates are not read.
    Accepted,
    /// Why it is not known.
    Unknown(String),
}

/// Everything that is judged. Absent entries were not asked for.
#[derive(Debug, Clone)]
pub struct Facts {
    /// `gitVersion` of the API server.
    pub version: String,
    /// By name of the CustomResourceDefinition.
    pub crds: BTreeMap<String, Answer>,
    /// The discovery document of Kueue's group.
    pub kueue_group: Answer,
    pub kueue_deployment: Answer,
    pub probe: Probe,
    /// The list of CapacityPlans, in whose status the controller says how it holds work.
    pub plans: Answer,
    /// The list of GpuTenants, in whose status the controller says what has no stamp.
    pub tenants: Answer,
    pub mutating: Answer,
    pub validating: Answer,
    /// The version in which the API server has MutatingAdmissionPolicies, if it has them.
    pub stamping_version: Option<&'static str>,
    /// The one of ours, which stamps without a webhook.
    pub stamping: Answer,
    /// ValidatingAdmissionPolicies and their bindings, by name.
    pub policies: BTreeMap<String, Answer>,
    pub bindings: BTreeMap<String, Answer>,
    pub webhook: Answer,
    /// The leaf's Secret.
    pub leaf: Answer,
    /// Leases by name.
    pub leases: BTreeMap<String, Answer>,
}

impl Facts {
    /// No webhook is registered, and the API server stamps by itself: there is nothing to be said of a webhook's parts.
    #[must_use]
    pub fn is_cel_only(&self) -> bool {
        matches!(self.mutating, Ok(None)) && matches!(self.stamping, Ok(Some(_)))
    }
}
