//! Trying every timely start of a handful of jobs, so that work that may be split finds its holes.
//!
//! A search that places jobs one by one sees no gain in a start that only opens a hole for somebody else. Where few jobs
//! stand around work that may be split, all their starts in time are tried, and in each case that work takes what is left.
//!
//! Whole slots are enough when one job may be split and the slot divides every time of the input: jobs whose starts lie
//! equally far into a slot can be moved together, and as they move the holes in reach grow or shrink linearly, so in one of
//! the two directions nothing is lost until they stand on a slot, or meet others with which they then move on. So where
//! everything was tried and nothing was in time, nothing is: that is a proof.
//!
//! Deliberately absent: starts after the due time (who is late anyway is the search's business), and more than a handful.

use crate::plan::board::{Board, Place};
use crate::plan::desk::Desk;
use crate::plan::stand::{self, Stands};

/// Jobs in one piece whose starts are tried: more would not be done in milliseconds.
const WHOLE_MAX: usize = 8;
/// Jobs that may be split: they are placed one after the other, so with more of them little would be learnt.
const SPLIT_MAX: usize = 2;
/// Places looked at, and complete cases among them, before it is given up.
const PLACES_MAX: usize = 40_000;
const CASES_MAX: usize = 4_000;

/// What trying everything showed.
#[derive(Debug)]
pub enum Tried {
    /// Nobody loses more than alone on an empty board.
    Met(Stands),
    /// Somebody must.
    Impossible,
    Unknown,
}

/// Tries them all; of the cases in which nobody loses, the one with the least `rank` counts.
#[must_use]
pub fn try_all(desk: &Desk<'_>, rank: &dyn Fn(&Stands) -> Vec<i128>) -> Tried {
    let jobs = &desk.model.jobs;
    let at_stake = |job: usize| jobs[job].worst_loss() > jobs[job].least_loss();
    let (split, mut whole): (Vec<usize>, Vec<usize>) =
        (0..jobs.len()).filter(|job| at_stake(*job)).partition(|job| jobs[*job].split.is_some());
    let handful = (1..=SPLIT_MAX).contains(&split.len()) && whole.len() <= WHOLE_MAX;
    if !handful || jobs.iter().any(|job| job.narrow > 0) {
        return Tried::Unknown;
    }
    // Alike jobs stand together, so that of their orders only one is tried.
    whole.sort_by_key(|job| (jobs[*job].class, *job));
    let mut walk =
        Walk { desk, whole: &whole, rank, floors: desk.loss_floors(), places: 0, cases: 0, best: None, cut: false };
    walk.descend(&mut Board::empty(&desk.model), 0);
    match walk.best {
        Some((_, stands)) => Tried::Met(stands),
        None if !walk.cut && is_complete(desk, &whole, &split) => Tried::Impossible,
        None => Tried::Unknown,
    }
}

/// Whether what was tried stands for everything: one job to split that may take every hole there can be, nobody else.
fn is_complete(desk: &Desk<'_>, whole: &[usize], split: &[usize]) -> bool {
    let &[only] = split else { return false };
    let changes: usize = desk.ground.base.exact.times.iter().map(|times| times.len().saturating_sub(1)).sum();
    // A hole begins when a job ends or capacity changes, or at the very start.
    let holes_max = whole.len() + changes + 1;
    desk.model.grid.exact
        && desk.model.jobs[only].split.is_some_and(|split| split.pieces_max >= holes_max)
        && desk.model.jobs[only].options.len() == 1
        && whole.len() + 1 == desk.snapshot.workloads.len()
}

struct Walk<'a, 's> {
    desk: &'a Desk<'s>,
    whole: &'a [usize],
    rank: &'a dyn Fn(&Stands) -> Vec<i128>,
    floors: (i128, i128),
    places: usize,
    cases: usize,
    best: Option<(Vec<i128>, Stands)>,
    /// Something was not tried.
    cut: bool,
}

impl Walk<'_, '_> {
    /// Places the jobs from `at` on in all ways.
    fn descend(&mut self, board: &mut Board<'_>, at: usize) {
        let Some(&job) = self.whole.get(at) else { return self.case(board) };
        let model_job = &board.model.jobs[job];
        let end_max = model_job.end_max_for(model_job.least_loss());
        let twin = at.checked_sub(1).map(|before| self.whole[before]);
        let from =
            twin.filter(|twin| board.model.jobs[*twin].class == model_job.class).and_then(|twin| board.places[twin]);
        for (index, option) in model_job.options.iter().enumerate() {
            for start in model_job.release..(end_max + 1).saturating_sub(option.length) {
                let place = Place { option: index, start };
                if from.is_some_and(|from| place < from) || !board.fits(option, start) {
                    continue;
                }
                self.places += 1;
                if self.places > PLACES_MAX || self.cases >= CASES_MAX {
                    self.cut = true;
                    return;
                }
                board.put(job, place);
                self.descend(board, at + 1);
                board.lift(job);
            }
        }
    }

    /// All of them stand; the others take what is left.
    fn case(&mut self, board: &Board<'_>) {
        self.cases += 1;
        let stands = self.desk.stands_under(board, &[], &|_, _| true);
        if stands.iter().any(Option::is_none) || stand::losses(self.desk.snapshot, &stands) > self.floors {
            return;
        }
        let rank = (self.rank)(&stands);
        if self.best.as_ref().is_none_or(|(best, _)| rank < *best) {
            self.best = Some((rank, stands));
        }
    }
}
