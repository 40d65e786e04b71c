//! The part of an object that is read: its metadata, borrowed from the request's bytes.

use std::borrow::{Borrow, Cow};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Text that is borrowed where JSON wrote it without escapes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(transparent)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// An object of any kind. What is not named here is skipped.
#[derive(Debug, Default, Deserialize)]
pub struct Object<'a> {
    #[serde(borrow, default, deserialize_with = "object")]
    pub metadata: Option<Metadata<'a>>,
    #[serde(borrow)]
    pub spec: Option<&'a RawValue>,
    #[serde(borrow)]
    pub status: Option<&'a RawValue>,
}

/// Reads a JSON object or null, and not the list of its fields that serde would take for one: what cannot be patched is
/// not an object.
///
/// # Errors
/// When it is anything else.
pub fn object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    struct Map<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Map<T> {
        type Value = Option<T>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a JSON object")
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
            from.deserialize_map(self)
        }
        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            T::deserialize(MapAccessDeserializer::new(map)).map(Some)
        }
    }
    from.deserialize_option(Map(PhantomData))
}

/// Labels or annotations. `None`: the map is missing or null.
pub type Entries<'a> = Option<Pairs<'a>>;

/// Keys with their values as they were written. A few of them are asked for, once each, and there may be thousands: they are
/// not sorted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairs<'a>(Vec<(Text<'a>, Text<'a>)>);

impl<'a> Pairs<'a> {
    /// The value of a key; of one that stands twice the last one counts, as in the API server.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Text<'a>> {
        self.0.iter().rev().find(|(known, _)| *known == *key).map(|(_, value)| value)
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(key, _)| &**key)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for All<'a> {
            type Value = Pairs<'a>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of texts")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry::<Text<'a>, Text<'a>>()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(All(PhantomData))
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata<'a> {
    /// Empty where the name will be generated.
    #[serde(borrow)]
    pub name: Option<Text<'a>>,
    #[serde(borrow)]
    pub labels: Entries<'a>,
    #[serde(borrow)]
    pub annotations: Entries<'a>,
    #[serde(borrow)]
    pub owner_references: Option<Vec<OwnerReference<'a>>>,
    #[serde(borrow)]
    pub deletion_timestamp: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference<'a> {
    #[serde(borrow)]
    pub api_version: Text<'a>,
    #[serde(borrow)]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    #[serde(borrow)]
    pub uid: Text<'a>,
    pub controller: Option<bool>,
}

impl OwnerReference<'_> {
    #[must_use]
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl<'a> Metadata<'a> {
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&str> {
        self.labels.as_ref()?.get(key).map(Text::as_ref)
    }

    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&str> {
        self.annotations.as_ref()?.get(key).map(Text::as_ref)
    }

    /// The one owner that made the object, by its own word.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference<'a>> {
        self.owner_references.as_ref()?.iter().find(|owner| owner.controller == Some(true))
    }

    #[must_use]
    pub fn is_being_deleted(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}
