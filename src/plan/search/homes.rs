//! Repairing a plan that people rely on: fewer losses first, and everybody else back home.
//!
//! The moves are those of the search, with two differences: whoever is ejected goes home first if he can, and a move may
//! begin by taking someone home, whoever stands there. Being away counts as a part of a loss, so the search trades the two
//! on its way; what it returns has lost the least down to the goal, and of those states moved the fewest.

use super::best::Best;
use super::heat::Heat;
use super::way::Tries;
use super::{Budget, Run};
use crate::plan::board::{Board, Place};
use crate::plan::dice::Dice;
use crate::plan::greedy::place_earliest;

/// So many moved jobs weigh as much as one typical loss: hardly anything while too much is lost, and then a good deal.
const AWAY_PER_LOSS_FIRST: i64 = 64;
const AWAY_PER_LOSS: i64 = 8;
/// Temperatures while too much is lost: up to a third of a typical loss.
const FIRST_HOT: i64 = 1024 / 3;
const FIRST_COLD: i64 = 1024 / 8;
/// Temperatures from then on: three quarters of a moved job, and a third. A repair is short, so it has no time to cool from further up.
const HOT: i64 = 1024 * 3 / 4 / AWAY_PER_LOSS;
const COLD: i64 = 1024 / 3 / AWAY_PER_LOSS;

/// Moves without anybody more at home after which a repair is over, once no more is lost than may be; a move among
/// thousands of jobs takes as much longer.
const PATIENCE: u64 = 20_000;
/// The same where no more have moved than there are jobs that could not stay.
const PATIENCE_FEW: u64 = 2_000;
/// How often making way may begin anew while somebody is left out.
const TRIES: usize = 16;
/// While many move, and while very many do; shared out among many jobs.
const TRIES_TO_MOVE_FEW: usize = 16;
const TRIES_TO_MOVE_SOME: usize = 24;
/// Jobs from which on patience is shared out.
const JOBS_FEW: usize = 1_000;

/// How a repair begins while too much is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Care {
    /// Nobody is moved without need.
    Careful,
    /// Whoever stands in the way, for a while.
    Bold,
}

/// Lowers the board's loss to `goal`, and the number of jobs that are not at home, until the budget is spent; returns the
/// moves made. A job without a home has nowhere to be moved from.
pub fn repair(
    board: &mut Board<'_>,
    homes: &[Option<Place>],
    wishes: &[Option<Place>],
    goal: i64,
    care: Care,
    dice: &mut Dice,
    budget: &mut dyn Budget,
) -> u64 {
    let mut run = Run::new(board);
    let many = homes.len().div_ceil(JOBS_FEW).max(1);
    let tries =
        Tries { to_let_in: TRIES, to_move_few: TRIES_TO_MOVE_FEW / many, to_move_some: TRIES_TO_MOVE_SOME / many };
    let mut moves = run.make_way(wishes, tries, goal, dice, budget);
    for job in 0..homes.len() {
        if run.board.places[job].is_none() && place_earliest(run.board, job) {
            run.refile(job);
        }
    }
    let mut first = Heat::new(&run, FIRST_HOT, FIRST_COLD);
    let mut then = Heat::new(&run, HOT, COLD);
    let is_away = |job: usize, place: Option<Place>| homes[job].is_some() && place != homes[job];
    // Whoever has ever left home; most are back most of the time.
    let mut roamers: Vec<usize> = Vec::new();
    let mut has_roamed = vec![false; homes.len()];
    let mut away = 0_i64;
    for (job, roamed) in has_roamed.iter_mut().enumerate() {
        if is_away(job, run.board.places[job]) {
            away += 1;
            *roamed = true;
            roamers.push(job);
        }
    }
    let newcomers = i64::try_from(homes.iter().filter(|home| home.is_none()).count()).unwrap_or(i64::MAX);
    let mut best = (run.board.loss.max(goal), away);
    let mut state = Best::of(run.board);
    let mut idle = 0_u64;
    while best != (goal, 0) {
        let patience = if best.1 <= newcomers { PATIENCE_FEW } else { PATIENCE } / u64::try_from(many).unwrap_or(1);
        if moves.is_multiple_of(64) && (budget.exhausted(moves) || best.0 == goal && idle > patience) {
            break;
        }
        moves += 1;
        idle += 1;
        let before = run.board.loss;
        let bold = care == Care::Bold && before > goal;
        let (heat, weight) = if bold { (&mut first, AWAY_PER_LOSS_FIRST) } else { (&mut then, AWAY_PER_LOSS) };
        run.undo.clear();
        if !run.pool.is_empty() && run.board.loss > goal && !dice.one_in(3) {
            let job = run.pick(dice);
            if let Some((option, start)) = run.pick_start(job, dice) {
                run.force(job, Place { option, start }, homes, dice);
            }
        } else if let Some(job) = sample(&roamers, dice, |job| is_away(job, run.board.places[job]))
            && let Some(home) = homes[job]
        {
            run.force(job, home, homes, dice);
        }
        // A job is noted when it is lifted, so the first note of each tells where it was.
        let mut seen: Vec<usize> = Vec::new();
        let mut further = 0_i64;
        for (job, place) in &run.undo {
            if !seen.contains(job) {
                seen.push(*job);
                further += i64::from(is_away(*job, run.board.places[*job])) - i64::from(is_away(*job, *place));
            }
        }
        let worse_by = run.board.loss - before + further * heat.unit / weight;
        if worse_by > 0 && !heat.accepts(worse_by, dice) {
            run.back_to(0);
        } else {
            away += further;
            state.follow(&run.undo);
            for job in seen {
                if !has_roamed[job] && homes[job].is_some() {
                    has_roamed[job] = true;
                    roamers.push(job);
                }
            }
            if (run.board.loss.max(goal), away) < best {
                best = (run.board.loss.max(goal), away);
                state.keep(run.board);
                idle = 0;
                budget.improved(run.board.loss);
            }
        }
        heat.cool(moves);
    }
    state.restore(run.board);
    moves
}

/// A job of the list that meets the condition, by a few random looks.
fn sample(list: &[usize], dice: &mut Dice, meets: impl Fn(usize) -> bool) -> Option<usize> {
    if list.is_empty() {
        return None;
    }
    (0..32).map(|_| list[dice.below(list.len())]).find(|job| meets(*job))
}

impl Run<'_, '_> {
    /// Puts a job at a place, whoever stands there, and everybody else where he was at home or wherever he loses least.
    fn force(&mut self, job: usize, place: Place, homes: &[Option<Place>], dice: &mut Dice) {
        self.lift(job);
        if !self.make_room(job, place.option, place.start, dice) {
            self.back_to(0);
            return;
        }
        self.put(job, place);
        let mut ejected: Vec<usize> = self.undo[1..].iter().map(|(job, _)| *job).collect();
        ejected.sort_by_key(|job| std::cmp::Reverse(self.energy[*job]));
        for victim in ejected {
            match homes[victim] {
                Some(home) if self.board.fits(self.board.option(victim, home), home.start) => self.put(victim, home),
                _ => self.settle(victim, dice),
            }
        }
    }
}
