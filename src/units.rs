//! Exact units: instants, durations, resource amounts and money.
//!
//! Everything is an integer with checked arithmetic; a rounding always has a name.
//! There is deliberately no `f64` here and no conversion to one: floating point lives inside the solver only.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Neg, Rem, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// An instant: whole seconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp(pub i64);

/// A duration in whole seconds; negative where a difference is (slack, for instance).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Seconds(pub i64);

/// A quantity of one resource in its base unit: millicores for `cpu`, otherwise whole units (GPUs, bytes, pods).
///
/// This is Kueue's own accounting (`resource.Quantity` → `MilliValue` for cpu, `Value` rounded up for the rest).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Amount(pub i64);

/// Money in billionths of one currency unit. The currency is stated beside it, never inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Money {
    pub nanos: i128,
}

impl Timestamp {
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Ord::max(self, other)
    }
    #[must_use]
    pub fn min(self, other: Self) -> Self {
        Ord::min(self, other)
    }
}

impl Seconds {
    pub const ZERO: Self = Self(0);
    pub const MINUTE: Self = Self(60);
    pub const HOUR: Self = Self(3600);
    pub const DAY: Self = Self(86_400);

    /// "3 h", "2 h 05 min", "45 s", "-10 min": for people, at most two parts.
    #[must_use]
    pub fn human(self) -> String {
        let sign = if self.0 < 0 { "-" } else { "" };
        let total = self.0.unsigned_abs();
        let (days, hours, minutes, seconds) = (total / 86_400, total / 3600 % 24, total / 60 % 60, total % 60);
        let text = match (days, hours, minutes, seconds) {
            (0, 0, 0, s) => format!("{s} s"),
            (0, 0, m, 0) => format!("{m} min"),
            (0, 0, m, s) => format!("{m} min {s:02} s"),
            (0, h, 0, _) => format!("{h} h"),
            (0, h, m, _) => format!("{h} h {m:02} min"),
            (d, 0, _, _) => format!("{d} d"),
            (d, h, _, _) => format!("{d} d {h} h"),
        };
        format!("{sign}{text}")
    }
}

impl Amount {
    pub const ZERO: Self = Self(0);

    /// The product with a count, or `None` on overflow.
    #[must_use]
    pub fn times(self, count: i64) -> Option<Self> {
        self.0.checked_mul(count).map(Self)
    }
    /// The sum, or the largest amount: quota algebra treats "more than everything" as everything.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Money {
    pub const ZERO: Self = Self { nanos: 0 };

    /// The amount in decimal notation with at least two places and no trailing zeros beyond them: `20.00`, `0.0125`.
    #[must_use]
    pub fn decimal(self) -> String {
        let sign = if self.nanos < 0 { "-" } else { "" };
        let magnitude = self.nanos.unsigned_abs();
        let (whole, fraction) = (magnitude / 1_000_000_000, magnitude % 1_000_000_000);
        let digits = format!("{fraction:09}");
        let kept = digits.trim_end_matches('0').len().max(2);
        format!("{sign}{whole}.{}", &digits[..kept])
    }

    /// The amount to two places, ties to even: for tables. Documents carry [`Self::decimal`].
    #[must_use]
    pub fn cents(self) -> String {
        Self { nanos: div_round_half_even(self.nanos, 10_000_000) * 10_000_000 }.decimal()
    }

    /// Reads plain decimal notation (`2.50`, `-3`, `0.000000001`); no exponent, at most nine decimal places.
    ///
    /// # Errors
    /// A fragment that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) || digits.ends_with('.') {
            return Err(format!("`{text}` is not a decimal number such as \"2.50\""));
        }
        if fraction.len() > 9 {
            return Err(format!("`{text}` has more than nine decimal places"));
        }
        let whole: i128 = whole.parse().map_err(|_| format!("`{text}` is too large"))?;
        let padded = format!("{fraction:0<9}");
        let fraction: i128 = padded.parse().map_err(|_| format!("`{text}` is not a decimal number"))?;
        let nanos = whole
            .checked_mul(1_000_000_000)
            .and_then(|n| n.checked_add(fraction))
            .ok_or_else(|| format!("`{text}` is too large"))?;
        Ok(Self { nanos: if negative { -nanos } else { nanos } })
    }
}

/// `numerator / denominator`, ties to the even neighbour. `denominator` must be positive.
///
/// # Panics
/// When `denominator` is not positive.
#[must_use]
pub fn div_round_half_even(numerator: i128, denominator: i128) -> i128 {
    assert!(denominator > 0, "the denominator must be positive");
    let (quotient, remainder) = (numerator.div_euclid(denominator), numerator.rem_euclid(denominator));
    match (remainder * 2).cmp(&denominator) {
        std::cmp::Ordering::Less => quotient,
        std::cmp::Ordering::Greater => quotient + 1,
        std::cmp::Ordering::Equal => quotient + (quotient & 1),
    }
}

/// `numerator / denominator` towards positive infinity. `denominator` must be positive.
#[must_use]
pub fn div_ceil(numerator: i64, denominator: i64) -> i64 {
    numerator.div_euclid(denominator) + i64::from(numerator.rem_euclid(denominator) != 0)
}

/// The greatest common divisor; of two numbers that are not negative it is not negative, and with zero it is the other.
#[must_use]
pub fn gcd<T: Copy + Default + PartialEq + Rem<Output = T>>(a: T, b: T) -> T {
    if b == T::default() { a } else { gcd(b, a % b) }
}

macro_rules! additive {
    ($($unit:ty),+) => {$(
        impl Add for $unit {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }
        impl Sub for $unit {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }
        impl Neg for $unit {
            type Output = Self;
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self(0), Add::add)
            }
        }
    )+};
}
additive!(Seconds, Amount);

impl Add<Seconds> for Timestamp {
    type Output = Self;
    fn add(self, duration: Seconds) -> Self {
        Self(self.0 + duration.0)
    }
}

impl Sub<Seconds> for Timestamp {
    type Output = Self;
    fn sub(self, duration: Seconds) -> Self {
        Self(self.0 - duration.0)
    }
}

impl Sub for Timestamp {
    type Output = Seconds;
    fn sub(self, other: Self) -> Seconds {
        Seconds(self.0 - other.0)
    }
}

impl Add for Money {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { nanos: self.nanos + other.nanos }
    }
}

impl Sub for Money {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { nanos: self.nanos - other.nanos }
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.human())
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.decimal())
    }
}
