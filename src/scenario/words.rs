//! What user-written texts mean and how to write them: the forms behind the types of `api::written`.

use serde_json::Value;

use super::{codes, kinds};
use crate::api::written;
use crate::kueue::quantity::Quantity;

/// A type of `api::written`, by its name in the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Written {
    Instant,
    Duration,
    TimeOfDay,
    Zone,
    Decimal,
    Percent,
    Quantity,
}

impl Written {
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "Instant" => Self::Instant,
            "Duration" => Self::Duration,
            "TimeOfDay" => Self::TimeOfDay,
            "Zone" => Self::Zone,
            "Decimal" => Self::Decimal,
            "Percent" => Self::Percent,
            "Quantity" => Self::Quantity,
            _ => return None,
        })
    }

    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Instant | Self::Duration | Self::TimeOfDay | Self::Zone => codes::TIME,
            Self::Decimal | Self::Percent | Self::Quantity => codes::NUMBER,
        }
    }

    /// Whether a number without quotes is fine.
    #[must_use]
    pub fn takes_numbers(self) -> bool {
        self == Self::Quantity
    }

    /// Reads a text for the sake of what is wrong with it.
    ///
    /// # Errors
    /// A fragment that quotes the text and says what was expected.
    pub fn read(self, text: &str) -> Result<(), String> {
        match self {
            Self::Instant => written::Instant::from(text).read().map(drop),
            Self::Duration => written::Duration::from(text).read().map(drop),
            Self::TimeOfDay => written::TimeOfDay::from(text).read().map(drop),
            Self::Zone => written::Zone::from(text).read().map(drop),
            Self::Decimal => written::Decimal::from(text).read().map(drop),
            Self::Percent => written::Percent::from(text).read().map(drop),
            Self::Quantity => Quantity::parse(text).map(drop),
        }
    }

    /// What was expected, with an article and an example.
    #[must_use]
    pub fn expected(self) -> &'static str {
        match self {
            Self::Instant => "an instant such as \"2026-11-30T17:00:00+01:00\"",
            Self::Duration => "a duration such as 1h30m",
            Self::TimeOfDay => "a time of day such as \"17:00\"",
            Self::Zone => "a time zone such as Europe/Madrid",
            Self::Decimal => "a decimal in quotes such as \"2.50\"",
            Self::Percent => "a percentage such as 1% or 0.5%",
            Self::Quantity => "a quantity such as 2, 500m or 16Gi",
        }
    }

    /// What stands under the caret.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Instant => "not an instant",
            Self::Duration => "not a duration",
            Self::TimeOfDay => "not a time of day",
            Self::Zone => "not a time zone",
            Self::Decimal => "not a decimal in quotes",
            Self::Percent => "not a percentage",
            Self::Quantity => "not a quantity",
        }
    }

    /// How to write what a text seems to mean.
    #[must_use]
    pub fn suggestion(self, text: &str) -> Option<String> {
        let text = text.trim();
        match self {
            Self::Instant => instant_suggestion(text),
            Self::Duration => duration_suggestion(text),
            Self::TimeOfDay => clock_suggestion(text),
            Self::Zone => zone_suggestion(text),
            Self::Decimal => {
                let pointed = text.replace(',', ".");
                self.read(&pointed).is_ok().then(|| format!("write it with a point: \"{pointed}\""))
            }
            Self::Percent => {
                let percent = format!("{text}%");
                self.read(&percent).is_ok().then(|| format!("write {percent}"))
            }
            Self::Quantity => {
                let joined: String = text.split_whitespace().collect();
                let bytes = joined.strip_suffix(['B', 'b']).unwrap_or(&joined);
                if bytes != joined && self.read(bytes).is_ok() {
                    return Some(format!("write {bytes}; Kubernetes has no B (Gi is 2^30, G is 10^9)"));
                }
                (joined != text && self.read(&joined).is_ok()).then(|| format!("write it without a space: {joined}"))
            }
        }
    }

    /// How to write a value that is not text. `raw`: as it stands in the file.
    #[must_use]
    pub fn how_to_write(self, value: &Value, raw: &str) -> Option<String> {
        match (self, value) {
            (Self::Duration, Value::Number(_)) => {
                let seconds = format!("{raw}s");
                let unit =
                    if self.read(&seconds).is_ok() { format!("; in seconds it is {seconds}") } else { String::new() };
                Some(format!("a number alone has no unit{unit}"))
            }
            (Self::Percent, Value::Number(number)) if number.is_f64() => {
                Some("write it with its sign; one in a hundred is 1%".to_owned())
            }
            (Self::Percent, Value::Number(_)) => self.suggestion(raw),
            (Self::Instant, Value::Number(number)) => {
                let at = crate::units::Timestamp(number.as_i64()?);
                let written = crate::calendar::rfc3339(at, chrono_tz::UTC);
                self.read(&written).is_ok().then(|| format!("in seconds since 1970 it would be \"{written}\""))
            }
            (_, Value::Number(_) | Value::Bool(_)) if self.read(raw).is_ok() => {
                Some(format!("write it in quotes: \"{raw}\""))
            }
            _ => None,
        }
    }
}

