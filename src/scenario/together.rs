//! Everything that is to be said of an input, once: as text, object by object, and as a whole.

use std::collections::HashSet;

use super::read::Reading;
use super::validate;
use crate::failure::{Finding, Severity};
use crate::kueue::{self, Assembled, Given, codes};

/// Judges each object of our kinds by itself and then puts all of them together.
///
/// The findings of the result are all there are: those of the reading first, then errors before warnings before notes.
/// What both judges say of one object is told by the first, which is the more exact one.
#[must_use]
pub fn together(reading: Reading, given: &Given) -> Assembled {
    let by_itself = validate(&reading.manifests);
    let mut assembled = kueue::assemble(&reading.manifests, given);
    let told: HashSet<(&str, &str)> =
        by_itself.iter().map(|finding| (finding.subject.as_str(), finding.code)).collect();
    let refused: HashSet<&str> = by_itself
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.subject.as_str())
        .collect();
    let told_already = |finding: &Finding| {
        let subject = finding.subject.as_str();
        let of_one_object = codes::OF_ONE_OBJECT.contains(&finding.code) || finding.code == super::codes::SHAPE;
        told.contains(&(subject, finding.code)) || (of_one_object && refused.contains(subject))
    };
    assembled.findings.retain(|finding| !told_already(finding));
    let mut rest: Vec<Finding> = by_itself.into_iter().chain(assembled.findings).collect();
    rest.sort_by_key(|finding| finding.severity);
    assembled.findings = reading.findings.into_iter().chain(rest).collect();
    assembled
}
