//! Kueue's own record: `kubectl get workloads.kueue.x-k8s.io -A -o json` (or yaml), v1beta1 and v1beta2 alike.
//!
//! One row is one Workload. It held its quota from QuotaReserved (or Admitted, where that condition is gone) to Finished;
//! its wait is from its creation until then. GPUs are `resourceUsage` of the admission, which is the total over all its
//! pods, on the flavor it was given. A Workload that was evicted keeps only its last admission: it stands with its last
//! run, and its start counts as unknown.
//!
//! Deliberately absent: resources other than accelerators, priorities, several ClusterQueues (they are replayed as one),
//! pods given back before the end, and due times, which stand in WorkloadSLOs.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::api::manifest::Manifest;
use crate::calendar;
use crate::failure::{Finding, Severity, SourceFile, Span};
use crate::kueue::podsets::controller;
use crate::kueue::types::{self, Condition, WorkloadStatus};
use crate::names::{ResourceName, TenantId, WorkloadKey};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::scenario::limits::Limits;
use crate::scenario::read::{self, Input};
use crate::scenario::runs::evictions;
use crate::units::{Amount, Seconds, Timestamp};

use super::intake::{Intake, Refusal, as_count};
use super::labels::Labels;
use super::report::DropReason;
use super::source::ROWS_MAX;
use super::trace::{Pool, SPAN_SECONDS_MAX, TraceJob, UNITS_MAX, build, origin};
use super::{Import, Settings};

/// Reads Workloads onto the pool in `settings`.
///
/// # Errors
/// The findings that make the file or the settings unusable (SG060, SG072, or those of reading manifests where nothing can
/// be read); a spoilt Workload is left out instead.
pub fn read(file: &Arc<SourceFile>, settings: &Settings) -> Result<Import, Vec<Finding>> {
    if settings.pool.is_empty() {
        return Err(vec![
            Finding::error(codes::SETTING, &*file.path, "Workloads do not say how many GPUs the cluster had")
                .hint("give --gpus N, or --pool FLAVOR=N,…"),
        ]);
    }
    let mut intake = Intake::new(file);
    let reading = read::read(&[Input::text(&file.path, &file.text)], &Limits::default());
    let of_kueue = |manifest: &&Manifest| manifest.group() == types::GROUP && manifest.kind == "Workload";
    let all: Vec<&Manifest> = reading.manifests.iter().filter(of_kueue).collect();
    let others = reading.manifests.len() - all.len();
    let wanted = settings.rows.unwrap_or(usize::MAX).min(ROWS_MAX);
    let taken = &all[..all.len().min(wanted)];
    // An object that could not be read is a row too: it is counted, and named by its line.
    let broken = reading.findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    intake.rows_read = as_count(taken.len() + broken);
    intake.rows_beyond_limit = as_count(all.len() - taken.len());
    for finding in reading.findings {
        match finding.severity {
            Severity::Error => intake.refuse(Refusal { reason: DropReason::Malformed, finding: Some(warned(finding)) }),
            _ => intake.note(finding),
        }
    }
    let first = taken.iter().filter_map(|manifest| created(manifest).ok()).min();
    let start = origin(&mut intake, settings, first)?;
    let shift = first.map_or(Seconds::ZERO, |first| start - first);
    let mut reader = Reader { shift, ..Reader::new(settings) };
    let mut jobs = Vec::new();
    for manifest in taken {
        match reader.job(&mut intake, manifest) {
            Ok(job) => jobs.push(job),
            Err(refusal) => intake.refuse(refusal),
        }
    }
    reader.state(&mut intake, others);
    let zone = settings.time_zone.clone().unwrap_or_else(|| "UTC".to_owned());
    build(intake, settings, "workloads", (start, &zone), &Pool::new("nvidia.com/gpu", &settings.pool, 1), jobs)
}

/// What would stop a plan only leaves a row of a log out.
fn warned(finding: Finding) -> Finding {
    Finding { severity: Severity::Warning, ..finding }
}

fn place(manifest: &Manifest, pointer: &str) -> Option<Span> {
    manifest.span(pointer)
}

/// `log.json:12`, as findings about rows say it.
fn subject(manifest: &Manifest) -> String {
    match manifest.span("") {
        Some(span) => format!("{}:{}", span.file.path, span.line_column().0),
        None => manifest.subject(),
    }
}

fn warning(manifest: &Manifest, code: &'static str, pointer: &str, message: String) -> Finding {
    Finding::warning(code, subject(manifest), message).at(place(manifest, pointer), "here")
}

fn created(manifest: &Manifest) -> Result<Timestamp, Finding> {
    let pointer = "/metadata/creationTimestamp";
    let text = manifest.at(pointer).and_then(serde_json::Value::as_str).unwrap_or_default();
    calendar::parse_instant(text).map_err(|_| {
        let message = format!("{} does not say when it was created", manifest.subject());
        warning(manifest, codes::SHAPE, pointer, message)
    })
}

/// Since when a condition holds.
fn since(conditions: &[Condition], kind: &str) -> Option<Timestamp> {
    let one = conditions.iter().find(|one| one.kind == kind && one.holds())?;
    calendar::parse_instant(one.last_transition_time.as_deref()?).ok()
}

struct Reader<'a> {
    shift: Seconds,
    settings: &'a Settings,
    names: Labels,
    seen: BTreeSet<WorkloadKey>,
    evicted: u64,
    elsewhere: u64,
    given_back: u64,
    queues: BTreeSet<String>,
}

