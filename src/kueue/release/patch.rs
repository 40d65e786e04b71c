//! The change itself: our hold off exactly the object that was looked at, and nothing else.

use serde_json::{Value, json};

use crate::api::keys;
use crate::kueue::observed::{Carrier, Observed, WorkloadState};

/// An object that is let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub uid: String,
    pub hold: Hold,
}

/// How an object is held, and so what is changed when it is let go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// By our name in Kueue's annotation, whose whole value was this. Other controllers' gates stay.
    Gate(String),
    /// A Workload that we made inactive.
    Inactive,
    /// A Workload that we made inactive and somebody else made active again: our mark is left over.
    Mark,
    /// Not at all: its Workload is, and it is only told.
    Told,
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

impl Hold {
    /// How an object is held, if it is.
    #[must_use]
    pub fn of(carrier: &Carrier) -> Option<Self> {
        if carrier.inactive {
            return Some(Self::Inactive);
        }
        carrier.is_gated().then(|| Self::Gate(carrier.gates.clone()))
    }

    /// The step of a JSON patch that fails where it is not held so (any more); `None`: it is not held at all.
    #[must_use]
    pub fn test(&self) -> Option<Value> {
        let (key, value) = match self {
            Self::Gate(gates) => (keys::GATES, gates.as_str()),
            Self::Inactive | Self::Mark => (keys::HELD, keys::HELD_INACTIVE),
            Self::Told => return None,
        };
        Some(json!({"op": "test", "path": annotation(key), "value": value}))
    }
}

impl Target {
    /// A JSON patch that fails where the object is another or its hold has changed since; `None`: there is nothing to take
    /// off. The start that it is let go for is written in the same breath: told before, it could be overtaken by another
    /// plan; told after, it could be lost.
    #[must_use]
    pub fn patch(&self, told: Option<&Told>) -> Option<Value> {
        let held = self.hold.test()?;
        let mut steps = Vec::new();
        if !self.uid.is_empty() {
            steps.push(json!({"op": "test", "path": "/metadata/uid", "value": self.uid}));
        }
        steps.push(held);
        let unmark = json!({"op": "replace", "path": annotation(keys::HELD), "value": keys::HELD_RELEASED});
        match &self.hold {
            Hold::Gate(gates) => {
                let path = annotation(keys::GATES);
                steps.push(match without_gate(gates) {
                    Some(rest) => json!({"op": "replace", "path": path, "value": rest}),
                    None => json!({"op": "remove", "path": path}),
                });
            }
            Hold::Inactive => {
                let inactive = json!({"op": "test", "path": "/spec/active", "value": false});
                let active = json!({"op": "replace", "path": "/spec/active", "value": true});
                steps.extend([inactive, unmark, active]);
            }
            Hold::Mark => steps.push(unmark),
            Hold::Told => {}
        }
        steps.extend(told.into_iter().flat_map(Told::steps));
        Some(Value::Array(steps))
    }
}

impl Target {
    /// Does to what was observed what the patch does to the object, so that what is on its way counts as let go. Whether it
    /// is that object's.
    pub fn foresee(&self, told: Option<&Told>, one: &mut Observed) -> bool {
        let mut found = false;
        for carrier in one.carriers.iter_mut().filter(|it| it.kind == self.kind && it.uid == self.uid) {
            found = true;
            if let Hold::Gate(_) = self.hold {
                carrier.gates = without_gate(&carrier.gates).unwrap_or_default();
            }
            if let Some(told) = told {
                carrier.planned_start = Some(told.start.clone());
            }
        }
        let workload = one.workload.as_mut().filter(|it| self.kind == "Workload" && it.uid == self.uid);
        let Some(workload) = workload else { return found };
        self.foresee_workload(told, workload);
        true
    }

    fn foresee_workload(&self, told: Option<&Told>, workload: &mut WorkloadState) {
        match self.hold {
            Hold::Gate(_) => workload.gates = without_gate(&workload.gates).unwrap_or_default(),
            Hold::Inactive => (workload.active, workload.marked) = (true, false),
            Hold::Mark => workload.marked = false,
            Hold::Told => {}
        }
        if let Some(told) = told {
            workload.planned_start = Some(told.start.clone());
        }
    }
}

/// The list of gates without ours; `None` when nothing is left. Other controllers' gates keep their order.
#[must_use]
pub fn without_gate(gates: &str) -> Option<String> {
    let rest: Vec<&str> = gates.split(',').filter(|gate| gate.trim() != keys::GATE).collect();
    (!rest.iter().all(|gate| gate.trim().is_empty())).then(|| rest.join(","))
}

/// The objects that are changed when this work is let go: the job, or every pod of a group; the Workload where Kueue reads
/// the gate there only (it was made beforehand), where the object's gate is gone and the Workload's has stayed, or where it
/// is inactive by our doing.
#[must_use]
pub fn targets(one: &Observed) -> Vec<Target> {
    let gated = one.carriers.iter().filter(|it| it.is_gated());
    let mut all: Vec<Target> = gated.map(|it| of(it, Hold::Gate(it.gates.clone()))).collect();
    let (Some(workload), Some(carrier)) = (&one.workload, one.workload_carrier()) else { return all };
    let on_workload = |hold: Hold| of(&carrier, hold);
    let is_carrier = one.carriers.iter().any(|it| it.uid == workload.uid && it.kind == "Workload");
    if carrier.is_gated() && !is_carrier && (all.is_empty() || one.is_prebuilt()) {
        all.push(on_workload(Hold::Gate(workload.gates.clone())));
    }
    if workload.is_held() {
        // Kueue takes it up by this one change, so it comes last.
        let told = one.carriers.iter().filter(|it| !it.is_gated() && it.kind != "Workload");
        all.extend(told.map(|it| of(it, Hold::Told)).collect::<Vec<_>>());
        all.push(on_workload(Hold::Inactive));
    } else if workload.marked && workload.active {
        all.push(on_workload(Hold::Mark));
    }
    all
}

fn of(carrier: &Carrier, hold: Hold) -> Target {
    Target {
        api_version: carrier.api_version.clone(),
        kind: carrier.kind.clone(),
        namespace: carrier.namespace.clone(),
        name: carrier.name.clone(),
        uid: carrier.uid.clone(),
        hold,
    }
}
