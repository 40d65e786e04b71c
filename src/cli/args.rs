//! Flags that several commands share: what to read, and how to plan.

use std::path::PathBuf;

use chrono_tz::Tz;
use clap::{Args, ValueEnum};

use super::reach::ReachArgs;
use crate::calendar;
use crate::kueue::Overrides;
use crate::plan::snapshot::{Objective, Promise};
use crate::units::{Seconds, Timestamp};

#[derive(Debug, Args)]
pub(super) struct InputArgs {
    /// Files, folders, or `-` for standard input
    #[arg(value_name = "PATH", required = true, value_hint = clap::ValueHint::AnyPath)]
    pub(super) paths: Vec<PathBuf>,
}

/// What is planned: files, or a cluster.
#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Files, folders, or `-` for standard input [default: the cluster]
    #[arg(value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    pub(super) paths: Vec<PathBuf>,
    /// Where Kueue's configuration is in the cluster: NAMESPACE/CONFIGMAP
    #[arg(long, env = "STAGGER_KUEUE_CONFIG", value_name = "NAMESPACE/NAME", default_value = KUEUE_CONFIG, value_parser = pair, help_heading = "Cluster")]
    pub(super) kueue_config: (String, String),
    #[command(flatten)]
    pub(super) reach: ReachArgs,
}

/// Where Kueue's own manifests put its configuration.
pub(super) const KUEUE_CONFIG: &str = "kueue-system/kueue-manager-config";

/// `NAMESPACE/NAME`.
pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    let (namespace, name) = text.split_once('/').ok_or_else(|| format!("`{text}` is not NAMESPACE/NAME"))?;
    Ok((namespace.to_owned(), name.to_owned()))
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Time")]
pub(super) struct TimeArgs {
    /// Plan as if it were this instant (RFC 3339) [default: the Scenario's, else the clock's]
    #[arg(long, env = "STAGGER_NOW", value_name = "INSTANT", value_parser = calendar::parse_instant)]
    pub(super) now: Option<Timestamp>,
    /// How far to look ahead, such as 12h [default: the Scenario's, else a day]
    #[arg(long, env = "STAGGER_HORIZON", value_name = "DURATION", value_parser = calendar::parse_duration)]
    pub(super) horizon: Option<Seconds>,
    /// IANA zone in which times are shown [default: the Scenario's, else UTC]
    #[arg(long, env = "STAGGER_TIME_ZONE", value_name = "ZONE", value_parser = calendar::zone)]
    pub(super) time_zone: Option<Tz>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Planning")]
pub(super) struct SearchArgs {
    /// What to prefer once no more deadlines can be met [default: the CapacityPlan's, else EarliestFinish]
    #[arg(long, env = "STAGGER_OBJECTIVE", ignore_case = true)]
    pub(super) objective: Option<ObjectiveArg>,
    /// The runtime for which capacity is held [default: the CapacityPlan's, else p50]
    #[arg(long, env = "STAGGER_PROMISE", ignore_case = true)]
    pub(super) promise: Option<PromiseArg>,
    /// Search for this long, such as 30s or 500ms, or until proven [default: a fixed number of steps, and at most the
    /// CapacityPlan's time limit, else 5s]
    #[arg(long, env = "STAGGER_TIME_LIMIT", value_name = "DURATION", value_parser = millis)]
    pub(super) time_limit: Option<u64>,
    /// Stop once the plan is proven to be within this of the best possible, such as 1% [default: the CapacityPlan's, else 0%]
    #[arg(long, env = "STAGGER_GAP", value_name = "PERCENT", value_parser = permille)]
    pub(super) gap: Option<u32>,
    /// Bound the search by so many steps: same input and steps, same plan [default: 300000]
    #[arg(long, env = "STAGGER_STEPS", value_name = "N")]
    pub(super) steps: Option<u64>,
    /// Seed of the search [default: 1]
    #[arg(long, env = "STAGGER_SEED", value_name = "N")]
    pub(super) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum ObjectiveArg {
    #[value(name = "EarliestFinish", alias = "earliest-finish")]
    EarliestFinish,
    #[value(name = "LowestPeak", alias = "lowest-peak")]
    LowestPeak,
    #[value(name = "LowestCost", alias = "lowest-cost")]
    LowestCost,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum PromiseArg {
    P50,
    P90,
}

impl From<PromiseArg> for Promise {
    fn from(promise: PromiseArg) -> Self {
        match promise {
            PromiseArg::P50 => Self::P50,
            PromiseArg::P90 => Self::P90,
        }
    }
}

/// The flags as they beat every document.
pub(super) fn overrides(time: &TimeArgs, search: &SearchArgs) -> Overrides {
    Overrides {
        now: time.now,
        time_zone: time.time_zone,
        horizon: time.horizon,
        objective: search.objective.map(|objective| match objective {
            ObjectiveArg::EarliestFinish => Objective::EarliestFinish,
            ObjectiveArg::LowestPeak => Objective::LowestPeak,
            ObjectiveArg::LowestCost => Objective::LowestCost,
        }),
        promise: search.promise.map(Into::into),
        frozen_window: None,
        unplanned: None,
        time_limit_millis: search.time_limit,
        // Who names a time wants it used; steps alone make a plan repeatable.
        step_limit: search.steps.or(search.time_limit.map(|_| u64::MAX)),
        gap_permille: search.gap,
        seed: search.seed,
    }
}

/// Durations of whole seconds, or of milliseconds alone.
fn millis(text: &str) -> Result<u64, String> {
    if let Some(Ok(number)) = text.strip_suffix("ms").map(str::parse) {
        return Ok(number);
    }
    let seconds = calendar::parse_duration(text)?;
    Ok(u64::try_from(seconds.0).unwrap_or(0).saturating_mul(1000))
}

/// `1%`, `0.5%`: at most one decimal place.
fn permille(text: &str) -> Result<u32, String> {
    let wrong = || format!("`{text}` is not a percentage such as 1% or 0.5%");
    let number = text.strip_suffix('%').ok_or_else(wrong)?.trim();
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    if tenth.len() != 1 {
        return Err(wrong());
    }
    let whole: u32 = whole.parse().map_err(|_| wrong())?;
    let tenth: u32 = tenth.parse().map_err(|_| wrong())?;
    (whole <= 100).then_some(whole * 10 + tenth).ok_or_else(wrong)
}
