//! One submission after another: is it running, can it be placed, or why never.
//!
//! What Kueue would never admit (`admissible` says why) is not planned but listed with its reason, so that it is shown
//! instead of waiting in silence.

use std::collections::BTreeSet;

use super::catalog::Catalog;
use super::codes;
use super::findings::{Findings, reference_severity};
use super::given::Frame;
use super::matching::Promises;
use super::podsets::{Progress, Submission};
use super::promise::Promise;
use super::queues::Queues;
use super::reach::Reach;
use super::tenants::Tenants;
use super::types::QUEUE_NAME;
use super::{admissible, priority, running};
use crate::failure::{Finding, Severity};
use crate::names::{QueueName, TenantId, WorkloadKey};
use crate::plan::snapshot::{Due, Interruption, NodeId, RunOption, Running, Workload};

/// A workload that Kueue would never admit, as things stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unplaceable {
    pub key: WorkloadKey,
    pub kind: String,
    pub tenant: Option<TenantId>,
    /// Its ClusterQueue, where that is known.
    pub cluster_queue: Option<QueueName>,
    pub due: Option<Due>,
    /// The finding's code.
    pub code: &'static str,
    /// One sentence that goes on from the workload's name.
    pub reason: String,
}

/// What became of a submission.
#[derive(Debug, Clone)]
pub enum Placed {
    Planned(Workload),
    Running(Running),
    Unplaceable(Unplaceable),
    Finished,
    /// Kueue does not queue it.
    NotQueued,
    /// A finding has said what was wrong.
    LeftOut,
}

/// Everything a submission is judged against.
pub struct Ground<'g, 'a> {
    pub catalog: &'a Catalog<'a>,
    pub queues: &'g Queues,
    pub frame: Frame,
    pub promises: Promises<'a>,
    pub tenants: Tenants<'a>,
    pub reach: Reach,
    /// Workloads whose runtime nobody declares and that no WorkloadSLO speaks for.
    pub without_runtime: Vec<String>,
    /// WorkloadSLOs without a runtime, told of once each.
    pub told_without_runtime: BTreeSet<(String, String)>,
}

/// Judges one submission.
pub fn place(submission: &Submission<'_>, ground: &mut Ground<'_, '_>, findings: &mut Findings) -> Placed {
    if submission.progress == Progress::Finished {
        // Its promise is kept or broken, but it is not one that speaks for nothing.
        ground.promises.find(submission, findings);
        return Placed::Finished;
    }
    let Some(queue_name) = queue_name(submission, ground.catalog) else { return Placed::NotQueued };
    let tenant = ground.tenants.find(submission, findings);
    let priority = priority::of(submission, ground.catalog, findings);
    let promise = ground.promises.find(submission, findings).cloned();
    let facts = submission.workload.as_ref();
    if let Some(admitted) = facts.and_then(|facts| facts.admitted.as_ref()) {
        let who = (tenant, priority);
        let found =
            running::admitted(submission, admitted, promise.as_ref(), who, (ground.queues, ground.frame), findings);
        return found.map_or(Placed::LeftOut, Placed::Running);
    }
    if facts.is_some_and(|facts| facts.deactivated) {
        let message = "is deactivated (spec.active is false), so Kueue leaves it alone and so does the plan";
        findings.push(Finding::note(codes::ON_HOLD, submission.subject(), message));
        return Placed::LeftOut;
    }
    let mut cluster_queue = None;
    let created = submission.created.unwrap_or(ground.frame.now);
    match admissible::ways(submission, &queue_name, promise.as_ref(), &mut cluster_queue, ground, findings) {
        Ok((queue, options)) => {
            let workload =
                workload(submission, (queue, options), promise.as_ref(), (tenant, priority), ground, findings);
            if submission.progress == Progress::Active && submission.workload.is_none() {
                return already_running(submission, &workload, promise.as_ref(), ground.frame, findings);
            }
            Placed::Planned(workload)
        }
        Err(never) => {
            let manifest = submission.manifest;
            let span = if never.at_key { manifest.key_span(&never.place) } else { manifest.span(&never.place) };
            let mut finding = Finding::new(never.code, never.severity, submission.subject(), never.reason.clone())
                .at(span, never.label);
            finding.hint = never.hint;
            findings.push(finding);
            Placed::Unplaceable(Unplaceable {
                key: submission.key.clone(),
                kind: submission.kind.clone(),
                tenant,
                cluster_queue: cluster_queue.map(|queue: NodeId| ground.queues.node(queue).name.clone()),
                due: promise.and_then(|promise| promise.due(created)),
                code: never.code,
                reason: never.reason,
            })
        }
    }
}

