//! Tests against a real API server, Kueue and KWOK. One control plane serves all of them; a test works in namespaces and
//! queues of its own, or takes the plane for itself.

#![expect(clippy::disallowed_methods, reason = "what a cluster takes is waited for by the wall clock")]

mod admission;
mod agreement;
mod needed;
mod person;
mod plane;
mod rights;
mod shared;
mod wait;
mod weather;

mod controller;
mod crds;
mod leases;
mod node;
