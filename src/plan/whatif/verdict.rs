//! What to do: buy nothing, buy, or choose between relaxing a promise and buying.
//!
//! - **DontBuy**: the plan with today's quota meets every hard deadline that any pool could meet.
//! - **Buy**: it does not, an addition was found that does, and relaxing instead would be no small favour (`relaxation`).
//! - **RelaxOrBuy**: it does not, and a small relaxation would do too, or no addition was found.
//!
//! Meeting a deadline is proven by the plan; not meeting it, by a bound. Where neither is at hand the verdict is the best
//! guess and says so.

use crate::names::WorkloadKey;
use crate::plan::proposal::Plan;
use crate::plan::snapshot::CellId;
use crate::units::{Amount, Money};

use super::addition::{self, Addition};
use super::bench::Bench;
use super::break_even::{self, BreakEven};
use super::relaxation::{self, Relaxation};
use super::smallest::Smallest;
use super::target::{Answer, Target, is_attainable, missed};
use super::words;
use super::{Basis, Question, Row};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    DontBuy,
    Buy,
    RelaxOrBuy,
}

impl Kind {
    /// The name in documents.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DontBuy => "DontBuy",
            Self::Buy => "Buy",
            Self::RelaxOrBuy => "RelaxOrBuy",
        }
    }
}

/// The answer, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub kind: Kind,
    /// For a manager.
    pub sentence: String,
    /// What to buy at the least; empty unless today's pool is too small. Several where no single pool is enough.
    pub addition: Vec<Addition>,
    pub relaxation: Option<Relaxation>,
    pub break_even: Vec<BreakEven>,
    pub confidence: Confidence,
    /// Hard deadlines that no number of GPUs meets.
    pub hopeless: Vec<WorkloadKey>,
}

/// How sure the verdict is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confidence {
    /// The verdict follows from a checked plan or from a bound.
    pub proven: bool,
    /// Value of hard deadlines that the plan with today's quota misses.
    pub missed: i128,
    /// No plan with today's quota misses less.
    pub bound: Option<i128>,
    pub sentence: String,
}

/// What the verdict's words are made from.
pub(super) struct Facts<'a> {
    pub question: &'a Question<'a>,
    pub rows: &'a [Row],
    pub plan: &'a Plan,
    pub kind: Kind,
    pub proven: bool,
    /// Missed though some pool would meet them.
    pub late: usize,
    pub hopeless: &'a [WorkloadKey],
    pub addition: &'a [Addition],
    pub relaxation: Option<&'a Relaxation>,
}

pub(super) fn find(
    question: &Question<'_>,
    bench: &Bench<'_>,
    target: &Target<'_>,
    smallest: &Smallest,
    rows: &[Row],
) -> Verdict {
    let Question { snapshot, policy, .. } = *question;
    let staggered = rows.iter().find(|row| row.basis == Basis::Staggered);
    let plan = staggered.and_then(|row| row.plan.as_ref()).unwrap_or(question.plan);
    let (late, hopeless): (Vec<usize>, Vec<usize>) =
        missed(snapshot, plan).into_iter().partition(|at| is_attainable(snapshot, policy, &snapshot.workloads[*at]));
    let hopeless: Vec<WorkloadKey> = hopeless.into_iter().map(|at| snapshot.workloads[at].key.clone()).collect();

    let too_small = !late.is_empty() && matches!(target.enough(&target.today()), Answer::TooSmall);
    let addition = if late.is_empty() { Vec::new() } else { smallest_addition(question, bench, target, smallest) };
    let relaxed = Plan { infeasible: question.plan.infeasible.clone(), ..plan.clone() };
    let relaxation =
        if late.is_empty() && hopeless.is_empty() { None } else { relaxation::find(bench, snapshot, &relaxed) };
    let kind = match (late.is_empty(), addition.is_empty(), relaxation.as_ref()) {
        (true, _, _) => Kind::DontBuy,
        (false, false, relaxation) if relaxation.is_none_or(|relaxation| !relaxation.is_small) => Kind::Buy,
        (false, _, _) => Kind::RelaxOrBuy,
    };
    let proven = late.is_empty() || too_small;
    let hard = staggered.and_then(Row::hard_missed);
    let facts = Facts {
        question,
        rows,
        plan,
        kind,
        proven,
        late: late.len(),
        hopeless: &hopeless,
        addition: &addition,
        relaxation: relaxation.as_ref(),
    };
    let bound = hard.and_then(|hard| hard.1);
    let confidence = Confidence {
        proven,
        missed: hard.map_or(0, |hard| hard.0),
        // A certificate rules zero out where the solver's own bound is silent.
        bound: if too_small { Some(bound.unwrap_or(0).max(1)) } else { bound },
        sentence: words::confidence(&facts),
    };
    let sentence = words::verdict(&facts);
    let break_even = break_evens(question, target, rows, &addition);
    Verdict { kind, sentence, addition, relaxation, break_even, confidence, hopeless }
}

