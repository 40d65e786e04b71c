//! The rows side by side: what was held against what there was, and how long work waited.

use super::Page;
use crate::calendar;
use crate::plan::curve::{self, Steps};
use crate::plan::snapshot::CellId;
use crate::replay::Row;
use crate::report::plan_html::{put, scrolled, section, table};
use crate::report::steps_picture::{Frame, Picture, close, figure, open};
use crate::report::svg::{Anchor, Scale, Svg, px};
use crate::units::{Amount, Seconds, Timestamp};

/// A page with more pictures than this is not looked at; the table has every row.
const MOST_ROWS: usize = 9;
const MOST_CELLS: usize = 3;
const FRAME: Frame = Frame::new(380, 180);

/// What all pictures of one cell share.
struct Axes<'a> {
    page: &'a Page<'a>,
    cell: CellId,
    span: (Timestamp, Timestamp),
    most: Amount,
}

pub(super) fn held(page: &Page<'_>) -> String {
    let snapshot = &page.history.snapshot;
    let rows = &page.replay.rows;
    let mut body = String::new();
    for (at, cell) in curve::pictured(snapshot).into_iter().take(MOST_CELLS).enumerate() {
        let steps = || rows.iter().filter_map(|row| row.demand.get(&cell));
        let last = steps().filter_map(|steps| steps.changes().last()).map(|step| step.0).max();
        let tops = steps().chain(rows.iter().filter_map(|row| row.capacity.get(&cell))).map(Steps::most);
        let axes = Axes {
            page,
            cell,
            span: (snapshot.now, last.unwrap_or(snapshot.horizon_end).max(snapshot.now + Seconds::HOUR)),
            most: tops.max().unwrap_or(Amount(1)).max(Amount(1)),
        };
        let named = snapshot.cell(cell);
        open(&mut body, named);
        for (number, row) in rows.iter().take(MOST_ROWS).enumerate() {
            let most = |steps: Option<&Steps>| named.resource.quantity(steps.map_or(Amount::ZERO, Steps::most));
            let (peak, there) = (most(row.demand.get(&cell)), most(row.capacity.get(&cell)));
            let caption = format!("{}: peak {peak} of {there}, {} late", row.option(), row.summary.late);
            let svg = draw(&axes, &format!("held-{at}-{number}"), &caption, row);
            figure(&mut body, &svg, &caption);
        }
        close(&mut body);
    }
    if rows.len() > MOST_ROWS {
        put(&mut body, format_args!("<p class=\"small\">{} more rows in the table.</p>\n", rows.len() - MOST_ROWS));
    }
    let takeaway = "The same work on each pool; a column is as high as the most that was held in it.";
    section("held", "What was held", takeaway, &body)
}

fn draw(axes: &Axes<'_>, id: &str, caption: &str, row: &Row) -> String {
    let resource = &axes.page.history.snapshot.cell(axes.cell).resource;
    let mut picture = Picture::new(FRAME, [id, &row.option(), caption], axes.span, (axes.most, resource));
    let coarse = |steps: Option<&Steps>| steps.cloned().unwrap_or_default().coarse(axes.span, FRAME.right - FRAME.left);
    picture.fill("demand", &coarse(row.demand.get(&axes.cell)));
    picture.line("cap", &coarse(row.capacity.get(&axes.cell)));
    let ends = [axes.span.0, axes.span.1].map(|at| (at, moment(axes.page, at)));
    picture.finish(ends.iter().map(|(at, label)| (*at, label.as_str(), None)))
}

fn moment(page: &Page<'_>, at: Timestamp) -> String {
    let zone = calendar::zone(&page.history.snapshot.time_zone).unwrap_or(chrono_tz::UTC);
    let text = calendar::rfc3339(at, zone);
    text.get(..16).unwrap_or(&text).replace('T', " ")
}

const BAR: i64 = 26;
const FIRST: i64 = 300;
const LAST: i64 = 900;

/// The wait that half of the jobs did not exceed, and that nine in ten did not, row by row on one axis.
pub(super) fn waits(page: &Page<'_>) -> String {
    let known: Vec<_> = page.replay.rows.iter().filter_map(|row| Some((row, row.wait?))).collect();
    let longest = known.iter().map(|(_, wait)| wait.p90.0).max().unwrap_or(0);
    if longest == 0 {
        return String::new();
    }
    let height = 16 + BAR * i64::try_from(known.len()).unwrap_or(0);
    let scale = Scale { from: 0, to: longest, start: px(FIRST), end: px(LAST) };
    let description = "The thick bar ends where half of the jobs had started, the thin one where nine in ten had.";
    let mut svg = Svg::new("waits", 1040, height, "Time from arrival to start", description);
    svg.line("axis", (px(FIRST), px(4)), (px(FIRST), px(height - 4)));
    for (number, (row, wait)) in (0_i64..).zip(&known) {
        let top = 8 + BAR * number;
        svg.text("name", (px(FIRST - 8), px(top + 13)), Anchor::End, &row.option());
        svg.rect("held", (px(FIRST), px(top + 7)), (scale.at(wait.p90.0) - px(FIRST), px(4)));
        svg.rect("demand", (px(FIRST), px(top + 2)), (scale.at(wait.median.0) - px(FIRST), px(14)));
        let words = format!("{} · {}", wait.median.human(), wait.p90.human());
        svg.text("soft", (scale.at(wait.p90.0) + px(6), px(top + 13)), Anchor::Start, &words);
    }
    let rows =
        known.iter().map(|(row, wait)| vec![row.option(), wait.median.human(), wait.p90.human(), wait.longest.human()]);
    let body = scrolled(&svg.finish()) + &table("waits", &["Option", "#Half", "#Nine in ten", "#Longest"], rows);
    let shortest = known.iter().min_by_key(|(_, wait)| wait.median);
    let takeaway = shortest.map_or_else(String::new, |(row, wait)| {
        format!(
            "Half of the jobs waited no longer than {} in the row \u{201c}{}\u{201d}.",
            wait.median.human(),
            row.option()
        )
    });
    section("waits", "How long work waited", &takeaway, &body)
}