/// A date alone, a space instead of the `T`, a zone that is missing.
fn instant_suggestion(text: &str) -> Option<String> {
    let joined = text.replacen(' ', "T", 1);
    let candidates = [
        joined.clone(),
        format!("{joined}Z"),
        format!("{joined}:00Z"),
        format!("{joined}T00:00:00Z"),
        joined.replacen('Z', ":00Z", 1),
    ];
    let fits = candidates.into_iter().find(|candidate| Written::Instant.read(candidate).is_ok())?;
    let zone = if fits.ends_with('Z') && !text.ends_with('Z') {
        ", Z being UTC; or give the offset, such as +01:00"
    } else {
        ""
    };
    Some(format!("write \"{fits}\"{zone}"))
}

/// A slip of the keyboard, a city without its continent, an offset.
fn zone_suggestion(text: &str) -> Option<String> {
    if text.starts_with(['+', '-']) {
        return Some("an offset has no rule for summer time: name a place of the zone".to_owned());
    }
    let names = || chrono_tz::TZ_VARIANTS.iter().map(|zone| zone.name());
    let city = text.replace(' ', "_");
    let same_city = |name: &&str| name.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
    let near = names().find(same_city).or_else(|| kinds::nearest(text, names()))?;
    Some(format!("did you mean {near}?"))
}

/// Days, fractions of hours, units in words, spaces, ISO 8601.
fn duration_suggestion(text: &str) -> Option<String> {
    let lower: String = text.to_lowercase().split_whitespace().collect();
    let lower = lower.strip_prefix("pt").unwrap_or(&lower);
    let digits = lower.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, unit) = lower.split_at(digits);
    let seconds_in = match unit {
        "d" | "day" | "days" => 86_400,
        "h" | "hour" | "hours" | "hr" | "hrs" => 3_600,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        "w" | "week" | "weeks" => 604_800,
        _ => return Written::Duration.read(lower).is_ok().then(|| format!("write {lower}")),
    };
    let nanos = crate::units::Money::parse(number).ok()?.nanos;
    let seconds = nanos.checked_mul(seconds_in)?.checked_div(1_000_000_000)?;
    let seconds = i64::try_from(seconds).ok()?;
    let written = crate::calendar::duration(crate::units::Seconds(seconds));
    (seconds > 0 && Written::Duration.read(&written).is_ok()).then(|| format!("write {written}"))
}

/// `5pm`, `9:00`, `17.00`, `17h`.
fn clock_suggestion(text: &str) -> Option<String> {
    let lower: String = text.to_lowercase().split_whitespace().collect();
    let (clock, afternoon) = match (lower.strip_suffix("pm"), lower.strip_suffix("am")) {
        (Some(clock), _) => (clock, Some(true)),
        (_, Some(clock)) => (clock, Some(false)),
        _ => (lower.trim_end_matches('h'), None),
    };
    let mut parts = clock.split([':', '.', 'h']);
    let hour: u32 = parts.next()?.parse().ok()?;
    let minute: u32 = parts.next().unwrap_or("0").parse().ok()?;
    let hour = match afternoon {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    let written = format!("{hour:02}:{minute:02}");
    Written::TimeOfDay.read(&written).is_ok().then(|| format!("write \"{written}\""))
}

/// Words by which other tools call a field of ours.
#[must_use]
pub fn meant(word: &str) -> Option<&'static str> {
    Some(match word {
        "deadline" | "due" | "dueBy" | "dueTime" | "completeBy" | "endBy" => "finishBy",
        "completeWithin" | "deadlineSeconds" | "activeDeadlineSeconds" => "finishWithin",
        "runtime" | "duration" | "estimatedRuntime" | "walltime" => "expectedRuntime",
        "flavors" | "flavorRefs" => "allowedFlavors",
        "timezone" | "tz" | "zone" => "timeZone",
        "ref" | "workloadRef" => "targetRef",
        "weight" | "importance" => "value",
        "clusterQueues" => "queues",
        "price" | "cost" => "amount",
        _ => return None,
    })
}

/// Whether a text has the form of a pattern that our schemas use besides those of `Written`.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    match pattern {
        CURRENCY => text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase()),
        _ => true,
    }
}

/// What a pattern means, with an article.
#[must_use]
pub fn pattern_meaning(pattern: &str) -> &'static str {
    match pattern {
        CURRENCY => "an ISO 4217 currency code such as EUR",
        _ => "in the form expected",
    }
}

/// The one pattern that is not a type of its own.
pub const CURRENCY: &str = "^[A-Z]{3}$";
