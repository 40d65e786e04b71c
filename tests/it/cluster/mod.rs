//! The cluster as it is reached: election, errors, and an API server that lives in the test's own process.

mod election;
mod errors;
pub mod fake;
mod follow;
mod lease;
