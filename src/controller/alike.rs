//! Parts that many rows have in common, kept once for all of them.
//!
//! Work is made of templates: what it asks for, its labels and its owner are the same for hundreds, and as trees they are
//! most of a row. What nobody has any more is forgotten.

use std::sync::Arc;

use serde_json::Value;

use super::once::Once;
use crate::api::manifest::Manifest;

/// The parts, and the member in which each stands.
const PARTS: [(&str, &str, &str); 5] = [
    ("/spec", "", "spec"),
    ("/metadata/labels", "/metadata", "labels"),
    ("/metadata/annotations", "/metadata", "annotations"),
    ("/metadata/ownerReferences", "/metadata", "ownerReferences"),
    ("/status/admission", "/status", "admission"),
];
/// The parts that are in use.
#[derive(Debug, Default)]
pub(super) struct Alike {
    parts: Once<Value>,
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
        // Most parts are known, and what is known is let go of here.
        let part = Arc::new(part);
        self.parts.one(&*part, |known| *known == *part, || Arc::clone(&part))
    }
}
