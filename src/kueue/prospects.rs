//! What can be said of a promise before any plan: due already, too little time, or no runtime.

use super::codes;
use super::findings::Findings;
use super::given::shown;
use super::place::Ground;
use super::podsets::Submission;
use super::promise::Promise;
use crate::failure::Finding;
use crate::plan::snapshot::Workload;

/// Tells of a due time that has passed, of a runtime longer than the time there is, and of runtimes nobody declares.
pub fn tell(
    workload: &Workload,
    submission: &Submission<'_>,
    promise: Option<&Promise<'_>>,
    ground: &mut Ground<'_, '_>,
    findings: &mut Findings,
) {
    let Some(promise) = promise else {
        ground.without_runtime.push(workload.key.to_string());
        return;
    };
    if !promise.speaks_of_runtime() {
        let slo = promise.manifest;
        if ground.told_without_runtime.insert((slo.namespace.clone(), slo.name.clone())) {
            let message = "declares no runtime; its work is taken to run to the end of the horizon, without a verdict";
            findings.push(
                Finding::warning(codes::RUNTIME_UNKNOWN, slo.subject(), message)
                    .at(slo.span("/spec"), "no expectedRuntime in here")
                    .hint("add expectedRuntime: {p50: 1h, p90: 1h30m}"),
            );
        }
    }
    let Some(due) = &workload.due else { return };
    let place = promise.due_at();
    if due.at <= ground.frame.now {
        let message = format!("was due at {}, before now; it can only be late", shown(due.at, ground.frame));
        findings.push(
            Finding::warning(codes::DUE_PASSED, submission.subject(), message)
                .at(promise.manifest.span(place), "has passed"),
        );
        return;
    }
    let known = workload.options.iter().filter(|option| option.runtime.known);
    let Some(shortest) = known.map(|option| option.runtime.p50).min() else { return };
    let window = due.at - workload.earliest_start;
    if shortest > window {
        let message = format!(
            "takes {shortest} (p50) but has {} from its earliest start at {} until it is due",
            window.max(crate::units::Seconds::ZERO),
            shown(workload.earliest_start, ground.frame)
        );
        findings.push(
            Finding::warning(codes::WINDOW_TOO_SHORT, submission.subject(), message)
                .at(promise.manifest.span(place), "too soon for its runtime"),
        );
    }
}
