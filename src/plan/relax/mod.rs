//! Which bounds are taken and which models are polished, level by level.
//!
//! A bound comes from the optimistic model, on which every real plan exists; a polish works on the conservative one, whose
//! solutions all are plans. On an exact grid they are one and the same, and then a solver's bound on the polish counts too.
//! While a solver works on its thread, the search goes on beside it from another seed.

mod completion;
mod cost;
mod losses;
mod peak;
mod windows;

pub use completion::{Completion, completion};
pub use cost::cost;
pub use losses::losses;
pub use peak::{peak, peak_bound};
pub use windows::windows;

use crate::plan::board::Board;
use crate::plan::desk::Desk;
use crate::plan::dice::Dice;
use crate::plan::effort::Effort;
use crate::plan::grid::Rounding;
use crate::plan::model::{Grade, Model};
use crate::plan::program::Program;
use crate::plan::search;
use crate::plan::solve::Limits;
use crate::plan::solve::columns::{Relaxed, relax};

/// Branch-and-bound nodes of a solve that steps bound: a second or two at the sizes that are polished.
const NODES: i32 = 300;

/// The model that bounds are taken on. A workload that may be split does not fit a column; it is let off everything.
fn bound_model(desk: &Desk<'_>) -> Model {
    let mut model = if desk.model.grid.exact { desk.model.clone() } else { desk.model_for(Rounding::Optimistic) };
    for job in &mut model.jobs {
        // A bound counts losses only: work without any place has none.
        job.outside -= std::mem::take(&mut job.narrow);
        if job.split.is_some() {
            job.outside = 0;
            job.grades = vec![Grade { end_max: model.grid.slots, loss: 0 }];
        }
    }
    model
}

/// Whether the model of bounds and that of plans are the same.
fn is_exact(desk: &Desk<'_>) -> bool {
    desk.model.grid.exact && desk.model.jobs.iter().all(|job| job.split.is_none() && job.narrow == 0)
}

/// Losses by the plan's own grades, whatever grades the board's model has.
fn losses_on(model: &Model, board: &Board<'_>) -> (i64, i64) {
    let loss: i64 = board
        .places
        .iter()
        .zip(&model.jobs)
        .map(|(place, job)| {
            place.map_or(job.worst_loss(), |place| job.loss_at(place.start + job.options[place.option].length))
        })
        .sum();
    model.unpack(loss)
}

/// Runs a solve and, on another thread, the search on a copy of the board, which takes the copy's state if it is better.
fn beside<'m, T: Send>(
    board: &mut Board<'m>,
    desk: &Desk<'_>,
    floor: i64,
    effort: &mut Effort<'_>,
    (percent, seed): (u64, u64),
    solve: impl FnOnce(&Board<'m>) -> T,
) -> T {
    let mut twin = board.clone();
    let mut slice = effort.slice(percent);
    let answer = std::thread::scope(|scope| {
        let searching = scope.spawn(|| {
            let mut dice = Dice::new(desk.policy.seed, seed);
            search::reduce_loss(&mut twin, &mut dice, floor, &mut slice);
        });
        let answer = solve(board);
        let joined = searching.join();
        debug_assert!(joined.is_ok(), "the search must not panic");
        answer
    });
    drop(slice);
    if twin.loss < board.loss {
        *board = twin;
    }
    answer
}

fn limits(effort: &Effort<'_>, percent: u64, gap_permille: u32) -> Limits {
    let left = effort.millis_left();
    let millis = if effort.deterministic() { left } else { left.min(effort.total_millis() * percent / 100) };
    Limits { millis, nodes: effort.deterministic().then_some(NODES), gap_permille }
}

fn relaxation(program: &Program<'_>, board: &Board<'_>, scale: i128, percent: u64, effort: &Effort<'_>) -> Relaxed {
    let start = program.columns_of(board);
    let until = effort.watch.elapsed_millis() + effort.total_millis() * percent / 100;
    relax(program, &start, scale, &|| effort.watch.elapsed_millis(), until.min(effort.total_millis()))
}
