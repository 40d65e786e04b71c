//! A plan as a document.

use chrono_tz::Tz;
use serde_json::Value;

use super::scalar::{Decimal, Exact, MoneyText, Quantities, Quantity, When};
use super::{
    API_VERSION, BeforeDoc, ConflictDoc, CostDoc, Document, FixDoc, KIND, LevelDoc, LevelValue, PeakDoc, PieceDoc,
    ProblemDoc, QualityDoc, ReasonDoc, ReleaseDoc, SummaryDoc, UseDoc,
};
use crate::calendar;
use crate::failure::Finding;
use crate::plan::proposal::{Conflict, Fix, Level, LevelName, Peak, Piece, Plan, Release, Summary};
use crate::units::Money;

/// The plan as pretty-printed JSON with a final newline.
#[must_use]
pub fn to_json(plan: &Plan) -> String {
    let mut text = serde_json::to_string_pretty(&from_plan(plan))
        .expect("a document has only string keys and finite numbers, which JSON can always hold");
    text.push('\n');
    text
}

/// The plan as a document, to be serialised in whatever format. A zone that does not exist is written as UTC.
#[must_use]
pub fn from_plan(plan: &Plan) -> Document {
    let zone = calendar::zone(&plan.time_zone).unwrap_or(Tz::UTC);
    let currency = plan.summary.currency.as_deref();
    Document {
        api_version: API_VERSION.to_owned(),
        kind: KIND.to_owned(),
        input_digest: plan.input_digest.clone(),
        now: When::new(plan.now, zone),
        horizon_end: When::new(plan.horizon_end, zone),
        time_zone: zone.name().to_owned(),
        currency: plan.summary.currency.clone(),
        objective: plan.objective,
        promise: plan.promise,
        quality: QualityDoc {
            status: plan.quality.status,
            levels: plan.quality.levels.iter().map(level).collect(),
            gap: plan.quality.gap_millionths.map(Decimal),
            stopped_by: plan.quality.stopped_by,
            seconds: Decimal(plan.quality.millis),
            seed: plan.quality.seed,
        },
        summary: summary(&plan.summary, zone),
        releases: plan.releases.iter().map(|it| release(it, zone)).collect(),
        peaks: plan.peaks.iter().map(|it| peak(it, zone)).collect(),
        before: BeforeDoc {
            all_at_once: summary(&plan.before.all_at_once, zone),
            kueue_alone: plan.before.kueue_alone.as_ref().map(|it| summary(it, zone)),
        },
        infeasible: plan.infeasible.iter().map(|it| conflict(it, zone, currency)).collect(),
        problems: plan.problems.iter().map(problem).collect(),
    }
}

fn level(level: &Level) -> LevelDoc {
    let shown = |figure: i128| {
        LevelValue(match (level.name, i64::try_from(figure)) {
            (LevelName::Cost, _) => Value::String(Money { nanos: figure }.decimal()),
            (_, Ok(small)) => Value::from(small),
            (_, Err(_)) => Value::String(figure.to_string()),
        })
    };
    LevelDoc { name: level.name, value: shown(level.value), bound: level.bound.map(shown), proof: level.proof }
}

fn release(release: &Release, zone: Tz) -> ReleaseDoc {
    let quantities =
        release.resources.iter().map(|(name, amount)| (name.to_string(), Quantity::new(name, *amount))).collect();
    let plain = release
        .uses
        .iter()
        .map(|(flavor, resource, amount)| (flavor == &release.flavor).then_some((resource, amount)))
        .eq(release.resources.iter().map(|(resource, amount)| Some((resource, amount))));
    let uses = if plain { &[][..] } else { &release.uses[..] };
    let whole = Piece { start: release.start, end: release.end };
    let pieces = if release.pieces == [whole] { &[][..] } else { &release.pieces[..] };
    ReleaseDoc {
        workload: release.workload.to_string(),
        kind: release.kind.clone(),
        tenant: release.tenant.as_ref().map(ToString::to_string),
        cluster_queue: release.cluster_queue.to_string(),
        flavor: release.flavor.to_string(),
        resources: Quantities(quantities),
        uses: uses
            .iter()
            .map(|(flavor, resource, amount)| UseDoc {
                flavor: flavor.to_string(),
                resource: resource.to_string(),
                quantity: Quantity::new(resource, *amount),
            })
            .collect(),
        start: When::new(release.start, zone),
        end: When::new(release.end, zone),
        end_p90: When::new(release.end_p90, zone),
        pieces: pieces
            .iter()
            .map(|piece| PieceDoc { start: When::new(piece.start, zone), end: When::new(piece.end, zone) })
            .collect(),
        finish_by: release.finish_by.map(|at| When::new(at, zone)),
        slack_seconds: release.slack.map(|slack| slack.0),
        verdict: release.verdict,
        reasons: release
            .reasons
            .iter()
            .map(|reason| ReasonDoc { code: reason.code, message: reason.message.clone() })
            .collect(),
    }
}

