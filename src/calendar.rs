//! Calendars: writing instants in a time zone, reading RFC 3339, wall-clock times and recurring windows.
//!
//! All of it is pure; the zone rules ship with the binary (IANA data in `chrono-tz`), the host's zone is never asked.

use chrono::{
    DateTime, Datelike, Days, LocalResult, NaiveDate, NaiveTime, Offset, SecondsFormat, TimeZone, Utc, Weekday,
};
use chrono_tz::Tz;

use crate::units::{Seconds, Timestamp};

/// A time zone by its IANA name.
///
/// # Errors
/// A fragment naming the text that is not a zone.
pub fn zone(name: &str) -> Result<Tz, String> {
    name.parse().map_err(|_| format!("`{name}` is not an IANA time zone such as Europe/Madrid"))
}

/// Reads an RFC 3339 instant; a fraction of a second is dropped.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_instant(text: &str) -> Result<Timestamp, String> {
    DateTime::parse_from_rfc3339(text)
        .map(|instant| Timestamp(instant.timestamp()))
        .map_err(|_| format!("`{text}` is not an RFC 3339 instant with a zone, such as 2026-11-30T17:00:00+01:00"))
}

/// Reads the time that stands on an HTTP answer, such as `Mon, 30 Nov 2026 12:00:00 GMT`.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_http_date(text: &str) -> Result<Timestamp, String> {
    DateTime::parse_from_rfc2822(text)
        .map(|instant| Timestamp(instant.timestamp()))
        .map_err(|_| format!("`{text}` is not the date of an HTTP answer, such as Mon, 30 Nov 2026 12:00:00 GMT"))
}

/// Reads an RFC 3339 instant; a fraction of a second counts as a whole one, so that nothing passes for earlier than it was.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_instant_ceil(text: &str) -> Result<Timestamp, String> {
    let at = parse_instant(text)?;
    let fraction = DateTime::parse_from_rfc3339(text).map_or(0, |instant| instant.timestamp_subsec_nanos());
    Ok(if fraction > 0 { at + Seconds(1) } else { at })
}

/// RFC 3339 with the offset in force in `zone` at that instant; `Z` in UTC.
#[must_use]
pub fn rfc3339(at: Timestamp, zone: Tz) -> String {
    local(at, zone).map_or_else(|| format!("@{}", at.0), |time| time.to_rfc3339_opts(SecondsFormat::Secs, true))
}

/// `14:05`, or `14:05:30` when it is not on a minute.
#[must_use]
pub fn clock_time(at: Timestamp, zone: Tz) -> String {
    let pattern = if at.0.rem_euclid(60) == 0 { "%H:%M" } else { "%H:%M:%S" };
    local(at, zone).map_or_else(|| format!("@{}", at.0), |time| time.format(pattern).to_string())
}

/// `clock_time`, preceded by weekday and day where it is another day than `relative_to`: `Tue 01 14:05`.
#[must_use]
pub fn day_time(at: Timestamp, relative_to: Timestamp, zone: Tz) -> String {
    match (local(at, zone), local(relative_to, zone)) {
        (Some(time), Some(base)) if time.date_naive() != base.date_naive() => {
            format!("{} {}", time.format("%a %d"), clock_time(at, zone))
        }
        _ => clock_time(at, zone),
    }
}

/// `Mon 30 Nov`: the day in `zone`.
#[must_use]
pub fn day_label(at: Timestamp, zone: Tz) -> String {
    local(at, zone).map_or_else(|| format!("@{}", at.0), |time| time.format("%a %d %b").to_string())
}

/// How far the wall clock in `zone` is ahead of UTC at that instant.
#[must_use]
pub fn utc_offset(at: Timestamp, zone: Tz) -> Seconds {
    local(at, zone).map_or(Seconds::ZERO, |time| Seconds(i64::from(time.offset().fix().local_minus_utc())))
}

fn local(at: Timestamp, zone: Tz) -> Option<DateTime<Tz>> {
    DateTime::<Utc>::from_timestamp(at.0, 0).map(|instant| instant.with_timezone(&zone))
}

/// Reads `17:00` or `17:00:30`.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_clock_time(text: &str) -> Result<NaiveTime, String> {
    NaiveTime::parse_from_str(text, "%H:%M")
        .or_else(|_| NaiveTime::parse_from_str(text, "%H:%M:%S"))
        .map_err(|_| format!("`{text}` is not a time of day such as 17:00"))
}

