//! A plan as a text chart: who runs when, what is due, and demand against capacity.
//!
//! Meaning never rests on colour: every state has its own glyph, every late row a word. Pure: width and alphabet are
//! arguments. Rows are padded with nothing at the end, so that the chart survives e-mail and diffs.

mod glyphs;
mod rows;

use crate::plan::axis::Axis;
use crate::plan::curve::{self, Scene, Steps};
use crate::units::{Amount, Seconds, Timestamp};

use self::glyphs::{ASCII, Glyphs, UNICODE};
use self::rows::Row;

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Columns, at least [`NARROWEST`]; less is taken as that.
    pub width: usize,
    /// Block characters, or plain ASCII.
    pub unicode: bool,
}

/// Below this a chart says nothing.
pub const NARROWEST: usize = 50;
/// More workloads than this are shown as groups: a terminal page.
const MOST_ROWS: usize = 45;
/// Notes at the right end of a row may not take more than this from the chart.
const LONGEST_NOTE: usize = 26;

/// The time grid of a chart: column `i` stands for `[from + i × step, from + (i + 1) × step)`.
struct Grid {
    axis: Axis,
    step: Seconds,
    columns: usize,
}

impl Grid {
    fn column(&self, at: Timestamp) -> i64 {
        (at - self.axis.from).0.div_euclid(self.step.0)
    }
    /// The columns that `[start, end)` touches, at least one, as far as they are on the grid.
    fn span(&self, start: Timestamp, end: Timestamp) -> std::ops::Range<usize> {
        let first = self.column(start);
        let last = self.column(end - Seconds(1)).max(first);
        let clip = |column: i64| usize::try_from(column.max(0)).unwrap_or(0).min(self.columns);
        if last < 0 { 0..0 } else { clip(first)..clip(last + 1) }
    }
    fn start_of(&self, column: usize) -> Timestamp {
        self.axis.from + Seconds(self.step.0.saturating_mul(i64::try_from(column).unwrap_or(i64::MAX)))
    }
}

/// Draws the plan; an empty text when nothing is planned and nothing runs.
#[must_use]
pub fn draw(scene: &Scene<'_>, look: Look) -> String {
    if scene.plan.releases.is_empty() && scene.snapshot.running.is_empty() {
        return String::new();
    }
    let glyphs = if look.unicode { &UNICODE } else { &ASCII };
    let rows = rows::of(scene, MOST_ROWS);
    let curves = curves(scene);
    let width = look.width.max(NARROWEST);
    let names = rows.iter().map(|row| row.name.chars().count()).chain(curves.iter().map(|it| it.name.chars().count()));
    let gutter = names.max().unwrap_or(0).min(width / 3).max(8);
    let notes = rows.iter().map(Row::note).chain(curves.iter().map(|it| it.note.as_str()));
    let note = notes.map(|note| note.chars().count() + 1).max().unwrap_or(0).min(LONGEST_NOTE);
    let grid = grid(Axis::of(scene), width - gutter - 1 - note);

    let mut text = header(&grid, gutter);
    for row in &rows {
        line(&mut text, &row.name, gutter, &row.draw(&grid, glyphs), row.note(), grid.columns);
    }
    if !curves.is_empty() {
        text.push('\n');
    }
    for curve in &curves {
        let cells = curve.draw(&grid, glyphs);
        line(&mut text, &curve.name, gutter, &cells, &curve.note, grid.columns);
    }
    text.push_str(&legend(&rows, &grid, glyphs));
    text
}

fn grid(axis: Axis, room: usize) -> Grid {
    // One column is kept free, so that a due time at the very end of the axis has a place.
    let room = i64::try_from(room).unwrap_or(i64::MAX);
    let step = axis.column(room - 2);
    let from = axis.floor(axis.from, step);
    let axis = Axis { from, ..axis };
    let columns = usize::try_from((axis.to - from).0 / step.0 + 1).unwrap_or(1);
    Grid { axis, step, columns }
}

fn line(text: &mut String, name: &str, gutter: usize, cells: &str, note: &str, columns: usize) {
    let name = shorten(name, gutter);
    let row = format!("{name:<gutter$} {cells:<columns$} {note}");
    text.push_str(row.trim_end());
    text.push('\n');
}

/// The end of a name tells it apart from its siblings, so the middle goes.
fn shorten(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let tail = most / 2;
    let head = most - tail - 1;
    let start: String = name.chars().take(head).collect();
    let end: String = name.chars().skip(length - tail).collect();
    format!("{start}~{end}")
}

