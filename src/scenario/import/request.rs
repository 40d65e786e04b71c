//! An import as it is asked for: a format with its choices, the settings, and the bytes of the files.
//!
//! Whoever offers imports (the command line, a scenario's `arrivals`) fills a [`Request`] and calls [`run`].

use std::sync::Arc;

use crate::failure::{Finding, SourceFile};
use crate::scenario::codes::traces as codes;

use super::{Import, Settings, decode, openb, philly, sacct, swf, workloads};

/// What is to be imported, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub format: Format,
    pub settings: Settings,
}

/// The formats, each with the choices that only it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One file: the jobs.
    Philly,
    /// One file: the log.
    Swf(swf::Choices),
    /// Two files: the node list, then the pod list. With a pool in the settings the pod list alone will do.
    Openb(openb::Choices),
    /// One file: what `sacct --parsable2` printed.
    Sacct,
    /// One file: Kueue's Workloads, as kubectl writes them.
    Workloads,
}

/// A file that was read: its path as the user gave it, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    pub path: String,
    pub bytes: Vec<u8>,
}

/// Reads the files as the request says.
///
/// # Errors
/// What makes a file or the settings unusable: at least one finding of severity Error.
pub fn run(request: &Request, files: Vec<TraceFile>) -> Result<Import, Vec<Finding>> {
    let decoded: Result<Vec<Arc<SourceFile>>, Finding> =
        files.into_iter().map(|file| decode(&file.path, file.bytes)).collect();
    let decoded = decoded.map_err(|finding| vec![finding])?;
    let settings = &request.settings;
    match (request.format, decoded.as_slice()) {
        (Format::Philly, [jobs]) => philly::read(jobs, settings),
        (Format::Swf(choices), [log]) => swf::read(log, settings, choices),
        (Format::Sacct, [log]) => sacct::read(log, settings),
        (Format::Workloads, [log]) => workloads::read(log, settings),
        (Format::Openb(choices), [nodes, pods]) => openb::read(nodes, pods, settings, choices),
        // The pool replaces the node list, so any text stands in for it: it is not looked at.
        (Format::Openb(choices), [pods]) if !settings.pool.is_empty() => openb::read(pods, pods, settings, choices),
        (format, given) => {
            let expected = match format {
                Format::Philly => "one file, the jobs",
                Format::Swf(_) | Format::Sacct => "one file, the log",
                Format::Workloads => "one file, the Workloads",
                Format::Openb(_) => "two files, the node list and the pod list",
            };
            let message = match given.len() {
                1 => format!("one file is given; expected: {expected}"),
                count => format!("{count} files are given; expected: {expected}"),
            };
            Err(vec![Finding::error(codes::SETTING, "import", message)])
        }
    }
}
