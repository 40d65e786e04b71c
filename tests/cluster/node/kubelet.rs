//! The kubelet and kube-proxy of the one node.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use super::runtime::{PODS, endpoint};
use super::space::Space;
use crate::plane::{Built, Part, Plane};
use crate::wait::until;

pub const NAME: &str = "real";
const GPU: &str = "nvidia.com/gpu";

/// Starts both and waits until the node is ready; it then says that it has `gpus`.
pub async fn start(built: &Built, space: &Space, plane: &Plane, gpus: u32) -> Vec<Part> {
    let (folder, address) = (&space.site.folder, space.site.address);
    let at = |name: &str| folder.join(name).display().to_string();
    fs::write(folder.join("resolv.conf"), "").expect("the plane's folder can be written");
    fs::write(folder.join("kubelet.yaml"), configuration(space).to_string()).expect("the configuration can be written");
    let user = plane.authority.kubeconfig(&plane.server, &format!("system:node:{NAME}"), &["system:nodes"]);
    let flags = vec![
        format!("--config={}", at("kubelet.yaml")),
        format!("--kubeconfig={}", user.display()),
        format!("--hostname-override={NAME}"),
        format!("--node-ip={address}"),
        format!("--root-dir={}", at("kubelet")),
        format!("--cert-dir={}", at("kubelet-certificates")),
    ];
    let mut kubelet = space.site.start("kubelet", &built.program("kubernetes", "kubelet"), flags);
    let user = plane.authority.kubeconfig(&plane.server, "system:kube-proxy", &[]);
    let flags = vec![
        format!("--kubeconfig={}", user.display()),
        format!("--hostname-override={NAME}"),
        "--proxy-mode=iptables".to_owned(),
        format!("--cluster-cidr={PODS}"),
        // These would be set for the whole machine.
        "--conntrack-max-per-core=0".to_owned(),
        "--conntrack-tcp-timeout-established=0".to_owned(),
        "--conntrack-tcp-timeout-close-wait=0".to_owned(),
    ];
    let proxy = space.site.start("kube-proxy", &built.program("kubernetes", "kube-proxy"), flags);
    let node = until("the node is ready", Duration::from_mins(2), async || {
        if let Some(status) = kubelet.ended() {
            panic!("kubelet ended with {status}:\n{}", kubelet.tail());
        }
        let node = plane.admin.get("v1", "Node", "", NAME).await.map_err(|refused| refused.message)?;
        let conditions = node["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let ready = conditions.iter().find(|one| one["type"] == "Ready").cloned().unwrap_or_default();
        if ready["status"] == "True" { Ok(node) } else { Err(format!("{ready}\n{}", kubelet.tail())) }
    })
    .await;
    // No device plugin is needed for a kubelet to count what it is told it has.
    let counted = json!({GPU: gpus.to_string()});
    let told = plane.admin.merge_status(&node, &json!({"status": {"capacity": counted, "allocatable": counted}})).await;
    told.unwrap_or_else(|refused| panic!("the node takes no GPUs: {}", refused.message));
    vec![kubelet, proxy]
}

fn configuration(space: &Space) -> Value {
    let at = |name: &str| space.site.folder.join(name).display().to_string();
    json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": false}, "webhook": {"enabled": true}, "x509": {"clientCAFile": at("ca.crt")}},
        "authorization": {"mode": "Webhook"},
        "containerRuntimeEndpoint": endpoint(space),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}", space.group),
        "failCgroupV1": false,
        "failSwapOn": false,
        "localStorageCapacityIsolation": false,
        "podLogsDir": at("pods"),
        "volumePluginDir": at("plugins"),
        "resolvConf": at("resolv.conf"),
        // A machine that is nearly full is full enough for tests.
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "imageGCHighThresholdPercent": 100,
    })
}
