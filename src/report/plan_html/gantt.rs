//! Who runs when: a Gantt picture per flavor, or density lanes where there are too many rows to read.

use std::collections::BTreeMap;

use super::bars::{self, Lane};
use super::key::{colour, key, tenants};
use super::{Page, scrolled};
use crate::plan::axis::Axis;
use crate::plan::groups::{self, Group};
use crate::plan::proposal::{Release, Verdict};
use crate::plan::sentence::moment;
use crate::plan::snapshot::Running;
use crate::report::svg::{Anchor, Escaped, Px, Scale, Svg, px};
use crate::units::Seconds;

const WIDTH: i64 = 1040;
const LEFT: i64 = 190;
const RIGHT: i64 = 900;
const TOP: i64 = 40;
/// Above this many rows in one picture nobody reads names any more.
const MOST_ROWS: usize = 200;

fn body(page: &Page<'_>) -> String {
    let rows = page.scene.plan.releases.len() + page.scene.snapshot.running.len();
    let (axis, time) = time_scale(page);
    if rows > MOST_ROWS {
        return scrolled(&lanes(page, &axis, &time)) + &density_note(rows);
    }
    let tenants = tenants(page);
    let mut flavors: BTreeMap<&str, (Vec<&Running>, Vec<(usize, &Release)>)> = BTreeMap::new();
    for work in &page.scene.snapshot.running {
        flavors.entry(work.flavor.as_str()).or_default().0.push(work);
    }
    for (at, release) in page.scene.plan.releases.iter().enumerate() {
        flavors.entry(release.flavor.as_str()).or_default().1.push((at, release));
    }
    let mut html = key(&tenants, page);
    for (at, (flavor, (running, releases))) in flavors.iter().enumerate() {
        let picture = Picture { page, axis: &axis, time: &time, tenants: &tenants };
        html.push_str(&format!("<h3>{}</h3>\n", Escaped(flavor)));
        html.push_str(&scrolled(&picture.draw(&format!("gantt-{at}"), flavor, running, releases)));
    }
    html
}

pub(super) fn section(page: &Page<'_>) -> String {
    let late = page.scene.plan.summary.late;
    let takeaway = match (page.scene.plan.releases.len(), late) {
        (0, _) => "Only running work is shown.".to_owned(),
        (count, 0) if count > MOST_ROWS => format!("{count} workloads by queue and class; none is late."),
        (count, _) if count > MOST_ROWS => format!("{count} workloads by queue and class; {late} are late."),
        (count, 0) => format!("{count} workloads; every bar ends before its triangle or has none."),
        (count, _) => format!("{count} workloads; {late} end after their triangle: crossed and named LATE."),
    };
    super::section("gantt", "Who runs when", &takeaway, &body(page))
}

fn density_note(rows: usize) -> String {
    format!(
        "<p class=\"small\">{rows} workloads, drawn by queue and class: the height of a lane is how many run at once.</p>\n"
    )
}

/// The axis with some of the past where something is running, and its scale.
fn time_scale(page: &Page<'_>) -> (Axis, Scale) {
    let axis = Axis::of(&page.scene);
    let earliest = page.scene.snapshot.running.iter().map(|work| work.start).min().unwrap_or(axis.from);
    let past = Seconds((axis.to - axis.from).0 / 8);
    let from = earliest.max(axis.from - past).min(axis.from);
    // A triangle at the very end stays clear of the words beside it.
    let axis = Axis { from, to: axis.to + Seconds((axis.to - from).0 / 60), ..axis };
    (axis, Scale { from: axis.from.0, to: axis.to.0, start: px(LEFT), end: px(RIGHT) })
}

struct Picture<'a> {
    page: &'a Page<'a>,
    axis: &'a Axis,
    time: &'a Scale,
    tenants: &'a [String],
}

impl Picture<'_> {
    fn draw(&self, id: &str, flavor: &str, running: &[&Running], releases: &[(usize, &Release)]) -> String {
        let rows = running.len() + releases.len();
        let pitch: i64 = if rows <= 60 { 20 } else { 13 };
        let bar = pitch - 6;
        let name_class = if rows <= 60 { "name" } else { "tiny" };
        let bottom = TOP + pitch * i64::try_from(rows).unwrap_or(0);
        let title = format!("Plan on {flavor}");
        let description =
            format!("{} planned and {} running workloads as bars over time.", releases.len(), running.len());
        let mut svg = Svg::new(id, WIDTH, bottom + 8, &title, &description);
        frame(&mut svg, self.page, self.axis, self.time, bottom);
        let mut top = TOP;
        let baseline = |top: i64| px(top + pitch / 2 + 3);
        let lane = |top: i64| Lane { top: px(top + 3), height: bar };
        for work in running {
            let end = self.page.scene.end_of(work);
            let class = colour(self.tenants, work.tenant.as_ref().map(crate::names::TenantId::as_str));
            let tooltip = format!("{}: already running, until {}", work.key, moment(self.page.scene.plan, end));
            svg.group(None, &tooltip, |svg| {
                name(svg, name_class, baseline(top), work.key.as_str());
                bars::running(svg, self.time, lane(top), &class, work.start, end);
                svg.text("soft", (px(RIGHT + 8), baseline(top)), Anchor::Start, "running");
            });
            top += pitch;
        }
        for (at, release) in releases {
            let class = colour(self.tenants, release.tenant.as_ref().map(crate::names::TenantId::as_str));
            svg.group(Some(&format!("w{at}")), &tooltip(self.page, release), |svg| {
                name(svg, name_class, baseline(top), release.workload.as_str());
                bars::planned(svg, self.time, lane(top), &class, release);
                let (class, words) = note(release);
                svg.text(class, (px(RIGHT + 8), baseline(top)), Anchor::Start, &words);
            });
            top += pitch;
        }
        svg.finish()
    }
}

