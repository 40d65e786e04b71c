//! `stagger import`: a trace from elsewhere as manifests that plan to the same snapshot, with an account of every row.

use std::path::{Path, PathBuf};

use chrono_tz::Tz;
use clap::{Args, Subcommand, ValueEnum};

use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::write;
use crate::calendar;
use crate::failure::Finding;
use crate::scenario::import::{
    self, BYTES_MAX, Import, PoolShare, Request, Settings, TraceFile, document, manifests, openb, swf, text,
};
use crate::units::{Seconds, Timestamp};

/// Turn a trace into manifests
///
/// Prints the manifests, to be planned with `stagger plan -`, and says on standard error what was kept, what was left
/// out and why, and what had to be assumed.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  stagger import philly trace.csv --gpus 128 | stagger plan -")]
pub(super) struct ImportArgs {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Format {
    /// Philly traces with deadlines, as Chronus publishes them (CSV)
    Philly {
        #[command(flatten)]
        shared: SharedArgs,
    },
    /// The Standard Workload Format of the Parallel Workloads Archive
    Swf {
        #[command(flatten)]
        shared: SharedArgs,
        /// Processors that stand for one GPU; without it processors stay CPU cores
        #[arg(long, env = "STAGGER_PROCS_PER_GPU", value_name = "N", value_parser = clap::value_parser!(i64).range(1..))]
        procs_per_gpu: Option<i64>,
        /// What is taken as a job's expected runtime
        #[arg(long, env = "STAGGER_RUNTIME", value_name = "FROM", default_value = "recorded")]
        runtime: RuntimeArg,
    },
    /// Slurm's accounting, as `sacct --parsable2` prints it
    Sacct {
        #[command(flatten)]
        shared: SharedArgs,
    },
    /// Kueue's Workloads, as `kubectl get workloads -A -o json` writes them
    Workloads {
        #[command(flatten)]
        shared: SharedArgs,
    },
    /// Alibaba's GPU trace of 2023: a pod list and its node list (CSV)
    Openb {
        #[command(flatten)]
        shared: SharedArgs,
        /// The node list, whose GPUs are the capacity; without it --pool or --gpus says what there is
        #[arg(long, env = "STAGGER_NODES", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        nodes: Option<PathBuf>,
        /// Take this share of the nodes of each model
        #[arg(long, env = "STAGGER_SCALE", value_name = "PERCENT", default_value = "100", value_parser = clap::value_parser!(u32).range(1..=100))]
        scale: u32,
        /// What becomes of pods that were still running when the trace ended
        #[arg(long, env = "STAGGER_CENSORED", value_name = "HOW", default_value = "run-to-horizon")]
        censored: CensoredArg,
        /// What becomes of latency-sensitive pods
        #[arg(long, env = "STAGGER_SERVING", value_name = "HOW", default_value = "keep")]
        serving: ServingArg,
    },
}

#[derive(Debug, Args)]
struct SharedArgs {
    /// The trace
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// The capacity to replay on, such as a100=128,h100=64 [default: the trace's own]
    #[arg(long, env = "STAGGER_POOL", value_name = "FLAVOR=N,...", value_parser = pool, conflicts_with = "gpus")]
    pool: Option<Pool>,
    /// The same, of one flavor called `gpu`
    #[arg(long, env = "STAGGER_GPUS", value_name = "N")]
    gpus: Option<i64>,
    /// Only the first so many rows
    #[arg(long, env = "STAGGER_ROWS", value_name = "N")]
    rows: Option<usize>,
    /// The instant of the trace's second 0 (RFC 3339) [default: the trace's own, else 2026-01-05T00:00:00Z]
    #[arg(long, env = "STAGGER_START", value_name = "INSTANT", value_parser = calendar::parse_instant)]
    start: Option<Timestamp>,
    /// IANA zone in which times are shown [default: the trace's own, else UTC]
    #[arg(long, env = "STAGGER_TIME_ZONE", value_name = "ZONE", value_parser = calendar::zone)]
    time_zone: Option<Tz>,
    /// How far the plan looks [default: a quarter past the last end]
    #[arg(long, env = "STAGGER_HORIZON", value_name = "DURATION", value_parser = calendar::parse_duration)]
    horizon: Option<Seconds>,
    /// What to print: the manifests, or the account of the import
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "yaml")]
    output: Output,
    /// Write there, all at once, instead of to standard output
    #[arg(long, env = "STAGGER_OUT", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    out: Option<PathBuf>,
}

/// One value of `--pool`; a bare list would be taken for a repeated flag.
#[derive(Debug, Clone)]
struct Pool(Vec<PoolShare>);

