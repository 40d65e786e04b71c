//! A document as a plan.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

use super::scalar::{Quantity, exact};
use super::{API_VERSION, ConflictDoc, Document, FixDoc, KIND, LevelDoc, LevelValue, PeakDoc, ReleaseDoc, SummaryDoc};
use crate::calendar;
use crate::failure::Finding;
use crate::names::{FlavorName, ResourceName, WorkloadKey};
use crate::plan::proposal::{
    Before, Conflict, Fix, Level, LevelName, Peak, Piece, Plan, Quality, Reason, Release, Summary,
};
use crate::units::{Amount, Money, Seconds};

/// Why a document is not a plan: where, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct Unreadable {
    /// `releases[3].start`; `.` for the document itself.
    pub path: String,
    pub message: String,
}

impl Unreadable {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Reads a plan document. Unknown fields are ignored.
///
/// # Errors
/// The first field that is wrong, with what was expected. Never panics, whatever the text.
pub fn from_json(text: &str) -> Result<Plan, Unreadable> {
    check_version(text)?;
    let document: Document = decode(text)?;
    let currency = document.currency.as_deref();
    calendar::zone(&document.time_zone).map_err(|message| Unreadable::new("timeZone", message))?;
    Ok(Plan {
        now: document.now.at,
        horizon_end: document.horizon_end.at,
        time_zone: document.time_zone,
        objective: document.objective,
        promise: document.promise,
        input_digest: document.input_digest,
        quality: Quality {
            status: document.quality.status,
            levels: each("quality.levels", document.quality.levels, level)?,
            gap_millionths: document.quality.gap.map(|gap| gap.0),
            stopped_by: document.quality.stopped_by,
            millis: document.quality.seconds.0,
            seed: document.quality.seed,
        },
        releases: each("releases", document.releases, release)?,
        peaks: each("peaks", document.peaks, peak)?,
        summary: summary("summary", document.summary, currency)?,
        before: Before {
            all_at_once: summary("before.allAtOnce", document.before.all_at_once, currency)?,
            kueue_alone: document
                .before
                .kueue_alone
                .map(|it| summary("before.kueueAlone", it, currency))
                .transpose()?,
        },
        infeasible: each("infeasible", document.infeasible, conflict)?,
        problems: each("problems", document.problems, |path, it| {
            let code = code(&it.code).map_err(|message| Unreadable::new(format!("{path}.code"), message))?;
            let mut finding = Finding::new(code, it.severity, it.subject, it.message);
            finding.hint = it.hint;
            Ok(finding)
        })?,
    })
}

/// The version is looked at before anything else, so that a newer document is called newer and not malformed.
fn check_version(text: &str) -> Result<(), Unreadable> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase", expecting = "a plan document")]
    struct Head {
        api_version: String,
        kind: String,
    }
    let head: Head = decode(text)?;
    if head.kind != KIND {
        return Err(Unreadable::new("kind", format!("expected `{KIND}`, found `{}`", head.kind)));
    }
    if head.api_version != API_VERSION {
        let found = head.api_version;
        return Err(Unreadable::new("apiVersion", format!("this stagger reads `{API_VERSION}`, found `{found}`")));
    }
    Ok(())
}

fn decode<'de, T: Deserialize<'de>>(text: &'de str) -> Result<T, Unreadable> {
    let mut json = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut json)
        .map_err(|error| Unreadable::new(error.path().to_string(), error.inner().to_string()))
}

fn each<D, T>(
    list: &str,
    items: Vec<D>,
    mut one: impl FnMut(&str, D) -> Result<T, Unreadable>,
) -> Result<Vec<T>, Unreadable> {
    items.into_iter().enumerate().map(|(at, item)| one(&format!("{list}[{at}]"), item)).collect()
}

fn level(path: &str, level: LevelDoc) -> Result<Level, Unreadable> {
    let figure = |field: &str, LevelValue(value): LevelValue| {
        match (&value, level.name) {
            (Value::String(text), LevelName::Cost) => Money::parse(text).map(|money| money.nanos),
            _ => exact(&value),
        }
        .map_err(|message| Unreadable::new(format!("{path}.{field}"), message))
    };
    Ok(Level {
        name: level.name,
        value: figure("value", level.value)?,
        bound: level.bound.map(|bound| figure("bound", bound)).transpose()?,
        proof: level.proof,
    })
}

