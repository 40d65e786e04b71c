//! From a user's object to the PodSets Kueue would make of it: one file per family, one function per kind.
//!
//! A [`Submission`] stands for one Workload: a LeaderWorkerSet gives one per group, a CronJob one per coming run.
//! Nothing is judged here but the object's own shape; queues, quota and promises come later.

mod job;
mod kubeflow;
mod pod;
mod ray;
mod set;
mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::findings::Findings;
use super::pod::PodTemplate;
use super::types::{Condition, Metadata, OwnerReference, PREBUILT_WORKLOAD, or_default};
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::names::WorkloadKey;
use crate::units::Timestamp;

pub use pod::group_pods;
pub use workload::{Admitted, WorkloadFacts};

/// Beyond this a count is a slip of the pen: Kubernetes itself stops at 2^31 - 1 replicas.
const COUNT_MAX: i64 = 1 << 31;

/// Where an object's own metadata stands.
const OWN: &str = "/metadata";

/// A user's object, or the part of it, for which Kueue makes one Workload.
#[derive(Debug, Clone)]
pub struct Submission<'a> {
    pub manifest: &'a Manifest,
    /// API group and kind of the object people know it by.
    pub group: String,
    pub kind: String,
    pub key: WorkloadKey,
    pub pod_sets: Arc<[PodSet]>,
    /// Where the metadata stands that Kueue reads: `/metadata`, or a CronJob's job template's.
    pub metadata_at: &'static str,
    pub created: Option<Timestamp>,
    /// When it will exist; `None`: it does already.
    pub arrives: Option<Timestamp>,
    pub progress: Progress,
    /// What its Workload says, where there is one.
    pub workload: Option<WorkloadFacts>,
    /// That Workload itself.
    pub stands: Option<&'a Manifest>,
}

/// A set of alike pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PodSet {
    pub name: String,
    pub count: i64,
    pub template: PodTemplate,
    /// JSON pointer of the template's pod spec.
    pub spec_at: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Nothing runs yet.
    Waiting,
    /// The object's own status says that pods run.
    Active,
    Finished,
}

/// The stretch over which a CronJob's runs are planned, and the zone of schedules without one.
#[derive(Debug, Clone, Copy)]
pub struct Coming {
    pub from: Timestamp,
    pub to: Timestamp,
}

impl<'a> Submission<'a> {
    fn new(manifest: &'a Manifest, pod_sets: Vec<PodSet>, progress: Progress) -> Self {
        Self {
            manifest,
            group: manifest.group().to_owned(),
            kind: manifest.kind.clone(),
            key: WorkloadKey::new(&manifest.namespace, &manifest.name),
            pod_sets: pod_sets.into(),
            metadata_at: OWN,
            created: created(manifest),
            arrives: None,
            progress,
            workload: None,
            stands: None,
        }
    }

    fn named(mut self, name: &str) -> Self {
        self.key = WorkloadKey::new(&self.manifest.namespace, name);
        self
    }

    /// `Job evals/eval-1`: how findings call it.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("{} {}", self.kind, self.key)
    }

    /// A label that Kueue reads. A run of a CronJob has its job template's.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        if self.metadata_at == OWN {
            return self.manifest.label(key);
        }
        self.manifest.at(self.metadata_at)?.get("labels")?.get(key)?.as_str()
    }

    /// An annotation of the object, or of its job template.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<&'a str> {
        let of_template = || self.manifest.at(self.metadata_at)?.get("annotations")?.get(key)?.as_str();
        let inner = if self.metadata_at == OWN { None } else { of_template() };
        inner.or_else(|| self.manifest.annotation(key))
    }

    /// A label for selectors: the object's own count beside those of its job template.
    #[must_use]
    pub fn any_label(&self, key: &str) -> Option<&'a str> {
        self.label(key).or_else(|| self.manifest.label(key))
    }

    /// All labels that [`Submission::any_label`] finds.
    #[must_use]
    pub fn labels(&self) -> BTreeMap<&'a str, &'a str> {
        let outer = self.manifest.at("/metadata/labels");
        let template = (self.metadata_at != OWN).then(|| self.manifest.at(self.metadata_at)).flatten();
        let inner = template.and_then(|metadata| metadata.get("labels"));
        let maps = [outer, inner].into_iter().flatten().filter_map(Value::as_object);
        maps.flatten().filter_map(|(key, value)| Some((key.as_str(), value.as_str()?))).collect()
    }

    /// The place of a label, for an excerpt.
    #[must_use]
    pub fn label_at(&self, key: &str) -> String {
        format!("{}/labels/{}", self.metadata_at, key.replace('~', "~0").replace('/', "~1"))
    }
}

