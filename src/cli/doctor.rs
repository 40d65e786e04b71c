//! `stagger doctor`: whether the installation in a cluster is whole, and what to do where it is not.

use clap::{Args, ValueEnum};

use super::exit::{Exit, Failed};
use super::reach::{self, ReachArgs};
use super::shell::Shell;
use super::write;
use crate::clock;
use crate::doctor::{Check, Document, Status, examine, gather, worst};

/// Check an installation: kinds, Kueue, gates, policies, certificates, leaders
///
/// Only reads, and tries one Job as a dry run, which creates nothing. What you may not read is told as unknown. Ends with
/// 1 when something has failed, with 8 when the cluster cannot be reached.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger doctor
  stagger doctor -n team-a -o json")]
pub(super) struct DoctorArgs {
    /// Where a Job is tried as a dry run [default: the context's namespace]
    #[arg(short, long, env = "STAGGER_NAMESPACE", value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// What to print
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "table")]
    output: Format,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
}

pub(super) fn run(args: &DoctorArgs, shell: &Shell) -> Result<Exit, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failed::usage(format!("failed to start the runtime: {error}")))?;
    let (server, facts) = runtime.block_on(async {
        let cluster = reach::connect(&args.reach).await?;
        let namespace = args.namespace.clone().unwrap_or_else(|| cluster.namespace.clone());
        let facts = gather(&cluster, &namespace).await.map_err(|error| reach::refused(&error))?;
        Ok::<_, Failed>((cluster.server, facts))
    })?;
    let checks = examine(&facts, clock::now());
    let text = match args.output {
        Format::Table => table(&checks),
        Format::Json => {
            let json = serde_json::to_string_pretty(&Document::new(&server, &checks));
            json.map_err(|error| Failed::usage(format!("failed to write JSON: {error}")))? + "\n"
        }
    };
    write::data(&text, None, shell)?;
    Ok(if worst(&checks) == Status::Failed { Exit::Usage } else { Exit::Fine })
}

fn table(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        text += &format!("{:8} {:width$}  {}\n", check.status.word(), check.name, check.message);
        if let (Some(action), true) = (&check.action, check.status != Status::Ok) {
            text += &format!("{:8} {:width$}  → {action}\n", "", "");
        }
    }
    let count = |status: Status| checks.iter().filter(|check| check.status == status).count();
    let of = |status: Status| format!("{} {}", count(status), status.word());
    text +=
        &format!("\n{}, {}, {}, {}\n", of(Status::Ok), of(Status::Warning), of(Status::Failed), of(Status::Unknown));
    text
}
