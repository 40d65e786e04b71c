//! The folders under `scenarios/`: each states a claim, and here its figures are asserted apart from any text.

use std::path::{Path, PathBuf};

use stagger::failure::{Finding, Severity};
use stagger::kueue::{self, Assembled, Given};
use stagger::scenario::{self, Input, Limits};
use stagger::units::Timestamp;

/// What a folder's README states in figures.
struct Claim {
    folder: &'static str,
    /// Workloads to plan.
    workloads: usize,
    /// Everything that is noticed while reading and assembling.
    noticed: &'static [&'static str],
}

const CLAIMS: &[Claim] = &[
    Claim {
        folder: "backfill-under-gang",
        workloads: 6,
        noticed: &[
            "warning SG036: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: llm/notebook-export",
        ],
    },
    Claim { folder: "cohort-lending-limit", workloads: 3, noticed: &[] },
    Claim { folder: "conflict-named-fix", workloads: 4, noticed: &[] },
    Claim { folder: "cronjob-nightly", workloads: 3, noticed: &[] },
    Claim { folder: "gang-podsets", workloads: 2, noticed: &[] },
    Claim { folder: "interruption-split", workloads: 2, noticed: &[] },
    Claim { folder: "night-window-dst", workloads: 2, noticed: &[] },
    Claim { folder: "noon-evals", workloads: 4, noticed: &[] },
    Claim { folder: "priority-inversion", workloads: 2, noticed: &[] },
    Claim {
        folder: "realistic-day",
        workloads: 40,
        noticed: &[
            "warning SG036: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: vision/notebook-ana",
        ],
    },
    Claim { folder: "running-uncertain-end", workloads: 2, noticed: &[] },
    Claim { folder: "two-flavors", workloads: 4, noticed: &[] },
    Claim { folder: "value-tiers", workloads: 3, noticed: &[] },
    Claim { folder: "zero-gpu", workloads: 4, noticed: &[] },
];

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
    kueue::assemble(&reading.manifests, &Given::at(Timestamp(0)))
}

#[test]
fn every_folder_has_a_claim_and_every_claim_a_folder() {
    let entries = std::fs::read_dir(folder("")).expect("scenarios/ must be readable");
    let names = entries.map(|entry| entry.expect("scenarios/ must be readable").file_name());
    let mut folders: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
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
