//! Slurm's accounting, as `sacct --parsable2` prints it: one row per job, fields between `|`.
//!
//! With a title line the columns may stand in any order; without one (`--noheader`) they are taken to be those of
//! [`DOCUMENTED`]. The log is best drawn with `TZ=UTC sacct --allusers --parsable2 --allocations --duplicates`: times carry
//! no zone and are read as UTC. A wait counts from Eligible, not from Submit, for until then the job was held back. GPUs
//! are `gres/gpu` of AllocTRES, else of ReqTRES; a typed `gres/gpu:a100` beside it is the same GPUs, named. A requeued job
//! has several rows and is counted once: it starts with the first and runs as long as the last. Timelimit is a kill limit:
//! it stands beside the work for a replay, and is never taken for a runtime.
//!
//! Deliberately absent: CPU and memory, partitions and priorities, dependencies, and due times, which Slurm does not keep.

mod record;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::names::{TenantId, WorkloadKey};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::units::{Amount, Seconds, Timestamp};

use super::intake::{Intake, Refusal};
use super::labels::{Labels, dns_label};
use super::report::DropReason;
use super::source::lines;
use super::table::shorten;
use super::trace::{Pool, SPAN_SECONDS_MAX, TraceJob, build, origin};
use super::{Import, Settings};
use record::{Columns, Record, record};
use words::State;

/// The columns taken for granted where there is no title line.
pub const DOCUMENTED: [&str; 26] = [
    "jobid",
    "jobidraw",
    "cluster",
    "partition",
    "qos",
    "account",
    "group",
    "gid",
    "user",
    "uid",
    "submit",
    "eligible",
    "start",
    "end",
    "elapsed",
    "exitcode",
    "state",
    "nnodes",
    "ncpus",
    "reqcpus",
    "reqmem",
    "reqtres",
    "alloctres",
    "timelimit",
    "nodelist",
    "jobname",
];

