//! Certificates without cert-manager: an authority and a leaf in two Secrets, and the bundle in our two configurations.
//!
//! `tls::rotate` says which step is due; `stored` and `published` read and write it as objects; here is the API around
//! them. Only the leader writes: a Secret is created or replaced by its resource version, so that who comes second
//! learns of it, and a configuration is patched behind a test of the webhook's name. Every replica watches the leaf and
//! the configurations by name and takes up what is there.

mod keeper;
pub mod published;
pub mod serving;
pub mod stored;

pub use keeper::{Keeper, Look, keep};
pub use serving::serve_stored;

use kube::core::{ApiResource, GroupVersionKind};

use super::policy::{MUTATING, VALIDATING};

/// The lease for which the replicas stand, in their own namespace: who holds it writes.
pub const LEASE: &str = "stagger-webhook";

/// The kinds of our configurations with their names, each as a resource of the API.
fn configurations() -> [(ApiResource, &'static str); 2] {
    let of = |kind: &str| ApiResource::from_gvk(&GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind));
    [(of("MutatingWebhookConfiguration"), MUTATING), (of("ValidatingWebhookConfiguration"), VALIDATING)]
}
