//! The Standard Workload Format, version 2.2, of the Parallel Workloads Archive: 18 numbers a line, `;` before comments.
//!
//! -1 means unknown in every field; times may have fractions. A job is counted once: bursts (status 2 to 4) are left out
//! when the job has a line of its own, else they are joined into one. Jobs that failed ran, and are kept; jobs that were
//! cancelled are kept if they ran. Processors are cores: they become GPUs only at a rate the user states, otherwise the
//! trace is replayed as `cpu`. A requested time is a kill limit, so it stands in for the runtime only on request.
//!
//! Deliberately absent: due times (the format has none), memory, queues, partitions and think times.

mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::calendar;
use crate::failure::{Finding, SourceFile};
use crate::names::FlavorName;
use crate::scenario::codes::traces as codes;
use crate::units::Timestamp;

use super::intake::{Intake, Refusal};
use super::report::DropReason;
use super::source::{Line, lines};
use super::table::shorten;
use super::trace::{Pool, UNITS_MAX, build, origin};
use super::{Import, PoolShare, Settings};
use record::{Record, WAIT_TIME, record};

/// Choices that only this format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Choices {
    /// Processors that stand for one GPU, rounded up per job; `None`: processors stay `cpu` cores.
    pub procs_per_gpu: Option<i64>,
    pub runtime: RuntimeFrom,
}

/// What is taken as a job's expected runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RuntimeFrom {
    /// The run time that was measured.
    #[default]
    Recorded,
    /// The time the user requested: a kill limit, usually far above what is needed.
    Requested,
}

/// Reads an SWF file onto the pool in `settings`, or onto the `MaxProcs` of its header.
///
/// # Errors
/// The findings that make the file or the settings unusable (SG060, SG072); spoilt lines are left out instead.
pub fn read(file: &Arc<SourceFile>, settings: &Settings, choices: Choices) -> Result<Import, Vec<Finding>> {
    let mut intake = Intake::new(file);
    let (comments, rows): (Vec<_>, Vec<_>) = lines(file).partition(|line| line.text.trim_start().starts_with(';'));
    let header = Header::read(&comments);
    let pool = pool(&mut intake, settings, choices, &header)?;
    let own_start = match header.number("UnixStartTime") {
        Some(seconds) if seconds >= 0 => Some(Timestamp(seconds)),
        _ => None,
    };
    let start = origin(&mut intake, settings, own_start)?;
    let zone = zone(&mut intake, settings, &header);

    let mut records = Vec::new();
    for line in intake.take(&rows, settings) {
        match record(&mut intake, *line) {
            Ok(record) => records.push(record),
            Err(finding) => intake.refuse(finding.into()),
        }
    }
    let mut jobs = Vec::new();
    let mut rounded = 0_u64;
    for record in count_once(&mut intake, records) {
        match record.job(start, choices, &mut rounded) {
            Ok(job) => jobs.push(job),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    if rounded > 0 {
        intake
            .state(format!("{rounded} jobs use part of a GPU's share of processors and are rounded up to a whole one"));
    }
    if intake.rows_read > 0 && intake.missing.get(WAIT_TIME) == Some(&intake.rows_read) {
        intake.state("no wait times are recorded: the submit times may really be start times");
    }
    intake.state(match choices.runtime {
        RuntimeFrom::Recorded => "recorded run times are taken as known in advance",
        RuntimeFrom::Requested => "requested times, which are kill limits, are taken as run times",
    });
    build(intake, settings, "swf", (start, &zone), &pool, jobs)
}

/// The `; Key: value` lines; the first of a key counts.
struct Header(BTreeMap<String, String>);

impl Header {
    fn read(comments: &[Line<'_>]) -> Self {
        let mut entries = BTreeMap::new();
        for line in comments {
            let text = line.text.trim_start().trim_start_matches(';');
            if let Some((key, value)) = text.split_once(':') {
                entries.entry(key.trim().to_owned()).or_insert_with(|| value.trim().to_owned());
            }
        }
        Self(entries)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.text(key)?.split_whitespace().next()?.parse().ok()
    }
}

fn pool(intake: &mut Intake, settings: &Settings, choices: Choices, header: &Header) -> Result<Pool, Vec<Finding>> {
    let refuse = |message: &str, hint: &str| {
        vec![Finding::error(codes::SETTING, &*intake.file.path, message.to_owned()).hint(hint.to_owned())]
    };
    if choices.procs_per_gpu.is_some_and(|rate| !(1..=UNITS_MAX).contains(&rate)) {
        return Err(refuse("--procs-per-gpu must be at least 1", "name how many processors stand for one GPU"));
    }
    let shares = if settings.pool.is_empty() {
        let procs = header
            .number("MaxProcs")
            .filter(|procs| (1..=UNITS_MAX).contains(procs))
            .ok_or_else(|| refuse("the header has no usable MaxProcs", "give --gpus N, or --pool FLAVOR=N,…"))?;
        let quantity = procs / choices.procs_per_gpu.unwrap_or(1);
        if quantity == 0 {
            return Err(refuse("MaxProcs is less than --procs-per-gpu", "give --gpus N, or --pool FLAVOR=N,…"));
        }
        let flavor = if choices.procs_per_gpu.is_some() { "gpu" } else { "cpu" };
        vec![PoolShare { flavor: FlavorName::from(flavor), quantity }]
    } else {
        settings.pool.clone()
    };
    if let Some(rate) = choices.procs_per_gpu {
        intake.state(format!("{rate} processors are taken as one GPU, as --procs-per-gpu says"));
        return Ok(Pool::new("nvidia.com/gpu", &shares, 1));
    }
    intake.state("processors are taken as cpu cores, and the pool counts cores: --procs-per-gpu makes GPUs of them");
    Ok(Pool::new("cpu", &shares, 1000))
}

fn zone(intake: &mut Intake, settings: &Settings, header: &Header) -> String {
    if let Some(zone) = &settings.time_zone {
        return zone.clone();
    }
    match header.text("TimeZoneString") {
        Some(name) if calendar::zone(name).is_ok() => name.to_owned(),
        Some(name) => {
            let message = format!("TimeZoneString `{}` is not an IANA time zone; UTC is used", shorten(name));
            intake.note(Finding::note(codes::WORD, &*intake.file.path, message));
            "UTC".to_owned()
        }
        None => "UTC".to_owned(),
    }
}

/// One record per job: bursts go where the job has its own line, and are joined where it has none.
fn count_once(intake: &mut Intake, records: Vec<Record>) -> Vec<Record> {
    let burst = |record: &Record| matches!(record.status, Some(2..=4));
    let whole: BTreeSet<i64> = records.iter().filter(|record| !burst(record)).map(|record| record.job).collect();
    let mut place: BTreeMap<i64, usize> = BTreeMap::new();
    let mut kept: Vec<Record> = Vec::new();
    for record in records {
        if burst(&record) && whole.contains(&record.job) {
            intake.refuse(DropReason::PartialRun.into());
        } else if let Some(first) = place.get(&record.job) {
            if burst(&record) {
                kept[*first].join(&record);
                intake.refuse(DropReason::PartialRun.into());
            } else {
                let message = format!("job {} was read before", record.job);
                let subject = format!("{}:{}", intake.file.path, record.line);
                let finding = Some(Finding::warning(codes::DUPLICATE, subject, message));
                intake.refuse(Refusal { reason: DropReason::DuplicateId, finding });
            }
        } else {
            place.insert(record.job, kept.len());
            kept.push(record);
        }
    }
    kept
}