impl<'a> Reader<'a> {
    fn new(settings: &'a Settings) -> Self {
        Self {
            shift: Seconds::ZERO,
            settings,
            names: Labels::default(),
            seen: BTreeSet::new(),
            evicted: 0,
            elsewhere: 0,
            given_back: 0,
            queues: BTreeSet::new(),
        }
    }

    fn job(&mut self, intake: &mut Intake, manifest: &Manifest) -> Result<TraceJob, Refusal> {
        let submitted = created(manifest)?;
        let status: WorkloadStatus = if manifest.at("/status").is_some() {
            manifest.decode("/status").map_err(warned)?
        } else {
            WorkloadStatus::default()
        };
        let reserved = since(&status.conditions, "QuotaReserved").or(since(&status.conditions, "Admitted"));
        let finished = since(&status.conditions, "Finished");
        let Some(admission) = status.admission.as_ref().filter(|it| !it.pod_set_assignments.is_empty()) else {
            return Err(if finished.is_some() { DropReason::NoSize } else { DropReason::NeverScheduled }.into());
        };
        let started = reserved.ok_or(DropReason::NoRuntime)?;
        if started < submitted || finished.is_some_and(|end| end < started) {
            let message = "it was admitted before it was created, or finished before it was admitted".to_owned();
            return Err(warning(manifest, codes::CONTRADICTION, "/status/conditions", message).into());
        }
        if finished == Some(started) {
            return Err(DropReason::NoRuntime.into());
        }
        let (amount, flavors) = self.gpus(manifest, admission)?;
        let key = self.key(manifest)?;
        let evicted = evictions(manifest) > 0;
        self.evicted += u64::from(evicted);
        self.given_back += u64::from(!status.reclaimable_pods.is_empty());
        self.queues.insert(admission.cluster_queue.clone());
        let limit = manifest.at("/spec/maximumExecutionTimeSeconds").and_then(serde_json::Value::as_i64);
        let limit = limit.filter(|limit| (1..=SPAN_SECONDS_MAX).contains(limit)).map(Seconds);
        if limit.is_none() {
            intake.miss("maximumExecutionTimeSeconds");
        }
        let namespace = manifest.namespace.clone();
        Ok(TraceJob {
            line: manifest.span("").map_or(1, |span| span.line_column().0),
            key,
            tenant: Some(TenantId::from(namespace)),
            class: None,
            submitted: submitted + self.shift,
            due: None,
            value: 1,
            amount,
            flavors,
            runtime: finished.map(|end| Seconds((end - started).0.min(SPAN_SECONDS_MAX))),
            past: Past { started: (!evicted).then_some(started + self.shift), limit },
        })
    }

    /// People know a Workload by the object that owns it; a second one of that owner goes by its own name.
    fn key(&mut self, manifest: &Manifest) -> Result<WorkloadKey, Finding> {
        let owner = controller(manifest).map_or(manifest.name.clone(), |owner| owner.name);
        for name in [owner, manifest.name.clone()] {
            let label = self.names.name("", &name);
            let key = WorkloadKey::new(&manifest.namespace, &label);
            if self.seen.insert(key.clone()) {
                return Ok(key);
            }
        }
        let message = format!("{} was read before", manifest.subject());
        Err(warning(manifest, codes::DUPLICATE, "/metadata/name", message))
    }

    /// Accelerators of all its pods, and the pool's flavors it may use.
    fn gpus(&mut self, manifest: &Manifest, admission: &types::Admission) -> Result<(Amount, Vec<usize>), Finding> {
        let mut total = 0_i64;
        let mut given: BTreeSet<&str> = BTreeSet::new();
        for assignment in &admission.pod_set_assignments {
            for (resource, usage) in &assignment.resource_usage {
                let name = ResourceName::from(resource.as_str());
                if !name.is_accelerator() {
                    continue;
                }
                let amount = usage.amount(&name).filter(|amount| (0..=UNITS_MAX).contains(&amount.0));
                let amount = amount.ok_or_else(|| {
                    let message = format!("{resource} is used beyond {UNITS_MAX}");
                    warning(manifest, codes::RANGE, "/status/admission", message)
                })?;
                total = total.saturating_add(crate::units::div_ceil(amount.0, name.units_per_gpu()));
                given.extend(assignment.flavors.get(resource).map(String::as_str));
            }
        }
        let pool = &self.settings.pool;
        let known: Vec<usize> = (0..pool.len()).filter(|index| given.contains(pool[*index].flavor.as_str())).collect();
        self.elsewhere += u64::from(known.is_empty() && total > 0);
        Ok((Amount(total.min(UNITS_MAX)), known))
    }

    fn state(&self, intake: &mut Intake, others: usize) {
        intake.state("quota is held from QuotaReserved to Finished, and a wait counts from creation until then");
        intake.state(
            "what a Workload took is taken as known in advance, the same on every flavor; kill limits are not runtimes",
        );
        intake.state("finished Workloads go when their jobs do, so short-lived work may be missing");
        intake.state("resources other than accelerators, and priorities, are not replayed");
        let counted = [
            (
                self.evicted,
                "Workloads were evicted before: they stand with their last run, and their first start is not known",
            ),
            (self.elsewhere, "Workloads ran on a flavor that the pool does not have: they may run on any of it"),
            (self.given_back, "Workloads gave pods back before they finished: they are taken to hold all to the end"),
            (as_count(others), "objects in the file are no Workloads, and are not looked at"),
        ];
        for (count, what) in counted.into_iter().filter(|(count, _)| *count > 0) {
            intake.state(format!("{count} {what}"));
        }
        if self.queues.len() > 1 {
            intake.state(format!(
                "{} ClusterQueues are replayed as one, without borrowing or preemption",
                self.queues.len()
            ));
        }
    }
}
