//! What moves the verdict most: bars around the GPUs needed today.

use super::{scrolled, section as page_section, table};
use crate::plan::whatif::WhatIf;
use crate::plan::whatif::tornado::{Bar, Outcome, PERCENT};
use crate::report::svg::{Anchor, Scale, Svg, px};
use crate::report::whatif_text::cost;

const WIDTH: i64 = 1040;
const LEFT: i64 = 330;
const RIGHT: i64 = 960;
const TOP: i64 = 34;
const PITCH: i64 = 34;

pub(super) fn section(what_if: &WhatIf) -> String {
    let Some(tornado) = &what_if.tornado else { return String::new() };
    let unit = tornado.axis.unit.max(1);
    // GPUs beyond what is there; unknown where no size was found.
    let lacking = |outcome: &Outcome| outcome.lacking().map(|lacking| lacking.div_euclid(unit));
    let all = || tornado.bars.iter().flat_map(|bar| [&bar.easier, &bar.harder]).chain([&tornado.base]);
    let least = all().filter_map(lacking).min().unwrap_or(0).min(-1);
    let most = all().filter_map(lacking).max().unwrap_or(0).max(1);
    let scale = Scale { from: least, to: most, start: px(LEFT), end: px(RIGHT) };
    let height = TOP + PITCH * i64::try_from(tornado.bars.len()).unwrap_or(0);
    let description = format!("{} assumptions, the one that moves the need for GPUs most on top.", tornado.bars.len());
    let mut svg = Svg::new("tornado-bars", WIDTH, height + 10, "What moves the verdict", &description);
    let step = ((most - least) / 8).max(1);
    let mut mark = least;
    while mark <= most {
        svg.line("grid", (scale.at(mark), px(TOP - 6)), (scale.at(mark), px(height)));
        svg.text("soft", (scale.at(mark), px(TOP - 12)), Anchor::Middle, &format!("{mark:+}"));
        mark += step;
    }
    svg.rect("zone", (scale.at(0), px(TOP - 6)), (px(RIGHT) - scale.at(0), px(height - TOP + 6)));
    for (number, bar) in (0..).zip(&tornado.bars) {
        let top = TOP + PITCH * number;
        let (easier, harder) = bar.factor.ends();
        svg.text("name", (px(LEFT - 10), px(top + 12)), Anchor::End, easier);
        svg.text("name", (px(LEFT - 10), px(top + 26)), Anchor::End, harder);
        let base = lacking(&tornado.base).unwrap_or(most);
        for (class, outcome, offset) in [("easier", &bar.easier, 2), ("harder", &bar.harder, 16)] {
            // No number of GPUs: the bar runs to the edge.
            let end = lacking(outcome).unwrap_or(most);
            let (low, high) = (scale.at(end.min(base)), scale.at(end.max(base)));
            svg.rect(class, (low, px(top + offset)), ((high - low).max(px(2)), px(12)));
        }
    }
    svg.line("now", (scale.at(0), px(TOP - 6)), (scale.at(0), px(height)));
    let mut rows = vec![row(what_if, "as it is", &tornado.base, unit)];
    for bar in &tornado.bars {
        let (easier, harder) = bar.factor.ends();
        rows.push(row(what_if, easier, &bar.easier, unit));
        rows.push(row(what_if, harder, &bar.harder, unit));
    }
    let titles =
        ["Assumption", "#GPUs needed", "#GPUs there", "#Hard deadlines missed", "Enough today", "#The pool an hour"];
    let body = scrolled(&svg.finish()) + &table("tornado", &titles, rows);
    page_section("tornado", "What moves the verdict most", &takeaway(&tornado.bars, &tornado.base), &body)
}

fn row(what_if: &WhatIf, name: &str, outcome: &Outcome, unit: i64) -> Vec<String> {
    let devices = |base_units: i64| base_units.div_euclid(unit).to_string();
    vec![
        name.to_owned(),
        outcome.needed.map_or_else(|| "no number".to_owned(), |needed| devices(needed.0)),
        devices(outcome.there.0),
        outcome.late.to_string(),
        if outcome.is_enough() { "yes" } else { "no" }.to_owned(),
        outcome.hourly.map_or_else(|| "-".to_owned(), |hourly| cost(what_if, hourly)),
    ]
}

fn takeaway(bars: &[Bar], base: &Outcome) -> String {
    let turns = |bar: &&Bar| bar.easier.is_enough() != base.is_enough() || bar.harder.is_enough() != base.is_enough();
    let turning: Vec<&str> = bars
        .iter()
        .filter(turns)
        .map(|bar| {
            let (easier, harder) = bar.factor.ends();
            if bar.harder.is_enough() == base.is_enough() { easier } else { harder }
        })
        .collect();
    match turning.as_slice() {
        [] => format!("No single assumption, moved by {PERCENT} %, turns the verdict."),
        names => format!("The verdict turns with: {}.", names.join("; ")),
    }
}
