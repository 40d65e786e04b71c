//! Everything in the manifests that jobs refer to, decoded once and found by name.
//!
//! Invariant: an object that cannot be decoded is told of once and then treated as absent. Objects given twice count as
//! their last copy; the reader of files has told of those.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::codes;
use super::findings::Findings;
use super::pod::{LimitRangeItem, ResourceList};
use super::podsets;
use super::requests::ContainerLimits;
use super::types::{
    self, ClusterQueueSpec, CohortSpec, ConfigurationResources, LocalQueueSpec, ResourceFlavorSpec, or_default,
};
use crate::api;
use crate::api::capacity_plan::CapacityPlanSpec;
use crate::api::inventory::GpuInventorySpec;
use crate::api::manifest::Manifest;
use crate::api::rate_card::RateCardSpec;
use crate::api::scenario::ScenarioSpec;
use crate::api::slo::WorkloadSloSpec;
use crate::api::tenant::GpuTenantSpec;
use crate::failure::Finding;

/// A decoded object beside the manifest it came from.
#[derive(Debug, Clone)]
pub struct Known<'a, T> {
    pub manifest: &'a Manifest,
    pub spec: T,
}

#[derive(Debug, Default)]
pub struct Catalog<'a> {
    pub cluster_queues: BTreeMap<&'a str, Known<'a, ClusterQueueSpec>>,
    pub cohorts: BTreeMap<&'a str, Known<'a, CohortSpec>>,
    /// By namespace and name.
    pub local_queues: BTreeMap<(&'a str, &'a str), Known<'a, LocalQueueSpec>>,
    pub flavors: BTreeMap<&'a str, Known<'a, ResourceFlavorSpec>>,
    pub namespaces: BTreeMap<&'a str, &'a Manifest>,
    /// WorkloadPriorityClass values.
    pub workload_priorities: BTreeMap<&'a str, i32>,
    pub pod_priorities: BTreeMap<&'a str, i32>,
    /// Of the PriorityClass marked as the cluster's default.
    pub default_pod_priority: i32,
    pub overheads: BTreeMap<String, ResourceList>,
    pub limits: BTreeMap<&'a str, ContainerLimits>,
    pub configuration: ConfigurationResources,
    /// By namespace and name.
    pub slos: BTreeMap<(&'a str, &'a str), Known<'a, WorkloadSloSpec>>,
    pub tenants: BTreeMap<&'a str, Known<'a, GpuTenantSpec>>,
    pub capacity_plans: BTreeMap<&'a str, Known<'a, CapacityPlanSpec>>,
    pub rate_cards: BTreeMap<&'a str, Known<'a, RateCardSpec>>,
    pub inventories: BTreeMap<&'a str, Known<'a, GpuInventorySpec>>,
    pub scenario: Option<Known<'a, ScenarioSpec>>,
    /// Objects of kinds that Kueue queues, in the given order.
    pub queued: Vec<&'a Manifest>,
}

/// `PriorityClass` and `WorkloadPriorityClass` keep their value at the top.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PriorityClass {
    value: i32,
    #[serde(default, deserialize_with = "or_default")]
    global_default: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Overhead {
    #[serde(deserialize_with = "or_default")]
    pod_fixed: ResourceList,
}

