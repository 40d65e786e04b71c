//! The smallest pool that meets every hard deadline: found by bisection, proven from below.
//!
//! On one axis (one quota tree's accelerator, everything else as today) a pool that is enough stays enough when it grows,
//! so bisection finds the border. The pool is called proven only when the next smaller one was shown to be too small;
//! otherwise the largest size that was shown to be too small is reported beside it.

use crate::names::{FlavorName, QueueName, ResourceName};
use crate::plan::proposal::Plan;
use crate::plan::snapshot::{Policy, Snapshot};
use crate::units::Amount;

use super::Tools;
use super::ample;
use super::mixed::{self, Point};
use super::pool::{self, Axis};
use super::target::{Answer, Target};

/// Pools whose smallest size is looked for: the ones most asked for come first, and each costs a bisection.
pub const AXES_MAX: usize = 6;

/// The smallest pools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Smallest {
    /// One per pool, everything else as today; those that the load asks most of first.
    pub per_pool: Vec<SmallestPool>,
    /// Where two pools trade: no point is smaller in one without being larger in the other. With more than two pools, the
    /// cheapest set of all of them stands last.
    pub points: Vec<Point>,
    /// The choice for the table: the cheapest of all of these by price, else the fewest GPUs.
    pub best: Option<Point>,
    /// Pools beyond [`AXES_MAX`] that were not looked at.
    pub left_out: usize,
}

/// One pool's smallest size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmallestPool {
    pub flavor: FlavorName,
    pub resource: ResourceName,
    /// The root of its quota tree.
    pub queue: QueueName,
    pub today: Amount,
    /// `None`: no size of this pool alone is enough, or none was found.
    pub quantity: Option<Amount>,
    /// Every smaller pool was shown to be too small.
    pub proven: bool,
    /// No pool smaller than this is enough.
    pub lower_bound: Amount,
    pub(super) axis: usize,
}

/// The smallest pools of a snapshot, when nothing else is asked.
#[must_use]
pub fn of(snapshot: &Snapshot, policy: &Policy, tools: &Tools<'_>) -> Smallest {
    find(&Target::new(snapshot, policy, pool::axes(snapshot, policy.promise), tools))
}

/// The smallest size of every pool of a snapshot, without trades, when nothing else is asked.
#[must_use]
pub fn per_pool(snapshot: &Snapshot, policy: &Policy, tools: &Tools<'_>) -> Vec<SmallestPool> {
    one_by_one(&Target::new(snapshot, policy, pool::axes(snapshot, policy.promise), tools))
}

/// Looks at every pool, then at trades: along the staircase of the first two, and at the cheapest set of more.
pub(super) fn find(target: &Target<'_>) -> Smallest {
    let mut smallest = Smallest { left_out: target.axes.len().saturating_sub(AXES_MAX), ..Smallest::default() };
    if target.is_empty() {
        return smallest;
    }
    smallest.per_pool = one_by_one(target);
    smallest.points = mixed::points(target);
    smallest.points.extend(mixed::cheapest(target));
    smallest.best = mixed::best(target, &smallest);
    smallest
}

fn one_by_one(target: &Target<'_>) -> Vec<SmallestPool> {
    if target.is_empty() {
        return Vec::new();
    }
    if let [_] = target.axes.as_slice() {
        from_the_peak(target);
    }
    let axes = target.axes.iter().enumerate().take(AXES_MAX);
    axes.map(|(at, axis)| on_axis(target, at, axis)).collect()
}

/// The only pool's lowest peak is enough, and less than its bound is not.
fn from_the_peak(target: &Target<'_>) {
    let [axis] = target.axes.as_slice() else { return };
    let Some(lowest) = ample::lowest_peaks(target, false) else { return };
    let amount = |value: i128| i64::try_from(value).ok().map(|value| Amount(ceil(value, axis.unit)));
    if let Some(bound) = lowest.bound.and_then(amount).filter(|bound| *bound > Amount::ZERO) {
        target.rule_out(vec![bound - Amount(axis.unit)]);
    }
    target.remember(lowest.sizes, lowest.plan);
}

