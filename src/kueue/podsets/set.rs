//! JobSet and LeaderWorkerSet.

use serde::Deserialize;

use super::job::JobSpec;
use super::{Submission, Templated, count, pod_set, progress};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::pod::PodTemplate;
use crate::kueue::types::or_default;

/// Each group is a workload of its own; a thousand of one set is far beyond serving fleets we know of.
const GROUPS_MAX: i64 = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct JobSetSpec {
    #[serde(deserialize_with = "or_default")]
    replicated_jobs: Vec<ReplicatedJob>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReplicatedJob {
    name: String,
    replicas: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    template: Templated<JobSpec>,
}

/// One PodSet per replicated job: its replicas times the pods each Job has at once.
pub(super) fn job_set(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let spec: JobSetSpec = manifest.decode("/spec")?;
    let sets = spec.replicated_jobs.iter().enumerate().map(|(at, job)| {
        job.template.spec.pod_set(&job.name, count(job.replicas), &format!("/spec/replicatedJobs/{at}/template/spec"))
    });
    // A JobSet's status has no single count of running pods; its Workload says when it is admitted.
    let progress = progress(manifest, &["Completed", "Failed"], "/status/none");
    Ok(Submission::new(manifest, sets.collect(), progress))
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaderWorkerSetSpec {
    replicas: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    leader_worker_template: LeaderWorkerTemplate,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct LeaderWorkerTemplate {
    leader_template: Option<PodTemplate>,
    #[serde(deserialize_with = "or_default")]
    worker_template: PodTemplate,
    size: Option<i64>,
}

/// One workload per group: a leader and `size - 1` workers, or `size` pods of one template.
pub(super) fn leader_worker_set<'a>(
    manifest: &'a Manifest,
    findings: &mut Findings,
) -> Result<Vec<Submission<'a>>, Finding> {
    let spec: LeaderWorkerSetSpec = manifest.decode("/spec")?;
    let group = &spec.leader_worker_template;
    let size = count(group.size);
    let workers_at = "/spec/leaderWorkerTemplate/workerTemplate";
    let mut sets = Vec::new();
    if let Some(leader) = &group.leader_template {
        sets.push(pod_set("leader", 1, leader, "/spec/leaderWorkerTemplate/leaderTemplate"));
        if size > 1 {
            sets.push(pod_set("worker", size - 1, &group.worker_template, workers_at));
        }
    } else {
        sets.push(pod_set("main", size, &group.worker_template, workers_at));
    }
    let mut groups = count(spec.replicas);
    if groups > GROUPS_MAX {
        let message = format!("has {groups} groups; the first {GROUPS_MAX} are planned");
        findings.push(
            Finding::warning(codes::CAPPED, manifest.subject(), message).at(manifest.span("/spec/replicas"), "here"),
        );
        groups = GROUPS_MAX;
    }
    let progress = progress(manifest, &[], "/status/readyReplicas");
    let whole = Submission::new(manifest, sets, progress);
    Ok((0..groups).map(|at| whole.clone().named(&format!("{}-{at}", manifest.name))).collect())
}
