//! The pod templates inside an object, found in one pass over its raw text: what is not needed is skipped, nothing is built.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
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
            let walk = Walk { steps, at: "/spec".to_owned(), found: &mut found };
            // What is not of its kind is the API server's to refuse.
            drop(walk.deserialize(&mut serde_json::Deserializer::from_str(spec.get())));
        }
    }
    found
}

/// Goes down one path in one pass over the text. `*` is every element of a list or a map.
struct Walk<'p, 'f, 'a> {
    steps: &'p str,
    at: String,
    found: &'f mut Vec<Template<'a>>,
}

impl<'a> Walk<'_, '_, 'a> {
    fn template<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        let mut metadata = None;
        while let Some(key) = map.next_key::<Text<'a>>()? {
            if key == "metadata" {
                metadata = map.next_value::<Option<Metadata<'a>>>()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if self.found.len() < TEMPLATES_MAX {
            self.found.push(Template { at: self.at, metadata });
        }
        Ok(())
    }
}

impl<'a> DeserializeSeed<'a> for Walk<'_, '_, 'a> {
    type Value = ();
    fn deserialize<D: Deserializer<'a>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'a> Visitor<'a> for Walk<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        if self.steps.is_empty() {
            return self.template(map);
        }
        let (step, rest) = self.steps.split_once('/').unwrap_or((self.steps, ""));
        let before = self.found.len();
        while let Some(key) = map.next_key::<Text<'a>>()? {
            if step != "*" && key != *step {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            if step != "*" {
                // Of a key that stands twice the last one counts.
                self.found.truncate(before);
            }
            let at = format!("{}/{}", self.at, key.replace('~', "~0").replace('/', "~1"));
            map.next_value_seed(Walk { steps: rest, at, found: &mut *self.found })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        let Some(rest) = self.steps.strip_prefix('*') else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let rest = rest.trim_start_matches('/');
        let mut index = 0_usize;
        loop {
            let at = format!("{}/{index}", self.at);
            if list.next_element_seed(Walk { steps: rest, at, found: &mut *self.found })?.is_none() {
                return Ok(());
            }
            index += 1;
        }
    }

    /// Null is nothing; any other kind of value ends the walk with an error.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
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

/// Whether one key of an object says yes or no.
#[must_use]
pub fn flag(value: Option<&RawValue>, key: &str) -> Option<bool> {
    serde_json::from_str(child(value?, key)?.get()).ok()
}