pub(super) fn on_axis(target: &Target<'_>, at: usize, axis: &Axis) -> SmallestPool {
    let with = of_size(target, at);
    let root = target.snapshot.node(axis.root).name.clone();
    let found = |quantity: Option<i64>, ruled_out: i64| SmallestPool {
        flavor: axis.flavor.clone(),
        resource: axis.resource.clone(),
        queue: root.clone(),
        today: axis.today,
        quantity: quantity.map(Amount),
        proven: quantity.is_some_and(|quantity| ruled_out + axis.unit >= quantity),
        lower_bound: Amount((ruled_out + axis.unit).max(0)),
        axis: at,
    };
    let (too_small, enough) = border(axis.unit, axis.today.0, axis.ample.0, &with);
    found(enough, too_small)
}

/// What one pool of a size is, the others as today.
fn of_size<'a>(target: &'a Target<'_>, at: usize) -> impl Fn(i64) -> Answer + 'a {
    move |size| {
        let mut sizes = target.today();
        sizes[at] = Amount(size);
        target.enough(&sizes)
    }
}

/// The smallest size of the only pool, where it is known to be no less than `least` and, perhaps, no more than `most`:
/// steps that double from the end that is known, then bisection.
pub(super) fn between(target: &Target<'_>, axis: &Axis, least: Amount, most: Option<Amount>) -> Option<Amount> {
    let with = of_size(target, 0);
    let mut low = (least.0 - axis.unit).max(-axis.unit);
    let mut high = most.map(|most| most.0);
    let mut step = axis.unit;
    while high.is_none() {
        // What is not enough at its ample size never is.
        let size = (low + step).min(axis.ample.0);
        match with(size) {
            Answer::Enough(_) => high = Some(size),
            _ if size >= axis.ample.0 => return None,
            _ => low = size,
        }
        step = step.saturating_mul(2);
    }
    let mut high = high?;
    // Little has changed as a rule, so what is searched lies near the known end.
    let mut step = axis.unit;
    while most.is_some() && high - step > low && matches!(with(high - step), Answer::Enough(_)) {
        high -= step;
        step = step.saturating_mul(2);
    }
    if most.is_some() {
        low = low.max(high - step);
    }
    while high - low > axis.unit {
        let middle = low + axis.unit * ((high - low) / axis.unit / 2).max(1);
        if matches!(with(middle), Answer::Enough(_)) { high = middle } else { low = middle }
    }
    Some(Amount(high))
}

/// The largest size shown to be too small (one unit below zero when none was) and the smallest that is enough.
///
/// `likely` is tried first; `most` is as much as can ever be used.
pub(super) fn border(unit: i64, likely: i64, most: i64, with: &dyn Fn(i64) -> Answer) -> (i64, Option<i64>) {
    let mut too_small = -unit;
    // Below this nothing was found to be enough, proven or not.
    let mut low = -unit;
    let mut enough = None;
    for size in [likely, most] {
        match with(size) {
            Answer::Enough(_) => {
                enough = Some(size);
                break;
            }
            Answer::TooSmall => {
                too_small = too_small.max(size);
                low = low.max(size);
            }
            Answer::Unknown => low = low.max(size),
        }
    }
    let Some(mut high) = enough else { return (too_small, None) };
    while high - low > unit {
        let middle = low + unit * ((high - low) / unit / 2).max(1);
        match with(middle) {
            Answer::Enough(_) => high = middle,
            Answer::TooSmall => {
                too_small = too_small.max(middle);
                low = middle;
            }
            Answer::Unknown => low = middle,
        }
    }
    (too_small, Some(high))
}

/// The least multiple of `unit` that is at least `value`.
pub(super) fn ceil(value: i64, unit: i64) -> i64 {
    crate::units::div_ceil(value, unit).saturating_mul(unit)
}

impl Target<'_> {
    /// One more plan, for a question of its own.
    pub(super) fn propose(&self, snapshot: &crate::plan::snapshot::Snapshot, policy: &Policy) -> Option<Plan> {
        (!self.is_stopped()).then(|| self.solve(snapshot, policy))
    }
}
