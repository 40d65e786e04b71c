//! Our own kinds (group `stagger.dev`) and the raw manifest every reader starts from.
//!
//! One file per kind. The types say what a user may write; they derive their JSON schema, from which the CRDs come.

pub mod manifest;

/// API group of our kinds.
pub const GROUP: &str = "stagger.dev";
/// Version of our kinds.
pub const VERSION: &str = "v1alpha1";
