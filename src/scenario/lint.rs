//! The whole judgement of some input, as `stagger lint` gives it and every other command needs it before it begins:
//! read, each object by itself, all objects together.

use std::collections::BTreeSet;

use super::limits::Limits;
use super::read::{Input, read};
use super::{codes, validate};
use crate::api::manifest::Manifest;
use crate::failure::{Finding, Severity};
use crate::kueue::codes::OF_ONE_OBJECT;
use crate::kueue::{Assembled, Given, assemble};

/// What the input comes to, and everything that is to be said about it.
#[derive(Debug)]
pub struct Linted {
    pub manifests: Vec<Manifest>,
    /// Its own findings are in `findings`, once.
    pub assembled: Assembled,
    pub findings: Vec<Finding>,
}

impl Linted {
    /// Whether the input is refused (exit code 7).
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Reads and judges the inputs. Nothing stops it half-way: what can be judged is.
#[must_use]
pub fn lint(inputs: &[Input], limits: &Limits, given: &Given) -> Linted {
    // 1. Each file.
    let reading = read(inputs, limits);
    let mut findings = reading.findings;
    // 2. Each object by itself.
    findings.extend(validate(&reading.manifests));
    // 3. All objects together.
    let assembled = assemble(&reading.manifests, given);
    let wrong: BTreeSet<&str> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| &*finding.subject)
        .collect();
    let told_already = |finding: &Finding| {
        let of_one_object = OF_ONE_OBJECT.contains(&finding.code) || finding.code == codes::SHAPE;
        of_one_object && wrong.contains(finding.subject.as_str())
    };
    let together: Vec<Finding> = assembled.findings.iter().filter(|finding| !told_already(finding)).cloned().collect();
    findings.extend(together);
    Linted { manifests: reading.manifests, assembled, findings }
}
