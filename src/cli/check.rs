//! `stagger check`: whether a plan keeps every promise, by code that shares nothing with the search.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::args::PromiseArg;
use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{lint, load, write};
use crate::calendar;
use crate::failure::Severity;
use crate::kueue::Overrides;
use crate::plan::check;

/// Check a plan against its input
///
/// Looks at every instant of the plan: quota, earliest starts, interruptions, due times and every figure it states.
/// Ends with 7 when something does not hold.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  stagger plan scenarios/noon-evals -o json --out plan.json && stagger check plan.json scenarios/noon-evals")]
pub(super) struct CheckArgs {
    /// The plan document (-o json of `stagger plan`), or `-`
    #[arg(value_name = "PLAN", value_hint = clap::ValueHint::FilePath)]
    plan: PathBuf,
    /// What it was planned from
    #[arg(value_name = "PATH", required = true, value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// The plan before it, for the frozen window
    #[arg(long, env = "STAGGER_PREVIOUS", value_name = "PLAN.json", value_hint = clap::ValueHint::FilePath)]
    previous: Option<PathBuf>,
    /// The runtime for which it held capacity [default: the plan's]
    #[arg(long, env = "STAGGER_PROMISE", ignore_case = true)]
    promise: Option<PromiseArg>,
    /// What to print
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

pub(super) fn run(args: CheckArgs, shell: &Shell) -> Result<Exit, Failed> {
    let plan = load::plan_document(&args.plan)?;
    let previous = args.previous.as_deref().map(load::plan_document).transpose()?;
    // The plan is judged at the instant and for the goal for which it was made.
    let overrides = Overrides {
        now: Some(plan.now),
        horizon: Some(plan.horizon_end - plan.now).filter(|span| span.0 > 0),
        time_zone: calendar::zone(&plan.time_zone).ok(),
        objective: Some(plan.objective),
        promise: Some(args.promise.map_or(plan.promise, Into::into)),
        seed: Some(plan.quality.seed),
        ..Overrides::default()
    };
    let loaded = load::load(&args.paths, &load::given(overrides, previous.as_ref()), shell)?;
    let found = check(&loaded.assembled.snapshot, &loaded.assembled.policy, &plan);
    match args.output {
        Format::Json => write::data(&lint::findings_json("CheckResult", &found)?, None, shell)?,
        Format::Text => {
            let told = shell.findings_as_data(&found);
            let errors = found.iter().any(|finding| finding.severity == Severity::Error);
            let closing = if errors {
                "The plan does not hold.\n".to_owned()
            } else {
                format!(
                    "The plan holds: {} releases within quota at every instant, every figure as stated.\n",
                    plan.releases.len()
                )
            };
            write::data(&format!("{told}{closing}"), None, shell)?;
        }
    }
    let bad = found.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if bad { Exit::Refused } else { Exit::Fine })
}
