//! What moves the verdict most: one assumption at a time, a fifth up and down, everything else as it is.
//!
//! What is measured is the number of GPUs that meets every hard deadline, on the pool most asked for: the verdict is to
//! buy exactly where that is more than there is. Beside it stand the hard deadlines missed with what there is.
//! Prices move money and never the verdict; the bar says so.

use crate::plan::snapshot::{DeadlinePolicy, RunOption, Snapshot};
use crate::units::{Amount, Money, Seconds, div_ceil};

use super::pool::{self, Axis};
use super::smallest::{between, on_axis};
use super::target::{Target, is_attainable};
use super::{Question, Tools, growth};

/// Plans that it takes, about: the base's bisection, three assumptions moved both ways, one GPU more and fewer.
pub(super) const PROBES_TYPICAL: usize = 40;

/// How far each assumption is moved, in percent.
pub const PERCENT: i64 = 20;

/// One assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Factor {
    Runtime,
    Load,
    Deadlines,
    Gpus,
    Price,
}

impl Factor {
    pub const ALL: [Self; 5] = [Self::Runtime, Self::Load, Self::Deadlines, Self::Gpus, Self::Price];

    /// The name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Runtime => "runtime",
            Self::Load => "load",
            Self::Deadlines => "deadlines",
            Self::Gpus => "gpus",
            Self::Price => "price",
        }
    }

    /// The two ends, for people.
    #[must_use]
    pub fn ends(self) -> (&'static str, &'static str) {
        match self {
            Self::Runtime => ("runtimes 20 % shorter", "runtimes 20 % longer"),
            Self::Load => ("20 % less work", "20 % more work"),
            Self::Deadlines => ("20 % more time to the deadlines", "20 % less time to the deadlines"),
            Self::Gpus => ("one GPU more", "one GPU fewer"),
            Self::Price => ("20 % cheaper", "20 % dearer"),
        }
    }
}

/// What comes of an assumption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// The smallest pool; `None`: no size of this pool alone is enough, or none was found.
    pub needed: Option<Amount>,
    /// What there is.
    pub there: Amount,
    /// Hard deadlines that are missed with what there is, though some pool would meet them.
    pub late: u64,
    /// What the whole pool costs an hour; `None` without a price.
    pub hourly: Option<Money>,
}

impl Outcome {
    /// Whether today's pool is enough.
    #[must_use]
    pub fn is_enough(&self) -> bool {
        self.late == 0
    }

    /// GPUs that are lacking, in base units; negative where some are to spare.
    #[must_use]
    pub fn lacking(&self) -> Option<i64> {
        self.needed.map(|needed| needed.0 - self.there.0)
    }
}

/// An assumption moved both ways; the first makes GPUs less scarce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    pub factor: Factor,
    pub easier: Outcome,
    pub harder: Outcome,
}

/// All bars, those that move the need for GPUs most first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tornado {
    pub axis: Axis,
    pub base: Outcome,
    pub bars: Vec<Bar>,
}

/// Moves every assumption; `None` when the watch stops before all of them were.
pub(super) fn find(question: &Question<'_>, tools: &Tools<'_>, axis: &Axis) -> Option<Tornado> {
    let base = outcome(question, tools, question.snapshot, axis, (0, None))?;
    let hopeless = hopeless(question, question.snapshot);
    let mut bars = Vec::new();
    for factor in Factor::ALL {
        let (easier, harder) = match factor {
            Factor::Gpus => (resized(question, tools, axis, &base, 1)?, resized(question, tools, axis, &base, -1)?),
            Factor::Price => (priced(base, 100 - PERCENT), priced(base, 100 + PERCENT)),
            _ => {
                // More of the same work may be as hopeless as the work there is; other assumptions make it so.
                let known = if factor == Factor::Load { usize::MAX } else { hopeless };
                let at = |percent: i64| {
                    let changed = moved(question.snapshot, factor, percent);
                    let more = self::hopeless(question, &changed).saturating_sub(known);
                    // Whatever is enough stays so when work shrinks or deadlines recede, and nothing else becomes so when
                    // it grows or they approach. That says nothing where the assumption changes who can be in time at all.
                    let same = self::hopeless(question, &changed) == hopeless || factor == Factor::Load;
                    let known = base.needed.filter(|_| same).map(|needed| (needed, percent > 0));
                    outcome(question, tools, &changed, axis, (more, known))
                };
                (at(-PERCENT)?, at(PERCENT)?)
            }
        };
        bars.push(Bar { factor, easier, harder });
    }
    // A need that nothing meets is the widest.
    let spread = |bar: &Bar| {
        let lacking = |outcome: &Outcome| outcome.lacking().unwrap_or(i64::MAX / 4);
        let need = lacking(&bar.harder).saturating_sub(lacking(&bar.easier)).abs();
        (need, bar.harder.late.abs_diff(bar.easier.late))
    };
    bars.sort_by_key(|bar| std::cmp::Reverse(spread(bar)));
    Some(Tornado { axis: axis.clone(), base, bars })
}

