//! The past again: a log as it was, as Kueue alone would have run it, staggered, and with more or fewer GPUs.
//!
//! Every row plays the same work (true runtimes, true arrivals) by Kueue's rules in discrete time. In the staggered rows a
//! planner decides what is released when, and it sees only what was known then (`view`): what had been submitted, what
//! had finished, and runtimes learnt from that (`learn`); never an arrival of the future or the true runtime of work that
//! has not ended. `rolling` is the loop, `rows` the figures, `forecast` how far forecasts were from what came.
//!
//! Invariants: same history, same rules, same bytes; a decision at an instant does not change when anything later in the
//! log does (`tests/it/replay_blind.rs`).
//! Deliberately absent: chance. A replay has one past; what might have been is `kueue::chance`'s.

mod capacity;
pub mod document;
mod forecast;
mod history;
mod learn;
mod rolling;
mod rows;
mod sketch;
mod view;

pub use capacity::{Change, changed};
pub use forecast::{Forecast, Spread};
pub use history::{History, Past};
pub use rolling::{Rolled, Rules, roll};
pub use rows::{Played, Row, RowKind};

use crate::kueue::{SimOptions, simulate};

/// What is to be played beside the pool as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// More or fewer GPUs, one pair of rows each (Kueue alone, staggered).
    pub changes: Vec<Change>,
    pub rules: Rules,
}

/// A replayed history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replay {
    /// The log as it was (where it has starts), then for the pool as it is and for each change: Kueue alone, staggered.
    pub rows: Vec<Row>,
    pub forecasts: Vec<Forecast>,
    pub rules: Rules,
}

/// Plays all rows. Each is independent of the others, so they run beside one another.
///
/// # Errors
/// A sentence, when a change removes more than there is or names a flavor that is not in the pool.
///
/// # Panics
/// When playing a row panics, which is a bug.
pub fn replay(history: &History, asked: &Asked) -> Result<Replay, String> {
    let unchanged = std::iter::once(None);
    let pools: Vec<(Option<&Change>, History)> = unchanged
        .chain(asked.changes.iter().map(Some))
        .map(|change| {
            let pool = match change {
                Some(change) => changed(history, change)?,
                None => history.clone(),
            };
            Ok((change, pool))
        })
        .collect::<Result<_, String>>()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut forecasts: Vec<Forecast> = Vec::new();
    let as_it_was = rows::as_it_was(history);
    std::thread::scope(|scope| {
        let played: Vec<_> = pools
            .iter()
            .map(|(change, pool)| {
                let alone = scope.spawn(move || {
                    let simulation = simulate(&pool.snapshot, &SimOptions::default());
                    rows::of_simulation(pool, RowKind::KueueAlone, *change, simulation)
                });
                let staggered = scope.spawn(move || {
                    let rolled = roll(pool, &asked.rules);
                    (rows::of_rolled(pool, *change, &rolled), forecast::of_plan(pool, &rolled))
                });
                (alone, staggered)
            })
            .collect();
        for (at, (alone, staggered)) in played.into_iter().enumerate() {
            let alone = alone.join().expect("a row must play to its end");
            let (row, forecast) = staggered.join().expect("a row must play to its end");
            if at == 0 {
                forecasts.extend(forecast::of_kueue(history, &alone));
                forecasts.push(forecast);
            }
            rows.extend([alone, row]);
        }
    });
    rows.splice(0..0, as_it_was);
    Ok(Replay { rows, forecasts, rules: asked.rules })
}
