//! `stagger explain`: why a workload starts when it does, who stands in the way, what would help.

use clap::{Args, ValueEnum};

use super::args::{SearchArgs, SourceArgs, TimeArgs, overrides};
use super::exit::{Exit, Failed};
use super::reference::{self, Reference};
use super::shell::Shell;
use super::{load, solve, write};
use crate::plan::explain::explain;

/// Explain one workload's start
///
/// Plans everything, then says about one workload why it does not start sooner, who holds what it waits for and until
/// when, and which change would make it start sooner.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger explain scenarios/noon-evals --for Job/eval-3
  stagger explain scenarios/realistic-day --for Job/release-eval-code -o json")]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    input: SourceArgs,
    /// The workload, such as Job/eval-1
    #[arg(long = "for", env = "STAGGER_FOR", value_name = "KIND/NAME", value_parser = reference::parse)]
    subject: Reference,
    /// Its namespace, where several have a workload of that name
    #[arg(short, long, env = "STAGGER_NAMESPACE")]
    namespace: Option<String>,
    /// What to print
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    output: Format,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    search: SearchArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Yaml,
}

pub(super) fn run(args: ExplainArgs, shell: &Shell) -> Result<Exit, Failed> {
    let given = load::given(overrides(&args.time, &args.search), None);
    let loaded = load::source(&args.input, &given, shell)?;
    let assembled = &loaded.assembled;
    let namespace = args.namespace.as_deref();
    // 1. Which workload is meant: waiting, running, or one that can never start.
    let never = assembled.unplaceable.iter().find(|one| args.subject.means(&one.kind, &one.key, namespace));
    let waiting = assembled.snapshot.workloads.iter().map(|it| (it.kind.as_str(), &it.key));
    let running = assembled.snapshot.running.iter().map(|it| ("", &it.key));
    let key = match (args.subject.pick(waiting.chain(running), namespace), never) {
        (Ok(key), _) => key,
        (Err(_), Some(one)) => {
            let text =
                format!("{} {}\n  It {}: {}.\n", one.kind, one.key, "can never start as things stand", one.reason);
            write::text(&text, None, shell)?;
            return Ok(Exit::Fine);
        }
        (Err(failed), None) => return Err(failed),
    };
    // 2. The plan, and its place in it.
    let solved = solve::solve(&loaded, shell)?;
    let explanation = explain(&assembled.snapshot, &assembled.policy, &solved.plan, &key)
        .ok_or_else(|| Failed::usage(format!("there is no workload {key} in the plan")))?;
    match args.output {
        Format::Text => write::text(&format!("{explanation}\n"), None, shell)?,
        Format::Json => write::data(&json(&explanation.document())?, None, shell)?,
        Format::Yaml => write::data(&write::yaml(&explanation.document())?, None, shell)?,
    }
    Ok(Exit::Fine)
}

fn json(value: &impl serde::Serialize) -> Result<String, Failed> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| text + "\n").map_err(|error| Failed::usage(format!("failed to write JSON: {error}")))
}
