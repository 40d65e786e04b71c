//! What the long-running commands share: their clock, their log, and how they are told to end.

use std::io::IsTerminal;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

use super::exit::Failed;
use crate::clock::Clock;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Process")]
pub(super) struct ProcessArgs {
    #[command(flatten)]
    log: LogArgs,
    /// Rehearse with a clock that shows SHOWN at the instant REAL and runs SPEED times as fast: REAL,SHOWN,SPEED
    #[arg(long, env = "STAGGER_REHEARSAL", value_name = "REAL,SHOWN,SPEED", value_parser = Clock::parse, hide_short_help = true)]
    rehearsal: Option<Clock>,
}

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Process")]
pub(super) struct LogArgs {
    /// What to log: a level, or directives such as info,kube=warn
    #[arg(long, env = "STAGGER_LOG", value_name = "FILTER", default_value = "info,kube=warn")]
    log: String,
}

impl ProcessArgs {
    pub(super) fn clock(&self) -> Clock {
        self.rehearsal.unwrap_or(Clock::WALL)
    }

    /// Begins to log.
    ///
    /// # Errors
    /// A filter that cannot be read.
    pub(super) fn begin_log(&self) -> Result<(), Failed> {
        self.log.begin()
    }
}

impl LogArgs {
    /// Begins to log: lines for a person, JSON for everybody else.
    ///
    /// # Errors
    /// A filter that cannot be read.
    pub(super) fn begin(&self) -> Result<(), Failed> {
        let filter = EnvFilter::try_new(&self.log)
            .map_err(|error| Failed::usage(format!("`{}` is not a filter of logs: {error}", self.log)))?;
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        let begun = if std::io::stderr().is_terminal() { lines.try_init() } else { lines.json().try_init() };
        // A second log in one process is a test's; the first one stays.
        drop(begun);
        Ok(())
    }
}

/// A runtime for everything that waits.
///
/// # Errors
/// When the operating system gives no threads.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Failed::usage(format!("failed to start the runtime: {error}")))
}

/// Becomes true with SIGTERM or Ctrl-C.
///
/// # Errors
/// When signals cannot be listened for.
pub(super) fn ending() -> Result<watch::Receiver<bool>, Failed> {
    let (tell, told) = watch::channel(false);
    let mut term = signal(SignalKind::terminate())
        .map_err(|error| Failed::usage(format!("failed to listen for signals: {error}")))?;
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        tell.send_replace(true);
        // Whoever asks later is told too.
        tell.closed().await;
    });
    Ok(told)
}
