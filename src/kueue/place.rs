//! One submission after another: is it running, can it be placed, or why never.
//!
//! The order is Kueue's: queue, namespace, requests, flavors, quota. What Kueue would never admit is not planned but
//! listed with its reason, so that it is shown instead of waiting in silence.

use std::collections::BTreeMap;

use super::catalog::Catalog;
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use super::given::Frame;
use super::matching::Promises;
use super::options::{self, Assignments, OPTIONS_MAX, Refusal};
use super::podsets::{Progress, Submission};
use super::promise::Promise;
use super::queues::Queues;
use super::reach::Reach;
use super::requests::{self, Rules};
use super::tenants::Tenants;
use super::types::{QUEUE_NAME, StopPolicy};
use super::{priority, running};
use crate::failure::{Finding, Severity};
use crate::names::{QueueName, ResourceName, TenantId, WorkloadKey};
use crate::plan::snapshot::{Due, Interruption, NodeId, RunOption, Running, Runtime, Workload};
use crate::units::{Amount, Seconds};

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
    pub told_without_runtime: std::collections::BTreeSet<(&'a str, &'a str)>,
}

/// Why a workload cannot be placed, before it is told.
struct Never {
    code: &'static str,
    severity: Severity,
    reason: String,
    place: String,
    label: &'static str,
    hint: Option<String>,
}

impl Never {
    fn new(code: &'static str, place: impl Into<String>, reason: impl Into<String>) -> Self {
        let (reason, place) = (reason.into(), place.into());
        Self { code, severity: Severity::Warning, reason, place, label: "here", hint: None }
    }
}

