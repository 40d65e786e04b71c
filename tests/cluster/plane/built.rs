//! Where the compiled parts lie.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of each part, by name.
pub struct Built(BTreeMap<String, PathBuf>);

impl Built {
    /// Compiles what is missing; minutes on a new machine, an instant afterwards.
    pub fn find() -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools/control-plane.sh");
        let output = Command::new(script).stderr(Stdio::inherit()).output().expect("tools/control-plane.sh can be run");
        assert!(output.status.success(), "tools/control-plane.sh failed: {}", output.status);
        let text = String::from_utf8(output.stdout).expect("paths are UTF-8");
        let rows = text.lines().filter_map(|line| line.split_once('='));
        Self(rows.map(|(part, folder)| (part.to_owned(), PathBuf::from(folder))).collect())
    }

    fn folder(&self, part: &str) -> &Path {
        self.0.get(part).unwrap_or_else(|| panic!("tools/control-plane.sh names no folder for {part}"))
    }

    pub fn program(&self, part: &str, name: &str) -> PathBuf {
        self.folder(part).join("bin").join(name)
    }

    /// A file or folder that the part brings.
    pub fn manifests(&self, part: &str, path: &str) -> PathBuf {
        self.folder(part).join("manifests").join(path)
    }
}
