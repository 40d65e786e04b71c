//! Exact time: capacity as segments to the second, and work placed on it one by one.
//!
//! The search decides in slots; here every start becomes the earliest second that its order allows. Shifting left in the
//! order of starts cannot break anything: whatever is already placed ends no later than it did on the grid.

use crate::plan::lane::ExactLanes;
use crate::plan::model::Use;
use crate::plan::proposal::Piece;
use crate::units::{Seconds, Timestamp};

/// Capacity left, in exact time.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub exact: ExactLanes,
}

/// How an interruptible workload is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub pieces_max: usize,
    /// Paid at the begin of every piece but the first.
    pub cost: Seconds,
    /// Lost at the end of every piece but the last.
    pub interval: Seconds,
}

impl Timeline {
    #[must_use]
    pub fn new(exact: ExactLanes) -> Self {
        Self { exact }
    }

    /// The earliest start from `from` on at which all uses fit for `length`; `None` when they never do.
    #[must_use]
    pub fn earliest(&self, uses: &[Use], from: Timestamp, length: Seconds) -> Option<Timestamp> {
        let mut start = from;
        'search: loop {
            for used in uses {
                let times = &self.exact.times[used.lane];
                let first = segment(times, start);
                let past = times.partition_point(|time| *time < start + length).max(first + 1);
                if let Some(at) = self.exact.lanes[used.lane].last_obstacle(used.path, used.amount, first, past) {
                    start = *times.get(at + 1)?;
                    continue 'search;
                }
            }
            return Some(start);
        }
    }

    #[must_use]
    pub fn fits(&self, uses: &[Use], piece: Piece) -> bool {
        self.earliest(uses, piece.start, piece.end - piece.start) == Some(piece.start)
    }

    /// Until when the uses fit without a break, if they fit at `start` at all: `start` itself when they do not.
    fn free_until(&self, uses: &[Use], start: Timestamp, limit: Timestamp) -> Timestamp {
        let mut until = limit;
        for used in uses {
            let times = &self.exact.times[used.lane];
            let first = segment(times, start);
            let past = times.partition_point(|time| *time < until).max(first + 1);
            if let Some(at) = self.exact.lanes[used.lane].first_obstacle(used.path, used.amount, first, past) {
                until = until.min(times[at].max(start));
            }
        }
        until
    }

    /// Takes the uses over the piece.
    pub fn take(&mut self, uses: &[Use], piece: Piece) {
        self.change(uses, piece, 1);
    }

    /// Gives them back.
    pub fn give_back(&mut self, uses: &[Use], piece: Piece) {
        self.change(uses, piece, -1);
    }

    fn change(&mut self, uses: &[Use], piece: Piece, sign: i64) {
        for used in uses {
            let first = self.split(used.lane, piece.start);
            let past = self.split(used.lane, piece.end);
            self.exact.lanes[used.lane].take(used.path, used.amount * sign, first, past);
        }
    }

    /// Makes `at` a border; returns the segment that begins there.
    fn split(&mut self, lane: usize, at: Timestamp) -> usize {
        let times = &mut self.exact.times[lane];
        let index = times.partition_point(|time| *time < at);
        if times.get(index) != Some(&at) {
            times.insert(index, at);
            for row in &mut self.exact.lanes[lane].rows {
                row.free.insert(index, row.free[index - 1]);
                if !row.room.is_empty() {
                    row.room.insert(index, row.room[index - 1]);
                }
            }
        }
        index
    }

    /// Pieces that do `work` seconds of a checkpointed workload in the holes from `from` on, ending by `limit`: holes are
    /// taken in order, each as far as it goes. `None` when that does not finish in time.
    #[must_use]
    pub fn in_holes(
        &self,
        uses: &[Use],
        from: Timestamp,
        limit: Timestamp,
        work: Seconds,
        cut: Cut,
    ) -> Option<Vec<Piece>> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut left = work;
        let mut start = from;
        // Each turn passes at least one segment border, of which there are finitely many before the limit.
        while start < limit && pieces.len() < cut.pieces_max {
            start = self.earliest(uses, start, Seconds(1))?;
            let until = self.free_until(uses, start, limit);
            let cost = if pieces.is_empty() { Seconds::ZERO } else { cut.cost };
            let room = until - start - cost;
            if room >= left {
                pieces.push(Piece { start, end: start + cost + left });
                return Some(pieces);
            }
            let kept = room - cut.interval;
            if kept > Seconds::ZERO {
                pieces.push(Piece { start, end: until });
                left -= kept;
            }
            start = until.max(start + Seconds(1));
        }
        None
    }
}

/// The segment that contains an instant; instants before the first belong to it.
fn segment(times: &[Timestamp], at: Timestamp) -> usize {
    times.partition_point(|time| *time <= at).saturating_sub(1)
}
