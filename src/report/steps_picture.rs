//! Steps over time in a frame: grid lines with their values, filled demand, the line of what there is, and ticks. One
//! drawing for every page, so that a plan, its options and a replay can be read alike.

use crate::names::ResourceName;
use crate::plan::curve::Steps;
use crate::plan::snapshot::Cell;
use crate::report::svg::{Anchor, Escaped, Px, Scale, Svg, px};
use crate::units::{Amount, Timestamp};

/// Where the axes lie, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub width: i64,
    pub height: i64,
    pub left: i64,
    pub right: i64,
    pub top: i64,
    pub bottom: i64,
}

impl Frame {
    /// Room for values on the left and one line of labels below.
    pub(super) const fn new(width: i64, height: i64) -> Self {
        Self { width, height, left: 44, right: width - 10, top: 12, bottom: height - 30 }
    }
}

/// A picture on its way.
pub(super) struct Picture {
    svg: Svg,
    frame: Frame,
    span: (Timestamp, Timestamp),
    time: Scale,
    height: Scale,
}

impl Picture {
    /// A frame with its grid. `heads` are id, title and description.
    pub(super) fn new(
        frame: Frame,
        [id, title, description]: [&str; 3],
        span: (Timestamp, Timestamp),
        (most, resource): (Amount, &ResourceName),
    ) -> Self {
        let time = Scale { from: span.0.0, to: span.1.0, start: px(frame.left), end: px(frame.right) };
        let height = Scale { from: 0, to: most.0, start: px(frame.bottom), end: px(frame.top) };
        let mut svg = Svg::new(id, frame.width, frame.height, title, description);
        for value in round_values(most) {
            let y = height.at(value.0);
            svg.line("grid", (px(frame.left), y), (px(frame.right), y));
            svg.text("soft", (px(frame.left - 6), y + px(4)), Anchor::End, &resource.quantity(value));
        }
        Self { svg, frame, span, time, height }
    }

    /// Steps filled down to zero.
    pub(super) fn fill(&mut self, class: &str, steps: &Steps) {
        self.svg.path(class, &area(steps, self.span, &self.time, &self.height), true);
    }

    pub(super) fn line(&mut self, class: &str, steps: &Steps) {
        self.svg.path(class, &outline(steps, self.span, &self.time, &self.height), false);
    }

    /// What of `upper` stands above `lower`, stretch by stretch.
    pub(super) fn above(&mut self, class: &str, upper: &Steps, lower: &Steps) {
        let (from, to) = self.span;
        let mut instants: Vec<Timestamp> = upper.changes().iter().chain(lower.changes()).map(|step| step.0).collect();
        instants.extend([from, to]);
        instants.retain(|at| from <= *at && *at <= to);
        instants.sort_unstable();
        instants.dedup();
        for pair in instants.windows(2) {
            let (low, high) = (lower.at(pair[0]), upper.at(pair[0]));
            if high > low {
                let (left, right) = (self.time.at(pair[0].0), self.time.at(pair[1].0));
                let (top, bottom) = (self.height.at(high.0), self.height.at(low.0));
                self.svg.rect(class, (left, top), (right - left, bottom - top));
            }
        }
    }

    /// The line of time, and marks on it: instant, label, and a second line where there is one.
    pub(super) fn finish<'t>(mut self, ticks: impl Iterator<Item = (Timestamp, &'t str, Option<&'t str>)>) -> String {
        let Frame { left, right, bottom, .. } = self.frame;
        self.svg.line("axis", (px(left), px(bottom)), (px(right), px(bottom)));
        for (at, label, second) in ticks {
            let x = self.time.at(at.0);
            self.svg.line("axis", (x, px(bottom)), (x, px(bottom + 4)));
            let anchor = if x < px(left + 24) {
                Anchor::Start
            } else if x > px(right - 24) {
                Anchor::End
            } else {
                Anchor::Middle
            };
            self.svg.text("soft", (x, px(bottom + 15)), anchor, label);
            if let Some(second) = second {
                self.svg.text("soft", (x, px(bottom + 28)), anchor, second);
            }
        }
        self.svg.finish()
    }
}

/// Opens a row of pictures of one cell; [`close`] ends it.
pub(super) fn open(html: &mut String, cell: &Cell) {
    let (flavor, resource) = (Escaped(cell.flavor.as_str()), Escaped(cell.resource.as_str()));
    html.push_str(&format!("<h3>{flavor} {resource}</h3>\n<div class=\"pair\">\n"));
}

pub(super) fn figure(html: &mut String, svg: &str, caption: &str) {
    html.push_str(&format!("<figure><figcaption>{}</figcaption>\n{svg}</figure>\n", Escaped(caption)));
}

pub(super) fn close(html: &mut String) {
    html.push_str("</div>\n");
}

/// At most five round values above zero.
fn round_values(most: Amount) -> Vec<Amount> {
    let mut step: i64 = 1;
    let mut factors = [2, 5, 10].iter().cycle();
    let mut base: i64 = 1;
    while most.0 / step > 5 {
        let Some(factor) = factors.next() else { break };
        step = base.saturating_mul(*factor);
        if *factor == 10 {
            base = step;
        }
    }
    (0..=most.0 / step).map(|count| Amount(count * step)).collect()
}

/// The corners of a step curve within a span.
fn outline(steps: &Steps, (from, to): (Timestamp, Timestamp), time: &Scale, height: &Scale) -> Vec<(Px, Px)> {
    let mut level = height.at(steps.at(from).0);
    let mut corners = vec![(time.at(from.0), level)];
    for (at, value) in steps.changes().iter().filter(|step| step.0 > from && step.0 < to) {
        let x = time.at(at.0);
        corners.push((x, level));
        level = height.at(value.0);
        corners.push((x, level));
    }
    corners.push((time.at(to.0), level));
    corners
}

/// The same, closed along the bottom.
pub(super) fn area(steps: &Steps, span: (Timestamp, Timestamp), time: &Scale, height: &Scale) -> Vec<(Px, Px)> {
    let mut corners = outline(steps, span, time, height);
    corners.push((time.at(span.1.0), height.start));
    corners.push((time.at(span.0.0), height.start));
    corners
}
