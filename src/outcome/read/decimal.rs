//! Numbers as they were written: JSON numbers are decimals here, never binary fractions.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::ratio::Ratio;

/// A JSON number, or text with a number in it; `None` for null and for the words by which tools say "no value".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal(pub Option<Ratio>);

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        read(raw.get()).map(Self).map_err(serde::de::Error::custom)
    }
}

/// Reads a raw JSON value as a decimal.
///
/// # Errors
/// A fragment that quotes what is not a number.
pub(super) fn read(raw: &str) -> Result<Option<Ratio>, String> {
    let text = match serde_json::from_str::<String>(raw) {
        Ok(text) => text,
        Err(_) => raw.to_owned(),
    };
    match text.as_str() {
        "null" | "NaN" | "nan" | "N/A" | "" | "Infinity" | "-Infinity" | "inf" | "-inf" => Ok(None),
        number => Ratio::parse(number).map(Some),
    }
}

/// Python's JSON writes `NaN` and `Infinity` as bare words, which JSON does not have: they become `null`.
///
/// Lines keep their numbers: no word contains a line break.
pub(super) fn without_constants(text: &str) -> Cow<'_, str> {
    if !["NaN", "Infinity"].iter().any(|word| text.contains(word)) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(first) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| !quoted && rest.starts_with(word));
        let taken = match (word, first) {
            (Some(word), _) => {
                clean.push_str("null");
                word.len()
            }
            (None, '\\') if quoted => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                clean.push_str(&rest[..length]);
                length
            }
            (None, letter) => {
                quoted ^= letter == '"';
                clean.push(letter);
                letter.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    Cow::Owned(clean)
}