/// Reads an object of a kind that Kueue queues. Kinds it does not know give nothing.
pub fn read<'a>(manifest: &'a Manifest, coming: Coming, findings: &mut Findings) -> Vec<Submission<'a>> {
    let read = match (manifest.group(), manifest.kind.as_str()) {
        ("batch", "Job") => job::job(manifest).map(|one| vec![one]),
        ("batch", "CronJob") => job::cron_job(manifest, coming, findings),
        ("jobset.x-k8s.io", "JobSet") => set::job_set(manifest).map(|one| vec![one]),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet") => set::leader_worker_set(manifest, findings),
        ("ray.io", "RayJob") => ray::ray_job(manifest, findings),
        ("ray.io", "RayCluster") => ray::ray_cluster(manifest).map(|one| vec![one]),
        ("kubeflow.org", "MPIJob" | "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob") => {
            kubeflow::replicas_job(manifest).map(|one| vec![one])
        }
        ("trainer.kubeflow.org", "TrainJob") => kubeflow::train_job(manifest, findings),
        ("", "Pod") => pod::pod(manifest).map(|one| vec![one]),
        (super::types::GROUP, "Workload") => workload::workload(manifest).map(|one| vec![one]),
        _ => Ok(Vec::new()),
    };
    read.unwrap_or_else(|finding| {
        findings.push(finding);
        Vec::new()
    })
}

/// Whether [`read`] knows the kind.
#[must_use]
pub fn is_queued_kind(group: &str, kind: &str) -> bool {
    match group {
        "batch" => matches!(kind, "Job" | "CronJob"),
        "jobset.x-k8s.io" => kind == "JobSet",
        "leaderworkerset.x-k8s.io" => kind == "LeaderWorkerSet",
        "ray.io" => matches!(kind, "RayJob" | "RayCluster"),
        "kubeflow.org" => matches!(kind, "MPIJob" | "PyTorchJob" | "TFJob" | "XGBoostJob" | "PaddleJob" | "JAXJob"),
        "trainer.kubeflow.org" => kind == "TrainJob",
        "" => kind == "Pod",
        super::types::GROUP => kind == "Workload",
        _ => false,
    }
}

/// The reference to the object that made this one. Read by hand: every pod of a cluster passes here.
#[must_use]
pub fn controller(manifest: &Manifest) -> Option<OwnerReference> {
    let owners = manifest.at("/metadata/ownerReferences")?.as_array()?;
    let owner = owners.iter().find(|owner| owner.get("controller").and_then(Value::as_bool) == Some(true))?;
    OwnerReference::deserialize(owner).ok()
}

/// The Workload a user made himself for this object.
#[must_use]
pub fn prebuilt_workload<'a>(submission: &Submission<'a>) -> Option<&'a str> {
    submission.label(PREBUILT_WORKLOAD)
}

/// `metadata.creationTimestamp`; a text that is no instant counts as absent, the reader has told of it.
fn created(manifest: &Manifest) -> Option<Timestamp> {
    calendar::parse_instant(manifest.at("/metadata/creationTimestamp")?.as_str()?).ok()
}

/// A count as written, default 1, kept within what Kubernetes accepts.
fn count(written: Option<i64>) -> i64 {
    written.unwrap_or(1).clamp(0, COUNT_MAX)
}

/// The least that a batch/v1 JobSpec has running at once.
fn parallel_pods(parallelism: Option<i64>, completions: Option<i64>) -> i64 {
    let parallelism = count(parallelism);
    completions.map_or(parallelism, |completions| parallelism.min(count(Some(completions))))
}

/// The end of an object by its conditions: any of these types is True.
fn ended(manifest: &Manifest, types: &[&str]) -> bool {
    #[derive(Deserialize)]
    struct Conditions(#[serde(deserialize_with = "or_default")] Vec<Condition>);
    let Some(value) = manifest.at("/status/conditions") else { return false };
    Conditions::deserialize(value).is_ok_and(|Conditions(conditions)| {
        conditions.iter().any(|condition| condition.holds() && types.contains(&condition.kind.as_str()))
    })
}

/// Progress from conditions that say the end and a number in the status that says how many pods run.
fn progress(manifest: &Manifest, ends: &[&str], active_at: &str) -> Progress {
    let active = manifest.at(active_at).and_then(Value::as_i64).unwrap_or(0) > 0;
    match (ended(manifest, ends), active) {
        (true, _) => Progress::Finished,
        (false, true) => Progress::Active,
        (false, false) => Progress::Waiting,
    }
}

/// A pod template with the JSON pointer under which it was found.
fn pod_set(name: impl Into<String>, count: i64, template: &PodTemplate, template_at: &str) -> PodSet {
    PodSet { name: name.into(), count, template: template.clone(), spec_at: format!("{template_at}/spec") }
}

/// A template inside a bigger spec: `metadata` is Kubernetes', everything else is ignored.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Templated<T: Default> {
    #[serde(deserialize_with = "or_default")]
    metadata: Metadata,
    #[serde(bound(deserialize = "T: Default + Deserialize<'de>"), deserialize_with = "or_default")]
    spec: T,
}
