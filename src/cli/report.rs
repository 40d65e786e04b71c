//! `stagger report`: what verified outcomes have cost, from files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use sha2::{Digest, Sha256};

use super::args::InputArgs;
use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{load, write};
use crate::api::manifest::Manifest;
use crate::calendar;
use crate::failure::{Finding, Severity, SourceFile};
use crate::ledger::price::{self, price};
use crate::ledger::run::Window;
use crate::names::WorkloadKey;
use crate::outcome::read::{self as outcomes, Known, Read, Subject};
use crate::outcome::settle::{Case, settle};
use crate::report::costs::html::{self, Page};
use crate::report::costs::{self, Dimension, Intake, Report, Request};
use crate::scenario::books::{self, Books};
use crate::scenario::runs::{self, ReadRuns};
use crate::scenario::{self, Limits};
use crate::units::Timestamp;

/// Say what verified outcomes have cost
///
/// Cost per verified outcome is everything that was spent, failed and repeated attempts included, over the outcomes that
/// pass their quality gate and came in time. PATH holds rate cards, gates, promises and queues: the files `plan` reads.
/// docs/accounting.md has every formula.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  # Finished Workloads in the manifests are the runs
  kubectl get workloads,jobs,clusterqueues,localqueues -A -o json | stagger report books/ -

  # Runs and outcomes from files, by team and class
  stagger report books/ --runs runs.csv --outcomes outcomes.jsonl --by tenant,class

  # An evaluation's own file as the evidence for one workload
  stagger report books/ --runs runs.jsonl --outcomes evals/eval-1=results.json -o json")]
pub(super) struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,
    /// Runs as JSON lines or CSV; may be repeated [default: the finished Workloads and Jobs in PATH]
    #[arg(long, env = "STAGGER_RUNS", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    runs: Vec<PathBuf>,
    /// Outcomes: CloudEvents, results of lm-evaluation-harness, or an Inspect log; may be repeated. NAMESPACE/NAME=FILE
    /// says which workload an evaluation is about
    #[arg(long, env = "STAGGER_OUTCOMES", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    outcomes: Vec<String>,
    /// Count from this instant on (RFC 3339) [default: the first start]
    #[arg(long, env = "STAGGER_FROM", value_name = "INSTANT", value_parser = calendar::parse_instant, help_heading = "Window")]
    from: Option<Timestamp>,
    /// Count until just before this instant (RFC 3339) [default: the last end]
    #[arg(long, env = "STAGGER_TO", value_name = "INSTANT", value_parser = calendar::parse_instant, help_heading = "Window")]
    to: Option<Timestamp>,
    /// Break down by these: tenant, class, flavor, queue
    #[arg(long, env = "STAGGER_BY", value_name = "LIST", default_value = "tenant", value_delimiter = ',', value_parser = Dimension::parse, help_heading = "Output")]
    by: Vec<Dimension>,
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
    /// Write there, all at once, instead of to standard output
    #[arg(long, env = "STAGGER_OUT", value_name = "FILE", value_hint = clap::ValueHint::FilePath, help_heading = "Output")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Table,
    Json,
    Csv,
    Html,
}

pub(super) fn run(args: ReportArgs, shell: &Shell) -> Result<Exit, Failed> {
    // 1. What was given.
    let reading = scenario::read(&load::inputs(&args.input.paths)?, &Limits::default());
    let mut digest = Sha256::new();
    for manifest in &reading.manifests {
        digest.update(manifest.value.to_string());
    }
    let mut read = read_runs(&args.runs, &reading.manifests, &mut digest)?;
    let events = read_outcomes(&args.outcomes, &mut digest)?;
    let window = window(&args, &read)?;
    digest.update(format!("{window:?}{:?}", args.by));
    let books = books::open(&reading.manifests, &mut read.runs, window);
    let lists = [&reading.findings, &read.findings, &events.findings, &books.findings];
    accept(&lists.into_iter().flatten().cloned().collect::<Vec<_>>(), shell)?;
    // 2. What it comes to.
    let intake = intake(&read, &events);
    let chosen = args.from.is_some() || args.to.is_some();
    let report = report(&read, &events, &books, window, chosen, &args.by, shell)?;
    // 3. The answer.
    let out = args.out.as_deref();
    let width = (shell.data_is_terminal && out.is_none()).then_some(shell.look.width);
    match args.output {
        Format::Table => write::text(&costs::text::render(&report, width), out, shell)?,
        Format::Json => write::data(&costs::document::to_json(&report, &hexadecimal(digest), intake), out, shell)?,
        Format::Csv => write::data(&costs::csv::render(&report), out, shell)?,
        Format::Html => {
            let page = Page {
                report: &report,
                input_digest: &hexadecimal(digest),
                intake,
                version: env!("CARGO_PKG_VERSION"),
            };
            write::data(&html::render(&page), out, shell)?;
        }
    }
    shell.talk(&intake.sentence());
    Ok(Exit::Fine)
}

