//! The folders under `scenarios/`: each states a claim, its figures are asserted here, and its `plan.txt` shows the plan.
//!
//! The figures stand apart from the text, so that a wrong picture cannot be accepted by rewriting it. `UPDATE=1` rewrites
//! the texts; the figures only a person may change, together with the folder's README.

mod claims;

use std::path::{Path, PathBuf};
use std::{env, fs};

use claims::{CLAIMS, Claim};
use stagger::calendar;
use stagger::failure::{Finding, Severity};
use stagger::kueue::{self, Assembled, Given};
use stagger::plan::chart::{self, Look};
use stagger::plan::curve::Scene;
use stagger::plan::proposal::{Fix, Peak, Plan, Release, Summary};
use stagger::plan::snapshot::{Objective, Policy, Promise, Snapshot};
use stagger::plan::watch::Unwatched;
use stagger::plan::{self, conflict, sentence};
use stagger::report::plan_text;
use stagger::scenario::{self, Input, Limits};
use stagger::units::Timestamp;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios").join(name)
}

fn told(findings: &[Finding]) -> Vec<String> {
    let severity = |finding: &Finding| match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    findings.iter().map(|finding| format!("{} {}: {}", severity(finding), finding.code, finding.message)).collect()
}

fn assembled(name: &str) -> Assembled {
    let reading = scenario::read(&[Input::Path(folder(name))], &Limits::default());
    assert_eq!(told(&reading.findings), Vec::<String>::new(), "{name} must read without a finding");
    let mut assembled = kueue::assemble(&reading.manifests, &Given::at(Timestamp(0)));
    // Steps, not seconds: the text must not depend on the machine.
    assembled.policy.step_limit = Some(200_000);
    assembled
}

/// Plans a folder and checks the plan.
fn planned(assembled: &Assembled) -> Plan {
    let (snapshot, policy) = (&assembled.snapshot, &assembled.policy);
    let mut plan = plan::propose(snapshot, policy, &Unwatched);
    let solve = |snapshot: &Snapshot, policy: &Policy| plan::propose(snapshot, policy, &Unwatched);
    let limits = conflict::Limits::for_workloads(snapshot.workloads.len());
    // No clock in a text that must not depend on the machine.
    let trial = Policy { time_limit_millis: policy.time_limit_millis, ..conflict::trial_policy(policy) };
    plan.infeasible = conflict::conflicts(snapshot, &trial, &plan, &solve, &limits);
    assert_eq!(told(&plan::check(snapshot, policy, &plan)), Vec::<String>::new());
    plan
}

fn verdicts(summary: &Summary) -> (u64, u64, u64) {
    (summary.on_time, summary.at_risk, summary.late)
}

fn clock(plan: &Plan, at: Timestamp) -> String {
    calendar::clock_time(at, calendar::zone(&plan.time_zone).expect("a plan's zone must exist"))
}

fn run(plan: &Plan, release: &Release) -> String {
    let piece = |(start, end)| format!("{}–{}", clock(plan, start), clock(plan, end));
    let last = release.pieces.len() - 1;
    // Under p90 capacity is held longer than the median run: what is shown is the run.
    let ends = release
        .pieces
        .iter()
        .enumerate()
        .map(|(at, held)| (held.start, if at == last { release.end } else { held.end }));
    let pieces: Vec<String> = ends.map(piece).collect();
    format!("{} {} {}", pieces.join(", "), release.flavor, release.workload)
}

fn peak(peak: &Peak) -> String {
    format!(
        "{} {} {}/{}",
        peak.flavor,
        peak.resource,
        peak.resource.quantity(peak.peak),
        peak.resource.quantity(peak.capacity)
    )
}

