//! Inspect logs in JSON (`inspect log dump`, or `--log-format json`; versions 1 and 2) → one event.
//!
//! A score is called `scorer/metric`. What the evaluation is about stands in its metadata
//! (`inspect eval --metadata stagger.dev/workload=evals/eval-1`) or is told by the caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::calendar;
use crate::failure::{Finding, SourceFile};
use crate::outcome::evidence::{Evaluator, Event, Evidence, Score, State};
use crate::units::Timestamp;

use super::cloudevents::{Known, accept, instant, plain};
use super::decimal::Decimal;
use super::{Read, Subject, about, whole};

/// The evaluator's id, as gates name it.
pub const EVALUATOR: &str = "inspect_ai";

#[derive(Deserialize)]
struct Log {
    status: String,
    eval: Spec,
    #[serde(default)]
    results: Option<Results>,
    #[serde(default)]
    stats: Stats,
    #[serde(default)]
    invalidated: bool,
    /// With later edits.
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
struct Spec {
    task: String,
    #[serde(default)]
    run_id: String,
    #[serde(default)]
    eval_id: String,
    #[serde(default)]
    task_version: Value,
    created: String,
    #[serde(default)]
    dataset: Dataset,
    model: String,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    revision: Option<Revision>,
    #[serde(default)]
    packages: BTreeMap<String, String>,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize, Default)]
struct Dataset {
    name: Option<String>,
    samples: Option<u64>,
}

#[derive(Deserialize, Default)]
struct Config {
    #[serde(default)]
    limit: Value,
    #[serde(default)]
    sample_id: Value,
    epochs: Option<u64>,
}

#[derive(Deserialize)]
struct Revision {
    commit: String,
}

#[derive(Deserialize)]
struct Results {
    total_samples: Option<u64>,
    completed_samples: Option<u64>,
    logged_samples: Option<u64>,
    #[serde(default)]
    early_stopping: Value,
    #[serde(default)]
    scores: Vec<Scored>,
    /// Version 1: one scorer, its metrics beside it.
    scorer: Option<Scorer>,
    #[serde(default)]
    metrics: BTreeMap<String, Metric>,
}

#[derive(Deserialize)]
struct Scored {
    name: String,
    reducer: Option<String>,
    scored_samples: Option<u64>,
    unscored_samples: Option<u64>,
    #[serde(default)]
    metrics: BTreeMap<String, Metric>,
}

#[derive(Deserialize)]
struct Scorer {
    name: String,
}

#[derive(Deserialize)]
struct Metric {
    value: Decimal,
}

#[derive(Deserialize, Default)]
struct Stats {
    #[serde(default)]
    completed_at: String,
}

pub(super) fn read(file: &Arc<SourceFile>, document: &str, subject: &Subject, known: &mut Known, into: &mut Read) {
    let log: Log = match serde_json::from_str(document) {
        Ok(log) => log,
        Err(error) => {
            let message = format!("this looks like an Inspect log, but {error}");
            into.findings.push(Finding::error("SG122", &*file.path, message));
            return;
        }
    };
    match event(file, &log, subject) {
        Ok(event) => accept(event, document, known, into),
        Err(message) => into.findings.push(Finding::error("SG122", &*file.path, message)),
    }
}

fn event(file: &Arc<SourceFile>, log: &Log, subject: &Subject) -> Result<Event, String> {
    let about = about(&[&log.metadata, &log.eval.metadata], subject)?;
    // Edited logs keep their ids, so the content is part of the identity: an invalidation is another statement.
    let id = [&log.eval.eval_id, &log.eval.run_id].into_iter().find(|id| !id.is_empty());
    let id = format!("{}/{}", id.map_or("", String::as_str), super::digest(&file.text));
    // Old logs have times without a zone: good enough to order statements, not to say whether something came in time.
    let ended = [&log.stats.completed_at, &log.eval.created].into_iter().find(|text| !text.is_empty());
    let ended = ended.map_or("", String::as_str);
    let time = instant(ended)
        .or_else(|_| instant(&format!("{ended}Z")))
        .map_err(|message| format!("completed_at: {message}"))?;
    Ok(Event {
        source: EVALUATOR.to_owned(),
        outcome: about.outcome.unwrap_or_else(|| format!("{EVALUATOR}:{id}")),
        id,
        time,
        class: about.class,
        workload: about.workload,
        attempt: about.attempt,
        completed_at: completed(log),
        finish_by: None,
        evidence: Evidence {
            scores: scores(log),
            evaluator: Some(Evaluator { id: EVALUATOR.to_owned(), version: log.eval.packages.get(EVALUATOR).cloned() }),
            fingerprint: fingerprint(&log.eval),
            state: state(log),
        },
        units: None,
        supersedes: about.supersedes,
        place: Some(whole(file)),
    })
}

