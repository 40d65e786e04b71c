//! A real control plane on this machine: etcd, kube-apiserver, controller-manager, scheduler, Kueue and KWOK.
//!
//! The parts are compiled once per machine by `tools/control-plane.sh`. They listen on free loopback ports, keep everything in
//! one temporary folder, and end with this process. Deliberately absent: nodes whose pods truly run; `node` puts one under
//! such a plane, in namespaces of its own.

mod built;
mod keeper;
mod kueue;
mod kwok;
mod pki;
mod site;
mod start;

use std::path::{Path, PathBuf};
use std::sync::Mutex;

pub use built::Built;
pub use keeper::Part;
pub use kueue::base64;
pub use kwok::RUNS_FOR;
pub use pki::Authority;
pub use site::Site;
pub use start::{control, folder, is_next, port, start};

use crate::person::Person;

/// A running control plane.
pub struct Plane {
    pub folder: PathBuf,
    pub authority: Authority,
    /// The API server's address.
    pub server: String,
    /// Member of `system:masters`.
    pub admin: Person,
    pub etcd: Mutex<Part>,
    pub apiserver: Mutex<Part>,
    pub _controllers: Mutex<Part>,
    pub _scheduler: Mutex<Part>,
    pub kueue: Mutex<Part>,
    /// What runs or plays the nodes.
    pub nodes: Mutex<Vec<Part>>,
    /// Where Kueue answers `/readyz`.
    pub kueue_health: String,
}

impl Plane {
    /// Somebody with a client certificate of these groups.
    pub async fn user(&self, name: &str, groups: &[&str]) -> Person {
        Person::new(name, self.authority.kubeconfig(&self.server, name, groups)).await
    }

    /// Somebody with a token.
    pub async fn bearer(&self, name: &str, token: &str) -> Person {
        Person::new(name, self.authority.bearer(&self.server, name, token)).await
    }

    /// The audit log as it is now, one JSON object per line.
    pub fn audit(&self) -> Vec<serde_json::Value> {
        let text = std::fs::read_to_string(self.audit_file()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn audit_file(&self) -> PathBuf {
        audit_file(&self.folder)
    }
}

fn audit_file(folder: &Path) -> PathBuf {
    folder.join("audit.log")
}
