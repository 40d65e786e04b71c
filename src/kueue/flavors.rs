//! Whether a pod may run on a ResourceFlavor: labels and taints, as Kueue's flavor assigner judges them.
//!
//! Only label keys that some flavor of the resource group declares are compared; a pod's other constraints concern nodes,
//! not flavors. The keys are those of the whole group: so it is up to Kueue 0.18, and newer versions, which take each
//! flavor's own keys (kueue#12446), let in strictly more.

use std::collections::BTreeSet;

use super::pod::{NodeOperator, NodeRequirement, PodSpec, Taint, Toleration};
use super::types::ResourceFlavorSpec;

/// Why a pod may not run on the flavor; `None`: it may.
#[must_use]
pub fn refusal(pod: &PodSpec, flavor: &ResourceFlavorSpec, group_keys: &BTreeSet<&str>) -> Option<String> {
    let tolerated = |taint: &Taint| pod.tolerations.iter().chain(&flavor.tolerations).any(|one| tolerates(one, taint));
    let repelling = |taint: &&Taint| taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if let Some(taint) = flavor.node_taints.iter().filter(repelling).find(|taint| !tolerated(taint)) {
        return Some(format!("the taint {}:{} is not tolerated", taint.key, taint.effect));
    }
    let label = |key: &str| flavor.node_labels.get(key).map(String::as_str);
    for (key, value) in pod.node_selector.iter().filter(|(key, _)| group_keys.contains(key.as_str())) {
        if label(key) != Some(value) {
            return Some(format!("its node selector asks for {key}={value}"));
        }
    }
    let required = pod.affinity.as_ref().and_then(|affinity| affinity.node_affinity.as_ref()?.required.as_ref());
    let required = required?;
    let mut terms = Vec::with_capacity(required.node_selector_terms.len());
    for term in &required.node_selector_terms {
        let relevant: Vec<&NodeRequirement> =
            term.match_expressions.iter().filter(|one| group_keys.contains(one.key.as_str())).collect();
        // Terms are alternatives: one that says nothing about flavors lets in every flavor.
        if relevant.is_empty() {
            return None;
        }
        terms.push(relevant);
    }
    let holds =
        |term: &Vec<&NodeRequirement>| term.iter().all(|requirement| satisfied(requirement, label(&requirement.key)));
    (!terms.is_empty() && !terms.iter().any(holds)).then(|| "its node affinity excludes it".to_owned())
}

/// Kubernetes' rule: an absent key tolerates every taint, an absent effect every effect.
fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let exists = toleration.operator.as_deref() == Some("Exists");
    (toleration.effect.is_empty() || toleration.effect == taint.effect)
        && (toleration.key == taint.key || (toleration.key.is_empty() && exists))
        && (exists || toleration.value == taint.value)
}

fn satisfied(requirement: &NodeRequirement, label: Option<&str>) -> bool {
    let listed = label.is_some_and(|value| requirement.values.iter().any(|other| other == value));
    let number = |text: &str| text.parse::<i64>().ok();
    let bound = requirement.values.first().and_then(|text| number(text));
    match requirement.operator {
        NodeOperator::In => listed,
        NodeOperator::NotIn => !listed,
        NodeOperator::Exists => label.is_some(),
        NodeOperator::DoesNotExist => label.is_none(),
        NodeOperator::Gt => label.and_then(number).zip(bound).is_some_and(|(value, bound)| value > bound),
        NodeOperator::Lt => label.and_then(number).zip(bound).is_some_and(|(value, bound)| value < bound),
    }
}