/// Hard deadlines that no pool meets.
fn hopeless(question: &Question<'_>, snapshot: &Snapshot) -> usize {
    let hard = snapshot.workloads.iter().filter(|workload| workload.hard_due().is_some());
    hard.filter(|workload| !is_attainable(snapshot, question.policy, workload)).count()
}

/// `hopeless`: deadlines that only the assumption puts out of every pool's reach; then no size is enough. `base`: what was
/// needed without the assumption, and whether it makes more needed.
fn outcome(
    question: &Question<'_>,
    tools: &Tools<'_>,
    snapshot: &Snapshot,
    of: &Axis,
    (hopeless, base): (usize, Option<(Amount, bool)>),
) -> Option<Outcome> {
    let axis = pool::axis(snapshot, question.policy.promise, of.root, of.cell);
    let target = Target::new(snapshot, question.policy, vec![axis.clone()], tools);
    let needed = match (hopeless, target.is_empty()) {
        (0, true) => Some(Amount::ZERO),
        (0, false) => match base {
            None => on_axis(&target, 0, &axis).quantity,
            Some((needed, true)) => between(&target, &axis, needed, None),
            Some((needed, false)) => between(&target, &axis, Amount(0), Some(needed.min(axis.ample))),
        },
        _ => None,
    };
    // Where what is needed is known and there is as much, nothing is late.
    let is_there = hopeless == 0 && needed.is_some_and(|needed| needed <= axis.today);
    let late = if is_there { 0 } else { late(&target, &axis)? };
    let late = late.saturating_add(u64::try_from(hopeless).unwrap_or(u64::MAX));
    (!tools.watch.stopped()).then(|| Outcome { needed, there: axis.today, late, hourly: hourly(snapshot, &axis) })
}

/// Hard deadlines missed with the pool as it is.
fn late(target: &Target<'_>, axis: &Axis) -> Option<u64> {
    u64::try_from(target.misses(&[axis.today])?).ok()
}

fn resized(question: &Question<'_>, tools: &Tools<'_>, axis: &Axis, base: &Outcome, by: i64) -> Option<Outcome> {
    let size = Amount((axis.today.0 + by * axis.unit).max(0));
    let snapshot = pool::resized(question.snapshot, axis, size);
    let changed = pool::axis(&snapshot, question.policy.promise, axis.root, axis.cell);
    let target = Target::new(&snapshot, question.policy, vec![changed.clone()], tools);
    let is_there = base.needed.is_some_and(|needed| needed <= size);
    let late = if is_there { 0 } else { late(&target, &changed)? };
    Some(Outcome { there: size, late, hourly: hourly(&snapshot, &changed), ..*base })
}

fn priced(base: Outcome, percent: i64) -> Outcome {
    let of = |money: Money| Money { nanos: money.nanos.saturating_mul(i128::from(percent)) / 100 };
    Outcome { hourly: base.hourly.map(of), ..base }
}

fn hourly(snapshot: &Snapshot, axis: &Axis) -> Option<Money> {
    let price = snapshot.prices.iter().find(|price| price.cell == axis.cell)?;
    Some(Money { nanos: price.per_unit_hour.nanos.checked_mul(i128::from(axis.today.0))? })
}

/// The snapshot with one assumption moved; positive percent makes GPUs scarcer.
fn moved(snapshot: &Snapshot, factor: Factor, percent: i64) -> Snapshot {
    let mut changed = snapshot.clone();
    match factor {
        Factor::Load => return growth::grown(snapshot, i32::try_from(percent).unwrap_or(0)),
        Factor::Runtime => {
            let options = changed.workloads.iter_mut().flat_map(|workload| &mut workload.options);
            options.for_each(|option| stretch(option, 100 + percent));
        }
        Factor::Deadlines => {
            for workload in &mut changed.workloads {
                let start = workload.earliest_start.max(snapshot.now);
                if let Some(due) = workload.due.as_mut().filter(|due| due.policy != DeadlinePolicy::BestEffort) {
                    let room = (due.at - start).0.max(0);
                    due.at = start + Seconds(room.saturating_mul(100 - percent) / 100);
                }
            }
        }
        Factor::Gpus | Factor::Price => {}
    }
    changed
}

fn stretch(option: &mut RunOption, percent: i64) {
    let scaled = |span: Seconds| Seconds(div_ceil(span.0.saturating_mul(percent), 100).max(1));
    option.runtime.p50 = scaled(option.runtime.p50);
    option.runtime.p90 = scaled(option.runtime.p90).max(option.runtime.p50);
}
