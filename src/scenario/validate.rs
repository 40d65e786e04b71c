//! Judging each object of our own kinds by itself: its shape first, then the rules between its fields.
//!
//! Pure, and the same for files and for a cluster. References to other objects are `kueue::assemble`'s to follow.

use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::rules::{self, Judge};
use super::shape::{self, Shape};
use super::{codes, identity, kinds};
use crate::api;
use crate::api::capacity_plan::CapacityPlanSpec;
use crate::api::inventory::GpuInventorySpec;
use crate::api::manifest::Manifest;
use crate::api::quality_gate::QualityGateSpec;
use crate::api::rate_card::RateCardSpec;
use crate::api::scenario::ScenarioSpec;
use crate::api::serving_baseline::ServingBaselineSpec;
use crate::api::slo::WorkloadSloSpec;
use crate::api::tenant::GpuTenantSpec;
use crate::failure::Finding;

/// What is wrong with the objects of our kinds, each by itself. Other objects are passed over.
#[must_use]
pub fn validate(manifests: &[Manifest]) -> Vec<Finding> {
    let courts = courts();
    let mut findings = Vec::new();
    for object in manifests.iter().filter(|object| object.group() == api::GROUP) {
        if let Some(court) = courts.iter().find(|court| court.kind == object.kind) {
            findings.extend(judge(object, court));
        }
    }
    findings
}

/// The schema of one of our kinds' specs, as it stands in the CRD; `None` for a kind that is not ours.
#[must_use]
pub fn schema(kind: &str) -> Option<Value> {
    courts().into_iter().find(|court| court.kind == kind).map(|court| court.schema)
}

/// A kind with its schema and its rules.
struct Court {
    kind: &'static str,
    schema: Value,
    rules: fn(&Value, &mut Judge<'_>) -> Result<(), serde_json::Error>,
}

fn courts() -> [Court; 8] {
    [
        court::<WorkloadSloSpec>(api::slo::KIND, |value, judge| on(value, judge, rules::slo::check)),
        court::<QualityGateSpec>(api::quality_gate::KIND, |value, judge| on(value, judge, rules::quality_gate::check)),
        court::<GpuTenantSpec>(api::tenant::KIND, |value, judge| on(value, judge, rules::tenant::check)),
        court::<GpuInventorySpec>(api::inventory::KIND, |value, judge| on(value, judge, rules::inventory::check)),
        court::<RateCardSpec>(api::rate_card::KIND, |value, judge| on(value, judge, rules::rate_card::check)),
        court::<CapacityPlanSpec>(api::capacity_plan::KIND, |value, judge| {
            on(value, judge, rules::capacity_plan::check)
        }),
        court::<ServingBaselineSpec>(api::serving_baseline::KIND, |value, judge| {
            on(value, judge, rules::serving_baseline::check)
        }),
        court::<ScenarioSpec>(api::scenario::KIND, |value, judge| on(value, judge, rules::scenario::check)),
    ]
}

fn court<T: JsonSchema>(
    kind: &'static str,
    rules: fn(&Value, &mut Judge<'_>) -> Result<(), serde_json::Error>,
) -> Court {
    Court { kind, schema: schema_for!(T).to_value(), rules }
}

fn on<T: DeserializeOwned>(
    value: &Value,
    judge: &mut Judge<'_>,
    rules: impl Fn(&T, &mut Judge<'_>),
) -> Result<(), serde_json::Error> {
    rules(&T::deserialize(value)?, judge);
    Ok(())
}

fn judge(object: &Manifest, court: &Court) -> Vec<Finding> {
    let mut findings = unknown_at_the_top(object);
    let Some(spec) = object.at("/spec") else {
        let finding = Finding::error(codes::SHAPE, object.subject(), "the object has no spec");
        findings.push(finding.at(object.span("/kind"), format!("a {} needs a spec", object.kind)));
        return findings;
    };
    let Shape { findings: found, bad } = shape::check(object, "/spec", &court.schema);
    findings.extend(found);
    let mut sound = spec.clone();
    for (pointer, stand_in) in &bad {
        put(&mut sound, pointer.strip_prefix("/spec").unwrap_or(pointer), stand_in.clone());
    }
    if bad.iter().any(|(pointer, _)| pointer == "/spec") {
        return findings;
    }
    let bad: Vec<&str> = bad.iter().map(|(pointer, _)| pointer.as_str()).collect();
    let mut judge = Judge::new(object, &bad);
    let decoded = (court.rules)(&sound, &mut judge);
    if let (Err(error), true) = (decoded, bad.is_empty()) {
        let finding = Finding::error(codes::SHAPE, object.subject(), format!("spec: {error}"));
        findings.push(finding.at(object.span("/spec"), "in this spec"));
    }
    findings.extend(judge.into_findings());
    findings
}

/// Fields beside `spec`: most often a spec's own that stand too far left.
fn unknown_at_the_top(object: &Manifest) -> Vec<Finding> {
    const KNOWN: [&str; 5] = ["apiVersion", "kind", "metadata", "spec", "status"];
    let Some(entries) = object.value.as_object() else { return Vec::new() };
    let unknown = entries.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    unknown
        .map(|key| {
            let message = format!("there is no field `{key}`; it is ignored");
            let finding = Finding::warning(codes::UNKNOWN_FIELD, object.subject(), message);
            let finding = finding.at(object.key_span(&format!("/{}", identity::escape(key))), "unknown field");
            match kinds::nearest(key, KNOWN) {
                Some(near) => finding.hint(format!("did you mean {near}?")),
                None => finding.hint("what an object promises stands below `spec`, indented"),
            }
        })
        .collect()
}

/// Puts a value at a pointer, in place of the one there if there is one.
fn put(value: &mut Value, pointer: &str, stand_in: Value) {
    if let Some(place) = value.pointer_mut(pointer) {
        *place = stand_in;
    } else if let Some((parent, last)) = pointer.rsplit_once('/')
        && let Some(Value::Object(entries)) = value.pointer_mut(parent)
    {
        entries.insert(last.replace("~1", "/").replace("~0", "~"), stand_in);
    }
}
