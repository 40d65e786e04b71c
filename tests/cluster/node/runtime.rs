//! containerd in the node's namespaces, with the images of the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::space::Space;
use crate::plane::Part;
use crate::wait::until;

/// What a pod's sandbox is made of, and, called with milliseconds, a job.
pub const PAUSE: &str = "stagger.dev/pause:test";
pub const STAGGER: &str = "stagger.dev/stagger:test";
/// The same image, as if it were the next version.
pub const STAGGER_NEXT: &str = "stagger.dev/stagger:next";
/// The binary of the image; without it the one that cargo built for the tests, with its libraries.
const BINARY: &str = "STAGGER_IMAGE_BINARY";

pub const PODS: &str = "10.88.0.0/16";

fn socket(space: &Space) -> PathBuf {
    space.site.folder.join("containerd.sock")
}

/// The address of the runtime for a kubelet.
pub fn endpoint(space: &Space) -> String {
    format!("unix://{}", socket(space).display())
}

/// Starts containerd and gives it the images.
pub async fn start(space: &Space) -> Part {
    let folder = &space.site.folder;
    let plugins = ["/usr/lib/cni", "/opt/cni/bin"].into_iter().find(|place| Path::new(place).join("bridge").exists());
    let plugins = plugins.expect("network plugins are among the prerequisites");
    fs::create_dir_all(folder.join("net.d")).expect("the plane's folder can be written");
    fs::write(folder.join("net.d/10-stagger.conflist"), network(folder)).expect("the network can be described");
    let file = folder.join("containerd.toml");
    fs::write(&file, configuration(folder, &socket(space), plugins)).expect("the configuration can be written");
    let flags = vec![format!("--config={}", file.display())];
    let mut part = space.site.start("containerd", Path::new("containerd"), flags);
    let images = images(folder);
    until("containerd answers", Duration::from_mins(1), async || {
        if let Some(status) = part.ended() {
            panic!("containerd ended with {status}:\n{}", part.tail());
        }
        ctr(space, &["version"])
    })
    .await;
    for image in images {
        let done = ctr(space, &["-n", "k8s.io", "images", "import", &image.display().to_string()]);
        done.unwrap_or_else(|error| panic!("{} is not imported: {error}", image.display()));
    }
    ctr(space, &["-n", "k8s.io", "images", "tag", STAGGER, STAGGER_NEXT]).expect("an image may have two names");
    part
}

/// Asks containerd.
pub fn ctr(space: &Space, words: &[&str]) -> Result<String, String> {
    let socket = socket(space).display().to_string();
    space.run(&[&["ctr", "-a", &socket], words].concat())
}

/// Builds the archives of both images.
#[expect(clippy::disallowed_methods, reason = "who runs the tests chooses the binary")]
fn images(folder: &Path) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pause = root.join("tests/cluster/node/pause");
    let binary = folder.join("pause");
    must(Command::new("cc").args(["-static", "-Os", "-o"]).arg(&binary).arg(pause.join("pause.c")));
    let built = |name: &str, containerfile: &Path, binary: &Path| {
        let archive = folder.join(format!("{}.tar", binary.file_name().expect("a binary has a name").display()));
        let mut command = Command::new(root.join("tools/image.sh"));
        must(command.arg(name).arg(&archive).arg(containerfile).arg(binary));
        archive
    };
    let stagger = std::env::var_os(BINARY).map_or(PathBuf::from(env!("CARGO_BIN_EXE_stagger")), PathBuf::from);
    vec![built(PAUSE, &pause.join("Containerfile"), &binary), built(STAGGER, &root.join("Containerfile"), &stagger)]
}

fn must(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} cannot be run: {error}"));
    assert!(output.status.success(), "{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
}

fn configuration(folder: &Path, socket: &Path, plugins: &str) -> String {
    let folder = folder.display();
    format!(
        r#"version = 2
root = "{folder}/containerd/root"
state = "{folder}/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt"]

[grpc]
address = "{socket}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{PAUSE}"
# Where root may not lower a score of the out-of-memory killer, runc would end.
restrict_oom_score_adj = true

[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = "overlayfs"
default_runtime_name = "runc"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{plugins}"
conf_dir = "{folder}/net.d"
"#,
        socket = socket.display(),
    )
}

fn network(folder: &Path) -> String {
    let range = serde_json::json!([[{"subnet": PODS}]]);
    let addresses = serde_json::json!({"type": "host-local", "ranges": range, "routes": [{"dst": "0.0.0.0/0"}],
                                       "dataDir": folder.join("cni/addresses")});
    let bridge = serde_json::json!({"type": "bridge", "bridge": "pods0", "isGateway": true, "ipMasq": true,
                                    "hairpinMode": true, "ipam": addresses});
    let ports = serde_json::json!({"type": "portmap", "capabilities": {"portMappings": true}});
    serde_json::json!({"cniVersion": "0.4.0", "name": "stagger", "plugins": [bridge, ports]}).to_string()
}
