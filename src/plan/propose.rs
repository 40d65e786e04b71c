//! The planner's walk: a plan at once, then better ones, then a proof, until the budget ends.
//!
//! 1. what is fixed (frozen promises), what can never fit, and a plan by list scheduling, checked, within milliseconds;
//! 2. a previous plan that can be kept (then 7);
//! 3. fewer losses: ruin and recreate;
//! 4. how few they can be: bounds, and a solver's polish where the model is small enough;
//! 5. the preset: peak or cost, then completion;
//! 6. exact time: every start to the second, late and unplanned work included;
//! 7. the figures, the independent check, the reasons.
//!
//! Deliberately absent: clocks and signals (a [`Watch`] is asked), and any trust in the search (see 7).

use crate::failure::Severity;
use crate::plan::board::Board;
use crate::plan::check::{capacity_ok, check};
use crate::plan::desk::{Desk, Splittable};
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::exhaust::{self, Tried};
use crate::plan::explain;
use crate::plan::ground::Ground;
use crate::plan::proposal::{LevelName, Plan, Proof as Kind, Status, StoppedBy, Verdict};
use crate::plan::snapshot::{Policy, Snapshot};
use crate::plan::stand::{self, Stands};
use crate::plan::watch::{Phase, Watch};
use crate::plan::{greedy, levels, preset, proof, relax, replan, search};

/// Plans a snapshot. The result has passed `plan::check`; what did not is never shown.
///
/// # Panics
/// When even the greedy plan fails the check, which is a bug in the planner.
#[must_use]
pub fn propose(snapshot: &Snapshot, policy: &Policy, watch: &dyn Watch) -> Plan {
    let mut plan = planned(snapshot, policy, Goal::All, watch);
    explain::reasons(snapshot, policy, &mut plan.releases);
    checked(snapshot, policy, plan)
}

/// A plan that is only as good as it takes to tell which deadlines can be met: losses are lowered and bounded as in
/// [`propose`], the levels after them are left as they come, and no release gives a reason.
///
/// # Panics
/// As [`propose`].
#[must_use]
pub fn probe(snapshot: &Snapshot, policy: &Policy, watch: &dyn Watch) -> Plan {
    checked(snapshot, policy, planned(snapshot, policy, Goal::Losses, watch))
}

/// How far a plan is improved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goal {
    All,
    Losses,
}

fn planned(snapshot: &Snapshot, policy: &Policy, goal: Goal, watch: &dyn Watch) -> Plan {
    let mut effort = Effort::new(policy, watch);
    let ground = Ground::new(snapshot, policy);
    let at_once = snapshot.previous.is_empty().then(|| at_once(&ground, &mut effort));
    let desk = Desk::new(ground, Splittable::OnGrid);
    let mut proof = proof::Proof::new(&desk);

    // 2. What was planned before is kept where that loses nothing.
    let stands = match replan::keep(&desk, &mut effort) {
        Some(mut kept) => {
            let losses = |stands: &Stands| stand::losses(snapshot, stands);
            let mut best = std::mem::take(&mut kept.stands);
            // People are only moved for value: what is planned anew must lose less. It has a little time; where that ends
            // it, and somebody who has not changed would lose what he was promised, all that is left.
            for percent in [replan::ANEW_TIME, 100] {
                let wanted = percent == replan::ANEW_TIME || kept.is_broken_by(&desk, &best);
                if losses(&best) <= kept.promised || !wanted {
                    break;
                }
                let mut part = effort.part(percent);
                let other = anew(&desk, goal, None, &mut proof, &mut part);
                effort.rejoin(&part);
                if losses(&other) < losses(&best) {
                    best = other;
                }
                if part.stopped_by() != Some(StoppedBy::TimeLimit) {
                    break;
                }
            }
            best
        }
        None => anew(&desk, goal, at_once, &mut proof, &mut effort),
    };

    // 7. Figures; reasons and check follow.
    let mut plan = desk.plan(&stands, &proof, watch);
    if plan.quality.status != Status::Optimal {
        plan.quality.stopped_by = effort.stopped_by();
    }
    effort.count(usize::try_from(plan.summary.late).unwrap_or(usize::MAX), snapshot.workloads.len());
    if let Some(level) = plan.quality.levels.first() {
        effort.tell(Phase::Explain, level.name, level.value, level.bound);
    }
    plan
}

fn checked(snapshot: &Snapshot, policy: &Policy, plan: Plan) -> Plan {
    let findings = check(snapshot, policy, &plan);
    let wrong = findings.iter().find(|finding| finding.severity == Severity::Error);
    assert!(wrong.is_none(), "a plan must pass its check: {wrong:?}");
    plan
}

