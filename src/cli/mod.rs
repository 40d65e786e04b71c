//! The command line: one file per subcommand, each `run(arguments, shell) -> Result<Exit, Failed>`.
//!
//! Data goes to standard output, talk to standard error, so that output can always be piped. Meaning never rests on
//! colour. Every flag can be given as `STAGGER_…`. What a command ends with is one of [`Exit`].
//!
//! `args`, `shell`, `load`, `solve` and `write` are what the commands share; the verbs themselves live in the library.

mod args;
mod before;
mod check;
mod completion;
mod controller;
mod crds;
mod demo;
pub mod diagnostics;
mod doctor;
mod exit;
mod explain;
mod get;
mod history;
mod import;
mod interrupt;
mod lint;
mod load;
mod plan;
mod prices;
mod process;
mod progress;
mod reach;
mod reference;
mod report;
mod shell;
mod solve;
mod version;
mod watchdog;
mod webhook;
mod whatif;
mod whatif_chance;
mod whatif_flags;
mod whatif_resume;
mod write;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use exit::{Exit, Failed};
use shell::{Shell, ShellArgs};

/// Plan when GPU work starts, through Kueue, before asking for more GPUs
///
/// stagger reads Kubernetes manifests (queues, jobs and what the jobs promise) and proposes when each job starts, so
/// that deadlines are met with the GPUs there are. It explains every start, says how good the plan is, and names the
/// smallest change when something cannot be met.
#[derive(Debug, Parser)]
#[command(name = "stagger", version, max_term_width = 100, propagate_version = false, after_help = exit::HELP)]
struct Cli {
    #[command(flatten)]
    shell: ShellArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, parsed once")]
enum Verb {
    Demo(demo::DemoArgs),
    Plan(plan::PlanArgs),
    #[command(name = "whatif")]
    WhatIf(whatif::WhatIfArgs),
    Explain(explain::ExplainArgs),
    Get(get::GetArgs),
    Check(check::CheckArgs),
    Lint(lint::LintArgs),
    Import(import::ImportArgs),
    Report(report::ReportArgs),
    Prices(prices::PricesArgs),
    Controller(controller::ControllerArgs),
    Watchdog(watchdog::WatchdogArgs),
    Webhook(webhook::WebhookArgs),
    Doctor(doctor::DoctorArgs),
    Crds(crds::CrdsArgs),
    Completion(completion::CompletionArgs),
    Version(version::VersionArgs),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are fine; everything else is a usage error.
            let shown = error.print();
            let exit = if error.use_stderr() || shown.is_err() { Exit::Usage } else { Exit::Fine };
            return exit.code();
        }
    };
    let shell = Shell::new(&cli.shell);
    let outcome = catch_unwind(AssertUnwindSafe(|| run(cli.verb, &shell)));
    let exit = match outcome {
        Ok(Ok(exit)) => exit,
        Ok(Err(failed)) => {
            shell.error(&failed.message);
            if let Some(hint) = &failed.hint {
                shell.hint(hint);
            }
            failed.exit
        }
        Err(_) => {
            shell.error("internal error: this is a bug in stagger");
            shell.hint("please report it with the message above, the command and, if you may, its input");
            Exit::Bug
        }
    };
    exit.code()
}

fn run(verb: Verb, shell: &Shell) -> Result<Exit, Failed> {
    match verb {
        Verb::Demo(args) => demo::run(args, shell),
        Verb::Plan(args) => plan::run(args, shell),
        Verb::WhatIf(args) => whatif::run(&args, shell),
        Verb::Explain(args) => explain::run(args, shell),
        Verb::Get(args) => get::run(&args, shell),
        Verb::Check(args) => check::run(args, shell),
        Verb::Lint(args) => lint::run(args, shell),
        Verb::Import(args) => import::run(args, shell),
        Verb::Report(args) => report::run(args, shell),
        Verb::Prices(args) => prices::run(args, shell),
        Verb::Controller(args) => controller::run(&args, shell),
        Verb::Watchdog(args) => watchdog::run(&args),
        Verb::Webhook(args) => webhook::run(&args),
        Verb::Doctor(args) => doctor::run(&args, shell),
        Verb::Crds(args) => crds::run(&args, shell),
        Verb::Completion(args) => completion::run(args, shell),
        Verb::Version(args) => version::run(args, shell),
    }
}
