//! Two curves: deadlines met over the size of the pool, and what an hour costs over how busy it is.

use super::{scrolled, section as page_section, table};
use crate::plan::whatif::break_even::BreakEven;
use crate::plan::whatif::{WhatIf, devices};
use crate::ratio::Ratio;
use crate::report::svg::{Anchor, Px, Scale, Svg, px};
use crate::report::whatif_text::{break_even_sentence, cost};
use crate::units::{Money, div_round_half_even};

const WIDTH: i64 = 1040;
const HEIGHT: i64 = 230;
const LEFT: i64 = 70;
const RIGHT: i64 = 1000;
const TOP: i64 = 16;
const BOTTOM: i64 = 180;

pub(super) fn marginal(what_if: &WhatIf) -> String {
    let Some(curve) = what_if.curve.as_ref().filter(|curve| curve.points.len() > 1) else { return String::new() };
    let sizes: Vec<i64> = curve.points.iter().map(|point| devices(point.quantity, curve.unit)).collect();
    let counts: Vec<i64> = curve.points.iter().map(|point| i64::try_from(point.on_time).unwrap_or(i64::MAX)).collect();
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    let most = counts.iter().copied().max().unwrap_or(1).max(1);
    let x = Scale { from: first, to: last, start: px(LEFT), end: px(RIGHT) };
    let y = Scale { from: 0, to: most, start: px(BOTTOM), end: px(TOP) };
    let description = format!("{most} deadlines at most, from {first} to {last} {}.", curve.flavor);
    let mut svg = Svg::new("marginal-curve", WIDTH, HEIGHT, "Deadlines met by size of the pool", &description);
    for value in [0, most] {
        svg.line("grid", (px(LEFT), y.at(value)), (px(RIGHT), y.at(value)));
        svg.text("soft", (px(LEFT - 8), y.at(value) + px(4)), Anchor::End, &value.to_string());
    }
    let points: Vec<(Px, Px)> = sizes.iter().zip(&counts).map(|(size, met)| (x.at(*size), y.at(*met))).collect();
    // Between two sizes nothing was planned: as many are met as with the smaller one.
    let corners = points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    let corners: Vec<(Px, Px)> = corners.chain(points.last().copied()).collect();
    svg.path("steps", &corners, false);
    for (point, (size, met)) in points.iter().zip(sizes.iter().zip(&counts)) {
        svg.circle("dot", *point, px(4));
        svg.text("soft", (point.0, px(BOTTOM + 16)), Anchor::Middle, &size.to_string());
        svg.text("tiny", (point.0, point.1 - px(7)), Anchor::Middle, &met.to_string());
    }
    let today = devices(curve.today, curve.unit);
    if (first..=last).contains(&today) {
        svg.line("today", (x.at(today), px(TOP)), (x.at(today), px(BOTTOM)));
        svg.text("soft", (x.at(today), px(BOTTOM + 32)), Anchor::Middle, "today");
    }
    svg.line("axis", (px(LEFT), px(BOTTOM)), (px(RIGHT), px(BOTTOM)));
    let mut before: Option<i64> = None;
    let rows = curve.points.iter().zip(sizes.iter().zip(&counts)).map(|(point, (size, met))| {
        let gain = before.map_or_else(|| "-".to_owned(), |before| format!("{:+}", met - before));
        before = Some(*met);
        vec![
            size.to_string(),
            met.to_string(),
            point.at_risk.to_string(),
            point.late.to_string(),
            gain,
            point.makespan.human(),
        ]
    });
    let titles = ["#GPUs", "#On time", "#At risk", "#Late", "#More than the size before", "Last end after"];
    let body = scrolled(&svg.finish()) + &table("marginal", &titles, rows);
    let enough = sizes.iter().zip(&counts).find(|(_, met)| **met == most).map_or(last, |(size, _)| *size);
    let takeaway = format!("From {enough} {} on, one more meets no further deadline.", curve.flavor);
    page_section("marginal", "What one GPU more is worth", &takeaway, &body)
}

