//! The findings of one assembly: all of them at once, but never the same thing a thousand times.

use std::collections::BTreeMap;

use crate::api::manifest::Manifest;
use crate::failure::{Finding, Severity};

/// One mistake in a template repeats on every object made from it; fifty of a kind are more than anybody reads.
const PER_CODE_MAX: usize = 50;

#[derive(Debug, Default)]
pub struct Findings {
    kept: Vec<Finding>,
    counts: BTreeMap<(&'static str, Severity), usize>,
}

impl Findings {
    pub fn push(&mut self, finding: Finding) {
        let count = self.counts.entry((finding.code, finding.severity)).or_default();
        *count += 1;
        if *count <= PER_CODE_MAX {
            self.kept.push(finding);
        }
    }

    /// All findings, errors first, otherwise in the order they were made; what was cut is counted.
    #[must_use]
    pub fn finish(mut self) -> Vec<Finding> {
        for ((code, severity), count) in self.counts {
            if let Some(more) = count.checked_sub(PER_CODE_MAX).filter(|more| *more > 0) {
                let message = format!("{more} more of this kind are not listed");
                self.kept.push(Finding::new(code, severity, "input", message));
            }
        }
        self.kept.sort_by_key(|finding| finding.severity);
        self.kept
    }
}

/// How much a broken reference weighs.
///
/// In files that are to be applied it is an error. On an object that a cluster holds already it is a warning: one
/// stranger's typing slip must not stop everybody's plan.
#[must_use]
pub fn reference_severity(manifest: &Manifest) -> Severity {
    let stored = manifest.at("/metadata/uid").and_then(serde_json::Value::as_str).is_some_and(|uid| !uid.is_empty());
    if stored { Severity::Warning } else { Severity::Error }
}

/// `did you mean …?` for the closest of the known names, if one is close enough to be meant.
#[must_use]
pub fn nearest<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<String> {
    // A third of the letters may differ; beyond that two names merely share some. Ties go to the first.
    let edits_max = name.chars().count().div_ceil(3);
    let candidates = known.into_iter().take(CANDIDATES_MAX);
    let closest = candidates.map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate)).min()?;
    (closest.0 <= edits_max).then(|| format!("did you mean `{}`?", closest.1))
}

/// Comparing one slip with every name of a big cluster is work without a reader.
pub const CANDIDATES_MAX: usize = 1_000;
