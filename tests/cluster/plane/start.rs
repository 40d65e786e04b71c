//! Starting the parts in order, each when what it needs answers.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::built::Built;
use super::pki::Authority;
use super::site::Site;
use super::{Plane, audit_file, kueue, kwok};
use crate::person::Person;
use crate::wait::until;

/// Those that were started in this process.
static PLANES: AtomicUsize = AtomicUsize::new(0);
/// On a machine that compiles beside the tests a part may take this long to answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// Everything of a request but its body, so that a test can tell who did what and what a policy noted; of our own accounts
/// also what they read.
const AUDIT: &str = "apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [\"system:apiserver\", \"system:kube-controller-manager\", \"system:kube-scheduler\"]
- level: Metadata
  userGroups: [\"system:serviceaccounts:stagger-system\"]
- level: None
  verbs: [get, list, watch]
- level: Metadata
";

/// Whether the API server is that of the next Kubernetes (`tests/controlplane/kubernetes-next`); the other parts are the same.
pub fn is_next() -> bool {
    std::env::var("STAGGER_TEST_KUBERNETES").is_ok_and(|which| which == "next")
}

/// A port that was free a moment ago.
pub fn port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    listener.local_addr().expect("a listener has an address").port()
}

/// Starts every part and waits until all answer; KWOK plays the nodes.
pub async fn start() -> Plane {
    let built = Built::find();
    let folder = folder();
    let mut plane = control(&built, &Site::here(&folder)).await;
    let kwok = kwok::start(&built, &folder, &plane.admin);
    plane.nodes.get_mut().expect("nobody else has the plane yet").push(kwok);
    plane
}

/// Starts what controls nodes, and Kueue, at `site`.
pub async fn control(built: &Built, site: &Site) -> Plane {
    let folder = site.folder.clone();
    let authority = Authority::new(&folder, site.address);
    authority.server(&folder, &["kubernetes", "kubernetes.default", "kubernetes.default.svc"]);

    // 1. The store and the API server.
    let (store, peer, secure) = (port(), port(), port());
    let etcd = site.start("etcd", &built.program("etcd", "etcd"), etcd_flags(site, store, peer));
    fs::write(folder.join("audit.yaml"), AUDIT).expect("the audit policy can be written");
    let server = format!("https://{}:{secure}", site.address);
    let admin = Person::new("admin", authority.kubeconfig(&server, "admin", &["system:masters"])).await;
    let program = built.program(if is_next() { "kubernetes-next" } else { "kubernetes" }, "kube-apiserver");
    let mut apiserver = site.start("kube-apiserver", &program, apiserver_flags(site, store, secure));
    until("the API server is ready", PATIENCE, async || {
        if let Some(status) = apiserver.ended() {
            panic!("kube-apiserver ended with {status}:\n{}", apiserver.tail());
        }
        admin.text("/readyz").await
    })
    .await;

    // 2. What makes pods of jobs and places them.
    let config = admin.kubeconfig().display().to_string();
    let program = built.program("kubernetes", "kube-controller-manager");
    let controllers = site.start("kube-controller-manager", &program, controllers_flags(&folder, &config));
    let scheduler =
        site.start("kube-scheduler", &built.program("kubernetes", "kube-scheduler"), scheduler_flags(&config));

    // 3. Kueue.
    let (kueue, kueue_health) = kueue::start(built, site, &admin, &authority, &server).await;
    Plane {
        folder,
        authority,
        server,
        admin,
        etcd: Mutex::new(etcd),
        apiserver: Mutex::new(apiserver),
        _controllers: Mutex::new(controllers),
        _scheduler: Mutex::new(scheduler),
        kueue: Mutex::new(kueue),
        nodes: Mutex::new(Vec::new()),
        kueue_health,
    }
}

