//! The pod templates inside an object, found in its raw text: each step skips what it does not need, nothing is built.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::object::{Metadata, Text};

/// Templates of one object that are stamped. Kueue allows 8 to 18 PodSets; beyond this the pods are stamped anyway.
const TEMPLATES_MAX: usize = 64;

/// A template: its JSON pointer from the object's root, and its metadata where it has any.
#[derive(Debug)]
pub struct Template<'a> {
    pub at: String,
    pub metadata: Option<Metadata<'a>>,
}

/// The templates at the given paths below `/spec`.
#[must_use]
pub fn find<'a>(spec: Option<&'a RawValue>, paths: &[&str]) -> Vec<Template<'a>> {
    let mut found = Vec::new();
    for path in paths {
        let Some((first, steps)) = path.split_once('/') else { continue };
        if let Some(spec) = spec.filter(|_| first == "spec") {
            walk(spec, steps, "/spec".to_owned(), &mut found);
        }
    }
    found
}

fn walk<'a>(value: &'a RawValue, steps: &str, at: String, found: &mut Vec<Template<'a>>) {
    if found.len() >= TEMPLATES_MAX {
        return;
    }
    if steps.is_empty() {
        // A template that is no object is the API server's to refuse.
        if value.get().starts_with('{') {
            let metadata = child(value, "metadata").map(|raw| serde_json::from_str::<Metadata<'a>>(raw.get()).ok());
            match metadata {
                Some(None) => {}
                known => found.push(Template { at, metadata: known.flatten() }),
            }
        }
        return;
    }
    let (step, rest) = steps.split_once('/').unwrap_or((steps, ""));
    if step != "*" {
        if let Some(inner) = child(value, step) {
            walk(inner, rest, format!("{at}/{step}"), found);
        }
    } else if value.get().starts_with('[') {
        let items: Vec<&'a RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        for (index, item) in items.into_iter().enumerate() {
            walk(item, rest, format!("{at}/{index}"), found);
        }
    } else {
        let entries: BTreeMap<Text<'a>, &'a RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
        for (key, entry) in entries {
            walk(entry, rest, format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
        }
    }
}

/// The value of one key of an object; absent, null, or of no object: none.
#[must_use]
pub fn child<'a>(value: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    struct Pick<'k>(&'k str);
    impl<'de> Visitor<'de> for Pick<'_> {
        type Value = Option<&'de RawValue>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Text<'de>>()? {
                if key == self.0 {
                    found = map.next_value::<Option<&'de RawValue>>()?;
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }
    serde_json::Deserializer::from_str(value.get()).deserialize_map(Pick(key)).ok().flatten()
}

/// The text of one key of an object.
#[must_use]
pub fn text<'a>(value: Option<&'a RawValue>, key: &str) -> Option<Text<'a>> {
    serde_json::from_str(child(value?, key)?.get()).ok()
}
