//! The marks of a Gantt row: bars, hatches, whiskers, due triangles.
//!
//! Colour says whose; shape and hatch say what: plain is planned, diagonal is already running, crossed is past due.

use crate::plan::proposal::Release;
use crate::report::svg::{Px, Scale, Svg, px};
use crate::units::Timestamp;

/// A row's vertical extent.
#[derive(Clone, Copy)]
pub(super) struct Lane {
    pub(super) top: Px,
    pub(super) height: i64,
}

impl Lane {
    fn middle(self) -> Px {
        self.top + Px(self.height * 50)
    }
}

/// Never thinner than a visible line.
fn width(from: Px, to: Px) -> Px {
    (to - from).max(Px(150))
}

pub(super) fn running(svg: &mut Svg, time: &Scale, lane: Lane, class: &str, start: Timestamp, end: Timestamp) {
    let (from, to) = (time.at(start.0), time.at(end.0));
    svg.rect(class, (from, lane.top), (width(from, to), px(lane.height)));
    hatch(svg, "hatch", from, to, lane, false);
}

pub(super) fn planned(svg: &mut Svg, time: &Scale, lane: Lane, class: &str, release: &Release) {
    let at = |instant: Timestamp| time.at(instant.0);
    for pair in release.pieces.windows(2) {
        svg.line("pause", (at(pair[0].end), lane.middle()), (at(pair[1].start), lane.middle()));
    }
    for piece in &release.pieces {
        let end = piece.end.min(release.end);
        if piece.start < end {
            let (from, to) = (at(piece.start), at(end));
            svg.rect(class, (from, lane.top), (width(from, to), px(lane.height)));
        }
        if let Some(due) = release.finish_by
            && due < end
        {
            let (from, to) = (at(due.max(piece.start)), at(end));
            past_due(svg, from, to, lane);
        }
    }
    if release.end < release.end_p90 {
        whisker(svg, at(release.end), at(release.end_p90), lane);
    }
    if let Some(due) = release.finish_by
        && due.0 <= time.to
    {
        let class = if due < release.end { "due late" } else { "due" };
        triangle(svg, class, at(due), lane);
    }
}

pub(super) fn past_due(svg: &mut Svg, from: Px, to: Px, lane: Lane) {
    svg.rect("past", (from, lane.top), (width(from, to), px(lane.height)));
    hatch(svg, "past-hatch", from, to, lane, true);
}

pub(super) fn whisker(svg: &mut Svg, from: Px, to: Px, lane: Lane) {
    svg.line("whisker", (from, lane.middle()), (to, lane.middle()));
    svg.line("whisker", (to, lane.top + px(2)), (to, lane.top + px(lane.height - 2)));
}

pub(super) fn triangle(svg: &mut Svg, class: &str, x: Px, lane: Lane) {
    let (top, bottom) = (lane.top + px(1), lane.top + px(lane.height));
    let half = px((lane.height / 2).clamp(3, 6));
    svg.path(class, &[(x, top), (x + half, bottom), (x - half, bottom)], true);
}

/// Diagonal lines within a bar, one path; `crossed` adds the other diagonal.
fn hatch(svg: &mut Svg, class: &str, from: Px, to: Px, lane: Lane, crossed: bool) {
    // A bar as wide as the picture takes about a hundred and fifty lines.
    const EVERY: i64 = 600;
    let (top, bottom) = (lane.top, lane.top + px(lane.height));
    let rise = lane.height * 100;
    let mut x = from.0;
    while x + rise <= to.0 {
        svg.path(class, &[(Px(x), bottom), (Px(x + rise), top)], false);
        if crossed {
            svg.path(class, &[(Px(x), top), (Px(x + rise), bottom)], false);
        }
        x += EVERY;
    }
}
