//! The ways a workload may run: every assignment of flavors that Kueue could choose, in its order of trial.
//!
//! Kueue gives all resources of one resource group in one PodSet the same flavor; PodSets may differ. So the choices are
//! (PodSet, group) pairs and the assignments their product. Assignments that use the same amounts of the same cells are
//! one. Beyond [`OPTIONS_MAX`] the ones where all PodSets agree are kept first: mixed ones are the least useful.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::Catalog;
use super::flavors;
use super::podsets::PodSet;
use super::queues::Queues;
use crate::names::{FlavorName, ResourceName};
use crate::plan::snapshot::{CellId, QueueRules};
use crate::units::Amount;

/// More alternatives than this slow a plan down without making it better.
pub const OPTIONS_MAX: usize = 32;

/// How many products are formed before the search for distinct ones ends.
const TRIED_MAX: usize = 4_096;

/// One assignment of flavors, its use summed over all PodSets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// What people know it by: the flavors of its accelerators, otherwise that of its first resource.
    pub flavor: FlavorName,
    /// The flavors that decide how long it runs: the same ones, apart.
    pub deciding: Vec<FlavorName>,
    /// Ascending by cell.
    pub uses: Vec<(CellId, Amount)>,
}

/// Why a workload has no assignment at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// A PodSet asks for a resource of which the queue has no quota.
    Uncovered { pod_set: usize, resource: ResourceName },
    /// No flavor of a group suits a PodSet; each flavor with its reason.
    NoFlavor { pod_set: usize, reasons: Vec<(FlavorName, String)> },
    /// The sum over all PodSets is too large to count.
    TooLarge { resource: ResourceName },
}

/// The assignments, and whether some were left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignments {
    pub list: Vec<Assignment>,
    pub capped: bool,
}

/// One thing to choose: the flavor of one group for one PodSet.
struct Choice<'r> {
    amounts: Vec<(&'r ResourceName, Amount)>,
    flavors: Vec<&'r FlavorName>,
}

/// The assignments of a workload's PodSets, whose requests stand beside them, in one ClusterQueue.
///
/// # Errors
/// A [`Refusal`] when there is none.
pub fn assign(
    pod_sets: &[PodSet],
    requests: &[BTreeMap<ResourceName, Amount>],
    allowed: &[String],
    rules: &QueueRules,
    catalog: &Catalog<'_>,
    queues: &Queues,
) -> Result<Assignments, Refusal> {
    let mut choices = Vec::new();
    for (at, requests) in requests.iter().enumerate() {
        choices.extend(choices_of(at, &pod_sets[at], requests, allowed, rules, catalog)?);
    }
    let (picks, capped) = products(&choices);
    let mut seen = BTreeSet::new();
    let mut list = Vec::new();
    for pick in picks {
        let assignment = assignment(&choices, &pick, queues)?;
        if seen.insert(assignment.uses.clone()) {
            list.push(assignment);
        }
    }
    let capped = capped || list.len() > OPTIONS_MAX;
    list.truncate(OPTIONS_MAX);
    Ok(Assignments { list, capped })
}

