//! Reading Kubernetes and Kueue objects the way Kueue does.

mod admissible;
pub mod assemble;
pub mod catalog;
pub mod codes;
pub mod cron;
pub mod findings;
pub mod flavors;
pub mod given;
pub mod matching;
pub mod options;
pub mod place;
pub mod pod;
pub mod podsets;
pub mod prices;
pub mod priority;
pub mod promise;
pub mod prospects;
pub mod quantity;
pub mod queues;
pub mod quota;
pub mod reach;
pub mod requests;
pub mod running;
pub mod simulate;
pub mod submissions;
pub mod tenants;
pub mod types;
pub mod windows;

pub use assemble::{Assembled, assemble};
pub use given::{Given, Overrides};
pub use place::Unplaceable;
pub use simulate::{SimOptions, Simulation, simulate};
