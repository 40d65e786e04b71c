//! Kubernetes quantities, read exactly: `2`, `1500m`, `16Gi`, `1.5`, `1e3`.
//!
//! Invariant: a [`Quantity`] is not negative and is exact to a billionth, as `resource.Quantity` is; rounding happens
//! once, in [`Quantity::amount`], the way Kueue does it. Negative quantities are refused: no request or quota has one.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::Value;

use crate::names::ResourceName;
use crate::units::Amount;

const NANOS: i128 = 1_000_000_000;

/// No quantity of a cluster comes near this (2^63 whole units), and below it sums of a pod's containers cannot overflow.
const NANOS_MAX: i128 = (i64::MAX as i128) * NANOS;

/// A non-negative quantity in billionths of its unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quantity {
    nanos: i128,
}

impl Quantity {
    pub const ZERO: Self = Self { nanos: 0 };

    /// That many whole units; negative counts as none.
    #[must_use]
    pub fn whole(units: i64) -> Self {
        Self { nanos: i128::from(units.max(0)) * NANOS }
    }

    #[must_use]
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    /// The sum; containers of one pod never reach the ceiling, and beyond it `amount` refuses.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { nanos: self.nanos.saturating_add(other.nanos) }
    }

    /// The product with a whole number; saturates, and `amount` refuses what is too large.
    #[must_use]
    pub fn times(self, factor: i64) -> Self {
        Self { nanos: self.nanos.saturating_mul(i128::from(factor.max(0))) }
    }

    /// Whole units, rounded up (`Quantity.Value()`), or `None` beyond 2^63.
    #[must_use]
    pub fn value(self) -> Option<i64> {
        i64::try_from(ceil(self.nanos, NANOS)).ok()
    }

    /// Kueue's accounting: millicores for cpu, whole units for the rest, both rounded up. `None` beyond 2^63.
    #[must_use]
    pub fn amount(self, resource: &ResourceName) -> Option<Amount> {
        let unit = if resource.is_milli() { NANOS / 1000 } else { NANOS };
        i64::try_from(ceil(self.nanos, unit)).ok().map(Amount)
    }

    /// Reads Kubernetes' notation. More digits than a billionth are rounded up, as Kubernetes does.
    ///
    /// # Errors
    /// A fragment that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a quantity such as 2, 500m or 16Gi");
        let unsigned = match text.as_bytes().first() {
            Some(b'-') => return Err(format!("`{text}` is negative; quantities here are zero or more")),
            Some(b'+') => &text[1..],
            _ => text,
        };
        let number_end = unsigned.bytes().position(|b| !b.is_ascii_digit() && b != b'.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(number_end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(wrong());
        }
        let scale = Scale::parse(suffix).ok_or_else(wrong)?;
        scale
            .nanos(whole.trim_start_matches('0'), fraction.trim_end_matches('0'))
            .filter(|nanos| *nanos <= NANOS_MAX)
            .map(|nanos| Self { nanos })
            .ok_or_else(|| format!("`{text}` is too large to count (2^63 is the end)"))
    }
}

/// What a suffix multiplies by.
#[derive(Clone, Copy)]
enum Scale {
    Ten(i32),
    Two(u32),
}

impl Scale {
    fn parse(suffix: &str) -> Option<Self> {
        Some(match suffix {
            "n" => Self::Ten(-9),
            "u" => Self::Ten(-6),
            "m" => Self::Ten(-3),
            "" => Self::Ten(0),
            "k" => Self::Ten(3),
            "M" => Self::Ten(6),
            "G" => Self::Ten(9),
            "T" => Self::Ten(12),
            "P" => Self::Ten(15),
            "E" => Self::Ten(18),
            "Ki" => Self::Two(10),
            "Mi" => Self::Two(20),
            "Gi" => Self::Two(30),
            "Ti" => Self::Two(40),
            "Pi" => Self::Two(50),
            "Ei" => Self::Two(60),
            _ => {
                let exponent = suffix.strip_prefix(['e', 'E'])?;
                let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    return None;
                }
                // An exponent too long for i32 is clamped: its number is zero, a sliver, or too large anyway.
                let clamped = if exponent.starts_with('-') { -1000 } else { 1000 };
                Self::Ten(exponent.parse().unwrap_or(clamped).clamp(-1000, 1000))
            }
        })
    }

    /// `whole.fraction` times the scale, in nanos rounded up. `None` when too large.
    fn nanos(self, whole: &str, fraction: &str) -> Option<i128> {
        // 60 decimals are beyond any notation in use; the rest could only matter for rounding up a sliver.
        let fraction = &fraction[..fraction.len().min(60)];
        match self {
            Self::Ten(power) => {
                let digits = format!("{whole}{fraction}");
                let digits = digits.trim_start_matches('0');
                let shift = i64::from(power) + 9 - i64::try_from(fraction.len()).ok()?;
                shifted(digits, shift)
            }
            Self::Two(bits) => {
                let factor = 1i128 << bits;
                let whole = if whole.is_empty() { 0 } else { whole.parse::<i128>().ok()? };
                let base = whole.checked_mul(factor)?.checked_mul(NANOS)?;
                // Of a binary fraction, eighteen decimals are exact to far below one byte.
                let kept = &fraction[..fraction.len().min(18)];
                let denominator = 10i128.pow(u32::try_from(kept.len()).ok()?);
                let numerator = if kept.is_empty() { 0 } else { kept.parse::<i128>().ok()? };
                let part = multiply_ceil(numerator, factor, denominator)?;
                base.checked_add(part)
            }
        }
    }
}

/// `numerator / denominator × factor` in nanos, rounded up, without overflow for factors up to 2^60.
fn multiply_ceil(numerator: i128, factor: i128, denominator: i128) -> Option<i128> {
    let product = numerator.checked_mul(factor)?;
    let (units, rest) = (product / denominator, product % denominator);
    units.checked_mul(NANOS)?.checked_add(ceil(rest.checked_mul(NANOS)?, denominator))
}

/// The digits times ten to `shift`, rounded up.
fn shifted(digits: &str, shift: i64) -> Option<i128> {
    if digits.is_empty() {
        return Some(0);
    }
    if shift >= 0 {
        let power = u32::try_from(shift).ok().filter(|power| *power <= 38)?;
        return digits.parse::<i128>().ok()?.checked_mul(10i128.checked_pow(power)?);
    }
    let drop = usize::try_from(-shift).ok()?;
    if drop >= digits.len() {
        return Some(1);
    }
    let (kept, dropped) = digits.split_at(digits.len() - drop);
    let up = i128::from(dropped.bytes().any(|digit| digit != b'0'));
    kept.parse::<i128>().ok()?.checked_add(up)
}

fn ceil(numerator: i128, denominator: i128) -> i128 {
    numerator.div_euclid(denominator) + i128::from(numerator.rem_euclid(denominator) != 0)
}

impl<'de> Deserialize<'de> for Quantity {
    /// YAML reads `cpu: 0.5` as a number; its shortest decimal text is what the user wrote.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(text) => Self::parse(&text),
            Value::Number(number) => Self::parse(&number.to_string()),
            _ => Err("expected a quantity such as 2, 500m or 16Gi".to_owned()),
        }
        .map_err(D::Error::custom)
    }
}
