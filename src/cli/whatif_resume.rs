//! `--resume FILE`: what a comparison has planned before it was stopped, read back and written out.
//!
//! The file answers one question of one version with one seed; for any other it is refused, never used in part. Whether a
//! single plan in it is sound is not taken on trust (`plan::whatif::journal`).

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::exit::{Exit, Failed};
use super::interrupt;
use super::shell::Shell;
use super::write;
use crate::clock::Stopwatch;
use crate::plan::proposal::{Plan, StoppedBy};
use crate::plan::snapshot::{Policy, Snapshot};
use crate::plan::watch::Watch;
use crate::plan::whatif::journal::{ENTRIES_MAX, Entry, Journal, Kind};
use crate::plan::{probe, propose};
use crate::units::Timestamp;

/// What is planned in between is lost when the process is killed; writing is a few milliseconds.
const WRITTEN_EVERY_MILLIS: u64 = 5_000;
const FORMAT: &str = "stagger.dev/whatif-resume/v1";
/// A few hundred plans of twenty thousand workloads; a larger file is not one of ours.
const BYTES_MAX: u64 = 512 << 20;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    api_version: String,
    version: String,
    input_digest: String,
    seed: u64,
    /// When the comparison began: the same question is asked again only as of the same instant.
    now: Timestamp,
    plans: BTreeMap<String, Entry>,
}

/// A file to go on from, or to be written for the first time.
pub(super) struct Resume {
    path: PathBuf,
    found: Option<Document>,
    journal: Journal,
    /// What the file answers, once that is known.
    question: OnceCell<Asked>,
    /// Since when nothing has been written.
    unwritten: Cell<Stopwatch>,
}

/// The question a file belongs to.
#[derive(Debug, Clone)]
struct Asked {
    digest: String,
    seed: u64,
    now: Timestamp,
}

impl Resume {
    /// # Errors
    /// A file that is there and is not one of ours.
    pub(super) fn open(path: &Path) -> Result<Self, Failed> {
        let shown = path.display().to_string();
        let failed = |error| Failed::file("read", &shown, error);
        let length = match fs::metadata(path) {
            Ok(known) => known.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self::with(path, None, Journal::default()));
            }
            Err(error) => return Err(failed(error)),
        };
        if length > BYTES_MAX {
            return Err(refused(&shown, &format!("it has {length} bytes; expected at most {BYTES_MAX}")));
        }
        let text = fs::read_to_string(path).map_err(failed)?;
        let document: Document =
            serde_json::from_str(&text).map_err(|error| refused(&shown, &format!("it is no resume file: {error}")))?;
        if document.api_version != FORMAT {
            return Err(refused(&shown, &format!("read `{}`; expected `{FORMAT}`", document.api_version)));
        }
        if document.plans.len() > ENTRIES_MAX {
            let count = document.plans.len();
            return Err(refused(&shown, &format!("it holds {count} plans; expected at most {ENTRIES_MAX}")));
        }
        let journal = Journal::with(document.plans.clone());
        Ok(Self::with(path, Some(document), journal))
    }

    fn with(path: &Path, found: Option<Document>, journal: Journal) -> Self {
        let (question, unwritten) = (OnceCell::new(), Cell::new(Stopwatch::start()));
        Self { path: path.to_owned(), found, journal, question, unwritten }
    }

    /// The instant as of which the file's question was asked.
    pub(super) fn now(&self) -> Option<Timestamp> {
        self.found.as_ref().map(|document| document.now)
    }

    /// Says what is asked; from then on what is planned is written every few seconds, so that a process that is killed
    /// loses little.
    ///
    /// # Errors
    /// When the file answers another question, naming what differs.
    pub(super) fn ask(&self, digest: &str, seed: u64, now: Timestamp) -> Result<(), Failed> {
        self.question.get_or_init(|| Asked { digest: digest.to_owned(), seed, now });
        let Some(found) = &self.found else { return Ok(()) };
        let shown = self.path.display().to_string();
        let version = env!("CARGO_PKG_VERSION");
        if found.version != version {
            let what = format!("it was written by version {}; this is {version}", found.version);
            return Err(refused(&shown, &what));
        }
        if found.seed != seed {
            return Err(refused(&shown, &format!("it was written with seed {}; this is seed {seed}", found.seed)));
        }
        if found.input_digest != digest {
            return Err(refused(&shown, "it is about another input, other options or another budget of steps"));
        }
        Ok(())
    }

    /// The plan from the file, else a new one that is kept unless something cut it short.
    pub(super) fn make(
        &self,
        kind: Kind,
        (snapshot, policy): (&Snapshot, &Policy),
        watch: &dyn Watch,
        whole: &dyn Fn() -> bool,
    ) -> Plan {
        let uncut =
            |plan: &Plan| whole() && !interrupt::pressed() && plan.quality.stopped_by != Some(StoppedBy::Interrupt);
        let plan = self.journal.plan(kind, snapshot, policy, &|| made(kind, snapshot, policy, watch), &uncut);
        if self.unwritten.get().millis() >= WRITTEN_EVERY_MILLIS {
            // The end of the command writes it too, and says what is wrong then.
            drop(self.write());
        }
        plan
    }

    /// Writes everything that is kept, and says how to go on if anything was left out.
    ///
    /// # Errors
    /// Whatever the operating system says, with the path.
    pub(super) fn finish(&self, shell: &Shell) -> Result<(), Failed> {
        let all = self.write()?;
        let taken = self.journal.taken();
        shell.talk(&format!("{taken} plans were taken from {0}, {all} are kept there", self.path.display()));
        Ok(())
    }

    /// How many plans the file has now.
    fn write(&self) -> Result<usize, Failed> {
        let Some(asked) = self.question.get().cloned() else { return Ok(0) };
        let document = Document {
            api_version: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            input_digest: asked.digest,
            seed: asked.seed,
            now: asked.now,
            plans: self.journal.entries(),
        };
        let text = serde_json::to_string(&document)
            .map_err(|error| Failed::usage(format!("failed to write the resume file: {error}")))?;
        write::file(&self.path, &text)?;
        self.unwritten.set(Stopwatch::start());
        Ok(document.plans.len())
    }
}

/// A plan of a kind, made now.
pub(super) fn made(kind: Kind, snapshot: &Snapshot, policy: &Policy, watch: &dyn Watch) -> Plan {
    match kind {
        Kind::Probe => probe(snapshot, policy, watch),
        Kind::Plan | Kind::Trial => propose(snapshot, policy, watch),
    }
}

fn refused(shown: &str, what: &str) -> Failed {
    let hint = Some("ask as before, or name a file that is not there yet".to_owned());
    Failed { exit: Exit::Refused, message: format!("{shown}: {what}"), hint }
}
