//! Times, durations, decimals and quantities as a user wrote them.
//!
//! They keep the text and read it on demand, so that decoding a manifest never fails on one bad value and every bad
//! value can be reported at its place. The names of these types are also how `scenario::shape` knows what to expect.
//! Deliberately absent: floating point; a decimal without quotes is refused, as the API server would.

use chrono::NaiveTime;
use chrono_tz::Tz;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::calendar;
use crate::units::{Money, Seconds, Timestamp};

macro_rules! written {
    ($($(#[$doc:meta])* $name:ident { $($key:literal = $value:expr),+ } -> $what:ty = $read:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(transparent)]
        #[schemars(extend($($key = $value),+))]
        pub struct $name(pub String);

        impl $name {
            /// The value.
            ///
            /// # Errors
            /// A fragment that quotes the text and says what was expected.
            pub fn read(&self) -> Result<$what, String> {
                let read: fn(&str) -> Result<$what, String> = $read;
                read(&self.0)
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    )+};
}

written! {
    /// An instant in RFC 3339 with its zone: `2026-11-30T17:00:00+01:00`.
    Instant { "format" = "date-time", "maxLength" = 40 } -> Timestamp = calendar::parse_instant;
    /// A GEP-2257 duration: `1h30m`, at most five digits a part; units h, m, s, ms.
    Duration { "pattern" = "^([0-9]{1,5}(h|m|s|ms)){1,4}$", "maxLength" = 28 } -> Seconds = calendar::parse_duration;
    /// A time of day on the wall clock: `17:00` or `17:00:30`.
    TimeOfDay { "pattern" = "^[0-9]{2}:[0-9]{2}(:[0-9]{2})?$", "maxLength" = 8 } -> NaiveTime = calendar::parse_clock_time;
    /// A time zone by its IANA name: `Europe/Madrid`.
    Zone { "maxLength" = 64 } -> Tz = calendar::zone;
    /// A decimal number in quotes, at most nine places: `"2.50"`.
    Decimal { "pattern" = "^-?[0-9]{1,18}(\\.[0-9]{1,9})?$", "maxLength" = 29 } -> Money = Money::parse;
    /// A percentage with at most one decimal place: `1%`, `0.5%`. It reads as thousandths.
    Percent { "pattern" = "^[0-9]{1,3}(\\.[0-9])?%$", "maxLength" = 6 } -> u32 = permille;
}

impl Duration {
    /// Milliseconds, exactly as written (`read` rounds up to whole seconds).
    ///
    /// # Errors
    /// A fragment that quotes the text and says what was expected.
    pub fn millis(&self) -> Result<i64, String> {
        calendar::parse_duration_millis(&self.0)
    }
}

/// A Kubernetes quantity, as a number or as text: `2`, `"1500m"`, `16Gi`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a quantity such as 2, 1500m or 16Gi")]
#[schemars(extend("x-kubernetes-int-or-string" = true))]
pub enum Quantity {
    Whole(i64),
    Text(#[schemars(length(max = 32))] String),
}

impl Quantity {
    /// The text of the quantity, as `kubectl` would print it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// `1%` → 10, `0.5%` → 5; at most `100%`.
fn permille(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is not a percentage such as 1% or 0.5% (at most 100%)");
    let number = text.strip_suffix('%').ok_or_else(wrong)?;
    let nanos = Money::parse(number).map_err(|_| wrong())?.nanos;
    match u32::try_from(nanos / 100_000_000) {
        Ok(permille) if permille <= 1000 && nanos % 100_000_000 == 0 && nanos >= 0 => Ok(permille),
        _ => Err(wrong()),
    }
}