fn header(grid: &Grid, gutter: usize) -> String {
    // A clock label and a blank take about ten columns.
    let ticks = grid.axis.ticks(i64::try_from(grid.columns / 10).unwrap_or(1).max(1));
    let (mut days, mut clocks) = (Ruler::default(), Ruler::default());
    let mut day_at_left = None;
    for tick in &ticks {
        let at = usize::try_from(grid.column(tick.at)).unwrap_or(0);
        if let Some(day) = &tick.day {
            // The first mark names the day that is under way at the left edge.
            let at = if day_at_left.is_none() && !tick.label.is_empty() { 0 } else { at };
            day_at_left = Some(());
            days.put(at, day);
        }
        clocks.put(at, &tick.label);
    }
    let zone = grid.axis.zone.name();
    let mut text = String::new();
    line(&mut text, zone, gutter, &days.0, "", grid.columns);
    if !clocks.0.is_empty() {
        line(&mut text, "", gutter, &clocks.0, "", grid.columns);
    }
    text
}

/// Labels along a line, left to right; one that would touch its neighbour is left out.
#[derive(Default)]
struct Ruler(String);

impl Ruler {
    fn put(&mut self, at: usize, label: &str) {
        let used = self.0.chars().count();
        if !label.is_empty() && (used == 0 || used < at) {
            self.0.extend(std::iter::repeat_n(' ', at - used));
            self.0.push_str(label);
        }
    }
}

/// A demand or capacity line.
struct Curve {
    name: String,
    steps: Steps,
    /// The value drawn as a full cell; the same for all curves of a cell of quota, so that they compare by eye.
    full: Amount,
    lowest: bool,
    note: String,
}

impl Curve {
    fn draw(&self, grid: &Grid, glyphs: &Glyphs) -> String {
        (0..grid.columns)
            .map(|column| {
                let (from, to) = (grid.start_of(column), grid.start_of(column + 1));
                let value =
                    if self.lowest { self.steps.least_within(from, to) } else { self.steps.most_within(from, to) };
                glyphs.height(value.0, self.full.0)
            })
            .collect()
    }
}

fn curves(scene: &Scene<'_>) -> Vec<Curve> {
    let snapshot = scene.snapshot;
    let cells = curve::pictured(snapshot);
    let several = |flavor| cells.iter().filter(|cell| snapshot.cell(**cell).flavor == flavor).count() > 1;
    let mut curves = Vec::new();
    for cell in cells.iter().copied() {
        let shown = snapshot.cell(cell);
        let what = if several(shown.flavor.clone()) {
            format!("{} {}", shown.flavor, shown.resource)
        } else {
            shown.flavor.to_string()
        };
        let capacity = curve::capacity(snapshot, cell);
        let mut demands = vec![("planned", curve::planned(scene, cell))];
        if let Some(steps) = scene.kueue.and_then(|kueue| kueue.get(&cell)) {
            demands.push(("Kueue alone", steps.clone()));
        }
        demands.push(("at once", curve::at_once(snapshot, cell)));
        let most = capacity.most();
        // Starting everything at once can want many times the capacity; its curve is cut where it would flatten the others.
        let cut = Amount(most.0.saturating_mul(2)).max(demands[0].1.most());
        let full = demands.iter().map(|(_, steps)| steps.most().min(cut)).fold(most, Ord::max);
        let shown_amount = |amount: Amount| shown.resource.quantity(amount);
        let of_all = |steps: &Steps| {
            let over = if steps.most() > most { " OVER" } else { "" };
            format!("peak {} of {}{over}", shown_amount(steps.most()), shown_amount(most))
        };
        let name = format!("{what} capacity");
        let note = format!("at most {}", shown_amount(most));
        curves.push(Curve { name, steps: capacity.clone(), full, lowest: true, note });
        for (label, steps) in demands {
            let note = of_all(&steps);
            curves.push(Curve { name: format!("  {label}"), steps, full, lowest: false, note });
        }
    }
    curves
}

fn legend(rows: &[Row], grid: &Grid, glyphs: &Glyphs) -> String {
    let mut parts = vec![format!("one column is {}", grid.step)];
    for (glyph, meaning) in glyphs.meanings() {
        if rows.iter().any(|row| row.is_single() && row.draw(grid, glyphs).contains(glyph)) {
            parts.push(format!("{glyph} {meaning}"));
        }
    }
    format!("{}\n", parts.join("   "))
}
