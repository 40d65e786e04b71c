//! Kubeflow: the training operator's v1 jobs, MPIJob v2beta1, and TrainJob as far as its own fields say.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Progress, Submission, count, ended, pod_set, progress};
use crate::api::manifest::Manifest;
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::kueue::pod::{Container, PodSpec, PodTemplate, Resources};
use crate::kueue::types::or_default;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ReplicaSpec {
    replicas: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    template: PodTemplate,
}

/// Kueue's order of roles; those it does not know come last, by name.
const ROLES: [&str; 7] = ["Launcher", "Chief", "Master", "PS", "Scheduler", "Worker", "Evaluator"];

/// One PodSet per role of `…ReplicaSpecs`.
pub(super) fn replicas_job(manifest: &Manifest) -> Result<Submission<'_>, Finding> {
    let field = match manifest.kind.as_str() {
        "MPIJob" => "mpiReplicaSpecs",
        "PyTorchJob" => "pytorchReplicaSpecs",
        "TFJob" => "tfReplicaSpecs",
        "XGBoostJob" => "xgbReplicaSpecs",
        "PaddleJob" => "paddleReplicaSpecs",
        _ => "jaxReplicaSpecs",
    };
    let at = format!("/spec/{field}");
    let specs: Option<BTreeMap<String, ReplicaSpec>> = manifest.decode(&at)?;
    let mut roles: Vec<(String, ReplicaSpec)> = specs.unwrap_or_default().into_iter().collect();
    let place = |role: &str| ROLES.iter().position(|known| *known == role).unwrap_or(ROLES.len());
    roles.sort_by_key(|(role, _)| place(role));
    let sets = roles.iter().map(|(role, spec)| {
        pod_set(role.to_lowercase(), count(spec.replicas), &spec.template, &format!("{at}/{role}/template"))
    });
    let running = ended(manifest, &["Running"]);
    let progress = match progress(manifest, &["Succeeded", "Failed"], "/status/none") {
        Progress::Waiting if running => Progress::Active,
        other => other,
    };
    Ok(Submission::new(manifest, sets.collect(), progress))
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct TrainJobSpec {
    trainer: Option<Trainer>,
    #[serde(deserialize_with = "or_default")]
    runtime_ref: RuntimeRef,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Trainer {
    num_nodes: Option<i64>,
    resources_per_node: Option<Resources>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RuntimeRef {
    name: String,
}

/// `numNodes` × `resourcesPerNode`. What only its training runtime says is not guessed.
pub(super) fn train_job<'a>(manifest: &'a Manifest, findings: &mut Findings) -> Result<Vec<Submission<'a>>, Finding> {
    let spec: TrainJobSpec = manifest.decode("/spec")?;
    let trainer = spec.trainer.unwrap_or_default();
    let (Some(nodes), Some(resources)) = (trainer.num_nodes, trainer.resources_per_node) else {
        let runtime = &spec.runtime_ref.name;
        let message = format!("leaves its size to the runtime `{runtime}`, which is not read; it is left out");
        findings.push(
            Finding::warning(codes::SIZE_UNKNOWN, manifest.subject(), message)
                .at(manifest.span("/spec/trainer"), "neither field is given here")
                .hint("give spec.trainer.numNodes and spec.trainer.resourcesPerNode"),
        );
        return Ok(Vec::new());
    };
    let container = Container { name: "node".to_owned(), resources, restart_policy: None };
    let template =
        PodTemplate { spec: PodSpec { containers: vec![container], ..PodSpec::default() }, ..PodTemplate::default() };
    let mut set = pod_set("node", count(Some(nodes)), &template, "/spec/trainer");
    "/spec/trainer".clone_into(&mut set.spec_at);
    let progress = progress(manifest, &["Complete", "Failed"], "/status/none");
    Ok(vec![Submission::new(manifest, vec![set], progress)])
}
