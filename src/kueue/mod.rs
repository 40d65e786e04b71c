//! Reading Kubernetes and Kueue objects the way Kueue does.
//!
//! `assemble` is the way in; its steps, in order: `catalog` (what is there), `given` (the choices), `promise` and `matching`
//! (WorkloadSLOs), `queues`, `windows`, `prices` (capacity), `named` (which queues are planned), `podsets` and `submissions` (work), `place` and `admissible`
//! (each workload: running, planned, or why never). `quota` is Kueue's algebra, `simulate` its scheduler, `chance` what it would do when runtimes vary.
//! Whatever else reads the same objects (`scenario::books`, for accounting) goes through `catalog`, `matching` and `tenants`.
//! Deliberately absent: a client. Objects come as manifests, from files or from watches.

mod admissible;
mod assemble;
pub(crate) mod catalog;
pub mod chance;
pub mod changes;
pub mod codes;
pub mod cron;
pub(crate) mod findings;
mod flavors;
mod given;
pub(crate) mod matching;
pub mod named;
pub mod observed;
mod options;
mod place;
pub mod pod;
pub(crate) mod podsets;
pub(crate) mod prices;
mod priority;
pub(crate) mod promise;
mod prospects;
pub mod quantity;
mod queues;
pub mod quota;
mod reach;
pub mod release;
pub mod requests;
mod running;
pub mod simulate;
pub mod stretches;
pub(crate) mod submissions;
pub(crate) mod tenants;
pub mod types;
mod windows;

pub use assemble::{Assembled, Lent, assemble, assemble_lent};
pub use given::{Given, Outrun, Overrides};
pub use observed::Observed;
pub use place::Unplaceable;
pub use simulate::{SimOptions, Simulation, simulate};