fn completed(log: &Log) -> Option<Timestamp> {
    calendar::parse_instant_ceil(&log.stats.completed_at).ok()
}

fn scores(log: &Log) -> Vec<Score> {
    let Some(results) = &log.results else { return Vec::new() };
    let epochs = log.eval.config.epochs.unwrap_or(1).max(1);
    let completed = results.completed_samples.filter(|count| *count > 0).map(|count| count / epochs);
    let mut found = Vec::new();
    let mut add = |scorer: &str, samples: Option<u64>, metrics: &BTreeMap<String, Metric>| {
        let stderr = ["stderr", "bootstrap_stderr"].iter().find_map(|name| metrics.get(*name)?.value.0);
        for (name, metric) in metrics {
            // Inspect's stderr is that of the mean; accuracy is a mean too, other metrics have none.
            let stderr = stderr.filter(|_| name == "accuracy" || name == "mean");
            found.push(Score { name: format!("{scorer}/{name}"), value: metric.value.0, samples, stderr });
        }
    };
    for scored in &results.scores {
        let name = scored.reducer.as_ref().map_or(scored.name.clone(), |reducer| format!("{}/{reducer}", scored.name));
        // Several reducers of one scorer are told apart by their names; a single one goes by the scorer's.
        let alone = results.scores.iter().filter(|other| other.name == scored.name).count() == 1;
        add(if alone { &scored.name } else { &name }, scored.scored_samples.or(completed), &scored.metrics);
    }
    if let Some(scorer) = &results.scorer {
        add(&scorer.name, completed, &results.metrics);
    }
    found
}

fn state(log: &Log) -> State {
    if log.invalidated {
        return State::Invalidated;
    }
    match log.status.as_str() {
        "success" => {}
        "cancelled" => return State::Cancelled,
        "error" => return State::Failed,
        _ => return State::Unfinished,
    }
    let Some(results) = &log.results else { return State::Unfinished };
    let epochs = log.eval.config.epochs.unwrap_or(1).max(1);
    let total = results.total_samples.unwrap_or(0);
    let resolved = results.logged_samples.into_iter().chain(results.completed_samples).min();
    if let Some(used) = resolved.filter(|used| *used < total) {
        return State::Incomplete { used, of: total };
    }
    let unscored: u64 = results.scores.iter().filter_map(|score| score.unscored_samples).max().unwrap_or(0);
    if unscored > 0 {
        let scored = results.scores.iter().filter_map(|score| score.scored_samples).min().unwrap_or(0);
        return State::Incomplete { used: scored, of: scored.saturating_add(unscored) };
    }
    let used = results.total_samples.map(|total| total / epochs);
    if limits(&log.eval.config, used) || !results.early_stopping.is_null() {
        return State::Limited { used, of: log.eval.dataset.samples.filter(|of| used.is_none_or(|used| *of > used)) };
    }
    State::Complete
}

/// Whether a limit left samples out: one that was not reached did not.
fn limits(config: &Config, used: Option<u64>) -> bool {
    let reached = match &config.limit {
        Value::Null => false,
        Value::Number(limit) => limit.as_u64().zip(used).is_none_or(|(limit, used)| used >= limit),
        _ => true,
    };
    reached || !config.sample_id.is_null()
}

fn fingerprint(eval: &Spec) -> BTreeMap<String, String> {
    let version = (!eval.task_version.is_null()).then(|| plain(&eval.task_version));
    let fields = [
        ("model", Some(eval.model.clone())),
        ("task", Some(eval.task.clone())),
        ("taskVersion", version),
        ("dataset", eval.dataset.name.clone()),
        ("harness", eval.packages.get(EVALUATOR).cloned()),
        ("revision", eval.revision.as_ref().map(|revision| revision.commit.clone())),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
}
