//! Alibaba's GPU trace of 2023 ("openb"): a list of nodes with GPU models, and a list of pods that may share GPUs.
//!
//! Amounts are thousandths of a GPU (`alibabacloud.com/gpu-milli`). The flavors are the GPU models of the node list, in
//! the order in which they first appear; `gpu_spec` (`V100M16|V100M32`) narrows them. A pod runs from `scheduled_time`
//! to `deletion_time`; one that was Running when the trace ends has no known end. Pods that were never scheduled have no
//! runtime and are left out. Times are seconds from the trace's beginning.
//!
//! Deliberately absent: CPU and memory, and the borders between nodes and between GPUs: quota counts a model as one pool.

mod models;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::names::{TenantId, WorkloadKey};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::units::{Amount, Seconds, Timestamp};

use super::intake::{Intake, Refusal};
use super::labels::Labels;
use super::report::DropReason;
use super::table::{Row, Table, shorten};
use super::trace::{Pool, SPAN_SECONDS_MAX, TraceJob, UNITS_MAX, build, origin};
use super::{Import, PoolShare, Settings};
use models::Models;

const COLUMNS: [&str; 9] = [
    "name",
    "num_gpu",
    "gpu_milli",
    "gpu_spec",
    "qos",
    "pod_phase",
    "creation_time",
    "deletion_time",
    "scheduled_time",
];
const NAME: usize = 0;
const GPUS: usize = 1;
const MILLI: usize = 2;
const SPEC: usize = 3;
const QOS: usize = 4;
const PHASE: usize = 5;
const CREATED: usize = 6;
const DELETED: usize = 7;
const SCHEDULED: usize = 8;

const RESOURCE: &str = "alibabacloud.com/gpu-milli";

/// Choices that only this format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choices {
    /// Of each model, this share of its nodes, the first in the list, rounded up to a whole node. 1 to 100.
    pub scale_percent: u32,
    pub censored: Censored,
    pub serving: Serving,
}

impl Default for Choices {
    fn default() -> Self {
        Self { scale_percent: 100, censored: Censored::RunToHorizon, serving: Serving::Keep }
    }
}

/// What becomes of pods that were still Running when the trace ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Censored {
    /// Their runtime is unknown, so they are taken to run to the horizon.
    RunToHorizon,
    /// They are taken to end with the trace.
    EndWithTrace,
    Drop,
}

/// What becomes of pods whose qos is `LS`: latency-sensitive serving, which has no end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Serving {
    Keep,
    Drop,
}

