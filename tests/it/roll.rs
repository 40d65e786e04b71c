//! One stretch of time after another: another plan, never a worse one, and a good one where there is one.

use stagger::plan::board::Board;
use stagger::plan::desk::{Desk, Splittable};
use stagger::plan::dice::Dice;
use stagger::plan::greedy::{Order, greedy};
use stagger::plan::ground::Ground;
use stagger::plan::snapshot::Policy;
use stagger::plan::window::{Level, Span, roll};

use crate::planted::planted;

/// A poor plan, and what comes of it within so many looks at the clock, a millisecond each.
fn rolled(seed: u64, jobs: usize, until: u64) -> (i64, Option<i64>) {
    let (snapshot, policy) = (planted(seed, jobs, 1), Policy::default());
    let desk = Desk::new(Ground::new(&snapshot, &policy), Splittable::OnGrid);
    let poor = greedy(&desk.model, Order::Width);
    let clock = std::cell::Cell::new(0);
    let elapsed = || clock.replace(clock.get() + 1);
    let span = Span { elapsed: &elapsed, until };
    let found = roll(&poor, Level::Hard, &mut Dice::new(seed, 1), &span);
    let found = found.map(|(loss, places)| {
        // A board takes only what fits.
        let board = Board::standing(&desk.model, &places);
        assert_eq!(board.loss, loss, "seed {seed}");
        assert!(board.places.iter().all(Option::is_some), "seed {seed}: there is room for all");
        loss
    });
    (poor.loss, found)
}

#[test]
fn a_plan_made_stretch_by_stretch_is_never_worse_and_finds_what_was_planted() {
    let results: Vec<(i64, Option<i64>)> = (0..6).map(|seed| rolled(seed, 60, 60_000)).collect();
    assert!(results.iter().any(|(poor, _)| *poor > 0), "nothing is to be gained: {results:?}");
    for (poor, found) in &results {
        assert!(found.is_some_and(|found| found <= *poor), "{results:?}");
    }
    let good = results.iter().filter(|(_, found)| *found == Some(0)).count();
    assert!(good >= 5, "{results:?}");
}

#[test]
fn without_time_there_is_no_other_plan() {
    assert_eq!(rolled(1, 60, 90).1, None);
}