/// The LocalQueue a submission names. Where a namespace has one called `default`, Kueue's webhook gives it to new jobs.
fn queue_name(submission: &Submission<'_>, catalog: &Catalog<'_>) -> Option<String> {
    let of_workload =
        submission.workload.as_ref().map(|facts| facts.queue_name.as_str()).filter(|name| !name.is_empty());
    let named = of_workload.or_else(|| submission.label(QUEUE_NAME)).or_else(|| submission.annotation(QUEUE_NAME));
    if let Some(name) = named.filter(|name| !name.is_empty()) {
        return Some(name.to_owned());
    }
    let new = reference_severity(submission.manifest) == Severity::Error;
    let defaulted = new && !matches!(submission.kind.as_str(), "Pod" | "PodGroup" | "Workload");
    let default = (submission.manifest.namespace.as_str(), "default");
    (defaulted && catalog.local_queues.contains_key(&default)).then(|| "default".to_owned())
}

fn workload(
    submission: &Submission<'_>,
    (queue, options): (NodeId, Vec<RunOption>),
    promise: Option<&Promise<'_>>,
    (tenant, priority): (Option<TenantId>, i32),
    ground: &mut Ground<'_, '_>,
    findings: &mut Findings,
) -> Workload {
    let now = ground.frame.now;
    let created = submission.created.unwrap_or(now);
    let not_before = promise.and_then(|promise| promise.not_before).unwrap_or(now);
    let workload = Workload {
        key: submission.key.clone(),
        kind: submission.kind.clone(),
        tenant,
        class: promise.and_then(|promise| promise.spec.outcome.as_ref()).map(|outcome| outcome.class.clone()),
        queue,
        priority,
        created,
        earliest_start: now.max(created).max(submission.arrives.unwrap_or(now)).max(not_before),
        due: promise.and_then(|promise| promise.due(created)),
        value: promise.map_or(1, |promise| promise.spec.value.max(1)),
        options,
        interruption: promise.map_or(Interruption::None, |promise| promise.interruption),
        has_slo: promise.is_some(),
    };
    super::prospects::tell(&workload, submission, promise, ground, findings);
    workload
}

/// Its own status says that it runs, and no Workload says on what: with one way to run there is nothing to guess.
fn already_running(
    submission: &Submission<'_>,
    workload: &Workload,
    promise: Option<&Promise<'_>>,
    frame: Frame,
    findings: &mut Findings,
) -> Placed {
    let [option] = &workload.options[..] else {
        let flavors: Vec<&str> = workload.options.iter().map(|option| option.flavor.as_str()).collect();
        let message = format!(
            "runs, but nothing says on which flavor ({}); the quota it holds is not counted",
            flavors.join(", ")
        );
        findings.push(
            Finding::warning(codes::RUNNING_UNKNOWN, submission.subject(), message)
                .at(submission.manifest.span("/status"), "runs")
                .hint("give its Workload too, or state it in a Scenario's running"),
        );
        return Placed::LeftOut;
    };
    let started = submission.manifest.at("/status/startTime").and_then(serde_json::Value::as_str);
    let start = started.and_then(|text| crate::calendar::parse_instant(text).ok()).unwrap_or(workload.created);
    let start = start.min(frame.now);
    let (end_p50, end_p90) = if option.runtime.known {
        running::ends(submission, (start, option.runtime), promise, frame, findings)
    } else {
        (None, None)
    };
    Placed::Running(Running {
        key: workload.key.clone(),
        tenant: workload.tenant.clone(),
        queue: workload.queue,
        flavor: option.flavor.clone(),
        uses: option.uses.clone(),
        priority: workload.priority,
        start,
        end_p50,
        end_p90,
        due: workload.due.clone(),
    })
}
