//! The arithmetic of interruption, as the head of `check` defines it: what a list of pieces amounts to.
//!
//! Integers without overflow (`i128`), whatever a plan claims. Deliberately absent: when pieces may be placed.

use crate::plan::proposal::Piece;
use crate::plan::snapshot::{Interruption, Promise, RunOption};
use crate::units::Timestamp;

use super::seconds;

/// What is wrong with the pieces themselves, or `None`.
pub(super) fn malformed(pieces: &[Piece], start: Timestamp, interruption: &Interruption) -> Option<&'static str> {
    if pieces.first().is_none_or(|first| first.start != start) {
        return Some("the first piece must begin at the start");
    }
    if pieces.windows(2).any(|pair| pair[1].start <= pair[0].end) {
        return Some("pieces must be apart and in order");
    }
    let too_short = pieces.iter().enumerate().any(|(at, piece)| work(at, piece, interruption) <= 0);
    too_short.then_some("every piece must be longer than what it costs to resume")
}

/// Interruptions allowed: 0 for `None`.
pub(super) fn interruptions_max(interruption: &Interruption) -> u32 {
    match interruption {
        Interruption::None => 0,
        Interruption::Restartable { max, .. } | Interruption::Checkpointable { max, .. } => *max,
    }
}

/// Seconds of work done when the last piece ends and nothing more is lost.
pub(super) fn done(pieces: &[Piece], interruption: &Interruption) -> i128 {
    let Some((last, interrupted)) = pieces.split_last() else { return 0 };
    let kept: i128 = interrupted.iter().enumerate().map(|(at, piece)| kept(at, piece, interruption)).sum();
    kept + work(interrupted.len(), last, interruption)
}

/// The end at `quantile` of pieces that hold the option's runtime at `promise`.
///
/// `None` when that lies outside the representable range.
pub(super) fn end_at(
    pieces: &[Piece],
    option: &RunOption,
    interruption: &Interruption,
    promise: Promise,
    quantile: Promise,
) -> Option<Timestamp> {
    let last = pieces.last()?;
    let resumed = i128::from(last.start.0) + cost(pieces.len() - 1, interruption);
    let later = i128::from(option.held(quantile).0) - i128::from(option.held(promise).0);
    let end = (i128::from(last.end.0) + later).max(resumed);
    i64::try_from(end).ok().map(Timestamp)
}

fn cost(at: usize, interruption: &Interruption) -> i128 {
    match interruption {
        Interruption::Restartable { cost, .. } | Interruption::Checkpointable { cost, .. } if at > 0 => {
            i128::from(cost.0)
        }
        _ => 0,
    }
}

fn work(at: usize, piece: &Piece, interruption: &Interruption) -> i128 {
    seconds(piece.start, piece.end) - cost(at, interruption)
}

fn kept(at: usize, piece: &Piece, interruption: &Interruption) -> i128 {
    match interruption {
        Interruption::Checkpointable { interval, .. } => {
            (work(at, piece, interruption) - i128::from(interval.0)).max(0)
        }
        Interruption::None | Interruption::Restartable { .. } => 0,
    }
}
