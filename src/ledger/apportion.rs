//! Dividing a whole into integer parts that add up to it: the method of the largest remainder.
//!
//! Law: Σ parts = whole, and every part is its exact share rounded down or up, never further off. Ties go to the first
//! in order, so callers hand their parts over in an order of meaning, not of arrival.

use std::collections::BTreeMap;

use crate::ratio::Ratio;

/// Exact parts rounded to whole units so that they add up to their rounded sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rounded {
    /// The exact sum, ties to even.
    pub whole: i128,
    pub parts: Vec<i128>,
}

/// Rounds exact parts to integers whose sum is the rounded exact sum. `None` when a sum does not fit 128 bits.
#[must_use]
pub fn round_parts(parts: &[Ratio]) -> Option<Rounded> {
    let whole = sum(parts)?.round_half_even();
    Some(Rounded { whole, parts: round_to(whole, parts)? })
}

/// The same with the rounding done group by group: groups first, then the parts within each, so that no group is off by
/// a unit either, however many parts it has. `groups[i]` is the group of `parts[i]`; groups rank by their own order.
#[must_use]
pub fn round_grouped<G: Ord>(parts: &[Ratio], groups: &[G]) -> Option<Rounded> {
    let mut members: BTreeMap<&G, Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate().take(parts.len()) {
        members.entry(group).or_default().push(at);
    }
    let of = |places: &Vec<usize>| places.iter().map(|at| parts[*at]).collect::<Vec<_>>();
    let sums: Vec<Ratio> = members.values().map(|places| sum(&of(places))).collect::<Option<_>>()?;
    let by_group = round_parts(&sums)?;
    let mut found = vec![0; parts.len()];
    for (places, whole) in members.values().zip(&by_group.parts) {
        for (at, part) in places.iter().zip(round_to(*whole, &of(places))?) {
            found[*at] = part;
        }
    }
    Some(Rounded { whole: by_group.whole, parts: found })
}

fn sum(parts: &[Ratio]) -> Option<Ratio> {
    parts.iter().try_fold(Ratio::ZERO, |sum, part| sum.add(*part))
}

/// `whole` is the exact sum rounded up or down.
fn round_to(whole: i128, parts: &[Ratio]) -> Option<Vec<i128>> {
    let floors: Vec<i128> = parts.iter().map(|part| part.floor()).collect();
    let rests = parts.iter().zip(&floors).map(|(part, floor)| part.sub(Ratio::new(*floor, 1)?));
    let rests: Vec<Ratio> = rests.collect::<Option<_>>()?;
    hand_out(whole, floors, &rests)
}

/// `whole` in proportion to `weights`, which are not negative. `None` when all are zero or a product does not fit.
///
/// A negative whole is divided as its opposite, so that a credit mirrors the charge it takes back.
#[must_use]
pub fn apportion(whole: i128, weights: &[i128]) -> Option<Vec<i128>> {
    let total = weights.iter().try_fold(0_i128, |sum, weight| sum.checked_add((*weight).max(0)))?;
    if total == 0 {
        return None;
    }
    let magnitude = whole.checked_abs()?;
    let mut floors = Vec::with_capacity(weights.len());
    let mut rests = Vec::with_capacity(weights.len());
    for weight in weights {
        let product = magnitude.checked_mul((*weight).max(0))?;
        floors.push(product / total);
        rests.push(product % total);
    }
    let parts = hand_out(magnitude, floors, &rests)?;
    Some(parts.into_iter().map(|part| part * whole.signum()).collect())
}

/// Adds the units missing from `whole`, one each, to the parts with the largest remainders.
fn hand_out<R: Ord>(whole: i128, mut floors: Vec<i128>, rests: &[R]) -> Option<Vec<i128>> {
    let given = floors.iter().try_fold(0_i128, |sum, part| sum.checked_add(*part))?;
    let missing = usize::try_from(whole - given).ok()?;
    let mut order: Vec<usize> = (0..floors.len()).collect();
    order.sort_by(|a, b| rests[*b].cmp(&rests[*a]).then(a.cmp(b)));
    for at in order.into_iter().take(missing) {
        floors[at] += 1;
    }
    Some(floors)
}
