//! Planning again: what was planned stays where it is, as long as nothing is lost by it.
//!
//! Stability ranks below the preset in a fresh plan, but a plan that people already rely on is not searched anew for a
//! minute's gain: with a previous plan at hand, work keeps its start, new and changed work is fitted in, and only when that
//! loses value does the search move others, as few as its moves touch. If value is lost even then, everything is searched
//! anew. Unchanged input therefore gives the same plan.

use std::collections::HashMap;

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::greedy::place_earliest;
use crate::plan::search;
use crate::plan::stand::{self, Stand, Stands};
use crate::units::Timestamp;

/// Stands that keep the previous plan and lose no more than must be; `None` without a previous plan or when keeping it
/// costs value.
#[must_use]
pub fn keep(desk: &Desk<'_>, effort: &mut Effort<'_>) -> Option<Stands> {
    if desk.snapshot.previous.is_empty() {
        return None;
    }
    let floors = desk.loss_floors();
    let stands = in_place(desk);
    if stand::losses(desk.snapshot, &stands) == floors {
        return Some(stands);
    }
    if !desk.model.grid.exact {
        return None;
    }
    let stands = repaired(desk, effort);
    (stand::losses(desk.snapshot, &stands) == floors).then_some(stands)
}

/// (workload, option, start) of each previous release that still names one of the workload's options.
fn promises(desk: &Desk<'_>) -> Vec<(Timestamp, usize, usize)> {
    let by_key: HashMap<&str, usize> =
        desk.snapshot.workloads.iter().enumerate().map(|(index, workload)| (workload.key.as_str(), index)).collect();
    let mut promises: Vec<(Timestamp, usize, usize)> = desk
        .snapshot
        .previous
        .iter()
        .filter_map(|previous| {
            let workload = *by_key.get(previous.key.as_str())?;
            let options = &desk.snapshot.workloads[workload].options;
            let option = options.iter().position(|option| option.flavor == previous.flavor)?;
            let may_start = previous.start >= desk.earliest_start(workload);
            (may_start && desk.can_run(workload, option)).then_some((previous.start, workload, option))
        })
        .collect();
    promises.sort_unstable();
    promises
}

/// Everything that fits stays to the second; the rest goes where it fits first, the pressed before the idle.
fn in_place(desk: &Desk<'_>) -> Stands {
    let mut timeline = desk.base.clone();
    let mut stands = desk.fixed.clone();
    for (start, workload, option) in promises(desk) {
        if stands[workload].is_some() {
            continue;
        }
        let Some(uses) = desk.uses(workload, option) else { continue };
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
    for workload in rest {
        let Some(stand) = desk.first_stand(&timeline, workload) else { continue };
        if let Some(uses) = desk.uses(workload, stand.option) {
            for piece in &stand.pieces {
                timeline.take(uses, *piece);
            }
        }
        stands[workload] = Some(stand);
    }
    stands
}

/// The previous plan on the grid, new work forced in, and as little moved as that takes.
fn repaired(desk: &Desk<'_>, effort: &mut Effort<'_>) -> Stands {
    let mut board = Board::empty(&desk.model);
    let mut job_of: Vec<Option<usize>> = vec![None; desk.snapshot.workloads.len()];
    for (job, model_job) in desk.model.jobs.iter().enumerate() {
        job_of[model_job.workload] = Some(job);
    }
    for (start, workload, option) in promises(desk) {
        let Some(job) = job_of[workload] else { continue };
        let options = &desk.model.jobs[job].options;
        let Some(index) = options.iter().position(|candidate| candidate.option == option) else { continue };
        let Ok(slot) = usize::try_from(desk.model.grid.floor(start)) else { continue };
        let on_slot = desk.model.grid.instant(desk.model.grid.floor(start)) == start;
        let ends = slot + options[index].length <= desk.model.slots();
        if on_slot && ends && board.fits(&options[index], slot) {
            board.put(job, Place { option: index, start: slot });
        }
    }
    for job in 0..board.places.len() {
        if board.places[job].is_none() {
            place_earliest(&mut board, job);
        }
    }
    let mut dice = Dice::new(desk.policy.seed, 5);
    search::reduce_loss(&mut board, &mut dice, desk.loss_floor(), &mut effort.slice(30));
    let kept: HashMap<usize, Timestamp> =
        promises(desk).into_iter().map(|(start, workload, _)| (workload, start)).collect();
    desk.stands_under(&board, &[], &|workload, start| kept.get(&workload) == Some(&start))
}
