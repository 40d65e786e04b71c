//! The time axis of a picture: where it begins and ends, and round wall-clock times on it.

use chrono_tz::Tz;

use crate::calendar;
use crate::plan::curve::Scene;
use crate::plan::snapshot::Running;
use crate::units::{Seconds, Timestamp};

/// Steps between labelled marks, ascending, in seconds. Longer spans double the last one.
const MARKS: &[i64] = &[
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400, 172_800,
    345_600, 604_800, 1_209_600, 2_419_200, 4_838_400,
];
/// What one column of a chart may stand for: more choice, so that charts fill their width, yet every mark begins a column.
const COLUMNS: &[i64] = &[
    1, 2, 3, 5, 6, 10, 15, 20, 30, 60, 120, 180, 240, 300, 360, 600, 720, 900, 1200, 1800, 3600, 5400, 7200, 10_800,
    14_400, 21_600, 28_800, 43_200, 86_400, 172_800, 345_600, 604_800, 1_209_600, 2_419_200,
];
/// 1970-01-01 was a Thursday; shifted by this, steps of a week begin on Mondays.
const THURSDAY: i64 = 3 * 86_400;

/// `[from, to)` in a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axis {
    pub from: Timestamp,
    /// After `from`.
    pub to: Timestamp,
    pub zone: Tz,
}

/// A mark on the axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    pub at: Timestamp,
    /// The wall-clock time; empty when marks are whole days apart.
    pub label: String,
    /// The day, on the first mark of each.
    pub day: Option<String>,
}

impl Axis {
    /// From now until everything planned has ended and, where that does not squeeze the bars, until the last due time.
    #[must_use]
    pub fn of(scene: &Scene<'_>) -> Self {
        let plan = scene.plan;
        let from = plan.now;
        let known = |work: &&Running| work.end_p50.or(work.end_p90).is_some();
        let running_ends = scene.snapshot.running.iter().filter(known).map(|work| scene.end_of(work));
        let running_end = running_ends.max().unwrap_or(from);
        let last_end = plan.releases.iter().map(|release| release.end_p90.max(release.end)).max();
        let ends = match last_end {
            Some(end) => end.max(running_end.min(from + Seconds((end - from).0.saturating_mul(2)))),
            None => running_end,
        };
        // Due times up to three times as far as the work itself still leave the bars a third of the width.
        let reach = from + Seconds((ends - from).0.saturating_mul(3));
        let due = plan.releases.iter().filter_map(|release| release.finish_by).filter(|due| *due <= reach).max();
        let to = ends.max(due.unwrap_or(ends)).max(from + Seconds::MINUTE);
        Self { from, to, zone: calendar::zone(&plan.time_zone).unwrap_or(Tz::UTC) }
    }

    /// The smallest round span such that at most `columns` of them cover the axis.
    #[must_use]
    pub fn column(&self, columns: i64) -> Seconds {
        round_step(COLUMNS, (self.to - self.from).0, columns)
    }

    /// The last instant at or before `at` whose wall clock is a multiple of `step`.
    #[must_use]
    pub fn floor(&self, at: Timestamp, step: Seconds) -> Timestamp {
        at - Seconds(self.since_round(at, step))
    }

    /// Round wall-clock times on the axis, at most `most` of them.
    #[must_use]
    pub fn ticks(&self, most: i64) -> Vec<Tick> {
        let step = round_step(MARKS, (self.to - self.from).0, most);
        let mut ticks = Vec::new();
        let mut at = self.floor(self.from, step);
        if at < self.from {
            at = at + step;
        }
        let mut last_day = String::new();
        while at < self.to {
            // A daylight-saving change in between moves the wall clock against the step.
            let off = self.since_round(at, step);
            at = if off * 2 < step.0 { at - Seconds(off) } else { at + Seconds(step.0 - off) };
            let day = calendar::day_label(at, self.zone);
            let label = if step < Seconds::DAY { calendar::clock_time(at, self.zone) } else { String::new() };
            let new_day = (day != last_day).then(|| day.clone());
            last_day = day;
            ticks.push(Tick { at, label, day: new_day });
            at = at + step;
        }
        ticks
    }

    fn since_round(&self, at: Timestamp, step: Seconds) -> i64 {
        let wall = at.0 + calendar::utc_offset(at, self.zone).0;
        (wall + THURSDAY).rem_euclid(step.0)
    }
}

/// The smallest of `steps` of which at most `parts` cover `span`.
fn round_step(steps: &[i64], span: i64, parts: i64) -> Seconds {
    let fits = |step: &i64| span <= step.saturating_mul(parts.max(1));
    let mut step = steps.iter().copied().find(fits).unwrap_or(steps[steps.len() - 1]);
    while !fits(&step) && step < i64::MAX / 2 {
        step *= 2;
    }
    Seconds(step)
}

/// Round durations for a scale of differences: the multiples of a round step within `[from, to]`, at most `most` + 1.
#[must_use]
pub fn round_durations(from: Seconds, to: Seconds, most: i64) -> Vec<Seconds> {
    let step = round_step(MARKS, (to - from).0, most).0;
    let first = crate::units::div_ceil(from.0, step);
    (first..=to.0.div_euclid(step)).map(|count| Seconds(count * step)).collect()
}