/// Judges one submission.
pub fn place<'a>(submission: &Submission<'a>, ground: &mut Ground<'_, 'a>, findings: &mut Findings) -> Placed {
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
    match options(submission, &queue_name, promise.as_ref(), &mut cluster_queue, ground, findings) {
        Ok((queue, options)) => {
            let workload =
                workload(submission, (queue, options), promise.as_ref(), (tenant, priority), ground, findings);
            if submission.progress == Progress::Active && submission.workload.is_none() {
                return already_running(submission, &workload, promise.as_ref(), ground.frame, findings);
            }
            Placed::Planned(workload)
        }
        Err(never) => {
            let mut finding = Finding::new(never.code, never.severity, submission.subject(), never.reason.clone())
                .at(submission.manifest.span(&never.place), never.label);
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

/// The ClusterQueue and the ways to run in it.
fn options(
    submission: &Submission<'_>,
    queue_name: &str,
    promise: Option<&Promise<'_>>,
    cluster_queue: &mut Option<NodeId>,
    ground: &mut Ground<'_, '_>,
    findings: &mut Findings,
) -> Result<(NodeId, Vec<RunOption>), Never> {
    let queue = find_queue(submission, queue_name, ground)?;
    *cluster_queue = Some(queue);
    let requests = requests_of(submission, queue, ground)?;
    let rules =
        ground.queues.rules(queue).ok_or_else(|| Never::new(codes::UNKNOWN_CLUSTER_QUEUE, "", "has no queue"))?;
    let allowed = promise.map_or(&[][..], |promise| &promise.spec.allowed_flavors);
    let assigned = options::assign(&submission.pod_sets, &requests, allowed, rules, ground.catalog, ground.queues);
    let Assignments { list, capped } = assigned.map_err(|refusal| explain(submission, queue, refusal, ground))?;
    if capped {
        let message = format!("may run in more than {OPTIONS_MAX} ways; the first {OPTIONS_MAX} are considered");
        findings.push(
            Finding::note(codes::CAPPED, submission.subject(), message)
                .hint("pin flavors with node selectors, or with allowedFlavors in its WorkloadSLO"),
        );
    }
    let mut smallest_excess: Option<(Amount, String)> = None;
    let mut options = Vec::with_capacity(list.len());
    for assignment in list {
        let over = assignment.uses.iter().find_map(|(cell, amount)| {
            let most = ground.reach.of(queue, *cell);
            (*amount > most).then_some((*cell, *amount, most))
        });
        if let Some((cell, amount, most)) = over {
            let excess = amount.saturating_sub(most);
            let cell = &ground.queues.cells[usize::try_from(cell.0).unwrap_or(usize::MAX)];
            let (asked, given) = (cell.resource.quantity(amount), cell.resource.quantity(most));
            if smallest_excess.as_ref().is_none_or(|(known, _)| excess < *known) {
                let name = &ground.queues.node(queue).name;
                let sentence = format!(
                    "asks for {asked} {} on {} at once, but ClusterQueue {name} could never give more than {given}",
                    cell.resource, cell.flavor
                );
                smallest_excess = Some((excess, sentence));
            }
            continue;
        }
        let unknown = Runtime { p50: horizon(ground.frame), p90: horizon(ground.frame), known: false };
        let runtime = promise.and_then(|promise| promise.runtime(&assignment.deciding)).unwrap_or(unknown);
        options.push(RunOption { flavor: assignment.flavor, uses: assignment.uses, runtime });
    }
    match smallest_excess {
        Some((_, sentence)) if options.is_empty() => {
            let mut never = Never::new(codes::NEVER_FITS, first_spec(submission), sentence);
            never.label = "asks for too much";
            never.hint = Some("raise the queue's quota or its borrowing limit, or ask for less".to_owned());
            Err(never)
        }
        _ => Ok((queue, options)),
    }
}

fn find_queue(submission: &Submission<'_>, name: &str, ground: &Ground<'_, '_>) -> Result<NodeId, Never> {
    let catalog = ground.catalog;
    let namespace = submission.manifest.namespace.as_str();
    let label = submission.label_at(QUEUE_NAME);
    let severity = reference_severity(submission.manifest);
    let Some(local) = catalog.local_queues.get(&(namespace, name)) else {
        let known = catalog.local_queues.keys().filter(|(other, _)| *other == namespace).map(|(_, name)| *name);
        let elsewhere = catalog.local_queues.keys().find(|(_, other)| *other == name);
        let hint = nearest(name, known).or_else(|| {
            let (other, _) = elsewhere?;
            Some(format!("a LocalQueue `{name}` is in namespace {other}; a job needs one in its own"))
        });
        let reason = format!("names the LocalQueue `{name}`, which is not in namespace {namespace}");
        let never = Never::new(codes::UNKNOWN_LOCAL_QUEUE, label, reason);
        return Err(Never { severity, hint, label: "this queue", ..never });
    };
    let cluster_queue = local.spec.cluster_queue.as_str();
    let Some(queue) = ground.queues.queue(cluster_queue) else {
        let reason = format!("is queued in LocalQueue `{name}`, whose ClusterQueue `{cluster_queue}` is not there");
        let hint = nearest(cluster_queue, catalog.cluster_queues.keys().copied());
        let never = Never::new(codes::UNKNOWN_CLUSTER_QUEUE, label, reason);
        return Err(Never { severity, hint, label: "its queue", ..never });
    };
    if local.spec.stop_policy.unwrap_or_default() != StopPolicy::None {
        let reason = format!("waits in LocalQueue `{name}`, which is on hold");
        return Err(Never::new(codes::ON_HOLD, label, reason));
    }
    let selector = catalog.cluster_queues.get(cluster_queue).and_then(|known| known.spec.namespace_selector.as_ref());
    if !selector.is_some_and(|selector| selector.matches(|key| catalog.namespace_label(namespace, key))) {
        let reason = format!("is in namespace {namespace}, from which ClusterQueue `{cluster_queue}` takes no work");
        let hint = match selector {
            None => {
                "the queue has no namespaceSelector, which matches nothing; `{}` matches every namespace".to_owned()
            }
            Some(_) if !catalog.namespaces.contains_key(namespace) => {
                format!("its namespaceSelector may ask for labels of Namespace {namespace}, which is not given")
            }
            Some(_) => "compare the queue's namespaceSelector with the namespace's labels".to_owned(),
        };
        let never = Never::new(codes::NAMESPACE_REFUSED, label, reason);
        return Err(Never { hint: Some(hint), label: "its queue", ..never });
    }
    Ok(queue)
}

fn requests_of(
    submission: &Submission<'_>,
    queue: NodeId,
    ground: &Ground<'_, '_>,
) -> Result<Vec<BTreeMap<ResourceName, Amount>>, Never> {
    let limits = ground.catalog.limits.get(submission.manifest.namespace.as_str());
    let rules = Rules { overheads: &ground.catalog.overheads, limits, configuration: &ground.catalog.configuration };
    let pods = ResourceName::from("pods");
    let covers_pods = ground
        .queues
        .rules(queue)
        .is_some_and(|rules| rules.groups.iter().any(|group| group.resources.contains(&pods)));
    let mut all = Vec::with_capacity(submission.pod_sets.len());
    for set in submission.pod_sets.iter() {
        if let Some((place, sentence)) = requests::violations(&set.template.spec, limits).into_iter().next() {
            let never = Never::new(codes::BAD_REQUESTS, format!("{}{place}", set.spec_at), sentence);
            return Err(Never { label: "Kueue does not queue this", ..never });
        }
        let mut amounts = requests::of_pod_set(&set.template.spec, set.count, rules).map_err(|too_large| {
            let reason = format!("asks for more {} than can be counted", too_large.0);
            Never::new(codes::TOO_LARGE, set.spec_at.clone(), reason)
        })?;
        if covers_pods && set.count > 0 {
            amounts.insert(pods.clone(), Amount(set.count));
        }
        all.push(amounts);
    }
    Ok(all)
}

fn explain(submission: &Submission<'_>, queue: NodeId, refusal: Refusal, ground: &Ground<'_, '_>) -> Never {
    let name = &ground.queues.node(queue).name;
    let place = |at: usize| submission.pod_sets.get(at).map_or(String::new(), |set| set.spec_at.clone());
    match refusal {
        Refusal::Uncovered { pod_set, resource } => {
            let reason = format!("asks for {resource}, of which ClusterQueue {name} has no quota");
            let covered =
                ground.queues.rules(queue).map(|rules| rules.groups.iter().flat_map(|group| &group.resources));
            let hint = nearest(resource.as_str(), covered.into_iter().flatten().map(ResourceName::as_str))
                .unwrap_or_else(|| {
                    format!("cover {resource} in the queue, or exclude it in Kueue's Configuration (resources)")
                });
            let never = Never::new(codes::UNCOVERED_RESOURCE, place(pod_set), reason);
            Never { hint: Some(hint), label: "asks for it here", ..never }
        }
        Refusal::NoFlavor { pod_set, reasons } => {
            let told: Vec<String> = reasons.iter().map(|(flavor, reason)| format!("{flavor}: {reason}")).collect();
            let told = if told.is_empty() { "its group has none".to_owned() } else { told.join("; ") };
            let reason = format!("fits no flavor of ClusterQueue {name} ({told})");
            Never::new(codes::NO_FLAVOR, place(pod_set), reason)
        }
        Refusal::TooLarge { resource } => Never::new(
            codes::TOO_LARGE,
            first_spec(submission),
            format!("asks for more {resource} than can be counted"),
        ),
    }
}

fn workload<'a>(
    submission: &Submission<'a>,
    (queue, options): (NodeId, Vec<RunOption>),
    promise: Option<&Promise<'a>>,
    (tenant, priority): (Option<TenantId>, i32),
    ground: &mut Ground<'_, 'a>,
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

fn first_spec(submission: &Submission<'_>) -> String {
    submission.pod_sets.first().map_or_else(String::new, |set| set.spec_at.clone())
}

fn horizon(frame: Frame) -> Seconds {
    (frame.horizon_end - frame.now).max(Seconds(1))
}