/// Reads what `sacct` printed onto the pool in `settings`.
///
/// # Errors
/// The findings that make the file or the settings unusable (SG060, SG061, SG072); spoilt rows are left out instead.
pub fn read(file: &Arc<SourceFile>, settings: &Settings) -> Result<Import, Vec<Finding>> {
    if settings.pool.is_empty() {
        return Err(vec![
            Finding::error(codes::SETTING, &*file.path, "accounting does not say how many GPUs the cluster had")
                .hint("give --gpus N, or --pool FLAVOR=N,…"),
        ]);
    }
    let mut intake = Intake::new(file);
    let all: Vec<_> = lines(file).collect();
    let (columns, rows) = Columns::of(&all)?;
    let mut records = Vec::new();
    for line in intake.take(rows, settings) {
        match record(&mut intake, &columns, *line) {
            Ok(record) => records.push(record),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    let attempts = count_once(&mut intake, records);
    let Some(first) = attempts.iter().map(|job| job.first.arrived).min() else {
        let message = format!("none of the {} rows read can be planned", intake.rows_read);
        let mut findings = vec![Finding::error(codes::FILE, &*file.path, message)];
        findings.extend(intake.findings());
        return Err(findings);
    };
    let start = origin(&mut intake, settings, Some(first))?;
    let mut reader =
        Reader { shift: start - first, settings, users: Labels::default(), ids: Labels::default(), elsewhere: 0 };
    let mut jobs = Vec::new();
    for attempts in attempts {
        match reader.job(&attempts) {
            Ok(job) => jobs.push(job),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    intake.state("times are read as UTC: sacct must have been run with TZ=UTC");
    intake.state("a wait counts from Eligible: until then a job was held back");
    intake
        .state("what a job took is taken as known in advance, the same on every flavor; kill limits are not runtimes");
    intake.state("CPU, memory and partitions are not replayed");
    if reader.elsewhere > 0 {
        intake.state(format!(
            "{} jobs ran on a GPU type that is no flavor of the pool: they may run on any of it",
            reader.elsewhere
        ));
    }
    let zone = settings.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
    build(intake, settings, "sacct", (start, &zone), &Pool::new("nvidia.com/gpu", &settings.pool, 1), jobs)
}

/// The rows of one job, joined.
struct Attempts {
    first: Record,
    last: Record,
}

/// One entry per job: a requeued one has a row for every time it ran.
fn count_once(intake: &mut Intake, records: Vec<Record>) -> Vec<Attempts> {
    let mut place: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut jobs: Vec<Attempts> = Vec::new();
    let mut requeued = 0_u64;
    for record in records {
        let key = (record.cluster.clone(), record.id.clone());
        let Some(known) = place.get(&key) else {
            place.insert(key, jobs.len());
            jobs.push(Attempts { first: record.clone(), last: record });
            continue;
        };
        let job = &mut jobs[*known];
        if record.started == job.last.started && record.ended == job.last.ended {
            let message = format!("job {} was read before", shorten(&record.id));
            let finding = Finding::warning(codes::DUPLICATE, format!("{}:{}", intake.file.path, record.line), message);
            intake.refuse(Refusal { reason: DropReason::DuplicateId, finding: Some(finding) });
            continue;
        }
        requeued += 1;
        intake.refuse(DropReason::PartialRun.into());
        // A row without a start came last, or never ran: it says nothing about an earlier one.
        let order = |record: &Record| (record.started.unwrap_or(Timestamp(i64::MAX)), record.line);
        if order(&record) < order(&job.first) {
            job.first = record;
        } else if order(&record) > order(&job.last) {
            job.last = record;
        }
    }
    if requeued > 0 {
        intake.state(format!(
            "{requeued} rows are of jobs that were requeued: such a job starts with its first row and runs as long as its last"
        ));
    }
    jobs
}

struct Reader<'a> {
    /// From the log's own calendar to the one asked for.
    shift: Seconds,
    settings: &'a Settings,
    users: Labels,
    ids: Labels,
    /// Jobs on a GPU type that the pool does not have.
    elsewhere: u64,
}

impl Reader<'_> {
    fn job(&mut self, attempts: &Attempts) -> Result<TraceJob, Refusal> {
        let Attempts { first, last } = attempts;
        let runtime = runtime(last)?;
        let mut flavors = Vec::new();
        if let Some(kind) = &last.gpus.kind {
            let kind = dns_label(kind);
            let named = self.settings.pool.iter().position(|share| share.flavor.as_str() == kind);
            flavors.extend(named);
            self.elsewhere += u64::from(named.is_none());
        }
        let tenant = last.account.as_ref().or(last.user.as_ref()).map(|name| self.users.name("", name));
        let id = if last.cluster.is_empty() { last.id.clone() } else { format!("{}-{}", last.cluster, last.id) };
        let name = self.ids.name("job-", &id);
        Ok(TraceJob {
            line: first.line,
            key: WorkloadKey::new(tenant.as_deref().unwrap_or("nobody"), &name),
            tenant: tenant.map(TenantId::from),
            class: None,
            submitted: first.arrived + self.shift,
            due: None,
            value: 1,
            amount: Amount(last.gpus.count),
            flavors,
            runtime,
            past: Past { started: first.started.map(|at| at + self.shift), limit: last.limit },
        })
    }
}

/// How long it ran; `None` while it runs.
fn runtime(record: &Record) -> Result<Option<Seconds>, Refusal> {
    let Some(started) = record.started else {
        let never = if record.state == State::Cancelled { DropReason::Cancelled } else { DropReason::NeverScheduled };
        return Err(never.into());
    };
    match record.ended {
        None => Ok(None),
        Some(ended) if ended <= started && record.state == State::Cancelled => Err(DropReason::Cancelled.into()),
        Some(ended) if ended <= started => Err(DropReason::NoRuntime.into()),
        Some(ended) => Ok(Some(Seconds((ended - started).0.min(SPAN_SECONDS_MAX)))),
    }
}
