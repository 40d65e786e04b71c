//! Results files of lm-evaluation-harness (0.4 and later; older ones without filters too) → one event.
//!
//! A score is called `task/metric,filter`, as the file has it. What the evaluation is about stands in its metadata
//! (`--metadata '{"stagger.dev/workload": "evals/eval-1"}'`) or is told by the caller.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::failure::{Finding, SourceFile};
use crate::outcome::evidence::{Evaluator, Event, Evidence, Score, State};
use crate::ratio::Ratio;
use crate::units::Timestamp;

use super::cloudevents::{Known, accept, plain};
use super::decimal;
use super::{Read, Subject, about, whole};

/// The evaluator's id, as gates name it.
pub const EVALUATOR: &str = "lm-evaluation-harness";

type Raw = BTreeMap<String, Box<RawValue>>;

#[derive(Deserialize)]
struct Results {
    results: BTreeMap<String, Raw>,
    #[serde(rename = "n-samples", default)]
    samples: BTreeMap<String, Samples>,
    #[serde(default)]
    config: Config,
    #[serde(default)]
    configs: BTreeMap<String, TaskConfig>,
    #[serde(default)]
    date: Option<Box<RawValue>>,
    #[serde(default)]
    total_evaluation_time_seconds: Option<Box<RawValue>>,
    #[serde(default)]
    lm_eval_version: Option<String>,
    #[serde(default)]
    git_hash: Option<String>,
    #[serde(default)]
    model_name: Option<String>,
    #[serde(default)]
    chat_template_sha: Option<String>,
    #[serde(default)]
    task_hashes: BTreeMap<String, Value>,
}

#[derive(Deserialize, Clone, Copy)]
struct Samples {
    original: u64,
    effective: u64,
}

#[derive(Deserialize, Default)]
struct Config {
    #[serde(default)]
    model_args: Value,
    #[serde(default)]
    limit: Value,
    #[serde(default)]
    metadata: Value,
}

#[derive(Deserialize)]
struct TaskConfig {
    #[serde(default)]
    metadata: Value,
}

pub(super) fn read(file: &Arc<SourceFile>, document: &str, subject: &Subject, known: &mut Known, into: &mut Read) {
    let results: Results = match serde_json::from_str(document) {
        Ok(results) => results,
        Err(error) => {
            let message = format!("this looks like results of lm-evaluation-harness, but {error}");
            into.findings.push(Finding::error("SG122", &*file.path, message));
            return;
        }
    };
    match event(file, &results, subject) {
        Ok(event) => accept(event, document, known, into),
        Err(message) => into.findings.push(Finding::error("SG122", &*file.path, message)),
    }
}

fn event(file: &Arc<SourceFile>, results: &Results, subject: &Subject) -> Result<Event, String> {
    let date = results.date.as_deref().ok_or("`date` is missing, so nobody knows when it was evaluated")?;
    let date = decimal::read(date.get())?.ok_or("`date` has no value")?;
    let took = results.total_evaluation_time_seconds.as_deref().and_then(|raw| decimal::read(raw.get()).ok()?);
    let ended = took.and_then(|took| date.add(took));
    let metadata: Vec<&Value> =
        std::iter::once(&results.config.metadata).chain(results.configs.values().map(|task| &task.metadata)).collect();
    let about = about(&metadata, subject)?;
    let digest = super::digest(&file.text);
    let version = results.lm_eval_version.clone();
    Ok(Event {
        source: EVALUATOR.to_owned(),
        id: digest.clone(),
        time: moment(ended.unwrap_or(date))?,
        outcome: about.outcome.unwrap_or_else(|| format!("{EVALUATOR}:{digest}")),
        class: about.class,
        workload: about.workload,
        attempt: about.attempt,
        completed_at: ended.map(ceil).transpose()?,
        finish_by: None,
        evidence: Evidence {
            scores: scores(results)?,
            evaluator: Some(Evaluator { id: EVALUATOR.to_owned(), version }),
            fingerprint: fingerprint(results),
            state: state(results),
        },
        units: None,
        supersedes: about.supersedes,
        place: Some(whole(file)),
    })
}

fn moment(seconds: Ratio) -> Result<(Timestamp, u32), String> {
    let whole = seconds.floor();
    let nanos = seconds.mul_floor(1_000_000_000).map(|nanos| nanos - whole * 1_000_000_000);
    let out_of_range = || "`date` is out of range".to_owned();
    let at = Timestamp(i64::try_from(whole).map_err(|_| out_of_range())?);
    Ok((at, nanos.and_then(|nanos| u32::try_from(nanos).ok()).ok_or_else(out_of_range)?))
}

fn ceil(seconds: Ratio) -> Result<Timestamp, String> {
    let (at, nanos) = moment(seconds)?;
    Ok(Timestamp(at.0 + i64::from(nanos > 0)))
}

fn scores(results: &Results) -> Result<Vec<Score>, String> {
    let mut found = Vec::new();
    for (task, metrics) in &results.results {
        let samples = results.samples.get(task).map(|samples| samples.effective);
        for (key, raw) in metrics {
            let (metric, filter) = key.split_once(',').map_or((key.as_str(), ""), |(metric, filter)| (metric, filter));
            if metric == "alias" || metric.ends_with("_stderr") || metric == "sample_len" || !is_scalar(raw.get()) {
                continue;
            }
            let suffix = if filter.is_empty() { String::new() } else { format!(",{filter}") };
            let of = |raw: &RawValue, name: &str| {
                decimal::read(raw.get()).map_err(|message| format!("results.{task}.{name}: {message}"))
            };
            let stderr = match metrics.get(&format!("{metric}_stderr{suffix}")) {
                Some(raw) => of(raw, "stderr")?,
                None => None,
            };
            let value = of(raw, key)?;
            found.push(Score { name: format!("{task}/{metric}{suffix}"), value, samples, stderr });
        }
    }
    Ok(found)
}

/// Some tasks put whole tables beside their metrics; those are no scores.
fn is_scalar(raw: &str) -> bool {
    !raw.starts_with(['{', '[', 't', 'f'])
}

/// `--limit` takes the first samples of each task, which are no fair sample of the rest.
fn state(results: &Results) -> State {
    let sum = |of: fn(&Samples) -> u64| results.samples.values().map(of).fold(0, u64::saturating_add);
    let (used, of) = (sum(|samples| samples.effective), sum(|samples| samples.original));
    let counted = !results.samples.is_empty();
    if counted && used < of {
        State::Limited { used: Some(used), of: Some(of) }
    } else if !counted && !results.config.limit.is_null() {
        State::Limited { used: None, of: None }
    } else {
        State::Complete
    }
}

fn fingerprint(results: &Results) -> BTreeMap<String, String> {
    let arguments = &results.config.model_args;
    let pretrained = arguments.get("pretrained").or_else(|| arguments.get("model"));
    let model = results.model_name.clone().filter(|name| !name.is_empty());
    let model = model.or_else(|| pretrained.map(plain)).or_else(|| arguments.as_str().map(str::to_owned));
    let tasks: Vec<String> = results.task_hashes.iter().map(|(task, hash)| format!("{task}={}", plain(hash))).collect();
    let fields = [
        ("model", model),
        ("harness", results.lm_eval_version.clone()),
        ("revision", results.git_hash.clone()),
        ("chatTemplate", results.chat_template_sha.clone()),
        ("tasks", (!tasks.is_empty()).then(|| tasks.join(","))),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
}