/// 1. a plan by list scheduling, checked and shown at once.
fn at_once(ground: &Ground<'_>, effort: &mut Effort<'_>) -> Stands {
    let (snapshot, policy) = (ground.snapshot, ground.policy);
    let stands = ground.listed();
    let releases = stand::releases(snapshot, policy, &stands);
    if capacity_ok(snapshot, policy, &releases).is_ok() {
        effort.watch.first_plan(&releases);
    }
    let late = releases.iter().filter(|release| release.verdict == Verdict::Late).count();
    let nowhere = stands.iter().zip(&snapshot.workloads).filter(|(stand, it)| stand.is_none() && it.due.is_some());
    effort.count(late + nowhere.count(), snapshot.workloads.len());
    effort.tell(Phase::Greedy, LevelName::HardMissed, stand::losses(snapshot, &stands).0, None);
    stands
}

/// The search from the best greedy plan; its result is never worse than the plan that was there at once.
fn anew(
    desk: &Desk<'_>,
    goal: Goal,
    listed: Option<Stands>,
    proof: &mut proof::Proof,
    effort: &mut Effort<'_>,
) -> Stands {
    let snapshot = desk.snapshot;
    let listed = listed.unwrap_or_else(|| at_once(&desk.ground, effort));
    let mut stands = search_anew(desk, goal, proof, effort);
    if desk.model.jobs.iter().any(|job| job.split.is_some()) && stand::losses(snapshot, &stands) > desk.loss_floors() {
        // Work that may be split can give way to all other work and take the holes.
        let last = Desk::new(desk.ground.clone(), Splittable::Last);
        let other = search_anew(&last, goal, &mut proof::Proof::new(&last), effort);
        if levels_of(desk, &other) < levels_of(desk, &stands) {
            stands = other;
        }
        if stand::losses(snapshot, &stands) > desk.loss_floors() {
            match exhaust::try_all(desk, &|stands| levels_of(desk, stands)) {
                Tried::Met(other) => stands = other,
                Tried::Impossible => proof.learn_of_losses(desk, Kind::Exhaustive),
                Tried::Unknown => {}
            }
        }
    }
    if levels_of(desk, &listed) < levels_of(desk, &stands) { listed } else { stands }
}

/// 3. and 4. fewer losses and how few they can be; 5. the preset; 6. exact time.
fn search_anew(desk: &Desk<'_>, goal: Goal, proof: &mut proof::Proof, effort: &mut Effort<'_>) -> Stands {
    let mut board = greedy::best(&desk.model, desk.loss_floor());
    reduce(desk, &mut board, proof, effort);
    match goal {
        Goal::All => preset::improve(desk, board, proof, effort),
        Goal::Losses => desk.stands(&board),
    }
}

/// Level values in order, after the number of workloads without any place: nothing outweighs dropping one.
fn levels_of(desk: &Desk<'_>, stands: &Stands) -> Vec<i128> {
    let summary = stand::summarize(desk.snapshot, desk.policy, stands);
    let unplaced = i128::try_from(stands.iter().filter(|stand| stand.is_none()).count()).unwrap_or(i128::MAX);
    let values = levels::values(desk.snapshot, desk.policy, stands, &summary);
    std::iter::once(unplaced).chain(values.into_iter().map(|(_, value)| value)).collect()
}

/// Levels 1 and 2: search, bound, polish, in slices, until proven or out of budget.
fn reduce<'m>(desk: &'m Desk<'_>, board: &mut Board<'m>, proof: &mut proof::Proof, effort: &mut Effort<'_>) {
    let floor = desk.loss_floor();
    let mut dice = Dice::new(desk.policy.seed, 1);
    if board.loss > floor {
        tell(desk, board, proof, Phase::LocalSearch, effort);
        search::reduce_loss(board, &mut dice, floor, &mut effort.slice(15));
        search::make_way(board, floor, &mut dice, &mut effort.slice(5));
    }
    if board.loss > floor {
        tell(desk, board, proof, Phase::Bound, effort);
        relax::losses(desk, board, proof, effort);
        // Time that is left goes on, from another seed; steps would only repeat what was tried.
        if !effort.deterministic() && !proof.losses_proven(desk, board.loss) {
            tell(desk, board, proof, Phase::Polish, effort);
            relax::windows(desk, board, proof, effort, 70);
        }
    }
}

/// Where the losses stand.
fn tell(desk: &Desk<'_>, board: &Board<'_>, proof: &proof::Proof, phase: Phase, effort: &mut Effort<'_>) {
    let late = (0..board.places.len()).filter(|job| board.loss_of(*job) > 0).count();
    effort.count(late, desk.snapshot.workloads.len());
    let (hard, soft) = desk.model.unpack(board.loss);
    let proven = proof.bound(LevelName::HardMissed) == Some(i128::from(hard));
    let (level, value) = if proven { (LevelName::SoftLost, soft) } else { (LevelName::HardMissed, hard) };
    effort.tell(phase, level, i128::from(value), proof.bound(level));
}
