//! A patch in the making: which keys an object shall have, against those it has.
//!
//! Only differences become operations, so that a second pass over the result is empty. A missing map is added as a map
//! before its first key.

use serde_json::{Map, Value, json};

use super::answer::Operation;
use super::object::{Entries, Metadata};

/// The wanted keys of one object's metadata. `None` as a value: the key shall not be there.
#[derive(Debug)]
pub struct Draft<'a, 'b> {
    /// Where the object stands: empty, or a pod template's path.
    at: String,
    metadata: Option<&'b Metadata<'a>>,
    labels: Vec<(&'static str, Option<String>)>,
    annotations: Vec<(&'static str, Option<String>)>,
}

impl<'a, 'b> Draft<'a, 'b> {
    #[must_use]
    pub fn new(at: String, metadata: Option<&'b Metadata<'a>>) -> Self {
        Self { at, metadata, labels: Vec::new(), annotations: Vec::new() }
    }

    pub fn label(&mut self, key: &'static str, value: Option<&str>) {
        self.labels.push((key, value.map(str::to_owned)));
    }

    pub fn annotation(&mut self, key: &'static str, value: Option<&str>) {
        self.annotations.push((key, value.map(str::to_owned)));
    }

    /// The operations that make it so.
    #[must_use]
    pub fn operations(self) -> Vec<Operation> {
        let absent = None;
        let (labels, annotations) =
            self.metadata.map_or((&absent, &absent), |known| (&known.labels, &known.annotations));
        let mut operations = differences(&format!("{}/metadata/labels", self.at), labels, &self.labels);
        operations.extend(differences(&format!("{}/metadata/annotations", self.at), annotations, &self.annotations));
        if self.metadata.is_none() && !operations.is_empty() {
            operations.insert(0, Operation::Add { path: format!("{}/metadata", self.at), value: json!({}) });
        }
        operations
    }
}

fn differences(path: &str, known: &Entries<'_>, wanted: &[(&'static str, Option<String>)]) -> Vec<Operation> {
    let current = |key: &str| known.as_ref().and_then(|known| known.get(key)).map(|value| &**value);
    let mut operations = Vec::new();
    for (key, value) in wanted {
        let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
        match value {
            Some(value) if current(key) != Some(value) => {
                operations.push(Operation::Add { path, value: json!(value) });
            }
            None if current(key).is_some() => operations.push(Operation::Remove { path }),
            _ => {}
        }
    }
    if known.is_none() && !operations.is_empty() {
        operations.insert(0, Operation::Add { path: path.to_owned(), value: Value::Object(Map::new()) });
    }
    operations
}
