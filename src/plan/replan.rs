//! Planning again: what was planned stays where it is, as long as nothing is lost by it.
//!
//! Stability ranks below the preset in a fresh plan, but a plan that people already rely on is not searched anew for a
//! minute's gain: with a previous plan at hand, work keeps its start, new and changed work is fitted in, and only when that
//! loses value does the search move others, as few as its moves touch. If value is lost even then, everything is searched
//! anew, and the result taken only if it loses less. Unchanged input therefore gives the same plan. All of it takes a tenth
//! of the time that a first plan may take, or its steps.

use std::collections::HashMap;

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::search::{self, Care};
use crate::plan::snapshot::Losses;
use crate::plan::stand::{self, Stand, Stands};
use crate::units::Timestamp;

/// Shares of the time, in percent, that planning again may take for each of its ways: with the last one in `propose`, a
/// tenth in all. A controller plans again at every change, and must be done before the next. Only where somebody
/// who has not changed would lose what he was promised does it take the time of a first plan.
const CAREFUL_TIME: u64 = 6;
const BOLD_TIME: u64 = 2;
/// The rest of the tenth.
pub const ANEW_TIME: u64 = 2;

/// The previous plan, as far as it can be kept.
pub struct Kept {
    pub stands: Stands,
    /// What was promised to be lost at most: where it loses no more, nothing else needs to be looked for.
    pub promised: (i128, i128),
    /// Workloads that take no longer than before and were promised to be on time, with the least that each can lose.
    owed: Vec<(usize, Losses)>,
}

impl Kept {
    /// Whether somebody for whom only others are to blame loses what he was promised to keep.
    #[must_use]
    pub fn is_broken_by(&self, desk: &Desk<'_>, stands: &Stands) -> bool {
        self.owed.iter().any(|(workload, least)| {
            let end = stands[*workload].as_ref().map(Stand::end);
            end.is_some_and(|end| desk.snapshot.workloads[*workload].losses_at(end) != *least)
        })
    }
}

/// Stands that keep the previous plan; `None` without one, or when it cannot be kept at all.
#[must_use]
pub fn keep(desk: &Desk<'_>, effort: &mut Effort<'_>) -> Option<Kept> {
    if desk.snapshot.previous.is_empty() {
        return None;
    }
    let promises = promises(desk);
    let promised = promised_losses(desk, &promises);
    let stands = in_place(desk, &promises);
    let placed = |stands: &Stands| stands.iter().filter(|stand| stand.is_some()).count();
    if stand::losses(desk.snapshot, &stands) <= promised && placed(&stands) == desk.ground.placeable() {
        return Some(Kept { stands, promised, owed: Vec::new() });
    }
    let stands = if desk.model.grid.exact { repaired(desk, &promises, promised, effort) } else { stands };
    (placed(&stands) == desk.ground.placeable()).then(|| Kept { stands, promised, owed: owed(desk, &promises) })
}

/// A previous release that still names one of its workload's options.
struct Promised {
    start: Timestamp,
    workload: usize,
    option: usize,
    /// It would end when it was promised to: nothing about it has changed.
    unchanged: bool,
    /// It was promised on time, so nothing that it loses by today's due time was promised.
    on_time: bool,
}

/// Unchanged work first, each by start: what has changed gives way.
fn promises(desk: &Desk<'_>) -> Vec<Promised> {
    let by_key: HashMap<&str, usize> =
        desk.snapshot.workloads.iter().enumerate().map(|(index, workload)| (workload.key.as_str(), index)).collect();
    let mut promises: Vec<Promised> = desk
        .snapshot
        .previous
        .iter()
        .filter_map(|previous| {
            let workload = *by_key.get(previous.key.as_str())?;
            let options = &desk.snapshot.workloads[workload].options;
            let option = options.iter().position(|option| option.flavor == previous.flavor)?;
            let may_start = previous.start >= desk.ground.earliest_start(workload);
            let end = previous.start + options[option].held(desk.policy.promise);
            let unchanged = previous.end.is_none_or(|promised| promised == end);
            let on_time = previous.late == Some(false);
            let promised = Promised { start: previous.start, workload, option, unchanged, on_time };
            (may_start && desk.ground.can_run(workload, option)).then_some(promised)
        })
        .collect();
    promises.sort_by_key(|promised| (!promised.unchanged, promised.start, promised.workload));
    promises
}

