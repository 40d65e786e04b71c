//! What a PodSet asks of the quota, computed as Kueue computes it before a workload is admitted.
//!
//! The order is Kueue's: RuntimeClass overhead, LimitRange defaults, limits where requests are missing, Kubernetes' pod
//! request rule, excluded prefixes, transformations, rounding per pod, times the count. `of_pod_set` is the whole of it.
//! Deliberately absent: dynamic resource allocation, which needs the DeviceClass mapping of the live configuration.

use std::collections::BTreeMap;

use super::pod::{Container, LimitRangeItem, PodSpec, ResourceList, Resources};
use super::quantity::Quantity;
use super::types::{ConfigurationResources, Strategy};
use crate::names::ResourceName;
use crate::units::Amount;

/// What stands outside the pod template but changes its requests.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// `overhead.podFixed` by RuntimeClass name.
    pub overheads: &'a BTreeMap<String, ResourceList>,
    /// The namespace's container defaults and bounds.
    pub limits: Option<&'a ContainerLimits>,
    pub configuration: &'a ConfigurationResources,
}

/// The LimitRanges of one namespace, as far as they concern containers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContainerLimits {
    default: ResourceList,
    default_request: ResourceList,
    max: ResourceList,
    min: ResourceList,
}

impl ContainerLimits {
    /// Folds the items of a namespace in the given order: first default wins, tightest bound wins.
    ///
    /// The API server's own defaulting comes first: max stands in for a default limit, the default limit for a default
    /// request, min for a default request. On objects read from a cluster it has been done already and changes nothing.
    #[must_use]
    pub fn summarize<'a>(items: impl IntoIterator<Item = &'a LimitRangeItem>) -> Option<Self> {
        let mut summary: Option<Self> = None;
        for item in items.into_iter().filter(|item| item.kind == "Container") {
            let into = summary.get_or_insert_default();
            let mut default = item.default.clone();
            keep_first(&mut default, &item.max);
            let mut default_request = item.default_request.clone();
            keep_first(&mut default_request, &default);
            keep_first(&mut default_request, &item.min);
            keep_first(&mut into.default, &default);
            keep_first(&mut into.default_request, &default_request);
            merge(&mut into.max, &item.max, Ord::min);
            merge(&mut into.min, &item.min, Ord::max);
        }
        summary
    }
}

/// A resource of which a workload asks for more than can be counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooLarge(pub ResourceName);

/// Everything a PodSet asks for, over all its pods; resources it asks nothing of are absent.
///
/// # Errors
/// [`TooLarge`] when an amount passes 2^63.
pub fn of_pod_set(spec: &PodSpec, count: i64, rules: Rules<'_>) -> Result<BTreeMap<ResourceName, Amount>, TooLarge> {
    let kept = excluded(per_pod(spec, rules), &rules.configuration.exclude_resource_prefixes);
    let counted = transformed(kept, rules.configuration)?;
    let mut total = BTreeMap::new();
    for (name, quantity) in counted {
        let resource = ResourceName::from(name);
        match quantity.amount(&resource).and_then(|amount| amount.times(count)) {
            Some(Amount::ZERO) => {}
            Some(amount) => {
                total.insert(resource, amount);
            }
            None => return Err(TooLarge(resource)),
        }
    }
    Ok(total)
}

/// What one pod asks for: Kubernetes' rule over containers, init containers, sidecars, pod-level resources and overhead.
#[must_use]
pub fn per_pod(spec: &PodSpec, rules: Rules<'_>) -> ResourceList {
    let containers = completed(&spec.containers, rules.limits);
    let init_containers = completed(&spec.init_containers, rules.limits);
    let mut running = ResourceList::new();
    for (_, resources) in &containers {
        merge(&mut running, &resources.requests, Quantity::plus);
    }
    // Sidecars start in order and stay; an ordinary init container runs beside those before it.
    let mut sidecars = ResourceList::new();
    let mut starting = ResourceList::new();
    for (container, resources) in &init_containers {
        let mut stage = resources.requests.clone();
        if container.restart_policy.as_deref() == Some("Always") {
            merge(&mut running, &resources.requests, Quantity::plus);
            merge(&mut sidecars, &resources.requests, Quantity::plus);
            stage.clone_from(&sidecars);
        } else {
            merge(&mut stage, &sidecars, Quantity::plus);
        }
        merge(&mut starting, &stage, Ord::max);
    }
    merge(&mut running, &starting, Ord::max);
    if let Some(pod_level) = &spec.resources {
        let mut requests = pod_level.requests.clone();
        // The API server lets a pod-level limit stand in for a request only where no container makes one.
        for (name, limit) in &pod_level.limits {
            if !running.contains_key(name) {
                requests.entry(name.clone()).or_insert(*limit);
            }
        }
        running.extend(requests.into_iter().filter(|(name, _)| is_pod_level(name)));
    }
    let overhead = match &spec.runtime_class_name {
        Some(class) if spec.overhead.is_empty() => rules.overheads.get(class),
        _ => Some(&spec.overhead),
    };
    if let Some(overhead) = overhead {
        merge(&mut running, overhead, Quantity::plus);
    }
    running
}