/// The cheapest single pool to enlarge, else what the best point enlarges.
fn smallest_addition(
    question: &Question<'_>,
    bench: &Bench<'_>,
    target: &Target<'_>,
    smallest: &Smallest,
) -> Vec<Addition> {
    let single = smallest.per_pool.iter().filter_map(|pool| {
        let quantity = pool.quantity.filter(|quantity| *quantity > pool.today)?;
        let mut sizes = target.today();
        sizes[pool.axis] = quantity;
        addition(question, bench, target, &sizes, pool.proven).into_iter().next()
    });
    let unit = |addition: &Addition| target.axes.get(addition.axis).map_or(1, |axis| axis.unit.max(1));
    let mut single: Vec<Addition> = single.collect();
    let priced = single.iter().all(|one| one.cost.is_some());
    single.sort_by_key(|one| {
        let money = one.cost.filter(|_| priced).map_or(0, |money| money.nanos);
        (money, one.quantity.0 / unit(one), one.axis)
    });
    if let Some(first) = single.into_iter().next() {
        return vec![addition::narrowed(question.snapshot, target, first)];
    }
    // No pool alone is enough: both of a pair grow, none shrinks.
    let larger = |sizes: &[Amount]| sizes.iter().zip(&target.axes).all(|(size, axis)| *size >= axis.today);
    let mut points: Vec<_> = smallest.points.iter().filter(|point| larger(&point.sizes)).collect();
    points.sort_by_key(|point| point.sizes.iter().map(|size| size.0).sum::<i64>());
    points.first().map_or_else(Vec::new, |point| addition(question, bench, target, &point.sizes, point.proven))
}

/// What pools of these sizes add to today's, each with the hours in which it is needed.
fn addition(
    question: &Question<'_>,
    bench: &Bench<'_>,
    target: &Target<'_>,
    sizes: &[Amount],
    proven: bool,
) -> Vec<Addition> {
    let Answer::Enough(hard) = target.enough(sizes) else { return Vec::new() };
    let changed = target.with(question.snapshot, sizes);
    // Without time the plan of the hard deadlines alone shows when they need it.
    let plan = if bench.stopped() { *hard } else { bench.plan_from(&changed, 0, &hard) };
    let grown = target.axes.iter().enumerate().zip(sizes).filter(|((_, axis), size)| **size > axis.today);
    let today = question.snapshot;
    grown
        .map(|((at, axis), size)| {
            addition::of_plan(today, question.policy, &plan, (at, axis), *size - axis.today, proven)
        })
        .collect()
}

/// For what would be bought, or, when nothing is, for what there is.
fn break_evens(question: &Question<'_>, target: &Target<'_>, rows: &[Row], addition: &[Addition]) -> Vec<BreakEven> {
    let own = |cell: CellId| question.own.iter().find(|(of, _)| *of == cell).map(|(_, money)| *money);
    let staggered = rows.iter().find(|row| row.basis == Basis::Staggered);
    let larger = rows.iter().find(|row| row.basis == Basis::SmallestPool);
    let each = target.axes.iter().enumerate().filter_map(|(at, axis)| {
        let bought = addition.iter().find(|one| one.axis == at);
        let row = if bought.is_some() { larger.or(staggered)? } else { staggered? };
        let demand = row.demand.get(&axis.cell)?;
        let (floor, quantity) = bought.map_or((Amount::ZERO, axis.today), |one| (axis.today, one.quantity));
        break_even::of_axis(question.snapshot, axis, demand, floor, quantity, own(axis.cell))
    });
    each.filter(|one| addition.is_empty() || addition.iter().any(|bought| bought.flavor == one.flavor)).collect()
}

/// Money with its currency, or nothing.
#[must_use]
pub fn money(amount: Option<Money>, currency: Option<&str>) -> Option<String> {
    amount.map(|amount| format!("{} {}", amount.cents(), currency.unwrap_or("")).trim_end().to_owned())
}