pub(super) fn break_even(what_if: &WhatIf) -> String {
    let mut body = String::new();
    let mut takeaways = Vec::new();
    for (at, one) in what_if.verdict.break_even.iter().enumerate() {
        let Some(sentence) = break_even_sentence(what_if, one) else { continue };
        takeaways.push(sentence);
        body.push_str(&scrolled(&draw(what_if, at, one)));
        body.push_str(&figures(what_if, one));
    }
    if takeaways.is_empty() {
        return String::new();
    }
    page_section("break-even", "Own or rent", &(takeaways.join(". ") + "."), &body)
}

/// What one GPU costs for each hour that passes, over how much of it is used.
fn draw(what_if: &WhatIf, at: usize, one: &BreakEven) -> String {
    let rent = one.rent.unwrap_or(Money::ZERO);
    let most = rent.nanos.max(one.own.map_or(0, |own| own.nanos)).max(1);
    // Money is drawn in millionths of the highest price: exact enough for a picture, and always within 64 bits.
    let part = |nanos: i128| i64::try_from(div_round_half_even(nanos.saturating_mul(1_000_000), most)).unwrap_or(0);
    let x = Scale { from: 0, to: 1_000_000, start: px(LEFT), end: px(RIGHT) };
    let y = Scale { from: 0, to: 1_000_000, start: px(BOTTOM), end: px(TOP) };
    let title = format!("Own or rent {}", one.flavor);
    let description =
        "The cost of one GPU for each hour that passes, over its utilisation; renting is paid while used.";
    let mut svg = Svg::new(&format!("break-even-{at}"), WIDTH, HEIGHT, &title, description);
    svg.line("axis", (px(LEFT), px(BOTTOM)), (px(RIGHT), px(BOTTOM)));
    svg.line("axis", (px(LEFT), px(TOP)), (px(LEFT), px(BOTTOM)));
    for percent in [0, 25, 50, 75, 100] {
        let at = x.at(percent * 10_000);
        svg.line("axis", (at, px(BOTTOM)), (at, px(BOTTOM + 4)));
        svg.text("soft", (at, px(BOTTOM + 16)), Anchor::Middle, &format!("{percent} %"));
    }
    svg.line("rent", (x.at(0), y.at(0)), (x.at(1_000_000), y.at(part(rent.nanos))));
    svg.text(
        "name",
        (px(RIGHT), y.at(part(rent.nanos)) + px(36)),
        Anchor::End,
        &format!("rented: {}", cost(what_if, rent)),
    );
    if let Some(own) = one.own {
        let level = y.at(part(own.nanos));
        svg.line("own", (px(LEFT), level), (px(RIGHT), level));
        svg.text("name", (px(LEFT + 8), level - px(5)), Anchor::Start, &format!("owned: {}", cost(what_if, own)));
    }
    if let Some(utilisation) = one.utilisation.filter(|utilisation| utilisation.millionths() <= 1_000_000) {
        let (at, level) = (along(&x, utilisation), y.at(part(one.own.unwrap_or(Money::ZERO).nanos)));
        svg.circle("dot", (at, level), px(5));
        svg.text("bold", (at, level - px(9)), Anchor::Middle, &format!("equal at {}", utilisation.percent()));
    }
    let planned = along(&x, one.planned);
    svg.line("planned", (planned, px(TOP)), (planned, px(BOTTOM)));
    svg.text("soft", (planned, px(BOTTOM + 32)), Anchor::Middle, &format!("planned {}", one.planned.percent()));
    svg.finish()
}

fn along(scale: &Scale, fraction: Ratio) -> Px {
    scale.at(i64::try_from(fraction.millionths()).unwrap_or(1_000_000))
}

fn figures(what_if: &WhatIf, one: &BreakEven) -> String {
    let unknown = || "not stated".to_owned();
    let money = |amount: Option<Money>| amount.map_or_else(unknown, |amount| cost(what_if, amount));
    let rows = [
        ("GPUs in question", format!("{} {}", one.resource.quantity(one.quantity), one.flavor)),
        ("A rented GPU-hour", money(one.rent)),
        ("An owned GPU-hour", money(one.own)),
        ("Utilisation at which they are equal", one.utilisation.map_or_else(unknown, Ratio::percent)),
        ("Utilisation as planned", one.planned.percent()),
        ("Owning pays below, a GPU-hour", money(one.own_below)),
    ];
    table("own-or-rent", &["", "#"], rows.into_iter().map(|(name, value)| vec![name.to_owned(), value]))
}
