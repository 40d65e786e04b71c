//! `stagger whatif --history`: a log replayed as it was, as Kueue alone would have run it, and staggered.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::exit::{Exit, Failed};
use super::import::{open, refuse};
use super::shell::Shell;
use super::write;
use crate::calendar;
use crate::names::FlavorName;
use crate::plan::limits;
use crate::replay::document::{self, Provenance};
use crate::replay::{Asked, Change, History, Rules, replay};
use crate::report::replay_html::{self, Page};
use crate::report::{replay_csv, replay_text};
use crate::scenario::import::{self, Import, PoolShare, Request, Settings, openb, swf};
use crate::units::Seconds;

#[derive(Debug, Args)]
#[command(next_help_heading = "History")]
pub(super) struct HistoryArgs {
    /// Replay this log of the past instead of planning manifests
    #[arg(long, env = "STAGGER_HISTORY", value_name = "FILE", requires = "format", conflicts_with_all = ["paths", "add", "remove", "outage", "price", "grow", "own", "report"], value_hint = clap::ValueHint::FilePath)]
    pub(super) history: Option<PathBuf>,
    /// What the log is written in
    #[arg(long, env = "STAGGER_HISTORY_FORMAT", value_name = "FORMAT", requires = "history")]
    format: Option<LogFormat>,
    /// The pool to replay on, such as a100=128,h100=64 [default: the log's own, where it has one]
    #[arg(long, env = "STAGGER_HISTORY_CAPACITY", value_name = "FLAVOR=N,...", value_parser = capacity, requires = "history")]
    capacity: Option<Capacity>,
    /// Only the first so many rows of the log
    #[arg(long, env = "STAGGER_HISTORY_ROWS", value_name = "N", requires = "history")]
    rows: Option<usize>,
    /// Replay with so many GPUs more, too; may be given several times
    #[arg(long, env = "STAGGER_HISTORY_PLUS", value_name = "[FLAVOR=]K", value_parser = change, requires = "history")]
    plus: Vec<Change>,
    /// Replay with so many GPUs fewer, too; may be given several times
    #[arg(long, env = "STAGGER_HISTORY_MINUS", value_name = "[FLAVOR=]K", value_parser = change, requires = "history")]
    minus: Vec<Change>,
    /// Plan again at most this often [default: 1m]
    #[arg(long, env = "STAGGER_HISTORY_DEBOUNCE", value_name = "DURATION", value_parser = calendar::parse_duration, requires = "history")]
    debounce: Option<Seconds>,
    /// Processors of an SWF log that stand for one GPU; without it processors stay CPU cores
    #[arg(long, env = "STAGGER_HISTORY_PROCS_PER_GPU", value_name = "N", value_parser = clap::value_parser!(i64).range(1..), requires = "history")]
    procs_per_gpu: Option<i64>,
    /// The node list of an openb log; without it --capacity says what there was
    #[arg(long, env = "STAGGER_HISTORY_NODES", value_name = "FILE", value_hint = clap::ValueHint::FilePath, requires = "history")]
    nodes: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Philly,
    Swf,
    Sacct,
    Workloads,
    Openb,
}

/// One value of `--capacity`; a bare list would be taken for a repeated flag.
#[derive(Debug, Clone)]
struct Capacity(Vec<PoolShare>);

fn capacity(text: &str) -> Result<Capacity, String> {
    import::parse_pool(text).map(Capacity)
}

/// `4` or `a100=4`.
fn change(text: &str) -> Result<Change, String> {
    let wrong = || format!("`{text}` is not a number of GPUs such as 4 or a100=4");
    let (flavor, number) = match text.split_once('=') {
        Some((flavor, number)) => (Some(FlavorName::from(flavor.trim())), number),
        None => (None, text),
    };
    let quantity: i64 = number.trim().parse().map_err(|_| wrong())?;
    if !(1..=QUANTITY_MAX).contains(&quantity) {
        return Err(wrong());
    }
    Ok(Change { flavor, quantity })
}

/// Beyond any cluster, and far from overflow.
const QUANTITY_MAX: i64 = 1_000_000_000;
/// Pools beside the one there is: each plays the whole log twice.
const CHANGES_MAX: usize = 8;

/// What is printed, and how the search is bounded: flags of the command that `--history` belongs to.
pub(super) struct Manner<'a> {
    pub(super) output: Output,
    pub(super) out: Option<&'a std::path::Path>,
    pub(super) steps: Option<u64>,
    pub(super) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Output {
    Table,
    Json,
    Csv,
    Html,
}

