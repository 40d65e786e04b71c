//! How single values are written: instants, quantities, money, exact integers and short decimals.
//!
//! Each type checks its text while it is being read, so that an error carries the path of the very field.

use std::fmt;

use chrono_tz::Tz;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::calendar;
use crate::names::ResourceName;
use crate::units::{Amount, Money, Timestamp};

/// An RFC 3339 instant.
#[derive(Debug)]
pub(super) struct When {
    text: String,
    pub(super) at: Timestamp,
}

impl When {
    pub(super) fn new(at: Timestamp, zone: Tz) -> Self {
        Self { text: calendar::rfc3339(at, zone), at }
    }
}

impl Serialize for When {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let at = calendar::parse_instant(&text).map_err(D::Error::custom)?;
        Ok(Self { text, at })
    }
}

/// Money as a decimal string.
#[derive(Debug)]
pub(super) struct MoneyText(pub(super) Money);

impl Serialize for MoneyText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.0.decimal())
    }
}

impl<'de> Deserialize<'de> for MoneyText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Money::parse(&String::deserialize(from)?).map(Self).map_err(D::Error::custom)
    }
}

/// An integer: a JSON number where every reader holds it exactly, else a string of digits.
#[derive(Debug, Default)]
pub(super) struct Exact(pub(super) i128);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(small) => to.serialize_i64(small),
            Err(_) => to.serialize_str(&self.0.to_string()),
        }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(from)?;
        exact(&value).map(Self).map_err(D::Error::custom)
    }
}

/// The integer in a JSON number or string.
///
/// # Errors
/// A fragment naming what was found instead.
pub(super) fn exact(value: &serde_json::Value) -> Result<i128, String> {
    let text = match value {
        serde_json::Value::Number(number) => number.to_string(),
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    text.parse().map_err(|_| format!("`{text}` is not an integer"))
}

/// A non-negative decimal number with at most `PLACES` places, kept as an integer of its last place.
#[derive(Debug)]
pub(super) struct Decimal<const PLACES: u32>(pub(super) u64);

impl<const PLACES: u32> Serialize for Decimal<PLACES> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let unit = 10_u64.pow(PLACES);
        if self.0.is_multiple_of(unit) {
            return to.serialize_u64(self.0 / unit);
        }
        let width = usize::try_from(PLACES).unwrap_or(0);
        let text = format!("{}.{:0width$}", self.0 / unit, self.0 % unit);
        let number: serde_json::Number = text.parse().map_err(serde::ser::Error::custom)?;
        number.serialize(to)
    }
}

impl<'de, const PLACES: u32> Deserialize<'de> for Decimal<PLACES> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = serde_json::Number::deserialize(from)?.to_string();
        scaled(&text, PLACES).map(Self).ok_or_else(|| {
            D::Error::custom(format!("`{text}` is not a number from 0 on, with at most {PLACES} places"))
        })
    }
}

/// `text × 10^places` when that is a whole number; `text` may carry an exponent, as JSON numbers do.
fn scaled(text: &str, places: u32) -> Option<u64> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent: i32 = exponent.parse().ok()?;
    let digits: u64 = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent.checked_add(i32::try_from(places).ok()?)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u64.checked_pow(shift.unsigned_abs())?;
    if shift >= 0 { digits.checked_mul(power) } else { digits.is_multiple_of(power).then_some(digits / power) }
}

/// A Kubernetes quantity in the two forms this document writes: a whole number, or thousandths (`1500m`).
#[derive(Debug)]
pub(super) struct Quantity {
    text: String,
    number: i64,
    milli: bool,
}

impl Quantity {
    pub(super) fn new(resource: &ResourceName, amount: Amount) -> Self {
        let text = resource.quantity(amount);
        Self { text, number: amount.0, milli: resource.is_milli() }
    }

    /// The amount in the resource's base unit; `None` when it is not a whole number of it.
    pub(super) fn amount(&self, resource: &ResourceName) -> Option<Amount> {
        match (self.milli, resource.is_milli()) {
            (false, true) => self.number.checked_mul(1000).map(Amount),
            (true, false) => (self.number % 1000 == 0).then_some(Amount(self.number / 1000)),
            _ => Some(Amount(self.number)),
        }
    }
}

impl Serialize for Quantity {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let (digits, milli) = text.strip_suffix('m').map_or((text.as_str(), false), |rest| (rest, true));
        let number = digits
            .parse()
            .map_err(|_| D::Error::custom(format!("`{text}` is not a quantity such as \"2\" or \"1500m\"")))?;
        Ok(Self { text, number, milli })
    }
}

/// Quantities by resource name, in the plan's own order.
#[derive(Debug)]
pub(super) struct Quantities(pub(super) Vec<(String, Quantity)>);

impl Serialize for Quantities {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (resource, quantity) in &self.0 {
            map.serialize_entry(resource, quantity)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Quantities {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Quantities;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("quantities by resource name")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Quantities, A::Error> {
                let mut found = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    found.push(entry);
                }
                Ok(Quantities(found))
            }
        }
        from.deserialize_map(InOrder)
    }
}
