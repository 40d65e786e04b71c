//! Pools that trade: more of one accelerator instead of another.
//!
//! A pool of two sizes is not ordered like one size: what is looked for is the staircase of pairs in which neither can
//! shrink while the other stays. For each size of the first pool, from the least that can be enough to the most, the
//! smallest second one is found; both only shrink along the walk. A point is proven when one unit less of either was shown
//! to be too small. All other pools stay as today. Of three pools or more only the cheapest set is looked for (`cheapest`).

use crate::units::{Amount, Money};

use super::ample;
use super::smallest::{Smallest, border, ceil};
use super::target::{Answer, Target};

/// Sizes of the first pool that are looked at; between them the staircase may have more steps.
const STEPS_MAX: i64 = 16;

/// A set of pools that is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// In the order of the axes.
    pub sizes: Vec<Amount>,
    /// No pool that is smaller in one of them and larger in none is enough.
    pub proven: bool,
    /// What these pools cost an hour, all of them; `None` without prices.
    pub hourly: Option<Money>,
}

/// The staircase of the first two pools; empty with fewer than two.
pub(super) fn points(target: &Target<'_>) -> Vec<Point> {
    let [first, second, ..] = target.axes.as_slice() else { return Vec::new() };
    let at = |a: i64, b: i64| {
        let mut sizes = target.today();
        (sizes[0], sizes[1]) = (Amount(a), Amount(b));
        sizes
    };
    let (most_a, most_b) = (ceil(first.ample.0, first.unit), ceil(second.ample.0, second.unit));
    let with_a = |a: i64| target.enough(&at(a, most_b));
    let (_, Some(least_a)) = border(first.unit, first.today.0, most_a, &with_a) else { return Vec::new() };
    let step = ceil(((most_a - least_a) / STEPS_MAX).max(1), first.unit);
    let mut points: Vec<Point> = Vec::new();
    let (mut a, mut ceiling) = (least_a, most_b);
    while a <= most_a {
        let with_b = |b: i64| target.enough(&at(a, b));
        let (_, Some(b)) = border(second.unit, ceiling.min(second.today.0), ceiling, &with_b) else { break };
        if points.last().is_none_or(|last| last.sizes[1].0 > b) {
            let too_small = |a: i64, b: i64| a < 0 || b < 0 || matches!(target.enough(&at(a, b)), Answer::TooSmall);
            let proven = too_small(a - first.unit, b) && too_small(a, b - second.unit);
            let sizes = at(a, b);
            let hourly = hourly(target, &sizes);
            points.push(Point { sizes, proven, hourly });
        }
        if b <= 0 {
            break;
        }
        ceiling = b;
        a += step;
    }
    points
}

/// With three pools or more: the set that costs least an hour, or, without prices, has the fewest GPUs.
///
/// The lowest peaks of ample pools give it, and their bound the proof. Where that bound is not met, each pool is shrunk in
/// turn for as long as the others are enough beside it.
pub(super) fn cheapest(target: &Target<'_>) -> Option<Point> {
    if target.axes.len() < 3 {
        return None;
    }
    let priced = target.axes.iter().all(|axis| {
        target.snapshot.prices.iter().any(|price| price.cell == axis.cell && price.per_unit_hour.nanos > 0)
    });
    let lowest = ample::lowest_peaks(target, priced)?;
    let mut sizes = lowest.sizes.clone();
    target.remember(lowest.sizes, lowest.plan);
    let mut proven = lowest.bound.is_some_and(|bound| bound >= lowest.value);
    if !proven {
        proven = true;
        for (at, axis) in target.axes.iter().enumerate() {
            let with = |size: i64| {
                let mut sizes = sizes.clone();
                sizes[at] = Amount(size);
                target.enough(&sizes)
            };
            let (too_small, enough) = border(axis.unit, sizes[at].0, sizes[at].0, &with);
            let size = enough?;
            proven &= too_small + axis.unit >= size;
            sizes[at] = Amount(size);
        }
    }
    Some(Point { hourly: hourly(target, &sizes), sizes, proven })
}

/// The point for the table: the cheapest an hour, else the fewest GPUs.
pub(super) fn best(target: &Target<'_>, smallest: &Smallest) -> Option<Point> {
    let alone = smallest.per_pool.iter().filter_map(|pool| {
        let mut sizes = target.today();
        sizes[pool.axis] = pool.quantity?;
        Some(Point { hourly: hourly(target, &sizes), sizes, proven: pool.proven })
    });
    // A priced comparison needs all prices; otherwise GPUs are counted.
    let candidates: Vec<Point> = smallest.points.iter().cloned().chain(alone).collect();
    let priced = candidates.iter().all(|point| point.hourly.is_some());
    let gpus = |point: &Point| -> i128 {
        let each = target.axes.iter().zip(&point.sizes);
        each.map(|(axis, size)| i128::from(size.0) * 1000 / i128::from(axis.unit)).sum()
    };
    let key = |point: &Point| {
        let money = point.hourly.filter(|_| priced).map_or(0, |money| money.nanos);
        (money, gpus(point), !point.proven)
    };
    candidates.into_iter().min_by_key(key)
}

fn hourly(target: &Target<'_>, sizes: &[Amount]) -> Option<Money> {
    target
        .axes
        .iter()
        .zip(sizes)
        .map(|(axis, size)| {
            let price = target.snapshot.prices.iter().find(|price| price.cell == axis.cell)?;
            let per = if axis.resource.is_milli() { 1000 } else { 1 };
            Some(Money { nanos: price.per_unit_hour.nanos.checked_mul(i128::from(size.0))? / per })
        })
        .sum()
}
