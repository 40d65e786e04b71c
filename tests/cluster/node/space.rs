//! The node's own world: namespaces for its processes, mounts and network, with a cable to ours.
//!
//! Nothing outlives it: when its process 1 ends, and that is when the test process ends in whatever way, the kernel ends shims
//! and containers and takes mounts, bridge and packet filter along. Cgroups stay; they are taken away behind it, and at the
//! next start if that was prevented.

use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::plane::{Part, Site};
use crate::wait::until;

/// Of RFC 2544, for tests; nothing on the Internet answers there.
const CABLES: [u8; 3] = [198, 18, 88];
/// As many nodes as there are pairs of addresses.
const CABLES_MAX: u8 = 62;
const GROUPS: &str = "stagger-node-";

pub struct Space {
    _init: Part,
    pub site: Site,
    /// The cgroup of all pods.
    pub group: String,
    /// Waits for the end of our process to clean up; its standard input closes then.
    _sweeper: Child,
}

impl Space {
    pub async fn open(folder: &Path) -> Self {
        sweep_after_the_dead();
        let group = format!("{GROUPS}{}", std::process::id());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/node/space.sh");
        let words = ["--pid", "--fork", "--kill-child", "--mount-proc", "--net", "--", "bash"].map(str::to_owned);
        let files = [script.display().to_string(), folder.display().to_string(), group.clone()];
        let mut init = Part::start("space", Path::new("unshare"), words.into_iter().chain(files).collect(), folder);
        let outer = init.pid().expect("it was started");
        let first = until("the node's namespaces are there", Duration::from_secs(20), async || {
            if let Some(status) = init.ended() {
                panic!("unshare ended with {status}:\n{}", init.tail());
            }
            let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap_or_default();
            children.trim().parse::<u32>().map_err(|_| "no child yet".to_owned())
        })
        .await;
        until("its mounts are there", Duration::from_secs(20), async || {
            if let Some(status) = init.ended() {
                panic!("space.sh ended with {status}:\n{}", init.tail());
            }
            if folder.join("mounted").exists() { Ok(()) } else { Err(init.tail()) }
        })
        .await;
        let address = cable(first);
        let site = Site { folder: folder.to_owned(), address, inside: Some(first) };
        let sweeper = sweeper(folder, &group);
        Self { _init: init, site, group, _sweeper: sweeper }
    }

    /// Runs a program inside; what it printed, or what it complained of.
    pub fn run(&self, words: &[&str]) -> Result<String, String> {
        let first = self.site.inside.expect("a space has a process 1").to_string();
        said(Command::new("nsenter").args(["--target", &first, "--pid", "--mount", "--net", "--"]).args(words))
    }
}

fn said(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Joins the namespaces of process `first` to ours by the first cable that is free; the address at its far end.
fn cable(first: u32) -> Ipv4Addr {
    let inside = first.to_string();
    let mut last = String::new();
    for at in 0..CABLES_MAX {
        let (name, [a, b, c]) = (format!("stagger{at}"), CABLES);
        let ends = [Ipv4Addr::new(a, b, c, 4 * at + 1), Ipv4Addr::new(a, b, c, 4 * at + 2)];
        let words = ["link", "add", &name, "type", "veth", "peer", "name", "up0", "netns", &inside];
        match said(Command::new("ip").args(words)) {
            Ok(_) => {}
            Err(taken) => {
                last = taken;
                continue;
            }
        }
        let far = ["--target", &inside, "--net", "--", "ip"];
        for (end, device, enter) in [(ends[0], name.as_str(), false), (ends[1], "up0", true)] {
            for words in [vec!["addr", "add", &format!("{end}/30"), "dev", device], vec!["link", "set", device, "up"]] {
                let done = if enter {
                    said(Command::new("nsenter").args(far).args(words))
                } else {
                    said(Command::new("ip").args(words))
                };
                done.unwrap_or_else(|error| panic!("{device} gets no address: {error}"));
            }
        }
        // A Service's address is nobody's: a packet to it needs a way to leave by before it is told where to go.
        let way = ["route", "add", "default", "via", &ends[0].to_string()];
        said(Command::new("nsenter").args(far).args(way)).unwrap_or_else(|error| panic!("no default route: {error}"));
        return ends[1];
    }
    panic!("no cable can be laid to the node: {last}");
}

/// A shell that outlives us by a moment: it takes away what the kernel leaves when all processes of the node have ended.
fn sweeper(folder: &Path, group: &str) -> Child {
    let script = r#"read -r _; for _ in $(seq 100); do
  find /sys/fs/cgroup -depth -type d -path "*/$2*" -exec rmdir {} + 2>/dev/null
  [ -z "$(find /sys/fs/cgroup -maxdepth 2 -type d -name "$2")" ] && break; sleep 0.2
done; rm -rf "$1/containerd" "$1/kubelet" "$1/etcd""#;
    let mut command = Command::new("bash");
    command.args(["-c", script, "sweeper"]).arg(folder).arg(group).process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("bash can be run")
}

/// Removes the cgroups of nodes whose test process is gone.
fn sweep_after_the_dead() {
    let root = Path::new("/sys/fs/cgroup");
    for hierarchy in folders(root).into_iter().chain([root.to_owned()]) {
        for group in folders(&hierarchy) {
            let name = group.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.strip_prefix(GROUPS).is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
                remove(&group);
            }
        }
    }
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

/// Innermost first, as cgroups are removed.
fn remove(group: &Path) {
    for inner in folders(group) {
        remove(&inner);
    }
    // One that another process removes too, or that still holds somebody, is tried again at the next start.
    drop(fs::remove_dir(group));
}
