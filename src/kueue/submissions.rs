//! From the objects Kueue queues to the workloads there are: nothing twice, nothing that is part of another.
//!
//! A Workload stands for the object that owns it: where both are given, the object keeps its name and labels and takes
//! PodSets, priority and admission from the Workload, which is what Kueue goes by. An object that a queued object made
//! (a JobSet's Job, a Job's pod) is part of that one.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::codes;
use super::findings::Findings;
use super::podsets::{self, Coming, Progress, Submission};
use super::types::{self, JOB_UID};
use crate::api::manifest::Manifest;
use crate::failure::Finding;

/// On pods that a controller made for a Kueue-managed parent.
const SUSPENDING_PARENT: &str = "kueue.x-k8s.io/pod-suspending-parent";

/// Namespace, kind and name.
type Identity<'a> = (&'a str, &'a str, &'a str);

/// Every workload of the queued objects, Workloads merged into their owners, in the given order.
pub fn gather<'a>(queued: &[&'a Manifest], coming: Coming, findings: &mut Findings) -> Vec<Submission<'a>> {
    let present: HashSet<Identity<'_>> = queued.iter().map(|one| identity(one)).collect();
    let mut read = Vec::with_capacity(queued.len());
    let mut workloads = Vec::new();
    for manifest in queued {
        if manifest.group() == types::GROUP {
            workloads.extend(podsets::read(manifest, coming, findings));
        } else if !is_part(manifest, &present, findings) {
            read.extend(podsets::read(manifest, coming, findings));
        }
    }
    let mut submissions = podsets::group_pods(read, findings);
    merge(&mut submissions, workloads);
    drop_known_runs(submissions, &present)
}

fn identity(manifest: &Manifest) -> Identity<'_> {
    (&manifest.namespace, &manifest.kind, &manifest.name)
}

/// Whether another queued object made this one.
fn is_part(manifest: &Manifest, present: &HashSet<Identity<'_>>, findings: &mut Findings) -> bool {
    if manifest.annotation(SUSPENDING_PARENT).is_some() || manifest.label(SUSPENDING_PARENT).is_some() {
        return true;
    }
    let Some(owner) = podsets::controller(manifest) else { return false };
    let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
    // A CronJob only makes Jobs; Kueue queues those, one by one.
    if !podsets::is_queued_kind(group, &owner.kind) || owner.kind == "CronJob" {
        return false;
    }
    if !present.contains(&(&manifest.namespace, &owner.kind, &owner.name)) && manifest.kind != "Pod" {
        let message = format!("is part of {} {}, which is not given; it is left out", owner.kind, owner.name);
        findings.push(
            Finding::note(codes::NOT_QUEUED, manifest.subject(), message)
                .at(manifest.span("/metadata/ownerReferences"), "its owner"),
        );
    }
    true
}

/// Gives each Workload to the object it stands for; those without one stand for themselves.
fn merge<'a>(submissions: &mut Vec<Submission<'a>>, workloads: Vec<Submission<'a>>) {
    let mut by_owner: BTreeMap<(String, String, String), Vec<Submission<'a>>> = BTreeMap::new();
    let mut alone = Vec::new();
    {
        let mut by_uid: HashMap<&str, Identity<'a>> = HashMap::new();
        let mut by_prebuilt: HashMap<(&str, &str), Identity<'a>> = HashMap::new();
        let mut owners: HashSet<Identity<'_>> = HashSet::new();
        for submission in submissions.iter() {
            let manifest = submission.manifest;
            owners.insert(identity(manifest));
            if submission.kind == "PodGroup" {
                by_prebuilt.insert((&manifest.namespace, submission.key.name()), identity(manifest));
            }
            if let Some(uid) = manifest.at("/metadata/uid").and_then(serde_json::Value::as_str) {
                by_uid.insert(uid, identity(manifest));
            }
            if let Some(name) = podsets::prebuilt_workload(submission) {
                by_prebuilt.insert((&manifest.namespace, name), identity(manifest));
            }
        }
        for workload in workloads {
            let manifest = workload.manifest;
            let referred = (manifest.namespace.as_str(), workload.kind.as_str(), workload.key.name());
            let of_job = || by_uid.get(manifest.label(JOB_UID)?).copied();
            let owner = by_prebuilt.get(&(manifest.namespace.as_str(), manifest.name.as_str())).copied();
            let owner = owner.or_else(|| owners.contains(&referred).then_some(referred)).or_else(of_job);
            match owner.map(|(namespace, kind, name)| (namespace.to_owned(), kind.to_owned(), name.to_owned())) {
                Some(owner) => by_owner.entry(owner).or_default().push(workload),
                None => alone.push(workload),
            }
        }
    }
    let mut parts: BTreeMap<(String, String, String), Vec<usize>> = BTreeMap::new();
    for (at, submission) in submissions.iter().enumerate() {
        let (namespace, kind, name) = identity(submission.manifest);
        let key = (namespace.to_owned(), kind.to_owned(), name.to_owned());
        if by_owner.contains_key(&key) {
            parts.entry(key).or_default().push(at);
        }
    }
    for (owner, mut workloads) in by_owner {
        let places = parts.remove(&owner).unwrap_or_default();
        if let [only] = places[..] {
            // Finished and waiting ones are older or newer tries of the same object; admitted ones hold quota.
            workloads
                .sort_by_key(|one| (rank(one.progress), std::cmp::Reverse(one.created), one.manifest.name.clone()));
            let mut rest = workloads.into_iter();
            if let Some(first) = rest.next() {
                adopt(&mut submissions[only], first);
            }
            alone.extend(rest.filter(|one| one.progress == Progress::Active).map(by_own_name));
        } else {
            // The groups of a LeaderWorkerSet: Workload names end in the group's number.
            workloads.sort_by_key(|one| (one.manifest.name.len(), one.manifest.name.clone()));
            let mut rest = workloads.into_iter();
            for (place, workload) in places.iter().zip(rest.by_ref()) {
                adopt(&mut submissions[*place], workload);
            }
            alone.extend(rest.map(by_own_name));
        }
    }
    submissions.extend(alone);
}

fn rank(progress: Progress) -> u8 {
    match progress {
        Progress::Active => 0,
        Progress::Waiting => 1,
        Progress::Finished => 2,
    }
}

fn adopt<'a>(submission: &mut Submission<'a>, workload: Submission<'a>) {
    if !workload.pod_sets.is_empty() {
        submission.pod_sets = workload.pod_sets;
    }
    // A Job is finished a moment before its Workload is.
    if submission.progress != Progress::Finished {
        submission.progress = workload.progress;
    }
    submission.created = submission.created.or(workload.created);
    submission.workload = workload.workload;
    submission.stands = workload.stands;
}

fn by_own_name(mut workload: Submission<'_>) -> Submission<'_> {
    workload.key = crate::names::WorkloadKey::new(&workload.manifest.namespace, &workload.manifest.name);
    workload.kind.clone_from(&workload.manifest.kind);
    workload
}

/// A run of a CronJob that has already become a Job is that Job: both have the same name.
fn drop_known_runs<'a>(submissions: Vec<Submission<'a>>, present: &HashSet<Identity<'_>>) -> Vec<Submission<'a>> {
    let known =
        |run: &Submission<'a>| run.arrives.is_some() && present.contains(&(run.key.namespace(), "Job", run.key.name()));
    submissions.into_iter().filter(|submission| !known(submission)).collect()
}
