//! An imported trace as a scenario: the manifests from which `plan` reads the same snapshot again.
//!
//! Objects stand in a fixed order: Scenario, flavors, ClusterQueue, then per namespace its Namespace, GpuTenant and
//! LocalQueue, then each job with its WorkloadSLO. A job's `creationTimestamp` is its submission, so work of the future
//! arrives when it did in the trace. A job is one pod that asks for everything: the traces say nothing about pods.
//!
//! Deliberately absent: snapshots of any other shape. Importers make one ClusterQueue without windows or running work.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::calendar;
use crate::plan::snapshot::{DeadlinePolicy, Snapshot, Workload};
use crate::units::{Seconds, Timestamp};

use super::Import;

/// The manifests as YAML documents, in UTC.
#[must_use]
pub fn yaml(import: &Import) -> String {
    let snapshot = &import.snapshot;
    let mut text = String::new();
    header(&mut text, import);
    capacity(&mut text, snapshot);
    let mut namespaces: BTreeMap<&str, Option<&str>> = BTreeMap::new();
    for workload in &snapshot.workloads {
        let tenant = workload.tenant.as_ref().map(crate::names::TenantId::as_str);
        namespaces.entry(workload.key.namespace()).or_insert(tenant);
    }
    for (namespace, tenant) in namespaces {
        owner(&mut text, snapshot, namespace, tenant);
    }
    for workload in &snapshot.workloads {
        job(&mut text, snapshot, workload);
    }
    text
}

/// Writing into a `String` cannot fail.
macro_rules! put {
    ($text:expr, $($argument:tt)+) => {
        writeln!($text, $($argument)+).expect("writing to a String must succeed")
    };
}

fn header(text: &mut String, import: &Import) {
    let (snapshot, report) = (&import.snapshot, &import.report);
    put!(
        text,
        "# Imported from {} ({}): {} of {} rows.",
        one_line(&report.file),
        report.format,
        report.rows_kept,
        report.rows_read
    );
    for statement in &report.statements {
        put!(text, "# - {}.", one_line(statement));
    }
    put!(text, "apiVersion: stagger.dev/v1alpha1");
    put!(text, "kind: Scenario");
    put!(text, "metadata: {{name: {}}}", report.format);
    put!(
        text,
        "spec: {{now: {}, timeZone: {}, horizon: {}}}",
        instant(snapshot.now),
        quoted(&snapshot.time_zone),
        duration(snapshot.horizon_end - snapshot.now)
    );
}

fn capacity(text: &mut String, snapshot: &Snapshot) {
    for cell in &snapshot.cells {
        put!(
            text,
            "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {}}}",
            cell.flavor
        );
    }
    let node = &snapshot.nodes[0];
    put!(text, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {{name: {}}}", node.name);
    put!(text, "spec:\n  namespaceSelector: {{}}\n  resourceGroups:");
    let resource = &snapshot.cells[0].resource;
    put!(text, "  - coveredResources: [{}]\n    flavors:", quoted(resource.as_str()));
    for (cell, quota) in &node.quotas {
        let quantity = quoted(&resource.quantity(quota.nominal));
        let flavor = &snapshot.cell(*cell).flavor;
        put!(text, "    - {{name: {flavor}, resources: [{{name: {resource}, nominalQuota: {quantity}}}]}}");
    }
}

fn owner(text: &mut String, snapshot: &Snapshot, namespace: &str, tenant: Option<&str>) {
    put!(text, "---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {namespace}}}");
    if let Some(tenant) = tenant {
        put!(text, "---\napiVersion: stagger.dev/v1alpha1\nkind: GpuTenant\nmetadata: {{name: {tenant}}}");
        put!(text, "spec: {{namespaces: [{namespace}]}}");
    }
    let queue = &snapshot.nodes[0].name;
    put!(text, "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue");
    put!(text, "metadata: {{name: {queue}, namespace: {namespace}}}\nspec: {{clusterQueue: {queue}}}");
}

fn job(text: &mut String, snapshot: &Snapshot, workload: &Workload) {
    let (namespace, name) = (workload.key.namespace(), workload.key.name());
    let queue = &snapshot.nodes[0].name;
    put!(text, "---\napiVersion: batch/v1\nkind: Job\nmetadata:");
    put!(text, "  name: {name}\n  namespace: {namespace}\n  creationTimestamp: {}", instant(workload.created));
    put!(text, "  labels: {{kueue.x-k8s.io/queue-name: {queue}}}");
    let limits = match workload.options[0].uses.first() {
        Some((cell, amount)) => {
            let resource = &snapshot.cell(*cell).resource;
            format!(", resources: {{limits: {{{resource}: {}}}}}", quoted(&resource.quantity(*amount)))
        }
        None => String::new(),
    };
    put!(
        text,
        "spec: {{template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: trace{limits}}}]}}}}}}"
    );
    if workload.has_slo {
        slo(text, snapshot, workload);
    }
}

fn slo(text: &mut String, snapshot: &Snapshot, workload: &Workload) {
    let (namespace, name) = (workload.key.namespace(), workload.key.name());
    put!(text, "---\napiVersion: stagger.dev/v1alpha1\nkind: WorkloadSLO");
    put!(text, "metadata: {{name: {name}, namespace: {namespace}}}");
    put!(text, "spec:\n  targetRef: {{group: batch, kind: Job, name: {name}}}");
    if let Some(due) = &workload.due {
        let policy = match due.policy {
            DeadlinePolicy::Hard => "Hard",
            DeadlinePolicy::Soft => "Soft",
            DeadlinePolicy::BestEffort => "BestEffort",
        };
        put!(text, "  finishBy: {}\n  deadlinePolicy: {policy}", instant(due.at));
        if !due.tiers.is_empty() {
            let tier = |tier: &crate::plan::snapshot::Tier| {
                format!("{{after: {}, valuePercent: {}}}", duration(tier.after), tier.value_percent)
            };
            let tiers: Vec<String> = due.tiers.iter().map(tier).collect();
            put!(text, "  valueAfterDeadline: [{}]", tiers.join(", "));
        }
    } else {
        put!(text, "  deadlinePolicy: BestEffort");
    }
    put!(text, "  value: {}", workload.value);
    let runtime = workload.options[0].runtime;
    put!(text, "  expectedRuntime: {{p50: {}, p90: {}}}", duration(runtime.p50), duration(runtime.p90));
    let uses_quota = !workload.options[0].uses.is_empty();
    if uses_quota && workload.options.len() < snapshot.cells.len() {
        let flavors: Vec<&str> = workload.options.iter().map(|option| option.flavor.as_str()).collect();
        put!(text, "  allowedFlavors: [{}]", flavors.join(", "));
    }
}

fn instant(at: Timestamp) -> String {
    quoted(&calendar::rfc3339(at, chrono_tz::UTC))
}

/// GEP-2257 allows five digits a part, so hours above 99,999 cannot be written; twice a hundred years is less than that
/// only when split over all four parts, and no trace comes near.
fn duration(span: Seconds) -> String {
    calendar::duration(span)
}

/// A double-quoted YAML scalar: JSON strings are.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A comment must not be continued by what a file name holds.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
