//! A plan for the terminal: chart, headline, table, what cannot be met, what was noticed, how good it is.

use chrono_tz::Tz;

use crate::calendar;
use crate::plan::chart::{self, Look};
use crate::plan::curve::Scene;
use crate::plan::proposal::{Fix, LevelName, Plan, Quality, Release, Status, Verdict};
use crate::plan::sentence;
use crate::report::table::{Align, Table};
use crate::units::{Amount, Timestamp};

/// How to write.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    pub look: Look,
    /// All columns, nothing cut.
    pub wide: bool,
    /// Cut rows at the width (a terminal) or leave them whole (a pipe).
    pub cut: bool,
}

/// Everything a person at a terminal wants to see of a plan.
#[must_use]
pub fn render(scene: &Scene<'_>, layout: Layout) -> String {
    let plan = scene.plan;
    let mut parts = Vec::new();
    let chart = chart::draw(scene, layout.look);
    if !chart.is_empty() {
        parts.push(chart);
    }
    parts.push(format!("{}\n", sentence::headline(plan)));
    let table = table(plan, layout.wide);
    if !table.is_empty() {
        parts.push(table.render((layout.cut && !layout.wide).then_some(layout.look.width)));
    }
    let conflicts = conflicts(plan);
    if !conflicts.is_empty() {
        parts.push(conflicts);
    }
    parts.push(format!("{}\n", quality(plan)));
    parts.join("\n")
}

/// The releases as a table.
#[must_use]
pub fn table(plan: &Plan, wide: bool) -> Table {
    use Align::{Left, Right};
    let mut columns = vec![("WORKLOAD", Left), ("QUEUE", Left), ("FLAVOR", Left), ("GPUS", Right)];
    if wide {
        columns.extend([("KIND", Left), ("TENANT", Left), ("RESOURCES", Left)]);
    }
    columns.push(("START", Left));
    if wide {
        columns.push(("END(P50)", Left));
    }
    columns.extend([("END(P90)", Left), ("DUE", Left), ("SLACK", Right), ("VERDICT", Left)]);
    if wide {
        columns.push(("PIECES", Right));
    }
    columns.push(("WHY", Left));
    let mut table = Table::new(&columns);
    for release in &plan.releases {
        table.row(row(plan, release, wide));
    }
    table
}

fn row(plan: &Plan, release: &Release, wide: bool) -> Vec<String> {
    let zone = calendar::zone(&plan.time_zone).unwrap_or(Tz::UTC);
    let time = |at: Timestamp| calendar::day_time(at, plan.now, zone);
    let none = || "<none>".to_owned();
    let mut cells = vec![
        release.workload.to_string(),
        release.cluster_queue.to_string(),
        release.flavor.to_string(),
        gpus(release),
    ];
    if wide {
        let resources = release.resources.iter().map(|(name, amount)| format!("{name}={}", name.quantity(*amount)));
        let tenant = release.tenant.as_ref().map_or_else(none, ToString::to_string);
        cells.extend([release.kind.clone(), tenant, resources.collect::<Vec<_>>().join(",")]);
    }
    cells.push(time(release.start));
    if wide {
        cells.push(time(release.end));
    }
    cells.push(time(release.end_p90));
    cells.push(release.finish_by.map_or_else(none, time));
    cells.push(release.slack.map_or_else(none, crate::units::Seconds::human));
    cells.push(verdict(release.verdict).to_owned());
    if wide {
        cells.push(release.pieces.len().to_string());
        cells.push(release.reasons.iter().map(|reason| reason.message.as_str()).collect::<Vec<_>>().join("; "));
    } else {
        cells.push(release.reasons.first().map_or_else(String::new, |reason| reason.message.clone()));
    }
    cells
}

/// Accelerators of a release: `2`, or `500 gpu-milli` where a unit is not a GPU.
#[must_use]
pub fn gpus(release: &Release) -> String {
    let mut whole = Amount::ZERO;
    let mut parts = Vec::new();
    for (resource, amount) in release.resources.iter().filter(|(resource, _)| resource.is_accelerator()) {
        if resource.units_per_gpu() == 1 {
            whole = whole.saturating_add(*amount);
        } else {
            let last = resource.as_str().rsplit('/').next().unwrap_or("");
            parts.push(format!("{} {last}", resource.quantity(*amount)));
        }
    }
    if whole > Amount::ZERO || parts.is_empty() {
        parts.insert(0, whole.0.to_string());
    }
    parts.join("+")
}

