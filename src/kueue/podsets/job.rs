//! batch/v1: Job and CronJob.

use std::sync::Arc;

use serde::Deserialize;

use super::{Coming, PodSet, Progress, Submission, parallel_pods, pod_set, progress};
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::cron::Schedule;
use crate::kueue::findings::Findings;
use crate::kueue::pod::PodTemplate;
use crate::kueue::types::or_default;
use crate::names::WorkloadKey;

/// A run every minute for a week is 10,080; beyond a thousand, a plan says nothing a person would read.
const RUNS_MAX: usize = 1_000;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct JobSpec {
    parallelism: Option<i64>,
    completions: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    template: PodTemplate,
}

impl JobSpec {
    /// Its pods at once, times `replicas` of the Job.
    pub(super) fn pod_set(&self, name: &str, replicas: i64, spec_at: &str) -> PodSet {
        let pods = parallel_pods(self.parallelism, self.completions).saturating_mul(replicas);
        pod_set(name, pods, &self.template, &format!("{spec_at}/template"))
    }
}

/// Kueue's PodSet `main` counts min(parallelism, completions) pods.
pub(super) fn job(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let spec: JobSpec = manifest.decode("/spec")?;
    let ends = ["Complete", "Failed", "SuccessCriteriaMet", "FailureTarget"];
    let progress = progress(manifest, &ends, "/status/active");
    Ok(Submission::new(manifest, vec![spec.pod_set("main", 1, "/spec")], progress))
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CronJobSpec {
    schedule: String,
    time_zone: Option<String>,
    suspend: Option<bool>,
    #[serde(default, deserialize_with = "or_default")]
    job_template: super::Templated<JobSpec>,
}

/// Every run within the horizon, named as the CronJob controller will name it: with its minute since 1970.
pub(super) fn cron_job<'a>(
    manifest: &'a Manifest,
    coming: Coming,
    findings: &mut Findings,
) -> Result<Vec<Submission<'a>>, Finding> {
    let spec: CronJobSpec = manifest.decode("/spec")?;
    let wrong = |field: &str, message: String| {
        Finding::error(codes::BAD_SCHEDULE, manifest.subject(), message).at(manifest.span(field), "this value")
    };
    let schedule = Schedule::parse(&spec.schedule).map_err(|message| wrong("/spec/schedule", message))?;
    // Without a zone Kubernetes takes its controller's, which is UTC almost everywhere.
    let zone = calendar::zone(spec.time_zone.as_deref().unwrap_or("Etc/UTC"))
        .map_err(|message| wrong("/spec/timeZone", message))?;
    if spec.suspend == Some(true) {
        let message = "is suspended, so no run of it is planned";
        findings.push(Finding::note(codes::CRON_SUSPENDED, manifest.subject(), message));
        return Ok(Vec::new());
    }
    let mut runs = schedule.runs(coming.from, coming.to, zone, RUNS_MAX + 1);
    if runs.len() > RUNS_MAX {
        let until = calendar::rfc3339(runs[RUNS_MAX], zone);
        let message = format!("has more than {RUNS_MAX} runs within the horizon; those from {until} on are left out");
        findings.push(
            Finding::warning(codes::CAPPED, manifest.subject(), message)
                .at(manifest.span("/spec/schedule"), "runs this often")
                .hint("shorten the horizon"),
        );
        runs.truncate(RUNS_MAX);
    }
    let at = "/spec/jobTemplate/spec";
    let pod_sets: Arc<[PodSet]> = vec![spec.job_template.spec.pod_set("main", 1, at)].into();
    let run = |at: crate::units::Timestamp| {
        let mut submission = Submission::new(manifest, Vec::new(), Progress::Waiting);
        submission.key = WorkloadKey::new(&manifest.namespace, &format!("{}-{}", manifest.name, at.0.div_euclid(60)));
        submission.pod_sets = Arc::clone(&pod_sets);
        submission.metadata_at = "/spec/jobTemplate/metadata";
        submission.created = Some(at);
        submission.arrives = Some(at);
        submission
    };
    Ok(runs.into_iter().map(run).collect())
}
