//! What reading may cost: every loop over input ends at one of these.
//!
//! The defaults let 50 MB of ordinary manifests through and stop what was made to exhaust a machine.

use super::codes;

/// The limits of one `read`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file. The largest clusters' `kubectl get -o json` stays below.
    pub file_bytes: usize,
    /// Bytes of all files together.
    pub total_bytes: usize,
    /// Files found in folders.
    pub files: usize,
    /// How deep folders are entered: more is a mistake such as `/`.
    pub folder_depth: usize,
    /// Objects, over all files: beyond, planning would take hours.
    pub objects: usize,
    /// How deep maps and lists are nested. No Kubernetes schema comes near it.
    pub depth: usize,
    /// Memory of everything read, by a conservative estimate.
    pub memory_bytes: usize,
    /// The part of it that aliases may repeat; the defence against "billion laughs".
    pub alias_bytes: usize,
    /// Findings that are kept; the rest is counted.
    pub findings: usize,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: usize = 1 << 20;
        Self {
            file_bytes: 64 * MIB,
            total_bytes: 256 * MIB,
            files: 10_000,
            folder_depth: 32,
            objects: 200_000,
            depth: 100,
            memory_bytes: 2 * 1024 * MIB,
            alias_bytes: 32 * MIB,
            findings: 1_000,
        }
    }
}

/// What is left of the limits while reading.
#[derive(Debug)]
pub struct Budget {
    depth: usize,
    memory: usize,
    memory_limit: usize,
    alias: usize,
    alias_limit: usize,
}

/// A limit that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exceeded {
    pub code: &'static str,
    pub message: String,
    pub hint: &'static str,
}

impl Budget {
    /// Bytes that a scalar takes besides its text: its value and its spans, with room for growth.
    pub const SCALAR: usize = 96;
    /// Bytes that an empty collection takes.
    pub const COLLECTION: usize = 96;
    /// Bytes that a key takes besides its text.
    pub const ENTRY: usize = 56;
    /// Bytes that the first entry of a map takes on top: a tree node has room for eleven.
    pub const FIRST_ENTRY: usize = 640;

    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        let (memory, alias) = (limits.memory_bytes, limits.alias_bytes);
        Self { depth: limits.depth, memory, memory_limit: memory, alias, alias_limit: alias }
    }

    #[must_use]
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Estimated bytes taken so far.
    #[must_use]
    pub fn spent(&self) -> usize {
        self.memory_limit - self.memory
    }

    /// Takes memory.
    ///
    /// # Errors
    /// When nothing is left.
    pub fn pay(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.memory = self.memory.checked_sub(bytes).ok_or_else(|| Exceeded {
            code: codes::TOO_LARGE,
            message: format!("more to hold in memory than the limit of {}", megabytes(self.memory_limit)),
            hint: "leave out objects that are not planned (Pods, ConfigMaps, finished Jobs)",
        })?;
        Ok(())
    }

    /// Takes memory for a repeated node.
    ///
    /// # Errors
    /// When nothing is left.
    pub fn pay_alias(&mut self, bytes: usize) -> Result<(), Exceeded> {
        self.alias = self.alias.checked_sub(bytes).ok_or_else(|| Exceeded {
            code: codes::EXPANSION,
            message: format!("aliases repeat more than {} of YAML", megabytes(self.alias_limit)),
            hint: "write the repeated parts out, or generate the manifests",
        })?;
        self.pay(bytes)
    }
}

/// `64 MB`, in units of 2^20 bytes; below one, in bytes.
#[must_use]
pub fn megabytes(bytes: usize) -> String {
    if bytes < 1 << 20 { format!("{bytes} bytes") } else { format!("{} MB", bytes >> 20) }
}