/// A verdict as one word, without blanks.
#[must_use]
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::OnTime => "OnTime",
        Verdict::AtRisk => "AtRisk",
        Verdict::Late => "Late",
        Verdict::NoDeadline => "NoDeadline",
        Verdict::Unknown => "Unknown",
    }
}

/// What cannot be met together, and the smallest changes that were verified to help.
#[must_use]
pub fn conflicts(plan: &Plan) -> String {
    let mut text = String::new();
    for conflict in &plan.infeasible {
        text.push_str(&format!("cannot be met: {}\n", conflict.message));
        let names: Vec<&str> = conflict.workloads.iter().map(crate::names::WorkloadKey::as_str).collect();
        let means = if conflict.irreducible { "without any one of them the rest fits" } else { "among them" };
        text.push_str(&format!("  {means}: {}\n", names.join(", ")));
        for one in &conflict.fixes {
            text.push_str(&format!("  fix: {}\n", fix(plan, one)));
        }
    }
    text
}

/// A fix as a sentence.
#[must_use]
pub fn fix(plan: &Plan, fix: &Fix) -> String {
    let time = |at: Timestamp| sentence::moment(plan, at);
    match fix {
        Fix::AddCapacity { flavor, resource, quantity, from, to, cost } => {
            let currency = plan.summary.currency.as_deref().unwrap_or("");
            let price = cost
                .map_or_else(String::new, |money| format!(", for {} {currency}", money.cents()).trim_end().to_owned());
            let amount = resource.quantity(*quantity);
            format!("{amount} more {flavor} ({resource}) from {} to {}{price}", time(*from), time(*to))
        }
        Fix::MoveDeadline { workload, by, to } => format!("let {workload} finish {by} later, by {}", time(*to)),
        Fix::AllowInterruption { workload } => format!("allow {workload} to be interrupted"),
        Fix::UseFlavor { workload, flavor } => format!("let {workload} use flavor {flavor}"),
        Fix::StartEarlier { workload, by } => format!("let {workload} start {by} earlier"),
    }
}

/// How good the plan is, and how that is known, on one line.
#[must_use]
pub fn quality(plan: &Plan) -> String {
    let quality = &plan.quality;
    let status = match quality.status {
        Status::Optimal => "Optimal: proven, no plan is better".to_owned(),
        Status::Feasible => feasible(quality),
        Status::Fallback => "Fallback: the greedy plan; nothing better was found in the time given".to_owned(),
    };
    let digest: String = plan.input_digest.chars().take(12).collect();
    let seconds = format!("{}.{:03}", quality.millis / 1000, quality.millis % 1000);
    format!("{status} ({seconds} s, seed {}, input {digest})", quality.seed)
}

/// What the first level without a proof leaves open: deadlines in their own unit (a share of a small number of missed
/// ones says nothing), everything else in percent.
fn feasible(quality: &Quality) -> String {
    let open = quality.levels.iter().find(|level| level.bound != Some(level.value));
    let Some(level) = open else { return "Feasible".to_owned() };
    let what = match level.name {
        LevelName::HardMissed => {
            let more = level.value - level.bound.unwrap_or(0);
            return format!("Feasible: no plan misses fewer hard deadlines by more than {more} in value");
        }
        LevelName::SoftLost => "the value lost by soft deadlines",
        LevelName::Completion => "the sum of ends",
        LevelName::Peak => "the peak",
        LevelName::Cost => "the cost",
        LevelName::Stability => "the starts moved",
        LevelName::Backfill => "the ends of backfill",
    };
    match quality.gap_millionths {
        Some(gap) => {
            format!("Feasible: all before is proven, and {what} is at most {} from the best possible", percent(gap))
        }
        None => format!("Feasible: all before is proven; {what} has no bound yet"),
    }
}

/// Millionths as a percentage: `3.9 %`, `0.01 %`.
#[must_use]
pub fn percent(millionths: u64) -> String {
    let hundredths = millionths.div_ceil(100);
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}
