//! The common model of all formats, and the one place where it becomes a [`Snapshot`].
//!
//! Invariant: everything about a job is known here in whole seconds and base units, and stands inside the limits below,
//! so that no later sum overflows: 10⁶ rows × 10¹² units × 3·10⁹ seconds fits an `i128` many times over, and any instant
//! plus any span fits an `i64`.

use crate::calendar;
use crate::failure::Finding;
use crate::names::{FlavorName, QueueName, ResourceName, TenantId, WorkloadKey};
use crate::plan::snapshot::{
    Cell, CellId, Due, Interruption, Node, NodeId, NodeKind, PreemptionPolicy, QueueRules, QueueingStrategy, Quota,
    ResourceGroup, RunOption, Runtime, Snapshot, Workload,
};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::units::{Amount, Seconds, Timestamp, div_ceil};

use super::account::account;
use super::intake::{Intake, Refusal};
use super::report::DropReason;
use super::{DEFAULT_START, Import, PoolShare, Settings};

/// The most GPUs (or cores) of a pool or a row: beyond any cluster, and a thousand times it still fits comfortably.
pub const UNITS_MAX: i64 = 1_000_000_000;
/// The longest offset or runtime in a trace: a hundred years. More is a broken row.
pub const SPAN_SECONDS_MAX: i64 = 100 * 366 * 86_400;
/// The instants a trace may begin at: the years 1970 to 9999, as RFC 3339 can write them with room for the span.
const START_MAX: i64 = 253_402_300_799 - 3 * SPAN_SECONDS_MAX;

/// A kept row.
#[derive(Debug)]
pub struct TraceJob {
    /// Line in the file, from 1.
    pub line: usize,
    pub key: WorkloadKey,
    pub tenant: Option<TenantId>,
    pub class: Option<String>,
    pub submitted: Timestamp,
    pub due: Option<Due>,
    pub value: i64,
    /// In base units of the pool's resource; zero for work without accelerators.
    pub amount: Amount,
    /// Indices into the pool's flavors, in order of trial; empty: all of them.
    pub flavors: Vec<usize>,
    /// `None`: its end is not in the trace, so it runs to the horizon.
    pub runtime: Option<Seconds>,
    /// What only a replay asks: when it started, and its kill limit.
    pub past: Past,
}

/// The capacity a trace is replayed on: one ClusterQueue with one resource.
#[derive(Debug)]
pub struct Pool {
    pub resource: ResourceName,
    /// In order of trial, with nominal quota in base units.
    pub flavors: Vec<(FlavorName, Amount)>,
}

impl Pool {
    /// Shares in whole GPUs or cores, `per_unit` base units each.
    pub fn new(resource: &str, shares: &[PoolShare], per_unit: i64) -> Self {
        let flavors = shares.iter().map(|share| (share.flavor.clone(), Amount(share.quantity * per_unit))).collect();
        Self { resource: ResourceName::from(resource), flavors }
    }
}

/// The trace's second 0 in calendar time.
///
/// # Errors
/// SG072 outside the years 1970 to 9999.
pub fn origin(intake: &mut Intake, settings: &Settings, own: Option<Timestamp>) -> Result<Timestamp, Vec<Finding>> {
    let start = settings.start.or(own).unwrap_or(DEFAULT_START);
    if !(0..=START_MAX).contains(&start.0) {
        let message = format!("the trace would start {} seconds from 1970, outside the years 1970 to 9999", start.0);
        return Err(vec![Finding::error(codes::SETTING, &*intake.file.path, message)]);
    }
    if settings.start.is_none() && own.is_none() {
        intake.state("the trace has no calendar: its beginning is set to 2026-01-05T00:00:00Z (--start changes it)");
    }
    Ok(start)
}

/// Closes the intake: sorts, checks against the pool, and counts.
///
/// # Errors
/// SG060 when no row is left, SG072 when pool, zone or horizon do not suit.
pub fn build(
    mut intake: Intake,
    settings: &Settings,
    format: &'static str,
    (now, zone): (Timestamp, &str),
    pool: &Pool,
    mut jobs: Vec<TraceJob>,
) -> Result<Import, Vec<Finding>> {
    let path = intake.file.path.clone();
    let refuse = |message: String| vec![Finding::error(codes::SETTING, &*path, message)];
    calendar::zone(zone).map_err(refuse)?;
    if settings.horizon.is_some_and(|span| !(1..=2 * SPAN_SECONDS_MAX).contains(&span.0)) {
        return Err(refuse("the horizon must be positive and below 200 years".to_owned()));
    }
    jobs.retain(|job| fits_somewhere(&mut intake, pool, job));
    if jobs.is_empty() {
        let message = format!("none of the {} rows read can be planned", intake.rows_read);
        let mut findings = vec![Finding::error(codes::FILE, &*path, message)];
        findings.extend(intake.findings());
        return Err(findings);
    }
    jobs.sort_by(|a, b| (a.submitted, &a.key).cmp(&(b.submitted, &b.key)));
    note_hopeless(&mut intake, &jobs);
    let horizon_end = settings.horizon.map_or_else(|| default_horizon(now, &jobs), |span| now + span);

    let snapshot = Snapshot {
        now,
        horizon_end,
        time_zone: zone.to_owned(),
        cells: pool
            .flavors
            .iter()
            .map(|(flavor, _)| Cell { flavor: flavor.clone(), resource: pool.resource.clone() })
            .collect(),
        nodes: vec![cluster_queue(pool)],
        workloads: jobs.iter().map(|job| workload(job, pool, horizon_end - now)).collect(),
        running: Vec::new(),
        windows: Vec::new(),
        prices: Vec::new(),
        currency: None,
        previous: Vec::new(),
    };
    let report = account(&intake, format, pool, &jobs, &snapshot);
    let past = jobs.iter().map(|job| job.past).collect();
    Ok(Import { snapshot, past, report, findings: intake.findings() })
}

