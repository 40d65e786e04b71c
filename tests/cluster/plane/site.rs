//! Where the parts of a plane run, and by which address they and the tests find each other.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use super::keeper::Part;

/// A folder, an address, and the namespaces that the parts run in.
#[derive(Debug, Clone)]
pub struct Site {
    pub folder: PathBuf,
    pub address: Ipv4Addr,
    /// A process whose namespaces they share, if not ours.
    pub inside: Option<u32>,
}

impl Site {
    /// On this machine's loopback.
    pub fn here(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), address: Ipv4Addr::LOCALHOST, inside: None }
    }

    /// Starts `program` there. A part in other namespaces has a process before it, which signals do not pass.
    pub fn start(&self, name: &str, program: &Path, flags: Vec<String>) -> Part {
        let Some(process) = self.inside else { return Part::start(name, program, flags, &self.folder) };
        let mut words: Vec<String> =
            ["--target", &process.to_string(), "--pid", "--mount", "--net", "--"].map(str::to_owned).to_vec();
        words.extend(["setpriv", "--pdeathsig", "KILL", "--", &program.display().to_string()].map(str::to_owned));
        words.extend(flags);
        Part::start(name, Path::new("nsenter"), words, &self.folder)
    }
}
