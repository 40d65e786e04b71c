//! `stagger lint`: everything that is wrong, doubtful or assumed about the input, at once.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{diagnostics, load, write};
use crate::failure::Finding;
use crate::kueue::Overrides;
use crate::plan::check;
use crate::scenario::codes;

/// Check manifests and say what is wrong with them
///
/// Prints every finding with its place in the file. Ends with 7 when one of them is an error, with 0 otherwise.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger lint manifests/
  stagger lint --explain SG012
  stagger lint manifests/ -o json | jq '.findings[] | select(.severity == \"Error\")'")]
pub(super) struct LintArgs {
    /// Files, folders, or `-` for standard input
    #[arg(value_name = "PATH", required_unless_present = "explain", value_hint = clap::ValueHint::AnyPath)]
    paths: Vec<PathBuf>,
    /// Say what a code means, with an example and what to do
    #[arg(long, value_name = "CODE", conflicts_with = "paths")]
    explain: Option<String>,
    /// What to print
    #[arg(short, long, env = "STAGGER_OUTPUT", value_name = "FORMAT", default_value = "text", help_heading = "Output")]
    output: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FindingsDoc<'a> {
    api_version: &'static str,
    kind: &'a str,
    findings: Vec<serde_json::Value>,
}

pub(super) fn run(args: LintArgs, shell: &Shell) -> Result<Exit, Failed> {
    if let Some(code) = &args.explain {
        return explain(code, shell);
    }
    let given = load::given(Overrides::default(), None);
    let findings = load::gather(&load::inputs(&args.paths)?, &given).findings;
    match args.output {
        Format::Json => write::data(&findings_json("LintResult", &findings)?, None, shell)?,
        Format::Text if findings.is_empty() => write::data("Nothing to remark.\n", None, shell)?,
        Format::Text => write::data(&shell.findings_as_data(&findings), None, shell)?,
    }
    Ok(load::refusal(&findings).unwrap_or(Exit::Fine))
}

fn explain(code: &str, shell: &Shell) -> Result<Exit, Failed> {
    let told = match codes::find(code) {
        Some(known) => codes::explain(known),
        None => check::codes::TABLE
            .iter()
            .find(|(known, ..)| known.eq_ignore_ascii_case(code))
            .map(|(known, title, meaning)| format!("{known}: {title}\n\n{meaning}\n"))
            .ok_or_else(|| {
                Failed::usage(format!("`{code}` is not a code of stagger"))
                    .hint("codes look like SG012 (input) or P0020 (plans); docs/reference/errors.md lists them")
            })?,
    };
    write::data(&told, None, shell)?;
    Ok(Exit::Fine)
}

/// Findings as a versioned JSON document.
///
/// # Errors
/// When they cannot be serialised, which does not happen.
pub(super) fn findings_json(kind: &str, findings: &[Finding]) -> Result<String, Failed> {
    let document = FindingsDoc { api_version: "stagger.dev/findings/v1", kind, findings: diagnostics::json(findings) };
    let text = serde_json::to_string_pretty(&document);
    text.map(|text| text + "\n").map_err(|error| Failed::usage(format!("failed to write JSON: {error}")))
}