fn pool(text: &str) -> Result<Pool, String> {
    import::parse_pool(text).map(Pool)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// The manifests
    Yaml,
    /// The account of the import, as a document
    Json,
    /// The account of the import, for people
    Text,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RuntimeArg {
    /// The run time that was measured
    Recorded,
    /// The time the user requested: a kill limit, usually far above what is needed
    Requested,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum CensoredArg {
    /// They hold their GPUs to the end of the horizon
    RunToHorizon,
    /// They end with the trace
    EndWithTrace,
    /// They are left out
    Drop,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ServingArg {
    Keep,
    Drop,
}

pub(super) fn run(args: ImportArgs, shell: &Shell) -> Result<Exit, Failed> {
    let (format, files, shared) = args.format.parts();
    let request = Request { format, settings: settings(&shared)? };
    let files = files.iter().map(|path| open(path)).collect::<Result<Vec<_>, _>>()?;
    let import = import::run(&request, files).or_else(|findings| refuse(&findings, shell))?;
    shell.findings(&import.findings);
    let text = match shared.output {
        Output::Yaml => manifests::yaml(&import),
        Output::Json => document::to_json(&import),
        Output::Text => text::account(&import),
    };
    write::data(&text, shared.out.as_deref(), shell)?;
    if shared.output != Output::Text {
        for line in text::account(&import).lines() {
            shell.talk(line);
        }
    }
    Ok(Exit::Fine)
}

impl Format {
    /// The library's request, the files in its order, and what all formats share.
    fn parts(self) -> (import::Format, Vec<PathBuf>, SharedArgs) {
        match self {
            Self::Philly { shared } => (import::Format::Philly, vec![shared.file.clone()], shared),
            Self::Sacct { shared } => (import::Format::Sacct, vec![shared.file.clone()], shared),
            Self::Workloads { shared } => (import::Format::Workloads, vec![shared.file.clone()], shared),
            Self::Swf { shared, procs_per_gpu, runtime } => {
                let runtime = match runtime {
                    RuntimeArg::Recorded => swf::RuntimeFrom::Recorded,
                    RuntimeArg::Requested => swf::RuntimeFrom::Requested,
                };
                let choices = swf::Choices { procs_per_gpu, runtime };
                (import::Format::Swf(choices), vec![shared.file.clone()], shared)
            }
            Self::Openb { shared, nodes, scale, censored, serving } => {
                let choices =
                    openb::Choices { scale_percent: scale, censored: censored.into(), serving: serving.into() };
                let files = nodes.into_iter().chain([shared.file.clone()]).collect();
                (import::Format::Openb(choices), files, shared)
            }
        }
    }
}

impl From<CensoredArg> for openb::Censored {
    fn from(censored: CensoredArg) -> Self {
        match censored {
            CensoredArg::RunToHorizon => Self::RunToHorizon,
            CensoredArg::EndWithTrace => Self::EndWithTrace,
            CensoredArg::Drop => Self::Drop,
        }
    }
}

impl From<ServingArg> for openb::Serving {
    fn from(serving: ServingArg) -> Self {
        match serving {
            ServingArg::Keep => Self::Keep,
            ServingArg::Drop => Self::Drop,
        }
    }
}

fn settings(shared: &SharedArgs) -> Result<Settings, Failed> {
    let pool = match (&shared.pool, shared.gpus) {
        (Some(pool), _) => pool.0.clone(),
        (None, Some(gpus)) => import::pool_of(gpus).map_err(|error| Failed::usage(format!("--gpus: {error}")))?,
        (None, None) => Vec::new(),
    };
    Ok(Settings {
        pool,
        rows: shared.rows,
        start: shared.start,
        time_zone: shared.time_zone.map(|zone| zone.name().to_owned()),
        horizon: shared.horizon,
    })
}

pub(super) fn open(path: &Path) -> Result<TraceFile, Failed> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| Failed::file("read", &shown, error);
    let known = std::fs::metadata(path).map_err(failed)?;
    // The importer says so too, but only once all of it is in memory.
    if known.len() > u64::try_from(BYTES_MAX).unwrap_or(u64::MAX) {
        return Err(Failed::file("read", &shown, format!("it has more than the {BYTES_MAX} bytes that are read")));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    Ok(TraceFile { path: shown, bytes })
}

pub(super) fn refuse(findings: &[Finding], shell: &Shell) -> Result<Import, Failed> {
    shell.findings(findings);
    let message = "the trace is refused; nothing was written".to_owned();
    Err(Failed { exit: Exit::Refused, message, hint: None })
}
