//! The best state of a search, kept while the board goes on: only those who have moved since are looked at again.

use crate::plan::board::{Board, Place};

pub(super) struct Best {
    places: Vec<Option<Place>>,
    /// Who may stand elsewhere than in the best state, some of them more than once.
    moved: Vec<usize>,
}

impl Best {
    pub(super) fn of(board: &Board<'_>) -> Self {
        Self { places: board.places.clone(), moved: Vec::new() }
    }

    /// A move has been kept; what it noted tells who has moved.
    pub(super) fn follow(&mut self, undo: &[(usize, Option<Place>)]) {
        self.moved.extend(undo.iter().map(|(job, _)| *job));
        if self.moved.len() > 4 * self.places.len() {
            self.moved.sort_unstable();
            self.moved.dedup();
        }
    }

    /// The board as it stands is the best state.
    pub(super) fn keep(&mut self, board: &Board<'_>) {
        for job in self.moved.drain(..) {
            self.places[job] = board.places[job];
        }
    }

    /// Leaves the board at the best state.
    pub(super) fn restore(&self, board: &mut Board<'_>) {
        board.rearrange(&self.places);
    }
}