fn fits_somewhere(intake: &mut Intake, pool: &Pool, job: &TraceJob) -> bool {
    let fits = job.amount == Amount::ZERO || !fitting(job, pool).is_empty();
    if !fits {
        let largest = allowed(job, pool).map(|(_, quota)| quota).max().unwrap_or_default();
        let message = format!(
            "{} asks for {} {}, and the largest flavor it may use has {}",
            job.key,
            pool.resource.quantity(job.amount),
            pool.resource,
            pool.resource.quantity(largest)
        );
        let finding = Finding::warning(codes::TOO_LARGE, format!("{}:{}", intake.file.path, job.line), message)
            .hint("name a larger pool to keep it");
        intake.refuse(Refusal { reason: DropReason::LargerThanPool, finding: Some(finding) });
    }
    fits
}

/// The flavors a job may use, as (index, quota), in order of trial.
fn allowed<'a>(job: &'a TraceJob, pool: &'a Pool) -> impl Iterator<Item = (usize, Amount)> + 'a {
    let named = pool.flavors.iter().enumerate().map(|(index, (_, quota))| (index, *quota));
    named.filter(|(index, _)| job.flavors.is_empty() || job.flavors.contains(index))
}

fn fitting(job: &TraceJob, pool: &Pool) -> Vec<usize> {
    allowed(job, pool).filter(|(_, quota)| job.amount <= *quota).map(|(index, _)| index).collect()
}

fn note_hopeless(intake: &mut Intake, jobs: &[TraceJob]) {
    for job in jobs {
        if let (Some(due), Some(runtime)) = (&job.due, job.runtime)
            && job.submitted + runtime > due.at
        {
            let late = job.submitted + runtime - due.at;
            let message = format!("{} would end {late} late even on an idle cluster", job.key);
            let subject = format!("{}:{}", intake.file.path, job.line);
            intake.note(Finding::note(codes::HOPELESS, subject, message));
        }
    }
}

/// Past the last due time and the last unhindered end, and a quarter more for what queues, to the next full hour.
fn default_horizon(now: Timestamp, jobs: &[TraceJob]) -> Timestamp {
    let latest = jobs.iter().flat_map(|job| {
        let due = job.due.as_ref().map(|due| due.at + due.tiers.last().map_or(Seconds::ZERO, |tier| tier.after));
        [Some(job.submitted + job.runtime.unwrap_or(Seconds::HOUR)), due]
    });
    let span = latest.flatten().max().map_or(0, |latest| (latest - now).0);
    now + Seconds(div_ceil(span + span / 4, 3600) * 3600)
}

/// The flavor of work that needs none, as `kueue::assemble` calls it.
const NO_FLAVOR: &str = "none";
/// The ClusterQueue's name; a trace has no better one.
const QUEUE: &str = "trace";

fn cluster_queue(pool: &Pool) -> Node {
    let rules = QueueRules {
        strategy: QueueingStrategy::BestEffortFifo,
        stopped: false,
        groups: vec![ResourceGroup {
            resources: vec![pool.resource.clone()],
            flavors: pool.flavors.iter().map(|(flavor, _)| flavor.clone()).collect(),
        }],
        within_cluster_queue: PreemptionPolicy::Never,
        reclaim_within_cohort: PreemptionPolicy::Never,
        borrow_within_cohort: None,
        try_next_flavor_before_borrowing: false,
        try_next_flavor_before_preempting: true,
        prefer_preemption_over_borrowing: false,
    };
    let quotas = pool
        .flavors
        .iter()
        .enumerate()
        .map(|(index, (_, nominal))| (cell_id(index), Quota { nominal: *nominal, ..Quota::default() }))
        .collect();
    Node { name: QueueName::from(QUEUE), parent: None, quotas, kind: NodeKind::ClusterQueue(rules) }
}

fn cell_id(index: usize) -> CellId {
    CellId(u32::try_from(index).expect("a pool must have far fewer than 2^32 flavors"))
}

fn workload(job: &TraceJob, pool: &Pool, horizon: Seconds) -> Workload {
    // Unknown: as long as the horizon, whenever it starts, as `kueue::assemble` takes it.
    let span = job.runtime.unwrap_or(horizon);
    let runtime = Runtime { p50: span, p90: span, known: job.runtime.is_some() };
    let option = |index: usize| RunOption {
        flavor: pool.flavors[index].0.clone(),
        uses: vec![(cell_id(index), job.amount)],
        runtime,
    };
    let options = if job.amount == Amount::ZERO {
        vec![RunOption { flavor: FlavorName::from(NO_FLAVOR), uses: Vec::new(), runtime }]
    } else {
        fitting(job, pool).into_iter().map(option).collect()
    };
    Workload {
        key: job.key.clone(),
        kind: "Job".to_owned(),
        tenant: job.tenant.clone(),
        class: job.class.clone(),
        queue: NodeId(0),
        priority: 0,
        created: job.submitted,
        earliest_start: job.submitted,
        due: job.due.clone(),
        value: job.value,
        options,
        interruption: Interruption::None,
        has_slo: job.runtime.is_some(),
    }
}
