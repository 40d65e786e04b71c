//! The rows of a chart: one per workload, or one per group when there are too many to read.

use std::collections::BTreeMap;

use crate::plan::curve::{Scene, Steps};
use crate::plan::groups::{self, Group};
use crate::plan::proposal::{Piece, Release, Verdict};
use crate::plan::snapshot::Running;
use crate::units::{Amount, Seconds, Timestamp};

use super::{Glyphs, Grid};

pub(super) struct Row {
    pub(super) name: String,
    body: Body,
}

enum Body {
    /// A heading between flavors.
    Heading,
    Planned {
        pieces: Vec<Piece>,
        end: Timestamp,
        end_p90: Timestamp,
        due: Option<Timestamp>,
        note: String,
    },
    Running {
        start: Timestamp,
        end: Timestamp,
        note: String,
    },
    /// How many of a group run at once.
    Group {
        count: Steps,
        most: Amount,
        note: String,
    },
}

/// At most about `most` rows, in the plan's order, flavor by flavor.
pub(super) fn of(scene: &Scene<'_>, most: usize) -> Vec<Row> {
    let rows = scene.plan.releases.len() + scene.snapshot.running.len();
    if rows <= most { singly(scene) } else { grouped(scene, most) }
}

fn singly(scene: &Scene<'_>) -> Vec<Row> {
    let mut flavors: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
    for work in &scene.snapshot.running {
        flavors.entry(work.flavor.as_str()).or_default().push(running(scene, work));
    }
    for release in &scene.plan.releases {
        flavors.entry(release.flavor.as_str()).or_default().push(planned(release));
    }
    let headed = flavors.len() > 1;
    let mut rows = Vec::new();
    for (flavor, own) in flavors {
        if headed {
            rows.push(Row { name: format!("[{flavor}]"), body: Body::Heading });
        }
        rows.extend(own);
    }
    rows
}

fn running(scene: &Scene<'_>, work: &Running) -> Row {
    let note = if work.end_p50.is_some() { "running" } else { "running, no end" };
    let end = scene.end_of(work);
    Row { name: work.key.to_string(), body: Body::Running { start: work.start, end, note: note.to_owned() } }
}

fn planned(release: &Release) -> Row {
    let note = match (release.verdict, release.slack, release.finish_by) {
        (Verdict::OnTime, Some(slack), _) => format!("on time +{}", short(slack)),
        (Verdict::Late, _, Some(due)) => format!("LATE {}", short(release.end - due)),
        (Verdict::AtRisk, ..) => "AT RISK".to_owned(),
        (Verdict::Unknown, ..) => "runtime unknown".to_owned(),
        _ => String::new(),
    };
    let pieces = release.pieces.clone();
    let (end, end_p90, due) = (release.end, release.end_p90, release.finish_by);
    Row { name: release.workload.to_string(), body: Body::Planned { pieces, end, end_p90, due, note } }
}

/// `3h`, `2h05m`, `1d12h`: fits beside a bar.
fn short(span: Seconds) -> String {
    span.human().replace(" min", "m").replace(" h", "h").replace(" d", "d").replace(" s", "s").replace(' ', "")
}

fn grouped(scene: &Scene<'_>, most: usize) -> Vec<Row> {
    let groups = groups::of(scene);
    let hidden = groups.len().saturating_sub(most);
    let mut rows: Vec<Row> = groups.into_iter().take(most).map(group).collect();
    if hidden > 0 {
        rows.push(Row { name: format!("and {hidden} more groups"), body: Body::Heading });
    }
    rows
}

fn group(group: Group) -> Row {
    let name = format!("{} {} x{}", group.queue, group.class, group.workloads);
    Row { name, body: Body::Group { most: group.count.most(), note: group.note(), count: group.count } }
}

impl Row {
    /// What the row says in words.
    pub(super) fn note(&self) -> &str {
        match &self.body {
            Body::Heading => "",
            Body::Planned { note, .. } | Body::Running { note, .. } | Body::Group { note, .. } => note,
        }
    }

    /// Whether it is one workload, whose glyphs mean states and not heights.
    pub(super) fn is_single(&self) -> bool {
        matches!(self.body, Body::Planned { .. } | Body::Running { .. })
    }

    /// The row's cells.
    pub(super) fn draw(&self, grid: &Grid, glyphs: &Glyphs) -> String {
        let mut cells = vec![' '; grid.columns];
        match &self.body {
            Body::Heading => {}
            Body::Running { start, end, .. } => cells[grid.span(*start, *end)].fill(glyphs.running),
            Body::Planned { pieces, end, end_p90, due, .. } => {
                draw_planned(&mut cells, grid, glyphs, pieces, (*end, *end_p90), *due);
            }
            Body::Group { count, most, .. } => {
                for (column, cell) in cells.iter_mut().enumerate() {
                    let value = count.most_within(grid.start_of(column), grid.start_of(column + 1));
                    *cell = glyphs.height(value.0, most.0);
                }
            }
        }
        cells.into_iter().collect::<String>().trim_end().to_owned()
    }
}

fn draw_planned(
    cells: &mut [char],
    grid: &Grid,
    glyphs: &Glyphs,
    pieces: &[Piece],
    (end, end_p90): (Timestamp, Timestamp),
    due: Option<Timestamp>,
) {
    if end < end_p90 {
        cells[grid.span(end, end_p90)].fill(glyphs.to_p90);
    }
    for pair in pieces.windows(2) {
        cells[grid.span(pair[0].end, pair[1].start)].fill(glyphs.paused);
    }
    for piece in pieces {
        // Under a p90 promise capacity is held to the p90 end; the bar still ends where half of such runs end.
        let drawn_end = piece.end.min(end);
        if piece.start < drawn_end {
            cells[grid.span(piece.start, drawn_end)].fill(glyphs.planned);
        }
    }
    let Some(due) = due else { return };
    if due < end {
        for cell in &mut cells[grid.span(due, end)] {
            if *cell == glyphs.planned {
                *cell = glyphs.past_due;
            }
        }
    }
    let column = usize::try_from(grid.column(due).max(0)).unwrap_or(usize::MAX);
    match cells.get_mut(column) {
        Some(cell) => *cell = glyphs.due,
        None => {
            if let Some(last) = cells.last_mut() {
                *last = glyphs.due_beyond;
            }
        }
    }
}
