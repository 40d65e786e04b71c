//! How much worse a search may get on its way: much at first, little at the end of a cycle, and again.

use super::Run;
use crate::plan::dice::Dice;

/// Moves per cooling cycle; the search reheats after it.
const CYCLE: u64 = 150_000;
/// Temperatures at the begin and the end of a cycle, in 1/1024 of a typical job's loss. Found by trial on the benchmark
/// families: colder runs stall (13 against 9 late of 500), hotter ones wander (25 against 20 of 2,000).
pub(super) const HOT: i64 = 2_500;
pub(super) const COLD: i64 = 400;

/// Chance of keeping a worse state: `2^(-worse/temperature)`, in integers.
pub(super) struct Heat {
    /// A typical job's loss, in the packed unit.
    pub(super) unit: i64,
    /// Temperature in 1/1024 of the unit.
    level: i64,
    hot: i64,
    cold: i64,
}

impl Heat {
    pub(super) fn new(run: &Run<'_, '_>, hot: i64, cold: i64) -> Self {
        let mut weights: Vec<i64> = (0..run.floor.len())
            .map(|job| run.board.model.jobs[job].worst_loss() - run.floor[job])
            .filter(|weight| *weight > 0)
            .collect();
        weights.sort_unstable();
        let unit = weights.get(weights.len() / 4).copied().unwrap_or(1);
        Self { unit: unit.max(1), level: hot, hot, cold }
    }

    pub(super) fn accepts(&self, worse_by: i64, dice: &mut Dice) -> bool {
        // worse/unit * 16 * 1024 / level <= exponential in 16ths
        let scaled = i128::from(worse_by) * 16 * 1024;
        scaled <= i128::from(dice.exponential_16ths()) * i128::from(self.level) * i128::from(self.unit)
    }

    pub(super) fn cool(&mut self, moves: u64) {
        let left = i64::try_from(CYCLE - moves % CYCLE).unwrap_or(0);
        let whole = i64::try_from(CYCLE).unwrap_or(1);
        self.level = self.cold + (self.hot - self.cold) * left / whole;
    }
}