/// Why Kueue would not queue the pod: requests above limits, or outside the namespace's LimitRange.
///
/// Each entry is the container's place below the pod spec and one sentence.
#[must_use]
pub fn violations(spec: &PodSpec, limits: Option<&ContainerLimits>) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (list, containers) in [("initContainers", &spec.init_containers), ("containers", &spec.containers)] {
        for (at, (container, resources)) in completed(containers, limits).into_iter().enumerate() {
            let place = format!("/{list}/{at}/resources");
            let mut say = |sentence: String| found.push((place.clone(), sentence));
            for (name, request) in &resources.requests {
                if resources.limits.get(name).is_some_and(|limit| limit < request) {
                    say(format!("container `{}` requests more {name} than its limit allows", container.name));
                }
            }
            let Some(range) = limits else { continue };
            let (mut most, mut least) = (resources.requests.clone(), resources.requests.clone());
            merge(&mut most, &resources.limits, Ord::max);
            merge(&mut least, &resources.limits, Ord::min);
            for (name, max) in &range.max {
                if most.get(name).is_some_and(|most| most > max) {
                    say(format!("container `{}` asks for more {name} than the LimitRange allows", container.name));
                }
            }
            for (name, min) in &range.min {
                if least.get(name).copied().unwrap_or_default() < *min {
                    say(format!("container `{}` asks for less {name} than the LimitRange demands", container.name));
                }
            }
        }
    }
    found
}

/// Containers with the namespace's defaults filled in, then limits where requests are missing.
fn completed<'a>(containers: &'a [Container], limits: Option<&ContainerLimits>) -> Vec<(&'a Container, Resources)> {
    containers
        .iter()
        .map(|container| {
            let mut resources = container.resources.clone();
            if let Some(defaults) = limits {
                keep_first(&mut resources.limits, &defaults.default);
                // Kueue lets the namespace's default request go before the container's own limit; templates, unlike
                // pods, are stored without the limit copied.
                keep_first(&mut resources.requests, &defaults.default_request);
            }
            let limits = resources.limits.clone();
            keep_first(&mut resources.requests, &limits);
            (container, resources)
        })
        .collect()
}

fn excluded(mut requests: ResourceList, prefixes: &[String]) -> ResourceList {
    requests.retain(|name, _| !prefixes.iter().any(|prefix| name.starts_with(prefix.as_str())));
    requests
}

/// Applies the configured transformations; inputs count in whole units, rounded up, as Kueue's `Value()` does.
fn transformed(requests: ResourceList, configuration: &ConfigurationResources) -> Result<ResourceList, TooLarge> {
    let mapping = |name: &str| configuration.transformations.iter().find(|candidate| candidate.input == name);
    if !requests.keys().any(|name| mapping(name).is_some()) {
        return Ok(requests);
    }
    let whole = |name: &str, quantity: Quantity| quantity.value().ok_or_else(|| TooLarge(ResourceName::from(name)));
    let mut output = ResourceList::new();
    for (name, quantity) in &requests {
        let mut kept = *quantity;
        let Some(transformation) = mapping(name) else {
            add(&mut output, name, kept);
            continue;
        };
        // Kueue multiplies the input itself, so a retained input shows the product too.
        if let Some(factor) = transformation.multiply_by.as_ref().and_then(|factor| requests.get(factor)) {
            kept = kept.times(whole(name, *factor)?);
        }
        for (target, factor) in &transformation.outputs {
            add(&mut output, target, factor.times(whole(name, kept)?));
        }
        if transformation.strategy == Strategy::Retain {
            add(&mut output, name, kept);
        }
    }
    Ok(output)
}

/// Kubernetes allows these, and only these, in a pod's own `resources`.
fn is_pod_level(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

fn add(list: &mut ResourceList, name: &str, quantity: Quantity) {
    let sum = list.get(name).copied().unwrap_or_default().plus(quantity);
    list.insert(name.to_owned(), sum);
}

fn keep_first(list: &mut ResourceList, other: &ResourceList) {
    for (name, quantity) in other {
        list.entry(name.clone()).or_insert(*quantity);
    }
}

fn merge(list: &mut ResourceList, other: &ResourceList, both: impl Fn(Quantity, Quantity) -> Quantity) {
    for (name, quantity) in other {
        list.entry(name.clone()).and_modify(|kept| *kept = both(*kept, *quantity)).or_insert(*quantity);
    }
}
