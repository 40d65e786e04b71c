//! Our own kinds (group `stagger.dev`) and the raw manifest every reader starts from.
//!
//! One file per kind. The types say what a user may write; they derive their JSON schema, from which the CRDs come.

pub mod capacity_plan;
pub mod crd;
pub mod inventory;
pub mod keys;
pub mod manifest;
pub mod quality_gate;
pub mod rate_card;
pub mod refs;
pub mod scenario;
pub mod serving_baseline;
pub mod slo;
pub mod spans;
pub mod status;
pub mod tenant;
pub mod written;
pub mod yaml;

/// API group of our kinds.
pub const GROUP: &str = "stagger.dev";
/// What `kubectl get stagger` lists: every kind of ours.
pub const CATEGORY: &str = "stagger";
/// Version of our kinds.
pub const VERSION: &str = "v1alpha1";