/// What the previous plan lost, by today's due times; work that it did not know, or promised to be on time, is owed the
/// least it can lose.
fn promised_losses(desk: &Desk<'_>, promises: &[Promised]) -> (i128, i128) {
    let mut sum = desk.loss_floors();
    for promised in promises.iter().filter(|promised| !promised.on_time) {
        let workload = &desk.snapshot.workloads[promised.workload];
        let length = workload.options[promised.option].held(desk.policy.promise);
        let then = workload.losses_at(promised.start + length);
        let least = least(desk, promised.workload);
        sum.0 += i128::from(then.hard - least.hard);
        sum.1 += i128::from(then.soft - least.soft);
    }
    sum
}

/// What a workload loses at the end that it could have if it were alone.
fn least(desk: &Desk<'_>, workload: usize) -> Losses {
    let end = crate::plan::proof::earliest_end(desk, workload);
    end.map(|end| desk.snapshot.workloads[workload].losses_at(end)).unwrap_or_default()
}

fn owed(desk: &Desk<'_>, promises: &[Promised]) -> Vec<(usize, Losses)> {
    let kept = promises.iter().filter(|promised| promised.on_time && promised.unchanged);
    kept.map(|promised| (promised.workload, least(desk, promised.workload))).collect()
}

/// Everything that fits stays to the second; the rest goes where it fits first, the pressed before the idle.
fn in_place(desk: &Desk<'_>, promises: &[Promised]) -> Stands {
    let mut timeline = desk.ground.base.clone();
    let mut stands = desk.ground.fixed.clone();
    for Promised { start, workload, option, .. } in promises {
        let (start, workload, option) = (*start, *workload, *option);
        if stands[workload].is_some() {
            continue;
        }
        let Some(uses) = desk.ground.uses(workload, option) else { continue };
        let length = desk.snapshot.workloads[workload].options[option].held(desk.policy.promise);
        let stand = Stand::whole(option, start, length);
        if timeline.fits(uses, stand.pieces[0]) {
            timeline.take(uses, stand.pieces[0]);
            stands[workload] = Some(stand);
        }
    }
    let mut rest: Vec<usize> = (0..stands.len()).filter(|workload| stands[*workload].is_none()).collect();
    rest.sort_by_key(|workload| {
        let due = desk.snapshot.workloads[*workload].due.as_ref().map(|due| due.at);
        (due.is_none(), due, *workload)
    });
    desk.ground.fill(&mut timeline, &mut stands, rest.into_iter());
    stands
}

/// The previous plan on the grid, new work forced in, and as little moved as that takes.
fn repaired(desk: &Desk<'_>, promises: &[Promised], promised: (i128, i128), effort: &mut Effort<'_>) -> Stands {
    let mut board = Board::empty(&desk.model);
    let mut job_of: Vec<Option<usize>> = vec![None; desk.snapshot.workloads.len()];
    for (job, model_job) in desk.model.jobs.iter().enumerate() {
        job_of[model_job.workload] = Some(job);
    }
    // Where each would stand, if there were room.
    let mut wishes: Vec<Option<Place>> = vec![None; board.places.len()];
    for Promised { start, workload, option, .. } in promises {
        let (start, workload, option) = (*start, *workload, *option);
        let Some(job) = job_of[workload] else { continue };
        let options = &desk.model.jobs[job].options;
        let Some(index) = options.iter().position(|candidate| candidate.option == option) else { continue };
        let Ok(slot) = usize::try_from(desk.model.grid.floor(start)) else { continue };
        let on_slot = desk.model.grid.instant(desk.model.grid.floor(start)) == start;
        let ends = slot + options[index].length <= desk.model.slots();
        if on_slot && ends {
            let place = Place { option: index, start: slot };
            wishes[job] = Some(place);
            if board.fits(&options[index], slot) {
                board.put(job, place);
            }
        }
    }
    let before = board.places.clone();
    let goal = promised.0 * i128::from(desk.model.soft_base) + promised.1;
    let goal = i64::try_from(goal).unwrap_or(i64::MAX);
    let mut dice = Dice::new(desk.policy.seed, 5);
    search::repair(&mut board, &before, &wishes, goal, Care::Careful, &mut dice, &mut effort.share(8, CAREFUL_TIME));
    if board.loss > goal {
        search::repair(&mut board, &before, &wishes, goal, Care::Bold, &mut dice, &mut effort.share(30, BOLD_TIME));
    }
    let kept: HashMap<usize, Timestamp> = promises.iter().map(|promised| (promised.workload, promised.start)).collect();
    desk.stands_under(&board, &[], &|workload, start| kept.get(&workload) == Some(&start))
}
