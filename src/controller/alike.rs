//! Parts that many rows have in common, kept once for all of them.
//!
//! Work is made of templates: what it asks for, its labels and its owner are the same for hundreds, and as trees they are
//! most of a row. What nobody has any more is forgotten.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Weak};

use serde_json::Value;

use crate::api::manifest::Manifest;

/// The parts, and the member in which each stands.
const PARTS: [(&str, &str, &str); 5] = [
    ("/spec", "", "spec"),
    ("/metadata/labels", "/metadata", "labels"),
    ("/metadata/annotations", "/metadata", "annotations"),
    ("/metadata/ownerReferences", "/metadata", "ownerReferences"),
    ("/status/admission", "/status", "admission"),
];
/// Parts that nobody has any more are looked for when so many are known, and then at twice what is left.
const KNOWN: usize = 256;

/// The parts that are in use, by a hash of what they say.
#[derive(Debug, Default)]
pub(super) struct Alike {
    known: HashMap<u64, Weak<Value>>,
    full: usize,
}

impl Alike {
    /// Puts what is known already in the place of the row's own parts.
    pub(super) fn share(&mut self, row: &mut Manifest) {
        let mut shared = Vec::with_capacity(PARTS.len());
        for (place, parent, member) in PARTS {
            let members = row.value.pointer_mut(parent).and_then(Value::as_object_mut);
            let Some(members) = members else { continue };
            // What is empty takes no room.
            let filled = |value: &Value| match value {
                Value::Object(members) => !members.is_empty(),
                Value::Array(items) => !items.is_empty(),
                _ => false,
            };
            if members.get(member).is_some_and(filled)
                && let Some(part) = members.remove(member)
            {
                shared.push((place, self.one(part)));
            }
        }
        row.shared = shared.into();
    }

    fn one(&mut self, part: Value) -> Arc<Value> {
        let mut hasher = DefaultHasher::new();
        part.hash(&mut hasher);
        let place = hasher.finish();
        let known = self.known.get(&place).and_then(Weak::upgrade);
        if let Some(known) = known.filter(|known| **known == part) {
            return known;
        }
        let part = Arc::new(part);
        self.known.insert(place, Arc::downgrade(&part));
        if self.known.len() > self.full.max(KNOWN) {
            self.known.retain(|_, part| part.strong_count() > 0);
            self.full = 2 * self.known.len();
        }
        part
    }
}