/// The first instant strictly after `after` at which the wall clock in `zone` shows `time`.
///
/// A time that the clocks skip (spring) is taken at the first instant after the gap; one they repeat (autumn), at its
/// first occurrence.
#[must_use]
pub fn next_at(after: Timestamp, time: NaiveTime, zone: Tz) -> Option<Timestamp> {
    let mut day = local(after, zone)?.date_naive();
    for _ in 0..3 {
        let at = resolve(day, time, zone, Edge::Start)?;
        if at > after {
            return Some(at);
        }
        day = day.checked_add_days(Days::new(1))?;
    }
    None
}

/// A window that recurs on some weekdays between two wall-clock times; an end at or before the start is on the next day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recurrence {
    /// The days on which it starts.
    pub days: Vec<Weekday>,
    pub start: NaiveTime,
    pub end: NaiveTime,
    pub zone: Tz,
}

impl Recurrence {
    /// Its occurrences that intersect `[from, to)`, ascending, not clipped. At most `limit`.
    ///
    /// Across a daylight-saving change an occurrence keeps its wall-clock borders, so it lasts an hour more or less.
    #[must_use]
    pub fn occurrences(&self, from: Timestamp, to: Timestamp, limit: usize) -> Vec<(Timestamp, Timestamp)> {
        let mut found = Vec::new();
        let Some(first) = local(from, self.zone).and_then(|time| time.date_naive().checked_sub_days(Days::new(2)))
        else {
            return found;
        };
        let mut day = first;
        while found.len() < limit {
            let Some(start) = resolve(day, self.start, self.zone, Edge::Start) else { break };
            if start >= to {
                break;
            }
            let Some(next_day) = day.checked_add_days(Days::new(1)) else { break };
            let end_day = if self.end <= self.start { next_day } else { day };
            if self.days.contains(&day.weekday())
                && let Some(end) = resolve(end_day, self.end, self.zone, Edge::End)
                && end > from
                && end > start
            {
                found.push((start, end));
            }
            day = next_day;
        }
        found
    }
}

/// Which border of a window a wall-clock time is: a repeated hour belongs to the window whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Start,
    End,
}

fn resolve(day: NaiveDate, time: NaiveTime, zone: Tz, edge: Edge) -> Option<Timestamp> {
    match zone.from_local_datetime(&day.and_time(time)) {
        LocalResult::Single(at) => Some(Timestamp(at.timestamp())),
        LocalResult::Ambiguous(earlier, later) => {
            Some(Timestamp(if edge == Edge::Start { earlier.timestamp() } else { later.timestamp() }))
        }
        // Inside a gap: step forward by minutes to the first wall-clock time that exists (gaps are at most a day).
        LocalResult::None => (1..=24 * 60).find_map(|minutes| {
            let shifted = day.and_time(time).checked_add_signed(chrono::Duration::minutes(minutes))?;
            let at = zone.from_local_datetime(&shifted).earliest()?;
            // The first existing minute after the gap may itself lie past the border only by the gap's remainder.
            Some(Timestamp(at.timestamp()))
        }),
    }
}

/// Reads a GEP-2257 duration: one to four parts of digits and a unit `h`, `m`, `s` or `ms`, no days, no fractions, no sign.
///
/// A part of a second is planned as a whole one: never shorter than declared.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_duration(text: &str) -> Result<Seconds, String> {
    parse_duration_millis(text).map(|millis| Seconds(crate::units::div_ceil(millis, 1000)))
}

/// `parse_duration`, exactly, in milliseconds.
///
/// # Errors
/// A fragment that says what was expected.
pub fn parse_duration_millis(text: &str) -> Result<i64, String> {
    let wrong = || format!("`{text}` is not a duration such as 1h30m (units h, m, s, ms; whole numbers)");
    let mut rest = text;
    let mut millis: i64 = 0;
    let mut parts = 0;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 5 || parts == 4 {
            return Err(wrong());
        }
        let number: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let (factor, length) = match rest.as_bytes() {
            [b'm', b's', ..] => (1, 2),
            [b'h', ..] => (3_600_000, 1),
            [b'm', ..] => (60_000, 1),
            [b's', ..] => (1_000, 1),
            _ => return Err(wrong()),
        };
        millis += number * factor;
        rest = &rest[length..];
        parts += 1;
    }
    if parts == 0 {
        return Err(wrong());
    }
    Ok(millis)
}

/// A duration in GEP-2257 form: `1h30m`, `45s`, `0s`.
#[must_use]
pub fn duration(span: Seconds) -> String {
    let total = span.0.max(0);
    let (hours, minutes, seconds) = (total / 3600, total / 60 % 60, total % 60);
    let mut text = String::new();
    for (value, unit) in [(hours, 'h'), (minutes, 'm'), (seconds, 's')] {
        if value > 0 {
            text.push_str(&value.to_string());
            text.push(unit);
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}