fn name(svg: &mut Svg, class: &str, y: Px, words: &str) {
    svg.text(class, (px(LEFT - 8), y), Anchor::End, &shorten(words, 26));
}

/// The end of a name tells it apart from its siblings, so the middle goes.
pub(super) fn shorten(words: &str, most: usize) -> String {
    let length = words.chars().count();
    if length <= most {
        return words.to_owned();
    }
    let head: String = words.chars().take(most / 2 - 1).collect();
    let tail: String = words.chars().skip(length - most / 2).collect();
    format!("{head}…{tail}")
}

fn note(release: &Release) -> (&'static str, String) {
    match (release.verdict, release.slack, release.finish_by) {
        (Verdict::OnTime, Some(slack), _) => ("good", format!("{slack} to spare")),
        (Verdict::Late, _, Some(due)) => ("late", format!("LATE by {}", release.end - due)),
        (Verdict::AtRisk, ..) => ("risk", "AT RISK".to_owned()),
        (Verdict::Unknown, ..) => ("soft", "runtime unknown".to_owned()),
        _ => ("soft", String::new()),
    }
}

fn tooltip(page: &Page<'_>, release: &Release) -> String {
    let time = |at| moment(page.scene.plan, at);
    let due = release.finish_by.map_or_else(String::new, |due| format!(", due {}", time(due)));
    let why = release.reasons.first().map_or_else(String::new, |reason| format!(". {}", reason.message));
    format!("{}: {} to {}{due}{why}", release.workload, time(release.start), time(release.end))
}

/// Day and hour marks, and the line of now.
fn frame(svg: &mut Svg, page: &Page<'_>, axis: &Axis, time: &Scale, bottom: i64) {
    for tick in axis.ticks(9) {
        let x = time.at(tick.at.0);
        svg.line("grid", (x, px(TOP - 6)), (x, px(bottom)));
        svg.text("soft", (x, px(TOP - 10)), Anchor::Middle, &tick.label);
        if let Some(day) = &tick.day {
            svg.text("soft bold", (x, px(TOP - 25)), Anchor::Middle, day);
        }
    }
    let x = time.at(page.scene.plan.now.0);
    svg.line("now", (x, px(TOP - 6)), (x, px(bottom + 4)));
    svg.text(
        "soft",
        (px(LEFT - 28), px(TOP - 10)),
        Anchor::End,
        &format!("now {}", moment(page.scene.plan, page.scene.plan.now)),
    );
    svg.text("soft", (px(RIGHT + 8), px(TOP - 25)), Anchor::Start, axis.zone.name());
    svg.line("axis", (px(LEFT), px(bottom)), (px(RIGHT), px(bottom)));
}

/// One lane per queue and class.
fn lanes(page: &Page<'_>, axis: &Axis, time: &Scale) -> String {
    let groups = groups::of(&page.scene);
    let pitch = 34;
    let bottom = TOP + pitch * i64::try_from(groups.len()).unwrap_or(0);
    let description = format!("{} groups of workloads; lane heights are how many run at once.", groups.len());
    let mut svg = Svg::new("gantt-lanes", WIDTH, bottom + 8, "Plan by queue and class", &description);
    frame(&mut svg, page, axis, time, bottom);
    for (row, group) in (0..).zip(&groups) {
        lane(&mut svg, axis, time, TOP + pitch * row, group);
    }
    svg.finish()
}

fn lane(svg: &mut Svg, axis: &Axis, time: &Scale, top: i64, group: &Group) {
    let height = Scale { from: 0, to: group.count.most().0.max(1), start: px(top + 30), end: px(top + 4) };
    let words = format!("{} {} ×{}", group.queue, group.class, group.workloads);
    svg.group(None, &format!("{words}: {}", group.note()), |svg| {
        svg.text("name", (px(LEFT - 8), px(top + 22)), Anchor::End, &shorten(&words, 26));
        let class = if group.class == "running" { "held" } else { "c0" };
        svg.path(class, &crate::report::steps_picture::area(&group.count, (axis.from, axis.to), time, &height), true);
        let class = if group.late > 0 { "late" } else { "soft" };
        svg.text(class, (px(RIGHT + 8), px(top + 22)), Anchor::Start, &group.note());
    });
    svg.line("grid", (px(LEFT), px(top + 30)), (px(RIGHT), px(top + 30)));
}
