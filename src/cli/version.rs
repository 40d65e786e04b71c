//! `stagger version`: the program's and its documents' versions.

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::write;
use crate::api;
use crate::plan::document;

/// Print versions
#[derive(Debug, Args)]
pub(super) struct VersionArgs {
    /// What to print
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    version: &'static str,
    api: String,
    plan_document: &'static str,
    solver: &'static str,
}

pub(super) fn run(args: VersionArgs, shell: &Shell) -> Result<Exit, Failed> {
    let versions = Versions {
        version: env!("CARGO_PKG_VERSION"),
        api: format!("{}/{}", api::GROUP, api::VERSION),
        plan_document: document::API_VERSION,
        solver: if cfg!(feature = "solver-highs") { "HiGHS" } else { "microlp" },
    };
    let text = match args.output {
        Format::Text => format!("stagger {} (solver {})\n", versions.version, versions.solver),
        Format::Json => {
            let json = serde_json::to_string_pretty(&versions);
            json.map_err(|error| Failed::usage(format!("failed to write JSON: {error}")))? + "\n"
        }
    };
    write::data(&text, None, shell)?;
    Ok(Exit::Fine)
}