impl<'a> Catalog<'a> {
    /// Sorts the manifests by kind. Kinds nobody here reads are left alone.
    #[must_use]
    pub fn of(manifests: impl IntoIterator<Item = &'a Manifest>, findings: &mut Findings) -> Self {
        let mut catalog = Self::default();
        let mut ranges: BTreeMap<&'a str, Vec<LimitRangeItem>> = BTreeMap::new();
        for manifest in manifests {
            let name = manifest.name.as_str();
            let scoped = (manifest.namespace.as_str(), name);
            match (manifest.group(), manifest.kind.as_str()) {
                (types::GROUP, "ClusterQueue") => keep(&mut catalog.cluster_queues, name, manifest, findings),
                (types::GROUP, "Cohort") => keep(&mut catalog.cohorts, name, manifest, findings),
                (types::GROUP, "LocalQueue") => keep(&mut catalog.local_queues, scoped, manifest, findings),
                (types::GROUP, "ResourceFlavor") => keep(&mut catalog.flavors, name, manifest, findings),
                (types::GROUP, "WorkloadPriorityClass") => {
                    if let Some(class) = decoded::<PriorityClass>(manifest, "", findings) {
                        catalog.workload_priorities.insert(name, class.value);
                    }
                }
                (types::CONFIG_GROUP, "Configuration") if manifest.at("/resources").is_some() => {
                    if let Some(resources) = decoded(manifest, "/resources", findings) {
                        catalog.configuration = resources;
                    }
                }
                ("scheduling.k8s.io", "PriorityClass") => catalog.pod_priority(name, manifest, findings),
                ("node.k8s.io", "RuntimeClass") if manifest.at("/overhead").is_some() => {
                    if let Some(overhead) = decoded::<Overhead>(manifest, "/overhead", findings) {
                        catalog.overheads.insert(name.to_owned(), overhead.pod_fixed);
                    }
                }
                ("", "Namespace") => {
                    catalog.namespaces.insert(name, manifest);
                }
                ("", "LimitRange") if manifest.at("/spec/limits").is_some() => {
                    let items: Option<Vec<LimitRangeItem>> = decoded(manifest, "/spec/limits", findings);
                    ranges.entry(manifest.namespace.as_str()).or_default().extend(items.unwrap_or_default());
                }
                (api::GROUP, kind) => catalog.ours(kind, manifest, findings),
                (group, kind) if podsets::is_queued_kind(group, kind) => catalog.queued.push(manifest),
                _ => {}
            }
        }
        catalog.limits = ranges
            .iter()
            .filter_map(|(namespace, items)| Some((*namespace, ContainerLimits::summarize(items)?)))
            .collect();
        catalog
    }

    fn ours(&mut self, kind: &str, manifest: &'a Manifest, findings: &mut Findings) {
        let name = manifest.name.as_str();
        match kind {
            api::slo::KIND => keep(&mut self.slos, (manifest.namespace.as_str(), name), manifest, findings),
            api::tenant::KIND => keep(&mut self.tenants, name, manifest, findings),
            api::capacity_plan::KIND => keep(&mut self.capacity_plans, name, manifest, findings),
            api::rate_card::KIND => keep(&mut self.rate_cards, name, manifest, findings),
            api::inventory::KIND => keep(&mut self.inventories, name, manifest, findings),
            api::scenario::KIND => match &self.scenario {
                Some(first) => {
                    let message =
                        format!("is a second Scenario beside `{}`; one plan has one now", first.manifest.name);
                    findings.push(
                        Finding::error(codes::SEVERAL, manifest.subject(), message)
                            .at(manifest.span("/kind"), "the second one")
                            .hint("give one Scenario a run"),
                    );
                }
                None => {
                    self.scenario = spec_of(manifest, findings).map(|spec| Known { manifest, spec });
                }
            },
            _ => {}
        }
    }

    fn pod_priority(&mut self, name: &'a str, manifest: &Manifest, findings: &mut Findings) {
        if let Some(class) = decoded::<PriorityClass>(manifest, "", findings) {
            self.pod_priorities.insert(name, class.value);
            if class.global_default {
                self.default_pod_priority = class.value;
            }
        }
    }

    /// A namespace's label; every namespace carries its own name as one.
    #[must_use]
    pub fn namespace_label<'n>(&'n self, namespace: &'n str, key: &str) -> Option<&'n str> {
        if key == "kubernetes.io/metadata.name" {
            return Some(namespace);
        }
        self.namespaces.get(namespace)?.label(key)
    }
}

fn keep<'a, K: Ord, T: DeserializeOwned>(
    into: &mut BTreeMap<K, Known<'a, T>>,
    key: K,
    manifest: &'a Manifest,
    findings: &mut Findings,
) {
    if let Some(spec) = spec_of(manifest, findings) {
        into.insert(key, Known { manifest, spec });
    }
}

/// The spec; one that is absent is read as an empty one, as the API server does.
fn spec_of<T: DeserializeOwned>(manifest: &Manifest, findings: &mut Findings) -> Option<T> {
    if manifest.at("/spec").is_none_or(Value::is_null)
        && let Ok(spec) = T::deserialize(Value::Object(serde_json::Map::new()))
    {
        return Some(spec);
    }
    decoded(manifest, "/spec", findings)
}

fn decoded<T: DeserializeOwned>(manifest: &Manifest, pointer: &str, findings: &mut Findings) -> Option<T> {
    manifest.decode(pointer).map_err(|finding| findings.push(finding)).ok()
}
