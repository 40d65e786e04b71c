//! Spare time per workload, the scarcest first: which promises are at risk.

use super::gantt::shorten;
use super::{Page, scrolled, section as page_section};
use crate::plan::axis::round_durations;
use crate::plan::proposal::{Release, Verdict};
use crate::report::svg::{Anchor, Px, Scale, Svg, px};
use crate::units::{Seconds, Timestamp};

const WIDTH: i64 = 1040;
const LEFT: i64 = 190;
const RIGHT: i64 = 900;
const TOP: i64 = 30;
const PITCH: i64 = 18;
/// The scarcest are what matters; the table has the rest.
const MOST_ROWS: usize = 60;

struct Row<'a> {
    at: usize,
    release: &'a Release,
    p50: Seconds,
    p90: Seconds,
}

pub(super) fn section(page: &Page<'_>) -> String {
    let mut rows: Vec<Row<'_>> = page
        .scene
        .plan
        .releases
        .iter()
        .enumerate()
        .filter(|(_, release)| release.verdict != Verdict::Unknown)
        .filter_map(|(at, release)| {
            let due: Timestamp = release.finish_by?;
            Some(Row { at, release, p50: due - release.end, p90: due - release.end_p90 })
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    rows.sort_by_key(|row| (row.p90, row.p50, row.at));
    let hidden = rows.len().saturating_sub(MOST_ROWS);
    let tightest = &rows[0];
    let takeaway = if tightest.p90 < Seconds::ZERO {
        format!("{} has the least: {} at p90.", tightest.release.workload, tightest.p90)
    } else {
        format!(
            "{} has the least: {} to spare, even if it runs as long as one run in ten.",
            tightest.release.workload, tightest.p90
        )
    };
    rows.truncate(MOST_ROWS);
    let mut body = scrolled(&draw(&rows));
    if hidden > 0 {
        body.push_str(&format!("<p class=\"small\">{hidden} more, all with more to spare, are in the table.</p>\n"));
    }
    page_section("slack", "Time to spare before the due time", &takeaway, &body)
}

fn draw(rows: &[Row<'_>]) -> String {
    let least = rows.iter().map(|row| row.p90.min(row.p50)).min().unwrap_or(Seconds::ZERO).min(Seconds::ZERO);
    let most = rows.iter().map(|row| row.p50).max().unwrap_or(Seconds::ZERO).max(Seconds::MINUTE);
    let margin = Seconds(((most - least).0 / 40).max(1));
    let (least, most) = (least - margin, most + margin);
    let scale = Scale { from: least.0, to: most.0, start: px(LEFT), end: px(RIGHT) };
    let bottom = TOP + PITCH * i64::try_from(rows.len()).unwrap_or(0);
    let description = format!("{} workloads by spare time; a dot is the median, its line reaches to p90.", rows.len());
    let mut svg = Svg::new("slack-dots", WIDTH, bottom + 8, "Time to spare", &description);
    let zero = scale.at(0);
    svg.rect("zone", (px(LEFT), px(TOP - 6)), (zero - px(LEFT), px(bottom - TOP + 6)));
    for mark in round_durations(least, most, 7) {
        let x = scale.at(mark.0);
        svg.line("grid", (x, px(TOP - 6)), (x, px(bottom)));
        let label = if mark == Seconds::ZERO { "due".to_owned() } else { mark.human() };
        svg.text("soft", (x, px(TOP - 10)), Anchor::Middle, &label);
    }
    svg.line("axis", (zero, px(TOP - 6)), (zero, px(bottom)));
    svg.text("soft", (px(RIGHT + 8), px(TOP - 10)), Anchor::Start, "at p90");
    for (number, row) in (0..).zip(rows) {
        draw_row(&mut svg, &scale, TOP + PITCH * number, row);
    }
    svg.finish()
}

fn draw_row(svg: &mut Svg, scale: &Scale, top: i64, row: &Row<'_>) {
    let middle = px(top + PITCH / 2);
    let tooltip = format!("{}: {} to spare at the median, {} at p90", row.release.workload, row.p50, row.p90);
    svg.group(Some(&format!("w{}", row.at)), &tooltip, |svg| {
        svg.text("name", (px(LEFT - 8), middle + px(4)), Anchor::End, &shorten(row.release.workload.as_str(), 26));
        let (p50, p90) = (scale.at(row.p50.0), scale.at(row.p90.0));
        if p90 < p50 {
            svg.line("whisker", (p90, middle), (p50, middle));
            svg.line("whisker", (p90, middle - px(4)), (p90, middle + px(4)));
        }
        let class = match row.release.verdict {
            Verdict::Late => "late",
            Verdict::AtRisk => "risk",
            _ => "good",
        };
        mark(svg, row.release.verdict, p50, middle);
        svg.text(class, (px(RIGHT + 8), middle + px(4)), Anchor::Start, &row.p90.human());
    });
}

/// A disc is on time, a diamond at risk, a square late.
fn mark(svg: &mut Svg, verdict: Verdict, x: Px, y: Px) {
    let r = px(5);
    match verdict {
        Verdict::Late => svg.rect("dot late", (x - r, y - r), (px(10), px(10))),
        Verdict::AtRisk => {
            svg.path("dot risk", &[(x, y - px(6)), (x + px(6), y), (x, y + px(6)), (x - px(6), y)], true);
        }
        _ => svg.circle("dot", (x, y), r),
    }
}