/// What `plan.txt` holds: the picture, the sentence, the conflicts, and the same load without us.
fn text(snapshot: &Snapshot, promise: Promise, plan: &Plan, kueue: &Summary) -> String {
    let mut parts = vec![{
        let scene = Scene { snapshot, plan, promise, kueue: None };
        chart::draw(&scene, Look { width: 100, unicode: true })
    }];
    parts.push(format!("{}\n", sentence::headline(plan)));
    parts.push(plan_text::conflicts(plan));
    let (on_time, at_risk, late) = verdicts(kueue);
    parts.push(format!("Kueue alone: {on_time} on time, {at_risk} at risk, {late} late\n"));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// What differs from the claim, one line each.
fn broken(claim: &Claim, plan: &Plan, kueue: &Summary) -> Vec<String> {
    let mut broken = Vec::new();
    let mut differs = |what: &str, is: String, claimed: String| {
        if is != claimed {
            broken.push(format!("{}: {what} is {is}, claimed is {claimed}", claim.folder));
        }
    };
    let figures = &claim.plan;
    differs("(on time, at risk, late)", format!("{:?}", verdicts(&plan.summary)), format!("{:?}", figures.verdicts));
    differs("the same for Kueue alone", format!("{:?}", verdicts(kueue)), format!("{:?}", claim.kueue));
    if let Some(makespan) = figures.makespan {
        differs("the makespan", plan.summary.makespan.human(), makespan.to_owned());
    }
    if let Some(gpu_seconds) = figures.gpu_seconds {
        differs("GPU time", plan.summary.gpu_seconds.to_string(), gpu_seconds.to_string());
    }
    let peaks: Vec<String> = plan.peaks.iter().map(peak).collect();
    let runs: Vec<String> = plan.releases.iter().map(|release| run(plan, release)).collect();
    for (claimed, found, what) in [(figures.peaks, &peaks, "peak"), (claim.runs, &runs, "run")] {
        for one in claimed {
            if !found.iter().any(|other| other == one) {
                broken.push(format!("{}: no {what} is `{one}`; there are: {}", claim.folder, found.join("; ")));
            }
        }
    }
    broken
}

#[test]
fn every_folder_has_a_claim_and_every_claim_a_folder() {
    let entries = fs::read_dir(folder("")).expect("scenarios/ must be readable");
    let entries = entries.map(|entry| entry.expect("scenarios/ must be readable"));
    let folders = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
    let mut folders: Vec<String> = folders.map(|name| name.to_string_lossy().into_owned()).collect();
    folders.sort();
    let claims: Vec<&str> = CLAIMS.iter().map(|claim| claim.folder).collect();
    assert_eq!(folders, claims);
}

#[test]
fn every_folder_is_read_whole() {
    for claim in CLAIMS {
        let assembled = assembled(claim.folder);
        assert_eq!(told(&assembled.findings), claim.noticed, "{}", claim.folder);
        assert_eq!(assembled.snapshot.workloads.len(), claim.workloads, "{}", claim.folder);
        assert_eq!(assembled.unplaceable.len() + assembled.uncontrolled.len(), 0, "{}", claim.folder);
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE=1 is how a person asks for rewritten texts")]
fn every_claim_is_kept_and_shown() {
    let rewrite = env::var("UPDATE").is_ok();
    let mut complaints = Vec::new();
    for claim in CLAIMS {
        let assembled = assembled(claim.folder);
        let plan = planned(&assembled);
        let kueue = kueue::simulate(&assembled.snapshot, &kueue::SimOptions::default()).summary(&assembled.snapshot);
        complaints.extend(broken(claim, &plan, &kueue));
        let text = text(&assembled.snapshot, assembled.policy.promise, &plan, &kueue);
        let file = folder(claim.folder).join("plan.txt");
        if rewrite {
            fs::write(&file, &text).expect("plan.txt must be writable");
        } else if fs::read_to_string(&file).unwrap_or_default() != text {
            complaints.push(format!("scenarios/{}/plan.txt shows another plan; it would be:\n{text}", claim.folder));
        }
    }
    assert!(complaints.is_empty(), "{}\nhint: make generate rewrites the texts", complaints.join("\n"));
}

#[test]
fn the_touchstone_shaves_its_peak_only_when_asked() {
    let mut assembled = assembled("noon-evals");
    assembled.policy.objective = Objective::LowestPeak;
    let plan = planned(&assembled);
    assert_eq!(plan.peaks.iter().map(peak).collect::<Vec<_>>(), ["a100 nvidia.com/gpu 2/4"]);
    assert_eq!(plan.summary.makespan.human(), "4 h");
    assert_eq!(verdicts(&plan.summary), (4, 0, 0));
    assert_eq!(plan.before.all_at_once.peak.iter().map(peak).collect::<Vec<_>>(), ["a100 nvidia.com/gpu 8/4"]);
    assert_eq!((plan.summary.gpu_seconds, plan.before.all_at_once.gpu_seconds), (28_800, 28_800));
}

#[test]
fn the_conflict_names_three_jobs_and_the_smallest_fixes() {
    let plan = planned(&assembled("conflict-named-fix"));
    let [conflict] = plan.infeasible.as_slice() else { panic!("one conflict, not {:?}", plan.infeasible) };
    let mut names: Vec<&str> = conflict.workloads.iter().map(stagger::names::WorkloadKey::name).collect();
    names.sort_unstable();
    assert_eq!(names, ["eval-candidate", "refresh-embeddings", "train-ranker"]);
    assert!(conflict.irreducible);
    let fixes: Vec<String> = conflict.fixes.iter().map(|fix| plan_text::fix(&plan, fix)).collect();
    let moved = conflict.fixes.iter().any(|fix| matches!(fix, Fix::MoveDeadline { by, .. } if by.0 == 3600));
    let bought = conflict.fixes.iter().any(|fix| {
        matches!(fix, Fix::AddCapacity { quantity, from, to, cost, .. }
            if quantity.0 == 4 && (*to - *from).0 == 3600 && cost.is_some_and(|cost| cost.decimal() == "10.00"))
    });
    assert!(moved && bought, "{fixes:?}");
}