fn report(
    read: &ReadRuns,
    events: &Read,
    books: &Books,
    window: Window,
    window_is_chosen: bool,
    by: &[Dimension],
    shell: &Shell,
) -> Result<Report, Failed> {
    let input = price::Input {
        runs: &read.runs,
        cards: &books.cards,
        guarantees: &books.guarantees,
        capacity: books.capacity.as_deref(),
        credits: &[],
        window,
    };
    let priced = match price(&input) {
        Ok(priced) => priced,
        Err(findings) => return Err(refused(&findings, shell)),
    };
    shell.findings(&priced.findings);
    // A report on a window that somebody chose is asked at its end; otherwise nothing is overdue yet.
    let as_of = window_is_chosen.then_some(window.to);
    let case = Case { events: &events.events, gates: &books.gates, runs: &read.runs, promises: &books.promises, as_of };
    let outcomes = settle(&case);
    let (runs, promises) = (&read.runs, &books.promises);
    Ok(costs::summarize(&Request { runs, priced: &priced, outcomes: &outcomes, promises, by, window_is_chosen }))
}

fn read_runs(files: &[PathBuf], manifests: &[Manifest], digest: &mut Sha256) -> Result<ReadRuns, Failed> {
    let mut read = ReadRuns::default();
    if files.is_empty() {
        runs::of_manifests(manifests, &mut read);
    }
    for path in files {
        runs::read(&open(path, digest)?, &mut read);
    }
    Ok(read)
}

fn read_outcomes(files: &[String], digest: &mut Sha256) -> Result<Read, Failed> {
    let (mut read, mut known) = (Read::default(), Known::default());
    for argument in files {
        let (subject, path) = subject(argument);
        outcomes::read(&open(Path::new(path), digest)?, &subject, &mut known, &mut read);
    }
    Ok(read)
}

/// `evals/eval-1=results.json`, unless that is the name of a file.
fn subject(argument: &str) -> (Subject, &str) {
    let named = argument.split_once('=').filter(|(workload, _)| {
        let parts: Vec<&str> = workload.split('/').collect();
        parts.len() == 2 && parts.iter().all(|part| !part.is_empty()) && !Path::new(argument).exists()
    });
    match named {
        Some((workload, path)) => (Subject { workload: Some(WorkloadKey::from(workload)), ..Subject::default() }, path),
        None => (Subject::default(), argument),
    }
}

/// A whole file as text, whose bytes enter the digest.
pub(super) fn open(path: &Path, digest: &mut Sha256) -> Result<Arc<SourceFile>, Failed> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| Failed::file("read", &shown, error);
    let known = std::fs::metadata(path).map_err(failed)?;
    // The readers say so too, but only once all of it is in memory.
    if known.len() > u64::try_from(outcomes::FILE_BYTES_MAX).unwrap_or(u64::MAX) {
        let message = format!("it has more than the {} MiB that are read", outcomes::FILE_BYTES_MAX >> 20);
        return Err(Failed::file("read", &shown, message));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    digest.update(&bytes);
    let text = String::from_utf8(bytes).map_err(|error| Failed::file("read", &shown, error.utf8_error()))?;
    Ok(Arc::new(SourceFile { path: shown, text }))
}

fn window(args: &ReportArgs, read: &ReadRuns) -> Result<Window, Failed> {
    let around = Window::around(&read.runs);
    let from = args.from.or(around.map(|window| window.from));
    let to = args.to.or(around.map(|window| window.to));
    match (from, to) {
        (Some(from), Some(to)) if from <= to => Ok(Window { from, to }),
        (Some(_), Some(_)) => Err(Failed::usage("the window ends before it begins")),
        _ if read.findings.iter().any(|finding| finding.severity == Severity::Error) => {
            Ok(Window { from: Timestamp(0), to: Timestamp(0) })
        }
        _ => Err(Failed::usage("there are no runs to report on")
            .hint("give --runs FILE, or manifests of finished Workloads and Jobs (kubectl get workloads -A -o json)")),
    }
}

fn intake(read: &ReadRuns, events: &Read) -> Intake {
    let count = |length: usize| u64::try_from(length).unwrap_or(u64::MAX);
    Intake {
        runs: count(read.runs.len()),
        duplicate_runs: read.duplicates,
        conflicting_runs: read.conflicts,
        events: count(events.events.len()),
        duplicate_events: events.duplicates,
        conflicting_events: events.conflicts,
        refused_events: events.refused,
        ignored_events: events.ignored,
    }
}

/// Tells all findings, and refuses when one is an error.
fn accept(findings: &[Finding], shell: &Shell) -> Result<(), Failed> {
    if load::refusal(findings).is_some() {
        return Err(refused(findings, shell));
    }
    shell.findings(findings);
    Ok(())
}

pub(super) fn refused(findings: &[Finding], shell: &Shell) -> Failed {
    shell.findings(findings);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
    let what = if errors == 1 { "one error".to_owned() } else { format!("{errors} errors") };
    Failed {
        exit: load::refusal(findings).unwrap_or(Exit::Refused),
        message: format!("the input is refused: {what}; nothing was written"),
        hint: Some("`stagger lint --explain CODE` says what a code means".to_owned()),
    }
}

fn hexadecimal(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
