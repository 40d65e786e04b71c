//! What must hold between the fields of an object, in CEL, with the message its author reads.
//!
//! The same rules as `stagger lint`, as far as one object and a bounded cost can tell; a rule stands at the item it is
//! about, so that its cost is that of the item times the list's bound. Lists' own keys (see `lists`) refuse doubles.

use serde_json::{Value, json};

use super::at;
use crate::api::{capacity_plan, inventory, quality_gate, rate_card, serving_baseline, slo, tenant};

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Where `self` is: `spec.windows[]`.
    pub path: &'static str,
    pub cel: &'static str,
    /// A sentence without its full stop.
    pub message: &'static str,
}

const fn rule(path: &'static str, cel: &'static str, message: &'static str) -> Rule {
    Rule { path, cel, message }
}

const NO_TARGET_TWICE: &str = "!(has(self.targetRef) && has(self.selector))";
const DUE_ONCE: &str = "[has(self.finishBy), has(self.finishWithin), has(self.finishByTime)].filter(given, given).size() == 1 || (self.deadlinePolicy == 'BestEffort' && !has(self.finishBy) && !has(self.finishWithin) && !has(self.finishByTime))";
const RUNTIME_POSITIVE: &str = "duration(self.p50) > duration('0s')";
const RUNTIME_ASCENDS: &str = "!has(self.p90) || duration(self.p90) >= duration(self.p50)";
const P90_BELOW: &str = "p90 must not be below p50: nine of ten runs cannot end sooner than half of them";
const SELECTOR_VALUES: &str = "self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 : !has(self.values) || self.values.size() == 0";
const SELECTOR_MESSAGE: &str = "the operators In and NotIn need values, Exists and DoesNotExist take none";

