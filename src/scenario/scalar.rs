//! What an unquoted word of YAML means, the way `kubectl` reads it.
//!
//! Kubernetes reads YAML 1.1: besides YAML 1.2's core schema, `yes`, `no`, `on` and `off` are booleans, `0755` is octal
//! and `1_000` a thousand. The same is done here, so that a file means in `stagger` what it means in the cluster.

use serde_json::{Number, Value};

/// What a plain scalar is.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain {
    Value(Value),
    /// A number that JSON, and so Kubernetes, cannot hold: `.inf`, `.nan`, `1e999`.
    Unholdable,
}

/// Reads a scalar without quotes and without tag.
#[must_use]
pub fn plain(text: &str) -> Plain {
    let value = match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match old_boolean(text) {
            Some(truth) => Value::Bool(truth),
            None => return number(text).unwrap_or_else(|| Plain::Value(Value::String(text.to_owned()))),
        },
    };
    Plain::Value(value)
}

/// The words that are booleans in YAML 1.1 only.
#[must_use]
pub fn old_boolean(text: &str) -> Option<bool> {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// A number, if the word is one.
fn number(text: &str) -> Option<Plain> {
    let first = text.bytes().next()?;
    if !(first.is_ascii_digit() || matches!(first, b'-' | b'+' | b'.')) {
        return None;
    }
    if matches!(text.trim_start_matches(['-', '+']), ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
    {
        return Some(Plain::Unholdable);
    }
    let spaceless = text.replace('_', "");
    if let Some(number) = integer(&spaceless) {
        return Some(Plain::Value(Value::Number(number)));
    }
    if !is_decimal(&spaceless) {
        return None;
    }
    Some(match serde_json::from_str(&as_json(&spaceless)) {
        Ok(number) => Plain::Value(Value::Number(number)),
        Err(_) => Plain::Unholdable,
    })
}

fn integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x', ..] => (16, &digits[2..]),
        [b'0', b'b', ..] => (2, &digits[2..]),
        [b'0', b'o', ..] => (8, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if !negative {
        return Some(Number::from(magnitude));
    }
    i64::try_from(-i128::from(magnitude)).ok().map(Number::from)
}

/// A decimal in JSON's stricter form: `+.5` → `0.5`, `01.` → `1.0`.
fn as_json(decimal: &str) -> String {
    let (sign, unsigned) = match decimal.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", decimal.strip_prefix('+').unwrap_or(decimal)),
    };
    let mantissa_end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(mantissa_end);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('0');
    let part = |digits: &str| if digits.is_empty() { "0".to_owned() } else { digits.to_owned() };
    format!("{sign}{}.{}{exponent}", part(whole), part(fraction))
}

/// `[-+]? (digits [. digits*] | . digits) ([eE] [-+]? digits)?`
fn is_decimal(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_holds = digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    let exponent_holds = exponent.is_none_or(|part| {
        let part = part.strip_prefix(['-', '+']).unwrap_or(part);
        !part.is_empty() && digits(part)
    });
    mantissa_holds && exponent_holds
}
