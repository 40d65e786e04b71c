//! The planner: a snapshot in, an explained and checked plan out.

pub mod proposal;
pub mod snapshot;
pub mod watch;

pub use proposal::Plan;
pub use snapshot::{Policy, Snapshot};