fn release(path: &str, release: ReleaseDoc) -> Result<Release, Unreadable> {
    let flavor = FlavorName::from(release.flavor);
    let resources = release
        .resources
        .0
        .into_iter()
        .map(|(resource, quantity)| {
            let (name, amount) = amount(&format!("{path}.resources"), resource, &quantity)?;
            Ok((name, amount))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let uses = if release.uses.is_empty() {
        resources.iter().map(|(resource, amount)| (flavor.clone(), resource.clone(), *amount)).collect()
    } else {
        each(&format!("{path}.uses"), release.uses, |path, it| {
            let (resource, amount) = amount(path, it.resource, &it.quantity)?;
            Ok((FlavorName::from(it.flavor), resource, amount))
        })?
    };
    let (start, end) = (release.start.at, release.end.at);
    let pieces = if release.pieces.is_empty() {
        vec![Piece { start, end }]
    } else {
        release.pieces.iter().map(|piece| Piece { start: piece.start.at, end: piece.end.at }).collect()
    };
    Ok(Release {
        workload: WorkloadKey::from(release.workload),
        kind: release.kind,
        tenant: release.tenant.map(Into::into),
        cluster_queue: release.cluster_queue.into(),
        flavor,
        resources,
        uses,
        start,
        end,
        end_p90: release.end_p90.at,
        pieces,
        finish_by: release.finish_by.map(|due| due.at),
        slack: release.slack_seconds.map(Seconds),
        verdict: release.verdict,
        reasons: release.reasons.into_iter().map(|it| Reason { code: it.code, message: it.message }).collect(),
    })
}

fn amount(path: &str, resource: String, quantity: &Quantity) -> Result<(ResourceName, Amount), Unreadable> {
    let resource = ResourceName::from(resource);
    let amount = quantity
        .amount(&resource)
        .ok_or_else(|| Unreadable::new(path, format!("the quantity of `{resource}` is not a whole number of units")))?;
    Ok((resource, amount))
}

fn peak(path: &str, peak: PeakDoc) -> Result<Peak, Unreadable> {
    let (_, capacity) = amount(path, peak.resource.clone(), &peak.capacity)?;
    let (resource, highest) = amount(path, peak.resource, &peak.peak)?;
    Ok(Peak { flavor: peak.flavor.into(), resource, peak: highest, capacity, at: peak.at.map(|at| at.at) })
}

fn summary(path: &str, summary: SummaryDoc, currency: Option<&str>) -> Result<Summary, Unreadable> {
    Ok(Summary {
        on_time: summary.on_time,
        at_risk: summary.at_risk,
        late: summary.late,
        without_verdict: summary.without_verdict,
        peak: each(&format!("{path}.peak"), summary.peak, peak)?,
        makespan: Seconds(summary.makespan_seconds),
        gpu_seconds: summary.gpu_seconds.0,
        currency: summary.cost.as_ref().and_then(|it| it.currency.clone()).or_else(|| currency.map(str::to_owned)),
        cost: summary.cost.map(|it| it.amount.0),
    })
}

fn conflict(path: &str, conflict: ConflictDoc) -> Result<Conflict, Unreadable> {
    Ok(Conflict {
        workloads: conflict.workloads.into_iter().map(Into::into).collect(),
        irreducible: conflict.irreducible,
        message: conflict.message,
        fixes: each(&format!("{path}.fixes"), conflict.fixes, fix)?,
    })
}

fn fix(path: &str, fix: FixDoc) -> Result<Fix, Unreadable> {
    Ok(match fix {
        FixDoc::AddCapacity { flavor, resource, quantity, from, to, cost } => {
            let (resource, quantity) = amount(path, resource, &quantity)?;
            let cost = cost.map(|it| it.amount.0);
            Fix::AddCapacity { flavor: flavor.into(), resource, quantity, from: from.at, to: to.at, cost }
        }
        FixDoc::MoveDeadline { workload, by_seconds, to } => {
            Fix::MoveDeadline { workload: workload.into(), by: Seconds(by_seconds), to: to.at }
        }
        FixDoc::AllowInterruption { workload } => Fix::AllowInterruption { workload: workload.into() },
        FixDoc::UseFlavor { workload, flavor } => Fix::UseFlavor { workload: workload.into(), flavor: flavor.into() },
        FixDoc::StartEarlier { workload, by_seconds } => {
            Fix::StartEarlier { workload: workload.into(), by: Seconds(by_seconds) }
        }
    })
}

/// A finding's code as static text.
///
/// Codes are `SG` and three digits or `P` and four: 11,000 at most, so keeping every one seen is bounded.
fn code(text: &str) -> Result<&'static str, String> {
    static SEEN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let digits = |rest: &str, count| rest.len() == count && rest.bytes().all(|byte| byte.is_ascii_digit());
    let known = text.strip_prefix("SG").is_some_and(|rest| digits(rest, 3))
        || text.strip_prefix('P').is_some_and(|rest| digits(rest, 4));
    if !known {
        return Err(format!("`{text}` is not a finding's code such as SG014 or P0003"));
    }
    let mut seen = SEEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(code) = seen.get(text) {
        return Ok(code);
    }
    let code: &'static str = Box::leak(text.to_owned().into_boxed_str());
    seen.insert(code);
    Ok(code)
}
