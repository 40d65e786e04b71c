//! A workload's priority, found where Kueue finds it.

use super::catalog::Catalog;
use super::codes;
use super::findings::{Findings, nearest, reference_severity};
use super::podsets::Submission;
use super::types::PRIORITY_CLASS;
use crate::failure::Finding;

/// The Workload's own number, else its WorkloadPriorityClass, else the PriorityClass of its first pods that name one,
/// else the cluster's default.
pub fn of(submission: &Submission<'_>, catalog: &Catalog<'_>, findings: &mut Findings) -> i32 {
    let facts = submission.workload.as_ref();
    if let Some(priority) = facts.and_then(|facts| facts.priority) {
        return priority;
    }
    let label = submission.label(PRIORITY_CLASS);
    if let Some(class) = label.or_else(|| facts.and_then(|facts| facts.priority_class.as_deref())) {
        if let Some(value) = catalog.workload_priorities.get(class) {
            return *value;
        }
        let message =
            format!("names the WorkloadPriorityClass `{class}`, which is not there; its priority is taken as 0");
        let severity = reference_severity(submission.manifest);
        let mut finding = Finding::new(codes::UNKNOWN_PRIORITY_CLASS, severity, submission.subject(), message)
            .at(submission.manifest.span(&submission.label_at(PRIORITY_CLASS)), "this class");
        finding.hint = nearest(class, catalog.workload_priorities.keys().copied());
        findings.push(finding);
        return 0;
    }
    let mut classes = submission.pod_sets.iter().filter_map(|set| set.template.spec.priority_class_name.as_deref());
    match classes.find(|class| !class.is_empty()) {
        None => catalog.default_pod_priority,
        Some("system-cluster-critical") => 2_000_000_000,
        Some("system-node-critical") => 2_000_001_000,
        // A pod's class may well live only in the cluster; then nothing better than the default is known.
        Some(class) => catalog.pod_priorities.get(class).copied().unwrap_or(catalog.default_pod_priority),
    }
}
