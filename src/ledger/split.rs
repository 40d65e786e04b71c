//! Dividing a cost that belongs to nobody among those who should bear it (docs/accounting.md §4).
//!
//! Law: what is handed out is what there was, to the last unit; where a rule finds nothing to go by, nothing is handed
//! out and the caller keeps the amount apart.

use std::collections::BTreeMap;

use crate::names::TenantId;

use super::apportion::apportion;
use super::card::Split;

/// Somebody who may bear a part: a run with its own cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver<'a> {
    pub run: usize,
    /// `None`: not known; all such runs together count as one tenant.
    pub tenant: Option<&'a TenantId>,
    /// Its own cost, by which it is weighed, in micro-units.
    pub direct: i128,
}

/// A part that was handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// `None`: the tenant bears it although none of its runs is among the receivers.
    pub run: Option<usize>,
    pub tenant: Option<TenantId>,
    pub micros: i128,
}

/// Divides `micros` by a rule. `guarantees` weighs tenants for [`Split::ByGuarantee`].
///
/// `None` for [`Split::Apart`], when nothing carries weight, or when a product does not fit 128 bits.
#[must_use]
pub fn spread(
    micros: i128,
    split: Split,
    receivers: &[Receiver<'_>],
    guarantees: &BTreeMap<TenantId, i128>,
) -> Option<Vec<Part>> {
    match split {
        Split::Apart => None,
        Split::ByCost => {
            // Tenants first, then their runs: no tenant's part is off by a unit, however many runs it has.
            let direct = by_tenant(receivers).into_iter();
            let (tenants, weights): (Vec<_>, Vec<i128>) =
                direct.map(|(tenant, runs)| (tenant, runs.iter().map(|run| run.direct).sum::<i128>())).unzip();
            over_tenants(micros, &tenants, &weights, receivers)
        }
        Split::Even => {
            let charged = by_tenant(receivers).into_iter().filter(|(_, runs)| runs.iter().any(|run| run.direct > 0));
            let tenants: Vec<Option<&TenantId>> = charged.map(|(tenant, _)| tenant).collect();
            over_tenants(micros, &tenants, &vec![1; tenants.len()], receivers)
        }
        Split::ByGuarantee => {
            let tenants: Vec<Option<&TenantId>> = guarantees.keys().map(Some).collect();
            let weights: Vec<i128> = guarantees.values().copied().collect();
            over_tenants(micros, &tenants, &weights, receivers)
        }
    }
}

fn by_tenant<'a, 'r>(receivers: &'r [Receiver<'a>]) -> BTreeMap<Option<&'a TenantId>, Vec<&'r Receiver<'a>>> {
    let mut groups: BTreeMap<Option<&'a TenantId>, Vec<&'r Receiver<'a>>> = BTreeMap::new();
    for receiver in receivers {
        groups.entry(receiver.tenant).or_default().push(receiver);
    }
    groups
}

fn over_runs(micros: i128, receivers: &[&Receiver<'_>]) -> Option<Vec<Part>> {
    let weights: Vec<i128> = receivers.iter().map(|receiver| receiver.direct).collect();
    let amounts = apportion(micros, &weights)?;
    let part = |(receiver, micros): (&&Receiver<'_>, i128)| Part {
        run: Some(receiver.run),
        tenant: receiver.tenant.cloned(),
        micros,
    };
    Some(receivers.iter().zip(amounts).map(part).filter(|part| part.micros != 0).collect())
}

/// Divides over tenants by `weights`, and within each over its runs by their cost.
pub(super) fn over_tenants(
    micros: i128,
    tenants: &[Option<&TenantId>],
    weights: &[i128],
    receivers: &[Receiver<'_>],
) -> Option<Vec<Part>> {
    let amounts = apportion(micros, weights)?;
    let groups = by_tenant(receivers);
    let mut parts = Vec::new();
    for (tenant, amount) in tenants.iter().zip(amounts).filter(|(_, amount)| *amount != 0) {
        let among_runs = groups.get(tenant).and_then(|runs| over_runs(amount, runs));
        parts.extend(among_runs.unwrap_or_else(|| vec![Part { run: None, tenant: tenant.cloned(), micros: amount }]));
    }
    Some(parts)
}
