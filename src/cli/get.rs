//! `stagger get`: what waits and runs in the cluster, and when the controller starts it.

use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::args::SourceArgs;
use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{load, write};
use crate::calendar;
use crate::kueue::observed::{Observed, Standing};
use crate::names::QueueName;
use crate::report::table::{Align, Table};
use crate::units::Timestamp;

/// Show planned starts
///
/// Lists the work in the cluster with the start that the controller has written on it, whether our gate holds it, and
/// what Kueue says. Needs no kinds of ours and plans nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger get
  stagger get -n evals -o json")]
pub(super) struct GetArgs {
    #[command(flatten)]
    input: SourceArgs,
    /// Only of this namespace
    #[arg(short, long, env = "STAGGER_NAMESPACE")]
    namespace: Option<String>,
    /// Of all namespaces, as without -n
    #[arg(short = 'A', long, env = "STAGGER_ALL_NAMESPACES", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue, conflicts_with = "namespace")]
    all_namespaces: bool,
    /// Finished work too
    #[arg(long, env = "STAGGER_FINISHED", value_parser = FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    finished: bool,
    /// What to print
    #[arg(
        short,
        long,
        env = "STAGGER_OUTPUT",
        value_name = "FORMAT",
        default_value = "table",
        help_heading = "Output"
    )]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

pub(super) fn run(args: &GetArgs, shell: &Shell) -> Result<Exit, Failed> {
    let given = load::given(crate::kueue::Overrides::default(), None);
    let loaded = load::source(&args.input, &given, shell)?;
    let wanted = |one: &&Observed| {
        let namespace = args.namespace.as_deref().filter(|_| !args.all_namespaces);
        let in_namespace = namespace.is_none_or(|namespace| one.key.namespace() == namespace);
        in_namespace && (args.finished || one.standing != Standing::Finished)
    };
    let mut shown: Vec<&Observed> = loaded.assembled.observed.iter().filter(wanted).collect();
    shown.sort_by_key(|one| (one.planned_start().is_none(), one.planned_start(), one.key.clone(), one.kind.clone()));
    match args.output {
        Format::Table => {
            let snapshot = &loaded.assembled.snapshot;
            let zone = calendar::zone(&snapshot.time_zone).unwrap_or(chrono_tz::UTC);
            let time =
                |at: Option<Timestamp>| at.map_or("-".to_owned(), |at| calendar::day_time(at, snapshot.now, zone));
            let mut table = Table::new(&[
                ("NAMESPACE", Align::Left),
                ("WORKLOAD", Align::Left),
                ("PLANNED START", Align::Left),
                ("DUE", Align::Left),
                ("STATE", Align::Left),
            ]);
            for one in shown {
                let name = format!("{}/{}", one.kind, one.key.name());
                let namespace = one.key.namespace().to_owned();
                table.row(vec![namespace, name, time(one.planned_start()), time(one.due), state(one)]);
            }
            let text = if table.is_empty() { "No work is there.\n".to_owned() } else { table.render(None) };
            write::text(&text, None, shell)?;
        }
        Format::Json => {
            let time = |at: Option<Timestamp>| at.map(|at| calendar::rfc3339(at, chrono_tz::UTC));
            let items: Vec<_> = shown
                .into_iter()
                .map(|one| {
                    json!({
                        "workload": one.key.as_str(),
                        "kind": one.kind,
                        "clusterQueue": one.queue.as_ref().map(QueueName::as_str),
                        "plannedStart": time(one.planned_start()),
                        "finishBy": time(one.due),
                        "held": one.is_gated(),
                        "state": state(one),
                        "attempts": one.attempts(),
                    })
                })
                .collect();
            let document = json!({"apiVersion": "stagger.dev/starts/v1", "kind": "Starts", "items": items});
            let text = serde_json::to_string_pretty(&document);
            let text = text.map_err(|error| Failed::usage(format!("failed to write JSON: {error}")))?;
            write::data(&(text + "\n"), None, shell)?;
        }
    }
    Ok(Exit::Fine)
}

fn state(one: &Observed) -> String {
    match &one.standing {
        Standing::Waiting if one.is_gated() => "held until its start".to_owned(),
        Standing::Waiting if one.is_held_back() => "held by another gate".to_owned(),
        Standing::Waiting => "waits in Kueue's queue".to_owned(),
        Standing::Running => "runs".to_owned(),
        Standing::Never(reason) => format!("never starts: it {reason}"),
        Standing::Finished => "finished".to_owned(),
        Standing::Aside => "not queued".to_owned(),
    }
}