/// A folder of this process; what earlier ones left behind is removed.
pub fn folder() -> PathBuf {
    let root = std::env::temp_dir().join("stagger-control-plane");
    let number = PLANES.fetch_add(1, Ordering::Relaxed);
    for entry in fs::read_dir(&root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.split('-').next().unwrap_or_default().to_owned();
        if !Path::new("/proc").join(&owner).exists() {
            // Another process may be removing it too.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    let folder = root.join(format!("{}-{number}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder can be made");
    folder
}

fn words(flags: &[String]) -> Vec<String> {
    flags.iter().map(|flag| format!("--{flag}")).collect()
}

fn etcd_flags(site: &Site, client: u16, peer: u16) -> Vec<String> {
    let at = |port: u16| format!("http://{}:{port}", site.address);
    let (client, peer) = (at(client), at(peer));
    words(&[
        format!("data-dir={}", site.folder.join("etcd").display()),
        format!("listen-client-urls={client}"),
        format!("advertise-client-urls={client}"),
        format!("listen-peer-urls={peer}"),
        format!("initial-advertise-peer-urls={peer}"),
        format!("initial-cluster=default={peer}"),
        "unsafe-no-fsync".to_owned(),
        "log-level=warn".to_owned(),
    ])
}

fn apiserver_flags(site: &Site, store: u16, secure: u16) -> Vec<String> {
    let file = |name: &str| site.folder.join(name).display().to_string();
    let address: Ipv4Addr = site.address;
    let mut flags = words(&[
        format!("etcd-servers=http://{address}:{store}"),
        format!("secure-port={secure}"),
        format!("bind-address={address}"),
        format!("advertise-address={address}"),
        // How it asks a kubelet for logs.
        "kubelet-preferred-address-types=InternalIP".to_owned(),
        format!("kubelet-client-certificate={}", file("admin.crt")),
        format!("kubelet-client-key={}", file("admin.key")),
        format!("cert-dir={}", file("apiserver-certificates")),
        format!("tls-cert-file={}", file("tls.crt")),
        format!("tls-private-key-file={}", file("tls.key")),
        format!("client-ca-file={}", file("ca.crt")),
        "service-account-issuer=https://kubernetes.default.svc".to_owned(),
        format!("service-account-key-file={}", file("accounts.crt")),
        format!("service-account-signing-key-file={}", file("accounts.key")),
        "service-cluster-ip-range=10.0.0.0/24".to_owned(),
        "authorization-mode=Node,RBAC".to_owned(),
        "enable-admission-plugins=NodeRestriction".to_owned(),
        "allow-privileged=true".to_owned(),
        format!("audit-log-path={}", audit_file(&site.folder).display()),
        format!("audit-policy-file={}", file("audit.yaml")),
        "audit-log-mode=blocking".to_owned(),
        // One or two tests must not throttle each other.
        "max-requests-inflight=3000".to_owned(),
        "max-mutating-requests-inflight=1000".to_owned(),
    ]);
    if !is_next() {
        // Stamps without a webhook: the version of this API that is off by default until 1.36.
        let beta =
            ["runtime-config=admissionregistration.k8s.io/v1beta1=true", "feature-gates=MutatingAdmissionPolicy=true"];
        flags.extend(words(&beta.map(str::to_owned)));
    }
    flags
}

fn controllers_flags(folder: &Path, config: &str) -> Vec<String> {
    words(&[
        format!("kubeconfig={config}"),
        format!("service-account-private-key-file={}", folder.join("accounts.key").display()),
        format!("root-ca-file={}", folder.join("ca.crt").display()),
        "leader-elect=false".to_owned(),
        // As a cluster has it: each controller under its own ServiceAccount.
        "use-service-account-credentials=true".to_owned(),
        "kube-api-qps=200".to_owned(),
        "kube-api-burst=400".to_owned(),
        format!("secure-port={}", port()),
    ])
}

fn scheduler_flags(config: &str) -> Vec<String> {
    words(&[
        format!("kubeconfig={config}"),
        "leader-elect=false".to_owned(),
        "kube-api-qps=200".to_owned(),
        "kube-api-burst=400".to_owned(),
        format!("secure-port={}", port()),
    ])
}
