//! The change itself: our name out of the list of gates, and nothing else, on exactly the object that was looked at.

use serde_json::{Value, json};

use crate::api::keys;
use crate::kueue::observed::{Observed, holds};

/// An object whose gate goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    /// The annotation's whole value as it was seen.
    pub gates: String,
}

/// What is written on an object about its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// RFC 3339.
    pub start: String,
    /// The CapacityPlan that planned it.
    pub plan: String,
}

impl Told {
    /// The steps of a JSON patch that write it beside annotations that are there.
    #[must_use]
    pub fn steps(&self) -> [Value; 2] {
        let add = |key: &str, value: &str| json!({"op": "add", "path": annotation(key), "value": value});
        [add(keys::PLANNED_START, &self.start), add(keys::PLAN, &self.plan)]
    }
}

/// Where an annotation is, as a JSON pointer.
#[must_use]
pub fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"))
}

impl Target {
    /// A JSON patch that fails where the object is another or its gates have changed since. The start that it is let go
    /// for is written in the same breath: told before, it could be overtaken by another plan; told after, it could be lost.
    #[must_use]
    pub fn patch(&self, told: Option<&Told>) -> Value {
        let path = annotation(keys::GATES);
        let change = match without_gate(&self.gates) {
            Some(rest) => json!({"op": "replace", "path": path, "value": rest}),
            None => json!({"op": "remove", "path": path}),
        };
        let mut steps = Vec::new();
        if !self.uid.is_empty() {
            steps.push(json!({"op": "test", "path": "/metadata/uid", "value": self.uid}));
        }
        steps.push(json!({"op": "test", "path": path, "value": self.gates}));
        steps.push(change);
        steps.extend(told.into_iter().flat_map(Told::steps));
        Value::Array(steps)
    }
}

/// The list of gates without ours; `None` when nothing is left. Other controllers' gates keep their order.
#[must_use]
pub fn without_gate(gates: &str) -> Option<String> {
    let rest: Vec<&str> = gates.split(',').filter(|gate| gate.trim() != keys::GATE).collect();
    (!rest.iter().all(|gate| gate.trim().is_empty())).then(|| rest.join(","))
}

/// The objects whose gate goes when this work is let go: the job, or every pod of a group; the Workload where Kueue reads
/// the gate there only (it was made beforehand), or where the object's gate is gone and the Workload's has stayed.
#[must_use]
pub fn targets(one: &Observed) -> Vec<Target> {
    let carriers = one.carriers.iter().filter(|it| it.is_gated()).map(|it| Target {
        api_version: it.api_version.clone(),
        kind: it.kind.clone(),
        namespace: it.namespace.clone(),
        name: it.name.clone(),
        uid: it.uid.clone(),
        gates: it.gates.clone(),
    });
    let mut all: Vec<Target> = carriers.collect();
    if let Some(workload) = one.workload.as_ref().filter(|it| holds(&it.gates)) {
        let is_carrier = one.carriers.iter().any(|it| it.uid == workload.uid && it.kind == "Workload");
        if !is_carrier && (all.is_empty() || one.is_prebuilt()) {
            all.push(Target {
                api_version: workload.api_version.clone(),
                kind: "Workload".to_owned(),
                namespace: one.key.namespace().to_owned(),
                name: workload.name.clone(),
                uid: workload.uid.clone(),
                gates: workload.gates.clone(),
            });
        }
    }
    all
}
