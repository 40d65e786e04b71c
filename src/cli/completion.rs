//! `stagger completion`: what a shell needs to complete our flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell as Dialect;

use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{Cli, write};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  source <(stagger completion bash)")]
pub(super) struct CompletionArgs {
    /// The shell
    #[arg(value_name = "SHELL")]
    dialect: Dialect,
}

pub(super) fn run(args: CompletionArgs, shell: &Shell) -> Result<Exit, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(args.dialect, &mut Cli::command(), "stagger", &mut script);
    write::data(&String::from_utf8_lossy(&script), None, shell)?;
    Ok(Exit::Fine)
}
