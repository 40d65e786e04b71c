//! Whether Kueue could ever admit a workload, and in which ways: queue, namespace, requests, flavors, quota, in this order.

use std::collections::BTreeMap;

use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use super::given::Frame;
use super::options::{self, Assignments, OPTIONS_MAX, Refusal};
use super::place::Ground;
use super::podsets::Submission;
use super::promise::Promise;
use super::requests::{self, Rules};
use super::types::{QUEUE_NAME, StopPolicy};
use crate::failure::{Finding, Severity};
use crate::names::ResourceName;
use crate::plan::snapshot::{NodeId, RunOption, Runtime};
use crate::units::{Amount, Seconds};

/// Why Kueue would never admit a workload, before it is told.
pub(super) struct Never {
    pub code: &'static str,
    pub severity: Severity,
    pub reason: String,
    pub place: String,
    pub label: &'static str,
    pub hint: Option<String>,
    /// Whether the key at `place` is meant rather than its value.
    pub at_key: bool,
}

impl Never {
    fn new(code: &'static str, place: impl Into<String>, reason: impl Into<String>) -> Self {
        let (reason, place) = (reason.into(), place.into());
        Self { code, severity: Severity::Warning, reason, place, label: "here", hint: None, at_key: false }
    }
}

/// The ClusterQueue and the ways to run in it.
pub(super) fn ways(
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
            let place = asked_at(submission, pod_set, resource.as_str()).unwrap_or_else(|| place(pod_set));
            let never = Never::new(codes::UNCOVERED_RESOURCE, place, reason);
            Never { hint: Some(hint), label: "has no quota", at_key: true, ..never }
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

/// Where a container of the PodSet asks for the resource.
fn asked_at(submission: &Submission<'_>, pod_set: usize, resource: &str) -> Option<String> {
    let spec_at = &submission.pod_sets.get(pod_set)?.spec_at;
    let escaped = resource.replace('~', "~0").replace('/', "~1");
    let of = |list: &'static str| {
        let containers = submission.manifest.at(&format!("{spec_at}/{list}")).and_then(serde_json::Value::as_array);
        (0..containers.map_or(0, Vec::len)).map(move |at| format!("{spec_at}/{list}/{at}/resources"))
    };
    of("containers")
        .chain(of("initContainers"))
        .flat_map(|resources| ["requests", "limits"].map(|side| format!("{resources}/{side}/{escaped}")))
        .find(|place| submission.manifest.at(place).is_some())
}

fn first_spec(submission: &Submission<'_>) -> String {
    submission.pod_sets.first().map_or_else(String::new, |set| set.spec_at.clone())
}

fn horizon(frame: Frame) -> Seconds {
    (frame.horizon_end - frame.now).max(Seconds(1))
}
