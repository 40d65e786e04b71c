//! From paths to a snapshot, or to a refusal that names everything wrong at once.

use std::io::Read;
use std::path::PathBuf;

use super::args::SourceArgs;
use super::exit::{Exit, Failed};
use super::shell::Shell;
use super::{process, reach};
use crate::api::manifest::Manifest;
use crate::clock;
use crate::controller::survey::survey;
use crate::failure::{Finding, Severity};
use crate::kueue::{self, Assembled, Given, Overrides};
use crate::plan::document;
use crate::plan::proposal::Plan;
use crate::scenario::{self, Input, Limits, codes};

/// What was read, fit to plan from.
pub(super) struct Loaded {
    pub(super) assembled: Assembled,
    /// What was noticed on the way, none of it an error.
    pub(super) findings: Vec<Finding>,
    /// What the input calls itself.
    pub(super) title: String,
}

/// Everything found in the input, errors included.
pub(super) struct Gathered {
    pub(super) assembled: Assembled,
    pub(super) findings: Vec<Finding>,
    title: String,
}

/// The clock and the flags.
pub(super) fn given(overrides: Overrides, previous: Option<&Plan>) -> Given {
    let mut given = Given::at(clock::now());
    given.overrides = overrides;
    given.previous = previous.map_or_else(Vec::new, Plan::previous_releases);
    given
}

/// Reads files and puts them together.
///
/// # Errors
/// When something in them is an error: all findings have been told by then.
pub(super) fn load(paths: &[PathBuf], given: &Given, shell: &Shell) -> Result<Loaded, Failed> {
    let gathered = gather(&inputs(paths)?, given);
    shell.findings(&gathered.findings);
    accept(gathered)
}

/// Reads files, or the cluster where no file is named, and puts everything together.
///
/// On a cluster an error of one object stops nobody else's plan: it is told, and planned without.
///
/// # Errors
/// As [`load`]; ends with 8 where the cluster cannot be read.
pub(super) fn source(args: &SourceArgs, given: &Given, shell: &Shell) -> Result<Loaded, Failed> {
    if !args.paths.is_empty() {
        return load(&args.paths, given, shell);
    }
    let (namespace, name) = &args.kueue_config;
    let (survey, title) = process::runtime()?.block_on(async {
        let cluster = reach::connect(&args.reach).await?;
        let survey = survey(&cluster, (namespace, name), read_yaml).await.map_err(|error| reach::refused(&error))?;
        Ok((survey, cluster.server))
    })?;
    for remark in &survey.remarks {
        shell.talk(remark);
    }
    let assembled = kueue::assemble(&survey.manifests, given);
    let findings = assembled.findings.clone();
    shell.findings(&findings);
    Ok(Loaded { assembled, findings, title })
}

/// The documents of a YAML text, by the reader of files.
pub(super) fn read_yaml(text: &str) -> Vec<Manifest> {
    let input = Input::Bytes { name: "kueue-manager-config".to_owned(), bytes: text.as_bytes().to_vec() };
    scenario::read(&[input], &Limits::default()).manifests
}

/// Refuses when one of the findings is an error.
///
/// # Errors
/// As [`load`].
pub(super) fn accept(gathered: Gathered) -> Result<Loaded, Failed> {
    let Gathered { assembled, findings, title } = gathered;
    match refusal(&findings) {
        None => Ok(Loaded { assembled, findings, title }),
        Some(exit) => {
            let errors = findings.iter().filter(|finding| finding.severity == Severity::Error).count();
            let what = if errors == 1 { "one error".to_owned() } else { format!("{errors} errors") };
            let message = format!("the input is refused: {what}; nothing was written");
            let hint = "`stagger lint --explain CODE` says what a code means";
            Err(Failed { exit, message, hint: Some(hint.to_owned()) })
        }
    }
}

/// How refused input ends: 1 when it could not even be read.
pub(super) fn refusal(findings: &[Finding]) -> Option<Exit> {
    let mut errors = findings.iter().filter(|finding| finding.severity == Severity::Error).peekable();
    errors.peek()?;
    Some(if errors.all(|finding| finding.code == codes::UNREADABLE) { Exit::Usage } else { Exit::Refused })
}

pub(super) fn gather(inputs: &[Input], given: &Given) -> Gathered {
    let reading = scenario::read(inputs, &Limits::default());
    let title = title(&reading.manifests, inputs);
    let mut findings = reading.findings;
    let assembled = kueue::assemble(&reading.manifests, given);
    findings.extend(assembled.findings.iter().cloned());
    Gathered { assembled, findings, title }
}

fn title(manifests: &[Manifest], inputs: &[Input]) -> String {
    let scenario = manifests.iter().find(|manifest| manifest.kind == "Scenario").map(|manifest| manifest.name.clone());
    let file = || match inputs.first() {
        Some(Input::Path(path)) => path.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        _ => None,
    };
    scenario.or_else(file).filter(|name| !name.is_empty()).unwrap_or_else(|| "plan".to_owned())
}

/// Paths as inputs; `-` is standard input, at most once.
///
/// # Errors
/// When standard input is asked for twice, or cannot be read.
pub(super) fn inputs(paths: &[PathBuf]) -> Result<Vec<Input>, Failed> {
    let mut inputs = Vec::new();
    let mut piped = false;
    for path in paths {
        if path.as_os_str() != "-" {
            inputs.push(Input::Path(path.clone()));
        } else if std::mem::replace(&mut piped, true) {
            return Err(Failed::usage("standard input (`-`) can be read only once"));
        } else {
            inputs.push(Input::Bytes { name: "<stdin>".to_owned(), bytes: stdin(Limits::default().file_bytes)? });
        }
    }
    Ok(inputs)
}

/// Standard input up to one byte more than `limit`, so that the reader can tell that it is too long.
fn stdin(limit: usize) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let outcome = std::io::stdin().lock().take(limit).read_to_end(&mut bytes);
    outcome.map_err(|error| Failed::file("read", "standard input", error))?;
    Ok(bytes)
}

/// Reads a plan document from a file, or from standard input for `-`.
///
/// # Errors
/// A file that cannot be read ends with 1; a document that is no plan, with 7.
pub(super) fn plan_document(path: &std::path::Path) -> Result<Plan, Failed> {
    let shown = path.display().to_string();
    let text = if path.as_os_str() == "-" {
        let bytes = stdin(Limits::default().file_bytes)?;
        String::from_utf8(bytes).map_err(|error| Failed::file("read", "standard input", error))?
    } else {
        std::fs::read_to_string(path).map_err(|error| Failed::file("read", &shown, error))?
    };
    document::from_json(&text).map_err(|error| {
        let message = format!("failed to read {shown} as a plan: {error}");
        let hint = "a plan document is what `stagger plan PATH -o json` writes";
        Failed { exit: Exit::Refused, message, hint: Some(hint.to_owned()) }
    })
}
