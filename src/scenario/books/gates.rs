//! QualityGate manifests as gates.

use crate::api::manifest::Manifest;
use crate::api::quality_gate::{self, QualityGateSpec};
use crate::api::{GROUP, written};
use crate::failure::Finding;
use crate::kueue::codes;
use crate::kueue::findings::Findings;
use crate::outcome::evidence::Evaluator;
use crate::outcome::gate::{Comparison, Criterion, Gate};
use crate::ratio::Ratio;

/// A gate with a value that cannot be read is left out: half a gate would let things pass.
pub(super) fn read(manifests: &[Manifest], findings: &mut Findings) -> Vec<Gate> {
    let gates = manifests.iter().filter(|one| one.group() == GROUP && one.kind == quality_gate::KIND);
    gates.filter_map(|manifest| gate(manifest, findings)).collect()
}

fn gate(manifest: &Manifest, findings: &mut Findings) -> Option<Gate> {
    let spec: QualityGateSpec = manifest.decode("/spec").map_err(|finding| findings.push(finding)).ok()?;
    let mut whole = true;
    let mut refuse = |place: &str, message: String| {
        let finding = Finding::error(codes::BAD_VALUE, manifest.subject(), message);
        findings.push(finding.at(manifest.span(place), "this value"));
        whole = false;
    };
    let mut criteria = Vec::new();
    for (at, row) in spec.criteria.iter().enumerate() {
        match threshold(&row.threshold) {
            Ok(threshold) => criteria.push(Criterion {
                name: row.name.clone(),
                metric: row.metric.clone(),
                comparison: match row.comparison {
                    quality_gate::Comparison::AtLeast => Comparison::AtLeast,
                    quality_gate::Comparison::AtMost => Comparison::AtMost,
                },
                threshold,
                min_samples: row.min_samples.map(u64::from),
            }),
            Err(message) => refuse(&format!("/spec/criteria/{at}/threshold"), message),
        }
    }
    let unverified_after = match spec.unverified_after.as_ref().map(written::Duration::read) {
        Some(Ok(span)) => Some(span),
        Some(Err(message)) => {
            refuse("/spec/unverifiedAfter", message);
            None
        }
        None => None,
    };
    let evaluator = |text: &String| match text.split_once('@') {
        Some((id, version)) => Evaluator { id: id.to_owned(), version: Some(version.to_owned()) },
        None => Evaluator { id: text.clone(), version: None },
    };
    whole.then(|| Gate {
        name: manifest.name.clone(),
        namespace: manifest.namespace.clone(),
        class: spec.outcome_class.clone(),
        criteria,
        evaluators: spec.evaluators.iter().map(evaluator).collect(),
        unverified_after,
        fingerprint: spec.fingerprint.clone(),
    })
}

fn threshold(written: &written::Decimal) -> Result<Ratio, String> {
    Ratio::parse(&written.0)
}
