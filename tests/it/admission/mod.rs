//! The webhook's verb: what is stamped, gated, restored and refused.

mod assembled;
mod deploy;
mod forgery;
mod gates;
mod history;
mod inactive;
mod laws;
mod policies;
mod reviews;
mod stamps;
mod tenants;
mod validation;
pub mod world;
