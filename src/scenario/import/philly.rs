//! The Philly trace with deadlines, as published with Chronus (SoCC 2021): one CSV row per job.
//!
//! `submit_time` and `duration` are minutes. `expect_time_list` holds due times in minutes after submission, `-` between
//! them, and `expect_value_list` what an end by each of them is worth; an end past the last is worth nothing.
//! `strict` becomes Hard, `soft` becomes Soft with one tier per step down, `best` has no due time. Users are the trace's
//! virtual clusters and become tenants. Rows with no GPU are kept and use no quota.
//!
//! Deliberately absent: runtimes per flavor (the trace has one duration) and interruption (it says nothing about it).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::names::{TenantId, WorkloadKey};
use crate::plan::snapshot::{DeadlinePolicy, Due, Tier};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::units::{Amount, Seconds, Timestamp, div_round_half_even};

use super::intake::{Intake, Refusal};
use super::labels::Labels;
use super::report::DropReason;
use super::table::{Row, Table, shorten};
use super::trace::{Pool, SPAN_SECONDS_MAX, TraceJob, UNITS_MAX, build, origin};
use super::{Import, Settings};

const COLUMNS: [&str; 9] = [
    "job_id",
    "user",
    "num_gpu",
    "submit_time",
    "duration",
    "expect_time_list",
    "expect_value_list",
    "best_effort",
    "job_type",
];
const ID: usize = 0;
const USER: usize = 1;
const GPUS: usize = 2;
const SUBMIT: usize = 3;
const DURATION: usize = 4;
const TIMES: usize = 5;
const VALUES: usize = 6;
const BEST_EFFORT: usize = 7;
const TYPE: usize = 8;

/// Columns of the format that say nothing about capacity or time.
const IGNORED: [&str; 3] = ["iterations", "model_name", "interval"];

const MINUTES_MAX: i64 = SPAN_SECONDS_MAX / 60;
/// More steps than any row has; a longer list is not one of due times.
const STEPS_MAX: usize = 16;
/// The largest value of a job, as `WorkloadSLO.spec.value` has it.
const VALUE_MAX: i64 = 1_000_000;