fn peak(peak: &Peak, zone: Tz) -> PeakDoc {
    PeakDoc {
        flavor: peak.flavor.to_string(),
        resource: peak.resource.to_string(),
        peak: Quantity::new(&peak.resource, peak.peak),
        capacity: Quantity::new(&peak.resource, peak.capacity),
        at: peak.at.map(|at| When::new(at, zone)),
    }
}

fn summary(summary: &Summary, zone: Tz) -> SummaryDoc {
    SummaryDoc {
        on_time: summary.on_time,
        at_risk: summary.at_risk,
        late: summary.late,
        without_verdict: summary.without_verdict,
        peak: summary.peak.iter().map(|it| peak(it, zone)).collect(),
        makespan_seconds: summary.makespan.0,
        gpu_seconds: Exact(summary.gpu_seconds),
        cost: summary.cost.map(|amount| cost(amount, summary.currency.as_deref())),
    }
}

fn cost(amount: Money, currency: Option<&str>) -> CostDoc {
    CostDoc { amount: MoneyText(amount), currency: currency.map(str::to_owned) }
}

fn conflict(conflict: &Conflict, zone: Tz, currency: Option<&str>) -> ConflictDoc {
    ConflictDoc {
        workloads: conflict.workloads.iter().map(ToString::to_string).collect(),
        irreducible: conflict.irreducible,
        message: conflict.message.clone(),
        fixes: conflict.fixes.iter().map(|it| fix(it, zone, currency)).collect(),
    }
}

fn fix(fix: &Fix, zone: Tz, currency: Option<&str>) -> FixDoc {
    match fix {
        Fix::AddCapacity { flavor, resource, quantity, from, to, cost: price } => FixDoc::AddCapacity {
            flavor: flavor.to_string(),
            resource: resource.to_string(),
            quantity: Quantity::new(resource, *quantity),
            from: When::new(*from, zone),
            to: When::new(*to, zone),
            cost: price.map(|amount| cost(amount, currency)),
        },
        Fix::MoveDeadline { workload, by, to } => {
            FixDoc::MoveDeadline { workload: workload.to_string(), by_seconds: by.0, to: When::new(*to, zone) }
        }
        Fix::AllowInterruption { workload } => FixDoc::AllowInterruption { workload: workload.to_string() },
        Fix::UseFlavor { workload, flavor } => {
            FixDoc::UseFlavor { workload: workload.to_string(), flavor: flavor.to_string() }
        }
        Fix::StartEarlier { workload, by } => FixDoc::StartEarlier { workload: workload.to_string(), by_seconds: by.0 },
    }
}

fn problem(finding: &Finding) -> ProblemDoc {
    let place = finding.span.as_ref().map(|span| (span.file.path.clone(), span.line_column()));
    ProblemDoc {
        code: finding.code.to_owned(),
        severity: finding.severity,
        subject: finding.subject.clone(),
        message: finding.message.clone(),
        hint: finding.hint.clone(),
        file: place.as_ref().map(|(file, _)| file.clone()),
        line: place.as_ref().map(|(_, (line, _))| *line),
        column: place.as_ref().map(|(_, (_, column))| *column),
    }
}
