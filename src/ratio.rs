//! Exact fractions, for everything between whole seconds, whole units and whole micro-units of money.
//!
//! Invariant: lowest terms, positive denominator, so equal values are equal bits. Every operation is checked: it gives
//! the exact value or `None`, and the caller says which figure was too large. Deliberately absent: floating point.

use std::cmp::Ordering;

use crate::units::gcd;

/// `numerator / denominator` in lowest terms, `denominator > 0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ratio {
    numerator: i128,
    denominator: i128,
}

/// The most decimal places a number may be written with: 10^36 still leaves room for a factor within 128 bits.
const DECIMAL_PLACES_MAX: usize = 36;

#[expect(
    clippy::should_implement_trait,
    reason = "sums and products may not fit, so they are options; operators cannot say so"
)]
impl Ratio {
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// `None` for a denominator of zero, and for `i128::MIN`, which has no opposite.
    #[must_use]
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return None;
        }
        let divisor = divisor(numerator, denominator) * denominator.signum();
        Some(Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    #[must_use]
    pub fn whole(value: i64) -> Self {
        Self { numerator: i128::from(value), denominator: 1 }
    }

    #[must_use]
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    #[must_use]
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    #[must_use]
    pub fn is_negative(self) -> bool {
        self.numerator < 0
    }

    #[must_use]
    pub fn add(self, other: Self) -> Option<Self> {
        // Over the least common multiple, so that sums of like fractions never grow their denominator.
        let shared = divisor(self.denominator, other.denominator);
        let left = self.numerator.checked_mul(other.denominator / shared)?;
        let right = other.numerator.checked_mul(self.denominator / shared)?;
        Self::new(left.checked_add(right)?, self.denominator.checked_mul(other.denominator / shared)?)
    }

    #[must_use]
    pub fn sub(self, other: Self) -> Option<Self> {
        self.add(Self { numerator: -other.numerator, denominator: other.denominator })
    }

    #[must_use]
    pub fn mul(self, other: Self) -> Option<Self> {
        // Cancelling crosswise first keeps every exact product that fits at all.
        let a = Self::new(self.numerator, other.denominator)?;
        let b = Self::new(other.numerator, self.denominator)?;
        Self::new(a.numerator.checked_mul(b.numerator)?, a.denominator.checked_mul(b.denominator)?)
    }

    /// `None` for a divisor of zero too.
    #[must_use]
    pub fn div(self, other: Self) -> Option<Self> {
        self.mul(Self::new(other.denominator, other.numerator)?)
    }

    /// The largest whole number that is not above it.
    #[must_use]
    pub fn floor(self) -> i128 {
        self.numerator.div_euclid(self.denominator)
    }

    /// The largest whole number that is not above `self * factor`, also where the exact product would not fit.
    #[must_use]
    pub fn mul_floor(self, factor: i128) -> Option<i128> {
        let (whole, rest) = (self.floor(), self.numerator.rem_euclid(self.denominator));
        let fraction = match rest.checked_mul(factor) {
            Some(product) => product.div_euclid(self.denominator),
            // Beyond 128 bits: the long way, digit by digit of a power of ten.
            None => long_multiply(rest, factor, self.denominator)?,
        };
        whole.checked_mul(factor)?.checked_add(fraction)
    }

    /// The nearest whole number, ties to the even one.
    #[must_use]
    pub fn round_half_even(self) -> i128 {
        // Twice the remainder is compared with the denominator without doubling it: it may be large.
        let (below, rest) = (self.floor(), self.numerator.rem_euclid(self.denominator));
        match rest.cmp(&(self.denominator - rest)) {
            Ordering::Less => below,
            Ordering::Greater => below + 1,
            Ordering::Equal => below + (below & 1),
        }
    }

    /// In millionths, half to even.
    #[must_use]
    pub fn millionths(self) -> i128 {
        self.in_parts(1_000_000)
    }

    /// The nearest whole number of such parts, ties to the even one; of what is too large to tell, whole ones.
    fn in_parts(self, parts: i64) -> i128 {
        let whole = || self.floor().saturating_mul(i128::from(parts));
        self.mul(Self::whole(parts)).map_or_else(whole, Self::round_half_even)
    }

    /// A share for people, rounded half to even to a tenth: `62.5 %`.
    #[must_use]
    pub fn percent(self) -> String {
        let tenths = self.in_parts(1000);
        let text = format!("{}.{}", tenths / 10, tenths % 10);
        format!("{} %", text.trim_end_matches(".0"))
    }

    /// Reads decimal notation with an optional exponent, exactly: `0.8125`, `-3`, `1.5e-05`.
    ///
    /// # Errors
    /// A fragment that says what is wrong with the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a decimal number such as 0.80");
        let too_long = || format!("`{text}` has more digits than can be read exactly");
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().map_err(|_| wrong())?),
            None => (text, 0),
        };
        let (negative, digits) = mantissa.strip_prefix('-').map_or((false, mantissa), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) || digits.ends_with('.') {
            return Err(wrong());
        }
        let joined = format!("{whole}{fraction}");
        let magnitude: i128 = joined.parse().map_err(|_| too_long())?;
        let places = i64::try_from(fraction.len()).map_err(|_| too_long())? - i64::from(exponent);
        let power = |places: u64| {
            let places = usize::try_from(places).ok().filter(|places| *places <= DECIMAL_PLACES_MAX)?;
            10_i128.checked_pow(u32::try_from(places).ok()?)
        };
        let value = if magnitude == 0 {
            Some(Self::ZERO)
        } else if places >= 0 {
            power(places.unsigned_abs()).and_then(|denominator| Self::new(magnitude, denominator))
        } else {
            power(places.unsigned_abs()).and_then(|factor| Self::new(magnitude.checked_mul(factor)?, 1))
        };
        let value = value.ok_or_else(too_long)?;
        Ok(if negative { Self { numerator: -value.numerator, ..value } } else { value })
    }

    /// Decimal notation rounded down to `places` (at most 18), without trailing zeros: for people.
    #[must_use]
    pub fn decimal_floor(self, places: u32) -> String {
        let scale = 10_i128.pow(places.min(18));
        let Some(scaled) = Self::new(scale, 1).and_then(|factor| self.mul(factor)) else {
            return self.floor().to_string();
        };
        let (sign, units) = if scaled.is_negative() { ("-", -scaled.floor()) } else { ("", scaled.floor()) };
        let (whole, fraction) = (units / scale, units % scale);
        if fraction == 0 {
            return format!("{sign}{whole}");
        }
        let width = usize::try_from(places.min(18)).unwrap_or(18);
        let digits = format!("{fraction:0width$}");
        format!("{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// `rest * factor / denominator` rounded down, for `0 <= rest < denominator`, doubling bit by bit.
fn long_multiply(rest: i128, factor: i128, denominator: i128) -> Option<i128> {
    let (mut quotient, mut remainder): (i128, i128) = (0, 0);
    if factor < 0 {
        return None;
    }
    for bit in (0..127).rev() {
        quotient = quotient.checked_mul(2)?;
        let steps = if factor >> bit & 1 == 1 { [remainder, rest] } else { [remainder, 0] };
        for step in steps {
            // remainder + step without overflow: both are below the denominator.
            if remainder >= denominator - step {
                remainder -= denominator - step;
                quotient = quotient.checked_add(1)?;
            } else {
                remainder += step;
            }
        }
    }
    Some(quotient)
}

impl Ord for Ratio {
    /// By value, exact and without overflow: whole parts first, then the reciprocals of what is left, as in a continued
    /// fraction.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut a, mut b) = (*self, *other);
        loop {
            let (whole_a, whole_b) = (a.floor(), b.floor());
            let (rest_a, rest_b) = (a.numerator.rem_euclid(a.denominator), b.numerator.rem_euclid(b.denominator));
            if whole_a != whole_b {
                return whole_a.cmp(&whole_b);
            }
            if rest_a == 0 || rest_b == 0 {
                return rest_a.cmp(&rest_b);
            }
            // x < y exactly when 1/y < 1/x, for positive x and y.
            (a, b) = (
                Self { numerator: b.denominator, denominator: rest_b },
                Self { numerator: a.denominator, denominator: rest_a },
            );
        }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The greatest common divisor, positive; of two zeros, 1.
fn divisor(a: i128, b: i128) -> i128 {
    gcd(a.abs(), b.abs()).max(1)
}
