//! Our kinds as CustomResourceDefinitions, made from the types.
//!
//! The types give the schema, `rules` what CEL has to say between fields, `lists` how lists merge, `columns` what
//! `kubectl get` prints. Invariant: every schema is structural and bounded, so that the API server can prune, default
//! and price every rule. Deliberately absent: conversion; there is one version.

mod columns;
mod lists;
mod rules;
mod structural;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{
    CATEGORY, GROUP, VERSION, capacity_plan, inventory, quality_gate, rate_card, serving_baseline, slo, status, tenant,
};

pub use columns::Column;
pub use lists::ListKind;
pub use rules::{Rule, of as rules_of};

/// One kind and what its definition is made of.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub kind: &'static str,
    pub plural: &'static str,
    pub short: &'static str,
    pub namespaced: bool,
    /// For people, in one sentence.
    pub about: &'static str,
    spec: fn() -> Schema,
    status: fn() -> Schema,
}

/// Every kind that is an object in a cluster. A Scenario is a file only.
pub const KINDS: &[Kind] = &[
    Kind {
        kind: slo::KIND,
        plural: "workloadslos",
        short: "wslo",
        namespaced: true,
        about: "What a workload promises: when it is due, how long it runs, what stopping it would cost.",
        spec: schema::<slo::WorkloadSloSpec>,
        status: schema::<status::WorkloadSloStatus>,
    },
    Kind {
        kind: quality_gate::KIND,
        plural: "qualitygates",
        short: "qgate",
        namespaced: true,
        about: "When an outcome counts as verified.",
        spec: schema::<quality_gate::QualityGateSpec>,
        status: schema::<status::PlainStatus>,
    },
    Kind {
        kind: tenant::KIND,
        plural: "gputenants",
        short: "gput",
        namespaced: false,
        about: "Who uses GPUs and who pays for them.",
        spec: schema::<tenant::GpuTenantSpec>,
        status: schema::<status::GpuTenantStatus>,
    },
    Kind {
        kind: inventory::KIND,
        plural: "gpuinventories",
        short: "gpuinv",
        namespaced: false,
        about: "The approved capacity, device by device.",
        spec: schema::<inventory::GpuInventorySpec>,
        status: schema::<status::PlainStatus>,
    },
    Kind {
        kind: rate_card::KIND,
        plural: "ratecards",
        short: "rates",
        namespaced: false,
        about: "What capacity costs and how shared costs are split. It no longer changes once a close has used it.",
        spec: schema::<rate_card::RateCardSpec>,
        status: schema::<status::RateCardStatus>,
    },
    Kind {
        kind: capacity_plan::KIND,
        plural: "capacityplans",
        short: "cplan",
        namespaced: false,
        about: "Which queues are planned, how, and within which windows.",
        spec: schema::<capacity_plan::CapacityPlanSpec>,
        status: schema::<status::CapacityPlanStatus>,
    },
    Kind {
        kind: serving_baseline::KIND,
        plural: "servingbaselines",
        short: "sbase",
        namespaced: true,
        about: "What a model server was certified to carry. It never changes; a new one supersedes it.",
        spec: schema::<serving_baseline::ServingBaselineSpec>,
        status: schema::<status::PlainStatus>,
    },
];

impl Kind {
    /// Whether a person may mean it by this word: kind, plural, singular or short name, in any case.
    #[must_use]
    pub fn answers_to(&self, word: &str) -> bool {
        [self.kind, self.plural, self.short].iter().any(|name| name.eq_ignore_ascii_case(word))
    }

    /// The name of its CustomResourceDefinition: `workloadslos.stagger.dev`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}.{GROUP}", self.plural)
    }
}

fn schema<T: JsonSchema>() -> Schema {
    SchemaGenerator::default().into_root_schema_for::<T>()
}

/// The CustomResourceDefinition of a kind.
#[must_use]
pub fn manifest(kind: &Kind) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.name(), "labels": {"app.kubernetes.io/part-of": "stagger"}},
        "spec": {
            "group": GROUP,
            "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
            "names": {
                "kind": kind.kind,
                "listKind": format!("{}List", kind.kind),
                "plural": kind.plural,
                "singular": kind.kind.to_ascii_lowercase(),
                "shortNames": [kind.short],
                "categories": [CATEGORY],
            },
            "versions": [{
                "name": VERSION,
                "served": true,
                "storage": true,
                "subresources": {"status": {}},
                "additionalPrinterColumns": columns::of(kind.kind).map(Column::document).collect::<Vec<_>>(),
                "schema": {"openAPIV3Schema": object(kind)},
            }],
        },
    })
}

/// The schema of the whole object.
fn object(kind: &Kind) -> Value {
    let mut properties = Map::new();
    let text = |about: &str| json!({"type": "string", "description": about});
    properties.insert("apiVersion".to_owned(), text("Group and version of the kind."));
    properties.insert("kind".to_owned(), text("The kind."));
    properties.insert("metadata".to_owned(), json!({"type": "object"}));
    properties.insert("spec".to_owned(), structural::of(&(kind.spec)().to_value()));
    properties.insert("status".to_owned(), structural::of(&(kind.status)().to_value()));
    let mut root = json!({"type": "object", "description": kind.about, "required": ["spec"], "properties": properties});
    lists::mark(&mut root, kind.kind);
    rules::attach(&mut root, kind.kind);
    root
}

/// The schema at a path such as `spec.windows[]`; the empty path is the whole.
fn at<'a>(root: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    let mut schema = root;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let name = step.trim_end_matches("[]");
        schema = schema.get_mut("properties")?.get_mut(name)?;
        if step.ends_with("[]") {
            schema = schema.get_mut("items")?;
        }
    }
    Some(schema)
}
