//! The planner: a snapshot in, an explained and checked plan out.

pub mod axis;
pub mod board;
pub mod chart;
pub mod check;
pub mod curve;
pub mod dice;
pub mod document;
pub mod exact;
pub mod explain;
pub mod finish;
pub mod greedy;
pub mod grid;
pub mod groups;
pub mod lane;
pub mod levels;
pub mod model;
pub mod peak;
mod peer_capacity;
pub mod peers;
pub mod policy;
pub mod preset;
pub mod proof;
pub mod proposal;
pub mod propose;
pub mod relax;
pub mod search;
pub mod sentence;
pub mod snapshot;
pub mod stand;
pub mod summary;
pub mod validate;
pub mod watch;

pub use check::check;
pub use proposal::Plan;
pub use propose::propose;
pub use snapshot::{Policy, Snapshot};
