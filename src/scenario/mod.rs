//! Reading scenario files and traces.
//!
//! [`read`] turns folders, files and piped text into manifests with spans; [`validate`] judges each of our own kinds
//! by itself; how objects fit together is `kueue::assemble`'s to say; [`together`] runs both. Every problem is a finding with a code of
//! [`codes`]; nothing here prints, and no input makes it panic.

pub mod books;
mod build;
pub mod codes;
mod files;
mod identity;
pub mod import;
mod json;
pub mod kinds;
pub mod limits;
mod lint;
mod read;
mod rules;
pub mod runs;
mod scalar;
mod shape;
mod together;
mod validate;
mod words;
mod yaml;
mod yaml_errors;

pub use limits::Limits;
pub use lint::{Linted, lint};
pub use read::{Input, Reading, read};
pub use together::together;
pub use validate::{schema, validate};
