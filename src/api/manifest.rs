//! A Kubernetes object as it was read, from a file or from a watch, not yet judged.
//!
//! Everything downstream (`kueue::assemble`, `lint`) takes `&[Manifest]`, so that files and a cluster run the same code.
//! Unknown fields are kept and ignored. A place in a file can be had for any field by its JSON pointer.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::spans::{NodeId, SpanTree};
use crate::failure::{Finding, SourceFile, Span};

#[derive(Debug, Clone)]
pub struct Manifest {
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster-scoped objects; `default` is filled in by the reader for namespaced ones without it.
    pub namespace: String,
    pub name: String,
    /// The whole object, but for what is `shared`.
    pub value: Value,
    /// Parts that many objects have in common, each with its JSON pointer: kept once for all of them.
    pub shared: Box<[(&'static str, Arc<Value>)]>,
    /// Where it was written; `None` from a cluster.
    pub origin: Option<Arc<Origin>>,
}

/// A document in a file, with the byte span of every node in it.
#[derive(Debug)]
pub struct Origin {
    pub file: Arc<SourceFile>,
    /// The spans of the whole document; the items of a List share it.
    pub spans: Arc<SpanTree>,
    /// The object's own node in it.
    pub root: NodeId,
}

/// Where one node was written, in bytes of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeSpan {
    pub key: Option<(usize, usize)>,
    pub value: (usize, usize),
}

/// The value at a JSON pointer (RFC 6901). Thousands of objects are read so, thus no part of the pointer is copied that has
/// nothing to unescape.
fn value_at<'v>(value: &'v Value, pointer: &str) -> Option<&'v Value> {
    if pointer.contains('~') {
        return value.pointer(pointer);
    }
    let Some(path) = pointer.strip_prefix('/') else { return pointer.is_empty().then_some(value) };
    path.split('/').try_fold(value, |value, member| match value {
        Value::Object(members) => members.get(member),
        // An index has no sign and no leading zero.
        Value::Array(items) if member == "0" || member.starts_with(|first| matches!(first, '1'..='9')) => {
            items.get(member.parse::<usize>().ok()?)
        }
        _ => None,
    })
}

impl Manifest {
    /// Group of `apiVersion`; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }

    /// `Job evals/eval-1`, `ClusterQueue batch`.
    #[must_use]
    pub fn subject(&self) -> String {
        if self.namespace.is_empty() {
            format!("{} {}", self.kind, self.name)
        } else {
            format!("{} {}/{}", self.kind, self.namespace, self.name)
        }
    }

    /// The span of the value at a JSON pointer, or of the nearest enclosing node that exists.
    #[must_use]
    pub fn span(&self, pointer: &str) -> Option<Span> {
        let origin = self.origin.as_ref()?;
        let mut at = pointer;
        loop {
            if let Some(node) = origin.spans.find(origin.root, at) {
                let (start, end) = node.value;
                return Some(Span { file: Arc::clone(&origin.file), start, end });
            }
            at = &at[..at.rfind('/')?];
        }
    }

    /// The span of the key at a JSON pointer (for "this field should not be here"), else that of its value.
    #[must_use]
    pub fn key_span(&self, pointer: &str) -> Option<Span> {
        let origin = self.origin.as_ref()?;
        match origin.spans.find(origin.root, pointer).and_then(|node| node.key) {
            Some((start, end)) => Some(Span { file: Arc::clone(&origin.file), start, end }),
            None => self.span(pointer),
        }
    }

    /// The value at a JSON pointer.
    #[must_use]
    pub fn at(&self, pointer: &str) -> Option<&Value> {
        for (place, part) in &self.shared {
            if let Some(rest) = pointer.strip_prefix(place).filter(|rest| rest.is_empty() || rest.starts_with('/')) {
                return value_at(part, rest);
            }
        }
        value_at(&self.value, pointer)
    }

    /// The object with everything that it shares.
    #[must_use]
    pub fn whole(&self) -> Value {
        let mut value = self.value.clone();
        for (place, part) in &self.shared {
            let (parent, member) = place.rsplit_once('/').unwrap_or(("", place));
            if let Some(members) = value.pointer_mut(parent).and_then(Value::as_object_mut) {
                members.insert(member.to_owned(), Value::clone(part));
            }
        }
        value
    }

    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.at("/metadata/labels")?.get(key)?.as_str()
    }

    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.at("/metadata/annotations")?.get(key)?.as_str()
    }

    /// Decodes the part at `pointer` (``: the whole object, where nothing of it is shared).
    ///
    /// # Errors
    /// `SG003` at the field that has the wrong shape.
    pub fn decode<T: DeserializeOwned>(&self, pointer: &str) -> Result<T, Finding> {
        let missing = Value::Null;
        let value = self.at(pointer).unwrap_or(&missing);
        serde_path_to_error::deserialize(value).map_err(|error| {
            let field = format!("{pointer}{}", json_pointer(error.path()));
            let shown = field.trim_start_matches('/').replace('/', ".");
            let message = format!("{shown}: {}", error.inner());
            Finding::error("SG003", self.subject(), message).at(self.span(&field), "this value")
        })
    }
}

fn json_pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map(|segment| match segment {
            Segment::Seq { index } => format!("/{index}"),
            Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => format!("/{variant}"),
            Segment::Unknown => "/?".to_owned(),
        })
        .collect()
}
