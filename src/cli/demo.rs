//! `stagger demo`: an ordinary Monday, planned and told, without a cluster and without files.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failed};
use super::load::{self, Loaded};
use super::shell::Shell;
use super::solve::{self, Solved};
use super::{plan, write};
use crate::kueue::Overrides;
use crate::plan::chart;
use crate::plan::proposal::{Conflict, Plan, Verdict};
use crate::plan::sentence::{headline, moment};
use crate::report::plan_text;
use crate::scenario::Input;

/// The scenario `scenarios/realistic-day`, file by file.
const FILES: [(&str, &str); 3] = [
    ("realistic-day/cluster.yaml", include_str!("../../scenarios/realistic-day/cluster.yaml")),
    ("realistic-day/language.yaml", include_str!("../../scenarios/realistic-day/language.yaml")),
    ("realistic-day/vision.yaml", include_str!("../../scenarios/realistic-day/vision.yaml")),
];

/// The demo is over within ten seconds on a laptop.
const SEARCH_MILLIS: u64 = 4_000;

/// See stagger plan an ordinary day
///
/// Plans a bundled Monday of two teams and forty jobs, tells what happens in a few sentences, and writes the whole plan
/// as one HTML page.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Where the page is written
    #[arg(long, env = "STAGGER_OUT", value_name = "FILE", default_value = "stagger-demo.html", value_hint = clap::ValueHint::FilePath)]
    out: PathBuf,
}

pub(super) fn run(args: DemoArgs, shell: &Shell) -> Result<Exit, Failed> {
    let overrides = Overrides { time_limit_millis: Some(SEARCH_MILLIS), ..Overrides::default() };
    let inputs: Vec<Input> = FILES.iter().map(|(name, text)| Input::text(name, text)).collect();
    let loaded = load::accept(load::gather(&inputs, &load::given(overrides, None)))?;
    let solved = solve::solve(&loaded, shell)?;
    let page = plan::page(&loaded, &solved);
    write::file(&args.out, &page).map_err(|failed| failed.hint("--out FILE writes the page elsewhere"))?;
    write::text(&story(&loaded, &solved, &args, shell), None, shell)?;
    Ok(Exit::Fine)
}

fn story(loaded: &Loaded, solved: &Solved, args: &DemoArgs, shell: &Shell) -> String {
    let (snapshot, plan) = (&loaded.assembled.snapshot, &solved.plan);
    let chart = chart::draw(&solved.scene(loaded), shell.look);
    let mut parts = vec![
        format!(
            "It is Monday, {}. Two teams share a cohort; {} jobs wait and {} run already.",
            moment(plan, plan.now),
            snapshot.workloads.len(),
            snapshot.running.len()
        ),
        before(plan),
        chart.trim_end().to_owned(),
        headline(plan),
    ];
    parts.extend(plan.infeasible.first().map(|conflict| trouble(plan, conflict)));
    parts.extend(waiting(plan));
    parts.push(plan_text::quality(plan));
    parts.push(format!(
        "The whole plan, with the reason for every start: {}\nNext: `stagger plan PATH` on your own manifests, `stagger explain PATH --for Job/NAME` on one of them.",
        args.out.display()
    ));
    parts.join("\n\n") + "\n"
}

/// The same day without stagger.
fn before(plan: &Plan) -> String {
    let mut text = String::from("Without a plan there are two ways to run them.");
    let over: Vec<String> = plan
        .before
        .all_at_once
        .peak
        .iter()
        .filter(|peak| peak.resource.is_accelerator() && peak.peak > peak.capacity)
        .map(|peak| format!("{} {} where there are {}", peak.peak.0, peak.flavor, peak.capacity.0))
        .collect();
    if !over.is_empty() {
        text.push_str(&format!(" Started as they come they would need {}.", over.join(" and ")));
    }
    if let Some(kueue) = &plan.before.kueue_alone {
        text.push_str(&format!(
            " Kueue alone keeps within quota, admits in order of creation, and is late for {} of {} deadlines.",
            kueue.late,
            kueue.on_time + kueue.at_risk + kueue.late
        ));
    }
    text
}

/// What cannot be met, and what would help.
fn trouble(plan: &Plan, conflict: &Conflict) -> String {
    let fixes: Vec<String> = conflict.fixes.iter().map(|fix| format!("\n  - {}", plan_text::fix(plan, fix))).collect();
    let help = if fixes.is_empty() { String::new() } else { format!("\nAny one of these would do:{}", fixes.concat()) };
    format!("One promise cannot be kept: {}{help}", conflict.message)
}

/// One job that waits although it could start, and why.
fn waiting(plan: &Plan) -> Option<String> {
    let release =
        plan.releases.iter().find(|release| release.verdict == Verdict::OnTime && release.start > plan.now)?;
    let why = release.reasons.first()?;
    Some(format!(
        "Every start has its reason. {} starts {}: {}.",
        release.workload,
        moment(plan, release.start),
        why.message.trim_end_matches('.')
    ))
}
