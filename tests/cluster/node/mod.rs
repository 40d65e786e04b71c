//! A control plane with one real node: containerd and a kubelet run pods of our image, kube-proxy carries them to Services.
//!
//! It lives beside the plane of the other tests and shares nothing with it: all its parts run in namespaces of their own
//! (`space`), so that neither this machine nor another node on it sees a bridge, a packet filter or a mount. Tests that need it
//! are skipped, and say so, where that cannot be done. Deliberately absent: a second node, and a name service.

mod kubelet;
mod runtime;
mod space;

mod acknowledged;
mod cert_manager;
mod installation;
mod jobs;
mod load;
mod touchstone;
mod webhook;

use std::io::Write;
use std::process::Command;

use tokio::sync::{OnceCell, RwLock};

use crate::plane::{Built, Plane, control, folder};
use crate::shared::{runtime as threads, turn};
use space::Space;

/// What the node says it has.
const GPUS: u32 = 4;

pub struct Node {
    pub plane: Plane,
    space: Space,
}

/// The programs a node is made of beside Kubernetes' own; `tools/node-prerequisites.sh` brings them.
const PROGRAMS: [&str; 10] = [
    "containerd",
    "ctr",
    "containerd-shim-runc-v2",
    "runc",
    "conntrack",
    "iptables",
    "ip",
    "buildah",
    "nsenter",
    "unshare",
];

/// Why no node can run here, if so.
fn prevented() -> Option<String> {
    if !cfg!(target_os = "linux") {
        return Some("pods run on Linux only".to_owned());
    }
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        return Some("a node is started by root only".to_owned());
    }
    let found = |name: &str| {
        let asked = Command::new("sh").args(["-c", "command -v \"$1\"", "sh", name]).output();
        asked.is_ok_and(|output| output.status.success())
    };
    let missing: Vec<&str> = PROGRAMS.into_iter().filter(|name| !found(name)).collect();
    let namespaces = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "--net", "true"]).output();
    if !missing.is_empty() {
        Some(format!("{} is missing; tools/node-prerequisites.sh installs it", missing.join(", ")))
    } else if !namespaces.is_ok_and(|output| output.status.success()) {
        Some("this machine gives root no namespaces".to_owned())
    } else {
        None
    }
}

async fn node() -> Option<&'static RwLock<Node>> {
    static NODE: OnceCell<Option<RwLock<Node>>> = OnceCell::const_new();
    let node = NODE.get_or_init(async || {
        if let Some(reason) = prevented() {
            tell(&format!("SKIPPED: tests on a real node ({reason})"));
            return None;
        }
        Some(RwLock::new(start().await))
    });
    node.await.as_ref()
}

/// Not by a macro: what tests print is hidden while they pass.
fn tell(line: &str) {
    let told = writeln!(std::io::stderr(), "{line}");
    drop(told);
}

async fn start() -> Node {
    let built = Built::find();
    let folder = folder();
    let space = Space::open(&folder).await;
    // Both take seconds, and neither needs the other.
    let (mut plane, containerd) = tokio::join!(control(&built, &space.site), runtime::start(&space));
    let mut parts = vec![containerd];
    parts.extend(kubelet::start(&built, &space, &plane, GPUS).await);
    plane.nodes.get_mut().expect("nobody else has the plane yet").extend(parts);
    Node { plane, space }
}

/// Runs a test that has the real node, its GPUs and our installation for itself.
pub fn alone_on_node(test: impl AsyncFnOnce(&Node)) {
    threads().block_on(async {
        if let Some(node) = node().await {
            let node = node.write().await;
            let _turn = turn().await;
            test(&node).await;
        }
    });
}

impl Node {
    /// Runs kubectl as the administrator; what it printed.
    pub fn kubectl(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new("kubectl");
        command.arg("--kubeconfig").arg(self.plane.admin.kubeconfig()).args(words);
        let output = command.output().map_err(|error| format!("kubectl cannot be run: {error}"))?;
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(out.into_owned()) } else { Err(format!("{out}{err}")) }
    }
}
