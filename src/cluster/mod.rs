//! The cluster as it is reached: a client with deadlines, and who of us leads.
//!
//! Invariant: every call has a limit of its own and is tried once; whoever calls decides whether to try again. Errors are
//! sentences with a kind, so that a command can say what to do and a loop can tell a conflict from an outage.
//! Deliberately absent: typed objects that are decoded and written back, which would drop what this version does not know.

mod client;
mod discover;
mod error;
mod follow;
pub mod lease;
mod time;
mod watched;

pub use client::{Access, CALL_MAX, Cluster, LIST_MAX, connect, within};
pub use discover::{discover, get};
pub use error::{ClusterError, Kind};
pub use follow::{Seen, follow};
pub use time::server_time;
pub use watched::{Patience, Told, Watched, follow_kind};
