//! Kubernetes names for what a trace calls its users and jobs.
//!
//! Invariant: equal texts get equal names, different texts different ones, whatever characters they hold.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

/// The names given so far.
#[derive(Debug, Default)]
pub struct Labels {
    known: BTreeMap<String, String>,
    taken: BTreeSet<String>,
}

impl Labels {
    /// The name for `prefix` + `text`: itself where it is a DNS label, else as close as may be, with part of a hash
    /// where another text came to the same name first.
    pub fn name(&mut self, prefix: &str, text: &str) -> String {
        let whole = format!("{prefix}{text}");
        if let Some(name) = self.known.get(&whole) {
            return name.clone();
        }
        let mut name = dns_label(&whole);
        if name.is_empty() || self.taken.contains(&name) {
            name = dns_label(&format!("{}-{}", &name[..name.len().min(50)], &sha256(whole.as_bytes())[..12]));
        }
        self.taken.insert(name.clone());
        self.known.insert(whole, name.clone());
        name
    }
}

/// Lower-case letters, digits and inner dashes, at most 63: everything else becomes a dash.
pub fn dns_label(text: &str) -> String {
    let mapped: String = text
        .chars()
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if c.is_ascii_lowercase() || c.is_ascii_digit() { c } else { '-' })
        .take(63)
        .collect();
    mapped.trim_matches('-').to_owned()
}

/// SHA-256, hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).expect("a nibble must be a hexadecimal digit");
    Sha256::digest(bytes).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
