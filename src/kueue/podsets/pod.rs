//! Plain pods, and groups of pods that Kueue admits together.

use std::collections::BTreeMap;

use super::{PodSet, Progress, Submission, pod_set};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::pod::PodTemplate;
use crate::kueue::types::{POD_GROUP_FAST, POD_GROUP_NAME, POD_GROUP_TOTAL};

pub(super) fn pod(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let template = PodTemplate { spec: manifest.decode("/spec")?, ..PodTemplate::default() };
    let progress = match manifest.at("/status/phase").and_then(serde_json::Value::as_str) {
        Some("Succeeded" | "Failed") => Progress::Finished,
        Some("Running") => Progress::Active,
        _ => Progress::Waiting,
    };
    Ok(Submission::new(manifest, vec![pod_set("main", 1, &template, "")], progress))
}

/// Folds the pods of each group into one submission of kind `PodGroup`; everything else passes through, in order.
///
/// Kueue waits for all pods of a group before it makes the Workload, so an incomplete group is left out with a finding,
/// unless it asks for fast admission: then pods like its first one are counted for those that are missing.
pub fn group_pods<'a>(submissions: Vec<Submission<'a>>, findings: &mut Findings) -> Vec<Submission<'a>> {
    let mut groups: BTreeMap<(String, String), Vec<Submission<'a>>> = BTreeMap::new();
    let mut kept = Vec::with_capacity(submissions.len());
    for submission in submissions {
        match submission.label(POD_GROUP_NAME) {
            Some(name) if submission.kind == "Pod" => {
                groups.entry((submission.manifest.namespace.clone(), name.to_owned())).or_default().push(submission);
            }
            _ => kept.push(submission),
        }
    }
    for ((_, name), pods) in groups {
        kept.extend(group(&name, &pods, findings));
    }
    kept
}

fn group<'a>(name: &str, pods: &[Submission<'a>], findings: &mut Findings) -> Option<Submission<'a>> {
    let first = pods.first()?;
    let live: Vec<&Submission<'a>> = pods.iter().filter(|pod| pod.progress != Progress::Finished).collect();
    let mut whole = first.clone().named(name);
    "PodGroup".clone_into(&mut whole.kind);
    whole.created = pods.iter().filter_map(|pod| pod.created).min();
    if live.is_empty() {
        whole.progress = Progress::Finished;
        return Some(whole);
    }
    let active = live.iter().any(|pod| pod.progress == Progress::Active);
    whole.progress = if active { Progress::Active } else { Progress::Waiting };
    let mut sets: Vec<PodSet> = Vec::new();
    for set in live.iter().flat_map(|pod| pod.pod_sets.iter()) {
        match sets.iter_mut().find(|known| known.template == set.template) {
            Some(known) => known.count += 1,
            None => sets.push(PodSet { name: format!("role-{}", sets.len()), ..set.clone() }),
        }
    }
    let written = first.annotation(POD_GROUP_TOTAL);
    let total = written.and_then(|text| text.parse::<i64>().ok()).filter(|total| *total > 0);
    let present = i64::try_from(pods.len()).unwrap_or(i64::MAX);
    let fast = first.annotation(POD_GROUP_FAST) == Some("true");
    let tell = |message: String, hint: &str| {
        Finding::warning(codes::POD_GROUP, whole.subject(), message)
            .at(first.manifest.span("/metadata/annotations"), "of its first pod")
            .hint(hint.to_owned())
    };
    match total {
        None => {
            let message = format!("has no total count that can be read ({POD_GROUP_TOTAL}); it is left out");
            findings.push(tell(message, "Kueue needs this annotation on every pod of a group"));
            return None;
        }
        Some(total) if present < total && fast => sets[0].count += total - present,
        Some(total) if present != total => {
            let message = format!(
                "has {present} of {total} pods that it announces; Kueue waits until they agree, it is left out"
            );
            findings.push(tell(message, "give all pods of the group"));
            return None;
        }
        Some(_) => {}
    }
    whole.pod_sets = sets.into();
    Some(whole)
}