fn choices_of<'r>(
    at: usize,
    pod_set: &PodSet,
    requests: &'r BTreeMap<ResourceName, Amount>,
    allowed: &[String],
    rules: &'r QueueRules,
    catalog: &Catalog<'_>,
) -> Result<Vec<Choice<'r>>, Refusal> {
    let ignore_undeclared = catalog.configuration.quota_check_strategy.as_deref() == Some("IgnoreUndeclared");
    let covered = |resource: &ResourceName| rules.groups.iter().any(|group| group.resources.contains(resource));
    if let Some(resource) = requests.keys().find(|resource| !ignore_undeclared && !covered(resource)) {
        return Err(Refusal::Uncovered { pod_set: at, resource: resource.clone() });
    }
    let named = |flavor: &FlavorName| allowed.iter().any(|name| name == flavor.as_str());
    let speaks = rules.groups.iter().flat_map(|group| &group.flavors).any(named);
    let mut choices = Vec::new();
    for group in &rules.groups {
        let amounts: Vec<(&ResourceName, Amount)> = group
            .resources
            .iter()
            .filter_map(|resource| requests.get_key_value(resource).map(|(name, amount)| (name, *amount)))
            .collect();
        if amounts.is_empty() {
            continue;
        }
        // A promise that names none of a group's flavors does not speak of that group, unless it names none at all.
        let restricted = !allowed.is_empty() && (!speaks || group.flavors.iter().any(named));
        let specs = group.flavors.iter().filter_map(|name| catalog.flavors.get(name.as_str()));
        let keys: BTreeSet<&str> = specs.flat_map(|known| known.spec.node_labels.keys().map(String::as_str)).collect();
        let mut reasons = Vec::new();
        let mut fitting = Vec::new();
        for flavor in &group.flavors {
            let reason = match catalog.flavors.get(flavor.as_str()) {
                None => Some("it is not there".to_owned()),
                Some(_) if restricted && !named(flavor) => Some("its WorkloadSLO does not allow it".to_owned()),
                Some(known) => flavors::refusal(&pod_set.template.spec, &known.spec, &keys),
            };
            match reason {
                Some(reason) => reasons.push((flavor.clone(), reason)),
                None => fitting.push(flavor),
            }
        }
        if fitting.is_empty() {
            return Err(Refusal::NoFlavor { pod_set: at, reasons });
        }
        choices.push(Choice { amounts, flavors: fitting });
    }
    Ok(choices)
}

/// Index of a flavor for each choice, in order of trial: the last choice varies first, as when Kueue goes on searching.
fn products(choices: &[Choice<'_>]) -> (Vec<Vec<usize>>, bool) {
    let total = choices.iter().try_fold(1usize, |product, choice| product.checked_mul(choice.flavors.len()));
    let all = total.filter(|total| *total <= TRIED_MAX);
    let mut picks = Vec::new();
    let mut pick = vec![0; choices.len()];
    while picks.len() < TRIED_MAX {
        picks.push(pick.clone());
        let Some(turn) = (0..choices.len()).rev().find(|at| pick[*at] + 1 < choices[*at].flavors.len()) else { break };
        pick[turn] += 1;
        pick[turn + 1..].fill(0);
    }
    if all.is_some_and(|total| total <= OPTIONS_MAX) {
        return (picks, false);
    }
    // Too many to keep: those where every choice that offers a flavor takes it come first, then the rest in order.
    let names: BTreeSet<&FlavorName> = choices.iter().flat_map(|choice| choice.flavors.iter().copied()).collect();
    let agreeing = names.into_iter().map(|name| {
        choices.iter().map(|choice| choice.flavors.iter().position(|flavor| *flavor == name).unwrap_or(0)).collect()
    });
    let mut kept: Vec<Vec<usize>> = agreeing.collect();
    kept.sort();
    kept.dedup();
    let agreed: BTreeSet<Vec<usize>> = kept.iter().cloned().collect();
    kept.extend(picks.into_iter().filter(|pick| !agreed.contains(pick)));
    (kept, all.is_none())
}

fn assignment(choices: &[Choice<'_>], pick: &[usize], queues: &Queues) -> Result<Assignment, Refusal> {
    let mut uses: BTreeMap<CellId, Amount> = BTreeMap::new();
    let mut accelerators: Vec<FlavorName> = Vec::new();
    let mut first = None;
    for (choice, at) in choices.iter().zip(pick) {
        let flavor = choice.flavors[*at];
        first.get_or_insert(flavor);
        for (resource, amount) in &choice.amounts {
            if resource.is_accelerator() && !accelerators.contains(flavor) {
                accelerators.push(flavor.clone());
            }
            // A covered resource has a quota on every flavor of its group; Kueue refuses queues where it has not.
            let Some(cell) = queues.cell(flavor, resource) else { continue };
            let sum = uses.entry(cell).or_default();
            let too_large = || Refusal::TooLarge { resource: (*resource).clone() };
            *sum = Amount(sum.0.checked_add(amount.0).ok_or_else(too_large)?);
        }
    }
    let deciding = if accelerators.is_empty() { first.into_iter().cloned().collect() } else { accelerators };
    let name = deciding.iter().map(FlavorName::as_str).collect::<Vec<_>>().join("+");
    let flavor = FlavorName::from(if name.is_empty() { "none".to_owned() } else { name });
    Ok(Assignment { flavor, deciding, uses: uses.into_iter().collect() })
}
