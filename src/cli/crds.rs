//! `stagger crds`: our kinds as CustomResourceDefinitions, to be applied.

use clap::Args;

use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::write;
use crate::api::crd;

/// Print the CustomResourceDefinitions of stagger's kinds
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  stagger crds | kubectl apply --server-side -f -
  stagger crds GpuTenant")]
pub(super) struct CrdsArgs {
    /// Only these kinds, such as WorkloadSLO
    #[arg(value_name = "KIND", value_parser = known)]
    kinds: Vec<String>,
}

fn known(word: &str) -> Result<String, String> {
    let found = crd::KINDS.iter().find(|kind| kind.answers_to(word));
    found.map(|kind| kind.kind.to_owned()).ok_or_else(|| {
        let kinds: Vec<&str> = crd::KINDS.iter().map(|kind| kind.kind).collect();
        format!("there is no kind `{word}`; there are {}", kinds.join(", "))
    })
}

pub(super) fn run(args: &CrdsArgs, shell: &Shell) -> Result<Exit, Failed> {
    let chosen =
        crd::KINDS.iter().filter(|kind| args.kinds.is_empty() || args.kinds.iter().any(|one| one == kind.kind));
    let documents = chosen.map(|kind| write::yaml(&crd::manifest(kind))).collect::<Result<Vec<_>, _>>()?;
    write::data(&documents.join("---\n"), None, shell)?;
    Ok(Exit::Fine)
}
