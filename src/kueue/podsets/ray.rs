//! KubeRay: RayJob and RayCluster.

use serde::Deserialize;

use super::{PodSet, Progress, Submission, count, pod_set};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::pod::{Container, PodSpec, PodTemplate, Resources};
use crate::kueue::quantity::Quantity;
use crate::kueue::types::or_default;

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RayJobSpec {
    ray_cluster_spec: Option<RayClusterSpec>,
    submission_mode: Option<String>,
    submitter_pod_template: Option<PodTemplate>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RayClusterSpec {
    #[serde(deserialize_with = "or_default")]
    head_group_spec: GroupSpec,
    #[serde(deserialize_with = "or_default")]
    worker_group_specs: Vec<GroupSpec>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GroupSpec {
    #[serde(deserialize_with = "or_default")]
    group_name: String,
    replicas: Option<i64>,
    num_of_hosts: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    template: PodTemplate,
}

impl RayClusterSpec {
    /// The head, then each worker group with replicas × hosts pods.
    fn pod_sets(&self, at: &str) -> Vec<PodSet> {
        let mut sets =
            vec![pod_set("head", 1, &self.head_group_spec.template, &format!("{at}/headGroupSpec/template"))];
        for (index, group) in self.worker_group_specs.iter().enumerate() {
            let pods = count(group.replicas).saturating_mul(count(group.num_of_hosts).max(1));
            let template_at = format!("{at}/workerGroupSpecs/{index}/template");
            sets.push(pod_set(group.group_name.to_lowercase(), pods, &group.template, &template_at));
        }
        sets
    }
}

pub(super) fn ray_cluster(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let spec: RayClusterSpec = manifest.decode("/spec")?;
    let active = manifest.at("/status/state").and_then(serde_json::Value::as_str) == Some("ready");
    let progress = if active { Progress::Active } else { Progress::Waiting };
    Ok(Submission::new(manifest, spec.pod_sets("/spec"), progress))
}

/// The RayCluster's PodSets and, in the default mode, the pod that submits the job.
pub(super) fn ray_job<'a>(manifest: &'a Manifest, findings: &mut Findings) -> Result<Vec<Submission<'a>>, Finding> {
    let spec: RayJobSpec = manifest.decode("/spec")?;
    let Some(cluster) = &spec.ray_cluster_spec else {
        let message = "uses an existing RayCluster, which Kueue does not queue; it is left out";
        findings.push(Finding::note(codes::NOT_QUEUED, manifest.subject(), message));
        return Ok(Vec::new());
    };
    let mut sets = cluster.pod_sets("/spec/rayClusterSpec");
    match spec.submission_mode.as_deref().unwrap_or("K8sJobMode") {
        "K8sJobMode" => {
            let template = spec.submitter_pod_template.unwrap_or_else(default_submitter);
            sets.push(pod_set("submitter", 1, &template, "/spec/submitterPodTemplate"));
        }
        // KubeRay puts the submitter beside the head's containers.
        "SidecarMode" => sets[0].template.spec.containers.extend(default_submitter().spec.containers),
        _ => {}
    }
    let status = manifest.at("/status/jobDeploymentStatus").and_then(serde_json::Value::as_str);
    let progress = match status {
        Some("Complete" | "Failed") => Progress::Finished,
        Some("Running") => Progress::Active,
        _ => Progress::Waiting,
    };
    Ok(vec![Submission::new(manifest, sets, progress)])
}

/// KubeRay's submitter where the user gives none: half a core and 200 MiB, limited to one core and 1 GiB.
fn default_submitter() -> PodTemplate {
    let list = |cpu: Quantity, memory: i64| {
        [("cpu".to_owned(), cpu), ("memory".to_owned(), Quantity::whole(memory << 20))].into()
    };
    let half_a_core = Quantity::parse("500m").unwrap_or_default();
    let resources = Resources { requests: list(half_a_core, 200), limits: list(Quantity::whole(1), 1024) };
    let container = Container { name: "ray-job-submitter".to_owned(), resources, restart_policy: None };
    let spec = PodSpec { containers: vec![container], ..PodSpec::default() };
    PodTemplate { spec, ..PodTemplate::default() }
}
