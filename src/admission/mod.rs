//! `admission::decide`: what the webhook answers, from the request and what is known of the cluster.
//!
//! Pure: a value in, a value out. It stamps the tenant, adds our gate, restores what a careless replace dropped, and
//! refuses what would forge a stamp or pass a gate. The patch names single keys; the object itself is never decoded and
//! written again, so unknown fields stay as they were, byte for byte.
//! Deliberately absent: the ledger (an answer is not an outcome: the API server may refuse later, or it was a dry run),
//! any lookup in the request path, and Kubernetes' own types.

mod answer;
mod assemble;
pub mod certificates;
mod creation;
mod draft;
mod gate;
mod guard;
pub mod history;
pub mod kinds;
mod known;
pub mod late;
pub mod live;
mod object;
mod owners;
pub mod policy;
mod queues;
mod review;
mod row;
pub mod server;
mod templates;
mod tenancy;
pub mod tls;
mod told;
mod validate;
mod world;

pub use answer::{Decision, Operation, Outcome, WARNING_BYTES_MAX, respond};
pub use assemble::{Rows, Table, assemble};
pub use known::{KNOWN_BYTES_MAX, KNOWN_PATH, Known};
pub use owners::{LiveOwner, Owners};
pub use queues::{ClusterQueue, LocalQueue, PodGroup, Queues};
pub use review::{Request, Review, Unreadable, Verb, parse, uid_of};
pub use row::{KUEUE, Row, row};
pub use tenancy::{Attribution, By, Directory, Namespace, Tenant, TenantRef};
pub use told::Told;
pub use world::{Mode, Trusted, World};

/// Answers one request. The same request and world give the same answer, for a dry run too; asked again about its own
/// result, it has nothing to add.
#[must_use]
pub fn decide(request: &Request<'_>, world: &World) -> Decision {
    // 1. Our own kinds: what a schema cannot say.
    if request.resource.group == crate::api::GROUP {
        return validate::own_kind(request, world);
    }
    // 2. The root of trust: a namespace's own labels.
    if request.is("", "namespaces") {
        return guard::namespace(request, world);
    }
    // 3. The ways a label reaches a pod without passing over the pod.
    if request.is("", "bindings") || (request.is("", "pods") && request.sub_resource == "binding") {
        return guard::binding(request, world);
    }
    // 4. What Kueue queues, and pods.
    let Some(kind) = kinds::find(&request.resource.group, &request.resource.resource) else {
        return Decision::ignored();
    };
    match (request.operation, request.sub_resource.as_ref()) {
        (Verb::Create, "") => creation::create(request, kind, world),
        (Verb::Update, "") => guard::update(request, kind, world),
        (Verb::Update | Verb::Create, _) => guard::sub_resource(request, kind, world),
        _ => Decision::ignored(),
    }
}
