//! The planner: a snapshot in, an explained and checked plan out.

pub mod check;
mod peer_capacity;
pub mod peers;
pub mod policy;
pub mod proposal;
pub mod snapshot;
pub mod summary;
pub mod watch;

pub use check::check;
pub use proposal::Plan;
pub use snapshot::{Policy, Snapshot};
