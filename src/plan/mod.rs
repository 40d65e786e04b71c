//! The planner: a snapshot in, an explained and checked plan out.

pub mod axis;
pub mod chart;
pub mod check;
pub mod curve;
pub mod document;
pub mod explain;
pub mod groups;
mod peer_capacity;
pub mod peers;
pub mod policy;
pub mod proposal;
pub mod sentence;
pub mod snapshot;
pub mod summary;
pub mod validate;
pub mod watch;

pub use check::check;
pub use proposal::Plan;
pub use snapshot::{Policy, Snapshot};