/// Reads a Philly/Chronus CSV onto the pool in `settings`.
///
/// # Errors
/// The findings that make the file or the settings unusable (SG060, SG061, SG072); spoilt rows are left out instead.
pub fn read(file: &Arc<SourceFile>, settings: &Settings) -> Result<Import, Vec<Finding>> {
    if settings.pool.is_empty() {
        return Err(vec![
            Finding::error(codes::SETTING, &*file.path, "the trace does not say how many GPUs the cluster had")
                .hint("give --gpus N, or --pool FLAVOR=N,…"),
        ]);
    }
    let table = Table::open(file, &COLUMNS)?;
    let mut intake = Intake::new(file);
    let extra: Vec<&str> = table.extra.iter().map(String::as_str).filter(|name| !IGNORED.contains(name)).collect();
    if !extra.is_empty() {
        let message = format!("columns that are not used: {}", shorten(&extra.join(", ")));
        intake.note(Finding::note(codes::COLUMNS, &*file.path, message));
    }
    let start = origin(&mut intake, settings, None)?;
    let mut reader = Reader { start, users: Labels::default(), ids: Labels::default(), seen: BTreeSet::new() };
    let mut jobs = Vec::new();
    for line in intake.take(table.lines(), settings) {
        let job = table.row(*line).map_err(Refusal::from).and_then(|row| reader.job(&mut intake, &row));
        match job {
            Ok(job) => jobs.push(job),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    intake.state("submit_time and duration are taken as minutes, due times as minutes after submission");
    intake.state("durations are taken as known in advance, the same on every flavor");
    let zone = settings.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
    build(intake, settings, "philly", (start, &zone), &Pool::new("nvidia.com/gpu", &settings.pool, 1), jobs)
}

struct Reader {
    start: Timestamp,
    users: Labels,
    ids: Labels,
    seen: BTreeSet<String>,
}

impl Reader {
    fn job(&mut self, intake: &mut Intake, row: &Row<'_>) -> Result<TraceJob, Refusal> {
        let id = row.text(ID);
        if id.is_empty() {
            return Err(row.warning(codes::SHAPE, ID, "job_id is empty").into());
        }
        let gpus = row.integer(GPUS, "num_gpu", 0, UNITS_MAX)?;
        let submitted = self.start + minutes(row.integer(SUBMIT, "submit_time", 0, MINUTES_MAX)?);
        let duration = minutes(row.integer(DURATION, "duration", -1, MINUTES_MAX)?);
        let (due, value) = due(intake, row, submitted)?;
        if !self.seen.insert(id.to_owned()) {
            let finding = row.warning(codes::DUPLICATE, ID, format!("job {} was read before", shorten(id)));
            return Err(Refusal { reason: DropReason::DuplicateId, finding: Some(finding) });
        }
        if duration <= Seconds::ZERO {
            return Err(DropReason::NoRuntime.into());
        }
        let user = row.text(USER);
        let tenant = if user.is_empty() {
            intake.miss("user");
            None
        } else {
            Some(self.users.name("", user))
        };
        let namespace = tenant.clone().unwrap_or_else(|| "nobody".to_owned());
        Ok(TraceJob {
            line: row.line.number,
            key: WorkloadKey::new(&namespace, &self.ids.name("job-", id)),
            tenant: tenant.map(TenantId::from),
            class: None,
            submitted,
            due,
            value,
            amount: Amount(gpus),
            flavors: Vec::new(),
            runtime: Some(duration),
            past: Past::default(),
        })
    }
}

fn minutes(count: i64) -> Seconds {
    Seconds(count * 60)
}

/// The due time and what meeting it is worth.
fn due(intake: &mut Intake, row: &Row<'_>, submitted: Timestamp) -> Result<(Option<Due>, i64), Finding> {
    let policy = match row.text(TYPE) {
        "strict" => DeadlinePolicy::Hard,
        "soft" => DeadlinePolicy::Soft,
        "best" => DeadlinePolicy::BestEffort,
        other => {
            let message = format!("job_type is `{}`, and strict, soft or best is expected", shorten(other));
            return Err(row.warning(codes::WORD, TYPE, message));
        }
    };
    let best_effort = row.integer(BEST_EFFORT, "best_effort", 0, 1)? == 1;
    if best_effort != (policy == DeadlinePolicy::BestEffort) {
        let message = format!("job_type is {} but best_effort is {}", row.text(TYPE), row.text(BEST_EFFORT));
        return Err(row.warning(codes::CONTRADICTION, TYPE, message));
    }
    let values = list(row, VALUES, "expect_value_list", 0, VALUE_MAX)?;
    let full = values[0];
    if full == 0 || values.windows(2).any(|pair| pair[1] > pair[0]) {
        let message = "expect_value_list must begin above 0 and never rise";
        return Err(row.warning(codes::CONTRADICTION, VALUES, message));
    }
    if policy == DeadlinePolicy::BestEffort {
        // What stands in expect_time_list of these rows is the submission time once more.
        return Ok((None, full));
    }
    let times = list(row, TIMES, "expect_time_list", 0, MINUTES_MAX)?;
    if times.len() != values.len() {
        let message = format!("{} due times stand beside {} values", times.len(), values.len());
        return Err(row.warning(codes::CONTRADICTION, TIMES, message));
    }
    if times.windows(2).any(|pair| pair[1] <= pair[0]) {
        return Err(row.warning(codes::CONTRADICTION, TIMES, "expect_time_list must rise"));
    }
    let mut tiers = Vec::new();
    if times.len() > 1 {
        let worth = values[1..].iter().copied().chain([0]);
        for (time, value) in times.iter().zip(worth) {
            tiers.push(Tier { after: minutes(time - times[0]), value_percent: percent(intake, row, value, full) });
        }
    }
    Ok((Some(Due { at: submitted + minutes(times[0]), policy, tiers }), full))
}

fn percent(intake: &mut Intake, row: &Row<'_>, value: i64, full: i64) -> u8 {
    let scaled = i128::from(value) * 100;
    if scaled % i128::from(full) != 0 {
        let message = format!("{value} of {full} is not a whole percentage and is rounded");
        let finding = row.warning(codes::ASSUMED, VALUES, message);
        intake.note(Finding { severity: crate::failure::Severity::Note, ..finding });
    }
    u8::try_from(div_round_half_even(scaled, i128::from(full))).expect("values never rise, so this must be 0 to 100")
}

/// A list `159-189-229` of at least one number.
fn list(row: &Row<'_>, column: usize, what: &str, low: i64, high: i64) -> Result<Vec<i64>, Finding> {
    let text = row.text(column);
    let numbers: Option<Vec<i64>> = text
        .split('-')
        .take(STEPS_MAX + 1)
        .map(|part| {
            let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            if digits { part.parse().ok().filter(|number| (low..=high).contains(number)) } else { None }
        })
        .collect();
    match numbers {
        Some(numbers) if numbers.len() <= STEPS_MAX => Ok(numbers),
        _ => {
            let message = format!(
                "{what} is `{}`, and one to {STEPS_MAX} whole numbers from {low} to {high} with - between them are expected",
                shorten(text)
            );
            Err(row.warning(codes::NUMBER, column, message))
        }
    }
}