/// Kind, and its rules in the order in which a person meets the fields.
const RULES: &[(&str, &[Rule])] = &[
    (
        slo::KIND,
        &[
            rule("spec", NO_TARGET_TWICE, "targetRef and selector exclude each other"),
            rule(
                "spec",
                DUE_ONCE,
                "give exactly one of finishBy, finishWithin and finishByTime (none is allowed under BestEffort)",
            ),
            rule(
                "spec",
                "!has(self.finishWithin) || duration(self.finishWithin) > duration('0s')",
                "finishWithin must be longer than zero",
            ),
            rule(
                "spec",
                "!has(self.notBefore) || !has(self.finishBy) || self.notBefore < self.finishBy",
                "notBefore must be before finishBy",
            ),
            rule("spec.selector.matchExpressions[]", SELECTOR_VALUES, SELECTOR_MESSAGE),
            rule(
                "spec.valueAfterDeadline",
                "self.map(tier, duration(tier.after)).isSorted()",
                "tiers must ascend by after",
            ),
            rule(
                "spec.valueAfterDeadline",
                "self.map(tier, 100 - tier.valuePercent).isSorted()",
                "valuePercent must not rise with time",
            ),
            rule("spec.expectedRuntime", RUNTIME_POSITIVE, "p50 must be longer than zero"),
            rule("spec.expectedRuntime", RUNTIME_ASCENDS, P90_BELOW),
            rule("spec.flavorRuntimes[]", RUNTIME_POSITIVE, "p50 must be longer than zero"),
            rule("spec.flavorRuntimes[]", RUNTIME_ASCENDS, P90_BELOW),
            rule(
                "spec.interruption",
                "self.tolerance != 'Checkpointable' || has(self.checkpointInterval)",
                "Checkpointable work needs checkpointInterval: how much is lost at most when it is stopped",
            ),
            rule(
                "spec.interruption",
                "!has(self.checkpointInterval) || duration(self.checkpointInterval) > duration('0s')",
                "checkpointInterval must be longer than zero",
            ),
            rule("spec.budget", "!self.amount.startsWith('-')", "amount must not be negative"),
        ],
    ),
    (
        quality_gate::KIND,
        &[rule(
            "spec",
            "!has(self.unverifiedAfter) || duration(self.unverifiedAfter) > duration('0s')",
            "unverifiedAfter must be longer than zero",
        )],
    ),
    (
        tenant::KIND,
        &[
            rule("", "self.metadata.name.size() <= 63", "the name must fit a label: at most 63 characters"),
            rule("spec.namespaceSelector.matchExpressions[]", SELECTOR_VALUES, SELECTOR_MESSAGE),
            rule(
                "spec.subjects[]",
                "(self.kind == 'ServiceAccount') == has(self.__namespace__)",
                "a ServiceAccount needs its namespace; users and groups have none",
            ),
            rule(
                "spec.guarantee",
                "self.all(one, self.exists_one(other, other.flavor == one.flavor && (has(other.resource) ? other.resource : '') == (has(one.resource) ? one.resource : '')))",
                "a flavor and resource may be guaranteed once only",
            ),
        ],
    ),
    (
        inventory::KIND,
        &[
            rule("spec.devices[].fraction", "self.numerator <= self.denominator", "a device is at most a whole board"),
            rule(
                "spec.devices[]",
                "self.basis == 'Whole' ? !has(self.fraction) || self.fraction.numerator == self.fraction.denominator : has(self.fraction)",
                "a basis other than Whole needs a fraction, and Whole means a whole board",
            ),
        ],
    ),
    (
        rate_card::KIND,
        &[
            rule(
                "",
                "!has(oldSelf.status) || !has(oldSelf.status.usedByClose) || self.spec == oldSelf.spec",
                "a close rests on this card, so it can no longer be changed; make a new card",
            ),
            rule(
                "",
                "!has(oldSelf.status) || !has(oldSelf.status.usedByClose) || (has(self.status) && has(self.status.usedByClose) && self.status.usedByClose == oldSelf.status.usedByClose)",
                "the close that used this card cannot be taken back",
            ),
            rule(
                "spec",
                "!has(self.effectiveFrom) || !has(self.effectiveTo) || self.effectiveFrom < self.effectiveTo",
                "effectiveTo must be after effectiveFrom",
            ),
            rule(
                "spec.rates[]",
                "!(has(self.flavor) && has(self.device))",
                "a rate is for a flavor or for a device, not for both",
            ),
            rule("spec.rates[]", "!self.amount.startsWith('-')", "amount must not be negative"),
            rule(
                "spec.rates[]",
                "self.resource == 'cpu' ? self.unit == 'CpuHour' : self.resource in ['memory', 'ephemeral-storage'] ? self.unit == 'GiBHour' : self.resource == 'energy' ? self.unit == 'KWh' : true",
                "cpu is priced by the CpuHour, memory and ephemeral-storage by the GiBHour, energy by the KWh",
            ),
            rule("spec.overhead[]", "!self.amount.startsWith('-')", "amount must not be negative"),
            rule("spec.weights[].units[]", "!self.weight.startsWith('-')", "weight must not be negative"),
        ],
    ),
    (
        capacity_plan::KIND,
        &[
            rule(
                "spec",
                "!has(self.horizon) || duration(self.horizon) > duration('0s')",
                "horizon must be longer than zero",
            ),
            rule(
                "spec.solver",
                "!has(self.timeLimit) || duration(self.timeLimit) > duration('0s')",
                "timeLimit must be longer than zero",
            ),
            rule("spec.solver", "!has(self.gap) || double(self.gap.replace('%', '')) <= 100.0", "gap is at most 100%"),
            rule(
                "spec.windows[]",
                "has(self.clusterQueue) != has(self.cohort)",
                "give exactly one of clusterQueue and cohort",
            ),
            rule(
                "spec.windows[]",
                "has(self.recurring) ? !has(self.start) && !has(self.end) : has(self.start) && has(self.end)",
                "give start and end, or recurring",
            ),
            rule(
                "spec.windows[]",
                "!has(self.start) || !has(self.end) || self.start < self.end",
                "end must be after start",
            ),
        ],
    ),
    (
        serving_baseline::KIND,
        &[
            rule("spec", "self == oldSelf", "a baseline never changes; make a new one that supersedes it"),
            rule(
                "spec.promise.objectives[]",
                "double(self.percentile) > 0.0 && double(self.percentile) < 100.0",
                "percentile lies between 0 and 100",
            ),
            rule(
                "spec.promise",
                "!has(self.errorRateMax) || (double(self.errorRateMax) >= 0.0 && double(self.errorRateMax) <= 1.0)",
                "errorRateMax is a share of requests, from 0 to 1",
            ),
            rule("spec.capacity", "double(self.highestPass) >= 0.0", "highestPass must not be negative"),
            rule(
                "spec.capacity",
                "!has(self.lowestFail) || double(self.lowestFail) > double(self.highestPass)",
                "lowestFail must be above highestPass",
            ),
            rule("spec.demand.points[]", "!self.rate.startsWith('-')", "rate must not be negative"),
        ],
    ),
];

/// The rules of a kind.
pub fn of(kind: &str) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(move |(of, _)| *of == kind).flat_map(|(_, rules)| rules.iter())
}

/// Writes the rules of a kind into its schema.
///
/// # Panics
/// When the path of a rule leads nowhere, which a test would find first.
pub fn attach(root: &mut Value, kind: &str) {
    for rule in of(kind) {
        let schema = at(root, rule.path).expect("the table of rules must follow the types");
        let written = json!({"rule": rule.cel, "message": rule.message});
        match schema["x-kubernetes-validations"].as_array_mut() {
            Some(rules) => rules.push(written),
            None => schema["x-kubernetes-validations"] = json!([written]),
        }
    }
}
