//! Reading scenario files and traces.

pub mod import;