/// Replays the log of `args.history`.
///
/// # Errors
/// A file that cannot be read ends with 1; a log that is refused, with 7.
pub(super) fn run(args: &HistoryArgs, manner: &Manner<'_>, shell: &Shell) -> Result<Exit, Failed> {
    let import = read(args, shell)?;
    if let Some(exceeded) = limits::exceeded(&import.snapshot) {
        let hint = Some("take a part of the log with --rows".to_owned());
        return Err(Failed { exit: Exit::Refused, message: format!("the log is refused: {exceeded}"), hint });
    }
    let asked = asked(args, manner)?;
    let provenance = provenance(&import);
    shell.findings(&import.findings);
    // An import takes runtimes as known in advance, for planning; a replay learns them.
    for sentence in import.report.statements.iter().filter(|sentence| !sentence.contains("known in advance")) {
        shell.talk(&format!("assumed: {sentence}"));
    }
    let history = History { snapshot: import.snapshot, past: import.past };
    let replayed = replay(&history, &asked).map_err(|error| {
        let hint = "name a flavor of the pool, and fewer GPUs than it has".to_owned();
        Failed { exit: Exit::Usage, message: error, hint: Some(hint) }
    })?;
    match manner.output {
        Output::Table => write::text(&replay_text::render(&history, &replayed, &provenance), manner.out, shell)?,
        Output::Json => write::data(&document::to_json(&history, &replayed, &provenance), manner.out, shell)?,
        Output::Csv => write::data(&replay_csv::render(&replayed), manner.out, shell)?,
        Output::Html => {
            let page = Page { history: &history, replay: &replayed, provenance: &provenance };
            write::data(&replay_html::render(&page), manner.out, shell)?;
        }
    }
    if let Some(path) = manner.out {
        shell.talk(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Fine)
}

fn read(args: &HistoryArgs, shell: &Shell) -> Result<Import, Failed> {
    let (Some(path), Some(format)) = (&args.history, args.format) else {
        return Err(Failed::usage("--history needs a FILE and its --format"));
    };
    let settings = Settings {
        pool: args.capacity.clone().map(|capacity| capacity.0).unwrap_or_default(),
        rows: args.rows,
        ..Settings::default()
    };
    let mut paths: Vec<&PathBuf> = vec![path];
    let format = match format {
        LogFormat::Philly => import::Format::Philly,
        LogFormat::Swf => {
            let choices = swf::Choices { procs_per_gpu: args.procs_per_gpu, runtime: swf::RuntimeFrom::Recorded };
            import::Format::Swf(choices)
        }
        LogFormat::Sacct => import::Format::Sacct,
        LogFormat::Workloads => import::Format::Workloads,
        LogFormat::Openb => {
            paths.splice(0..0, &args.nodes);
            import::Format::Openb(openb::Choices::default())
        }
    };
    let files = paths.into_iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    import::run(&Request { format, settings }, files).or_else(|findings| refuse(&findings, shell))
}

fn asked(args: &HistoryArgs, manner: &Manner<'_>) -> Result<Asked, Failed> {
    let fewer = args.minus.iter().map(|change| Change { quantity: -change.quantity, ..change.clone() });
    let changes: Vec<Change> = fewer.chain(args.plus.iter().cloned()).collect();
    if changes.len() > CHANGES_MAX {
        return Err(Failed::usage(format!("{} pools are asked for, more than {CHANGES_MAX}", changes.len())));
    }
    let usual = Rules::default();
    let debounce = args.debounce.unwrap_or(usual.debounce);
    if debounce <= Seconds::ZERO {
        return Err(Failed::usage("--debounce must be at least one second"));
    }
    let rules = Rules { debounce, steps: manner.steps.unwrap_or(usual.steps), seed: manner.seed.unwrap_or(usual.seed) };
    Ok(Asked { changes, rules })
}

fn provenance(import: &Import) -> Provenance {
    let report = &import.report;
    let dropped: BTreeMap<String, u64> =
        report.rows_dropped.iter().map(|(reason, rows)| (format!("{reason:?}"), *rows)).collect();
    Provenance {
        file: report.file.clone(),
        format: report.format.to_owned(),
        digest: report.digest.clone(),
        rows_read: report.rows_read,
        rows_kept: report.rows_kept,
        rows_dropped: dropped,
        censored: report.censored,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
