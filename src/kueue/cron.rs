//! Cron schedules as the CronJob controller reads them: five fields, or one of the `@` names.
//!
//! Invariant: a run happens at every instant whose wall clock matches. So an hour that the clocks skip has no run and an
//! hour they repeat has its runs twice, which is what `robfig/cron` (inside Kubernetes) does and most cron crates do not.
//! Deliberately absent: `@every`, a zone prefix, seconds and years. Kubernetes counts `@every` from the controller's
//! start, so its runs cannot be known ahead.

use chrono::{DateTime, Datelike, Days, LocalResult, NaiveDate, TimeZone, Utc};
use chrono_tz::Tz;

use crate::units::Timestamp;

/// Which minutes, hours, days, months and weekdays match: bit n for value n.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// Both day fields are restricted, so that either one suffices.
    either_day: bool,
}

struct Field {
    name: &'static str,
    low: u32,
    high: u32,
    words: &'static [&'static str],
}

const MONTHS: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: [Field; 5] = [
    Field { name: "minute", low: 0, high: 59, words: &[] },
    Field { name: "hour", low: 0, high: 23, words: &[] },
    Field { name: "day of month", low: 1, high: 31, words: &[] },
    Field { name: "month", low: 1, high: 12, words: MONTHS },
    Field { name: "day of week", low: 0, high: 6, words: WEEKDAYS },
];

impl Schedule {
    /// Reads a CronJob's `spec.schedule`.
    ///
    /// # Errors
    /// A fragment naming the field that is wrong and what it may hold.
    pub fn parse(text: &str) -> Result<Self, String> {
        let fields = match text.trim() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other if other.starts_with("@every") => {
                return Err("`@every` counts from the controller's start, so its runs cannot be known".to_owned());
            }
            other => other,
        };
        let parts: Vec<&str> = fields.split_whitespace().collect();
        let [minute, hour, day, month, weekday] = parts[..] else {
            return Err(format!("`{text}` has {} fields; a schedule has five, such as `0 2 * * *`", parts.len()));
        };
        let (days, any_day) = FIELDS[2].parse(day)?;
        let (weekdays, any_weekday) = FIELDS[4].parse(weekday)?;
        Ok(Self {
            minutes: FIELDS[0].parse(minute)?.0,
            hours: FIELDS[1].parse(hour)?.0,
            days,
            months: FIELDS[3].parse(month)?.0,
            weekdays,
            either_day: !any_day && !any_weekday,
        })
    }

    /// The runs in `[from, to)`, ascending, at most `limit`.
    #[must_use]
    pub fn runs(&self, from: Timestamp, to: Timestamp, zone: Tz, limit: usize) -> Vec<Timestamp> {
        let mut runs = Vec::new();
        let day_of =
            |at: Timestamp| DateTime::<Utc>::from_timestamp(at.0, 0).map(|t| t.with_timezone(&zone).date_naive());
        let (Some(mut day), Some(last)) = (day_of(from), day_of(to)) else { return runs };
        while day <= last && runs.len() < limit {
            if self.day_matches(day) {
                let mut today = self.runs_on(day, zone);
                // A repeated hour gives its instants out of order.
                today.sort_unstable();
                runs.extend(today.into_iter().filter(|at| (from..to).contains(at)));
            }
            let Some(next) = day.checked_add_days(Days::new(1)) else { break };
            day = next;
        }
        runs.truncate(limit);
        runs
    }

    fn day_matches(&self, day: NaiveDate) -> bool {
        let in_month = has(self.days, day.day());
        let in_week = has(self.weekdays, day.weekday().num_days_from_sunday());
        has(self.months, day.month()) && if self.either_day { in_month || in_week } else { in_month && in_week }
    }

    fn runs_on(&self, day: NaiveDate, zone: Tz) -> Vec<Timestamp> {
        let mut runs = Vec::new();
        for hour in (0..24).filter(|hour| has(self.hours, *hour)) {
            for minute in (0..60).filter(|minute| has(self.minutes, *minute)) {
                let Some(wall) = day.and_hms_opt(hour, minute, 0) else { continue };
                match zone.from_local_datetime(&wall) {
                    LocalResult::Single(at) => runs.push(Timestamp(at.timestamp())),
                    LocalResult::Ambiguous(first, second) => {
                        runs.push(Timestamp(first.timestamp()));
                        runs.push(Timestamp(second.timestamp()));
                    }
                    LocalResult::None => {}
                }
            }
        }
        runs
    }
}

impl Field {
    /// The matching values, and whether the field is unrestricted (`*` or `?` without a step).
    fn parse(&self, text: &str) -> Result<(u64, bool), String> {
        let mut bits = 0;
        let mut any = false;
        for item in text.split(',') {
            let (range, step) = item.split_once('/').map_or((item, None), |(range, step)| (range, Some(step)));
            let star = range == "*" || range == "?";
            let (low, high) = if star {
                (self.low, self.high)
            } else if let Some((low, high)) = range.split_once('-') {
                (self.value(low)?, self.value(high)?)
            } else {
                let value = self.value(range)?;
                // `5/15` means from 5 to the end by 15.
                (value, if step.is_some() { self.high } else { value })
            };
            let step: u32 = match step {
                Some(step) => step.parse().ok().filter(|step| *step > 0).ok_or_else(|| self.wrong(item))?,
                None => 1,
            };
            // A step makes even a star a restriction.
            any |= star && step == 1;
            if low > high {
                return Err(self.wrong(item));
            }
            let mut value = low;
            while value <= high {
                bits |= 1u64 << value;
                let Some(next) = value.checked_add(step) else { break };
                value = next;
            }
        }
        Ok((bits, any))
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let word = text.to_ascii_lowercase();
        if let Some(at) = self.words.iter().position(|known| *known == word) {
            return u32::try_from(at).map(|at| at + self.low).map_err(|_| self.wrong(text));
        }
        text.parse().ok().filter(|value| (self.low..=self.high).contains(value)).ok_or_else(|| self.wrong(text))
    }

    fn wrong(&self, item: &str) -> String {
        format!("`{item}` names no {} from {} to {}", self.name, self.low, self.high)
    }
}

fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}
