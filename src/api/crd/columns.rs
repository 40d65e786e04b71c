//! What `kubectl get` prints. Times to come are strings: the API server prints a `date` as an age, which is for the past.

use serde_json::{Value, json};

use crate::api::{capacity_plan, inventory, quality_gate, rate_card, serving_baseline, slo, tenant};

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    pub title: &'static str,
    pub kind: &'static str,
    pub path: &'static str,
    /// Shown with `-o wide` only.
    pub wide: bool,
}

const fn shown(title: &'static str, kind: &'static str, path: &'static str) -> Column {
    Column { title, kind, path, wide: false }
}

const fn wide(title: &'static str, kind: &'static str, path: &'static str) -> Column {
    Column { title, kind, path, wide: true }
}

const AGE: Column = shown("Age", "date", ".metadata.creationTimestamp");

/// A sentence, and so behind everything else.
const MESSAGE: Column = shown("Message", "string", ".status.message");

const COLUMNS: &[(&str, &[Column])] = &[
    (
        slo::KIND,
        &[
            shown("Due", "string", ".spec.finishBy"),
            wide("Policy", "string", ".spec.deadlinePolicy"),
            shown("Planned", "string", ".status.plannedStart"),
            shown("Ends", "string", ".status.expectedEnd.p90"),
            shown("Met", "string", r#".status.conditions[?(@.type=="DeadlineMet")].status"#),
            wide("Attempts", "integer", ".status.attempts"),
        ],
    ),
    (
        quality_gate::KIND,
        &[
            shown("Outcome", "string", ".spec.outcomeClass"),
            shown("Criteria", "string", ".spec.criteria[*].name"),
            wide("Evaluators", "string", ".spec.evaluators"),
        ],
    ),
    (
        tenant::KIND,
        &[
            shown("Display Name", "string", ".spec.displayName"),
            shown("Department", "string", ".spec.department"),
            shown("Cost Centre", "string", ".spec.costCenter"),
            shown("Namespaces", "integer", ".status.namespaces"),
            wide("UID", "string", ".metadata.uid"),
        ],
    ),
    (inventory::KIND, &[shown("Devices", "string", ".spec.devices[*].name")]),
    (
        rate_card::KIND,
        &[
            shown("Currency", "string", ".spec.currency"),
            shown("From", "string", ".spec.effectiveFrom"),
            shown("To", "string", ".spec.effectiveTo"),
            shown("Used By", "string", ".status.usedByClose"),
        ],
    ),
    (
        capacity_plan::KIND,
        &[
            shown("Mode", "string", ".spec.mode"),
            shown("Objective", "string", ".spec.objective"),
            shown("Jobs", "integer", ".status.summary.jobs"),
            shown("On Time", "integer", ".status.summary.onTime"),
            shown("Late", "integer", ".status.summary.late"),
            shown("Peak", "integer", ".status.summary.peak"),
            shown("Solved", "string", r#".status.conditions[?(@.type=="Solved")].status"#),
            wide("Gap", "string", ".status.summary.gap"),
        ],
    ),
    (
        serving_baseline::KIND,
        &[
            shown("Server", "string", ".spec.targetRef.name"),
            shown("Flavor", "string", ".spec.flavor"),
            shown("Passes", "string", ".spec.capacity.highestPass"),
            shown("Fails", "string", ".spec.capacity.lowestFail"),
            wide("Supersedes", "string", ".spec.supersedes"),
        ],
    ),
];

/// The columns of a kind, then its age, then what there is to tell.
pub fn of(kind: &str) -> impl Iterator<Item = Column> {
    let own = COLUMNS.iter().filter(move |(of, _)| *of == kind).flat_map(|(_, columns)| columns.iter().copied());
    own.chain([AGE]).chain((kind == slo::KIND).then_some(MESSAGE))
}

impl Column {
    /// As a CustomResourceDefinition says it.
    #[must_use]
    pub fn document(self) -> Value {
        let mut document = json!({"name": self.title, "type": self.kind, "jsonPath": self.path});
        if self.wide {
            document["priority"] = json!(1);
        }
        document
    }
}