/// Reads a pod list onto the models of a node list (or onto the pool in `settings`, in whole GPUs).
///
/// # Errors
/// The findings that make a file or the settings unusable: any broken row of the node list, since it would change the
/// capacity, and SG060, SG061, SG072. Spoilt pod rows are left out instead.
pub fn read(
    nodes: &Arc<SourceFile>,
    pods: &Arc<SourceFile>,
    settings: &Settings,
    choices: Choices,
) -> Result<Import, Vec<Finding>> {
    let table = Table::open(pods, &COLUMNS)?;
    let mut intake = Intake::new(pods);
    let pool = Models::read(&mut intake, nodes, settings, choices)?;
    let start = origin(&mut intake, settings, None)?;
    let mut reader = Reader {
        start,
        trace_end: trace_end(&table),
        models: &pool,
        choices,
        names: Labels::default(),
        seen: BTreeSet::new(),
        deleted_while_running: 0,
        serving: 0,
    };
    let mut jobs = Vec::new();
    for line in intake.take(table.lines(), settings) {
        let job = table.row(*line).map_err(Refusal::from).and_then(|row| reader.job(&mut intake, &row));
        match job {
            Ok(job) => jobs.push(job),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    reader.state(&mut intake);
    let zone = settings.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
    let shares: Vec<PoolShare> = pool.0.into_iter().map(|(_, share)| share).collect();
    build(intake, settings, "openb", (start, &zone), &Pool::new(RESOURCE, &shares, 1000), jobs)
}

/// The last instant the trace knows of, over the whole file.
fn trace_end(table: &Table<'_>) -> i64 {
    let deleted = |line| {
        let row = table.row(line).ok()?;
        row.integer(DELETED, "deletion_time", 0, SPAN_SECONDS_MAX).ok()
    };
    table.lines().iter().copied().filter_map(deleted).max().unwrap_or(0)
}

struct Reader<'a> {
    start: Timestamp,
    trace_end: i64,
    models: &'a Models,
    choices: Choices,
    names: Labels,
    seen: BTreeSet<String>,
    deleted_while_running: u64,
    serving: u64,
}

impl Reader<'_> {
    fn job(&mut self, intake: &mut Intake, row: &Row<'_>) -> Result<TraceJob, Refusal> {
        let name = row.text(NAME);
        if name.is_empty() {
            return Err(row.warning(codes::SHAPE, NAME, "name is empty").into());
        }
        let amount = amount(row)?;
        let created = row.integer(CREATED, "creation_time", 0, SPAN_SECONDS_MAX)?;
        let scheduled = optional(intake, row, SCHEDULED, "scheduled_time")?;
        let deleted = optional(intake, row, DELETED, "deletion_time")?;
        if !self.seen.insert(name.to_owned()) {
            let finding = row.warning(codes::DUPLICATE, NAME, format!("pod {} was read before", shorten(name)));
            return Err(Refusal { reason: DropReason::DuplicateId, finding: Some(finding) });
        }
        let serving = row.text(QOS) == "LS";
        if serving && self.choices.serving == Serving::Drop {
            return Err(DropReason::Serving.into());
        }
        let runtime = self.runtime(row, created, scheduled, deleted)?;
        let flavors = self.models.allowed(intake, row, SPEC)?;
        self.serving += u64::from(serving);
        let qos = match row.text(QOS) {
            "" => {
                intake.miss("qos");
                "none".to_owned()
            }
            text => self.names.name("", text),
        };
        Ok(TraceJob {
            line: row.line.number,
            key: WorkloadKey::new(&qos, &self.names.name("", name)),
            tenant: Some(TenantId::from(qos)),
            class: None,
            submitted: self.start + Seconds(created),
            due: None,
            value: 1,
            amount,
            flavors,
            runtime,
            past: Past { started: scheduled.map(|at| self.start + Seconds(at)), limit: None },
        })
    }

    /// How long it ran; `None` when its end is not in the trace.
    fn runtime(
        &mut self,
        row: &Row<'_>,
        created: i64,
        scheduled: Option<i64>,
        deleted: Option<i64>,
    ) -> Result<Option<Seconds>, Refusal> {
        let phase = row.text(PHASE);
        if !["Running", "Succeeded", "Failed", "Pending"].contains(&phase) {
            let message =
                format!("pod_phase is `{}`, and Running, Succeeded, Failed or Pending is expected", shorten(phase));
            return Err(row.warning(codes::WORD, PHASE, message).into());
        }
        let Some(scheduled) = scheduled else { return Err(DropReason::NeverScheduled.into()) };
        if scheduled < created {
            return Err(row.warning(codes::CONTRADICTION, SCHEDULED, "it was scheduled before it was created").into());
        }
        let running = phase == "Running";
        let deleted = match deleted {
            Some(deleted) if running && deleted >= self.trace_end => None,
            Some(deleted) if deleted < scheduled => {
                return Err(row
                    .warning(codes::CONTRADICTION, DELETED, "it was deleted before it was scheduled")
                    .into());
            }
            Some(deleted) => Some(deleted),
            None if running => None,
            None => return Err(DropReason::NoRuntime.into()),
        };
        let ended = match (deleted, self.choices.censored) {
            (Some(deleted), _) => deleted,
            (None, Censored::RunToHorizon) => return Ok(None),
            (None, Censored::EndWithTrace) => self.trace_end,
            (None, Censored::Drop) => return Err(DropReason::Censored.into()),
        };
        if ended <= scheduled {
            return Err(DropReason::NoRuntime.into());
        }
        self.deleted_while_running += u64::from(running && deleted.is_some());
        Ok(Some(Seconds(ended - scheduled)))
    }

    fn state(&self, intake: &mut Intake) {
        intake.state("GPUs of a model count as one pool: whether a fraction fits on a single GPU is not modelled");
        intake.state("CPU and memory are not replayed");
        intake.state("the trace names no users: qos classes stand in for tenants");
        if self.deleted_while_running > 0 {
            intake.state(format!(
                "{} kept pods were still Running when they were deleted: the time until then is taken as their runtime",
                self.deleted_while_running
            ));
        }
        if self.serving > 0 {
            intake
                .state(format!("{} kept pods serve requests (qos LS) and are replayed like batch work", self.serving));
        }
        intake.state(match self.choices.censored {
            Censored::RunToHorizon => "pods still Running when the trace ends are taken to run to the horizon",
            Censored::EndWithTrace => "pods still Running when the trace ends are taken to end with it",
            Censored::Drop => "pods still Running when the trace ends are left out",
        });
    }
}

/// Thousandths of a GPU, over all GPUs of the pod.
fn amount(row: &Row<'_>) -> Result<Amount, Finding> {
    let gpus = row.integer(GPUS, "num_gpu", 0, UNITS_MAX)?;
    let milli = row.integer(MILLI, "gpu_milli", 0, 1000)?;
    if (gpus == 0) != (milli == 0) {
        let message = format!("num_gpu is {gpus} but gpu_milli is {milli}");
        return Err(row.warning(codes::CONTRADICTION, MILLI, message));
    }
    Ok(Amount(gpus * milli))
}

fn optional(intake: &mut Intake, row: &Row<'_>, column: usize, what: &'static str) -> Result<Option<i64>, Finding> {
    if row.text(column).is_empty() {
        intake.miss(what);
        return Ok(None);
    }
    row.integer(column, what, 0, SPAN_SECONDS_MAX).map(Some)
}
