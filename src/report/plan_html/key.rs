//! Whose colour is whose, and what the marks mean.

use std::collections::BTreeSet;

use super::Page;
use super::bars::{self, Lane};
use crate::plan::proposal::Verdict;
use crate::report::svg::{Escaped, Scale, Svg, px};
use crate::units::Timestamp;

/// More tenants than this share the colour called "other": more colours are not told apart.
const COLOURS: usize = 6;

/// Tenants by name, each with its colour class.
pub(super) fn tenants(page: &Page<'_>) -> Vec<String> {
    let of_releases = page.scene.plan.releases.iter().filter_map(|release| release.tenant.as_ref());
    let of_running = page.scene.snapshot.running.iter().filter_map(|work| work.tenant.as_ref());
    let names: BTreeSet<String> = of_releases.chain(of_running).map(ToString::to_string).collect();
    names.into_iter().collect()
}

pub(super) fn colour(tenants: &[String], tenant: Option<&str>) -> String {
    let at = tenant.and_then(|tenant| tenants.iter().position(|name| name == tenant));
    match at {
        Some(at) => format!("c{}", at.min(COLOURS)),
        None if tenants.is_empty() => "c0".to_owned(),
        None => format!("c{COLOURS}"),
    }
}

/// Only what the pictures really show.
pub(super) fn key(tenants: &[String], page: &Page<'_>) -> String {
    let lane = Lane { top: px(2), height: 10 };
    let sample = |draw: &dyn Fn(&mut Svg)| {
        let mut svg = Svg::bare(26, 14);
        draw(&mut svg);
        svg.finish()
    };
    let mut items: Vec<(String, String)> = Vec::new();
    for (at, tenant) in tenants.iter().take(COLOURS).enumerate() {
        let class = format!("c{at}");
        items.push((sample(&|svg| svg.rect(&class, (px(0), px(2)), (px(26), px(10)))), tenant.clone()));
    }
    if tenants.len() > COLOURS {
        items.push((sample(&|svg| svg.rect("c6", (px(0), px(2)), (px(26), px(10)))), "other tenants".to_owned()));
    }
    let time = Scale { from: 0, to: 26, start: px(0), end: px(26) };
    if !page.scene.snapshot.running.is_empty() {
        let draw = |svg: &mut Svg| bars::running(svg, &time, lane, "c6", Timestamp(0), Timestamp(26));
        items.push((sample(&draw), "already running".to_owned()));
    }
    let releases = &page.scene.plan.releases;
    if releases.iter().any(|release| release.finish_by.is_some()) {
        items.push((sample(&|svg| bars::triangle(svg, "due", px(13), lane)), "due".to_owned()));
    }
    if releases.iter().any(|release| release.verdict == Verdict::Late) {
        let draw = |svg: &mut Svg| bars::past_due(svg, px(0), px(26), lane);
        items.push((sample(&draw), "past due".to_owned()));
    }
    if releases.iter().any(|release| release.end < release.end_p90) {
        let draw = |svg: &mut Svg| bars::whisker(svg, px(2), px(24), lane);
        items.push((sample(&draw), "nine of ten runs end by".to_owned()));
    }
    if releases.iter().any(|release| release.pieces.len() > 1) {
        let draw = |svg: &mut Svg| svg.line("pause", (px(0), px(7)), (px(26), px(7)));
        items.push((sample(&draw), "interrupted".to_owned()));
    }
    let items: String = items.iter().map(|(svg, name)| format!("<li>{svg}{}</li>\n", Escaped(name))).collect();
    format!("<ul class=\"key\">\n{items}</ul>\n")
}
