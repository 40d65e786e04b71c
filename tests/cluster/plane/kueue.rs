//! Kueue as a process beside the API server, with its webhooks called by address instead of through a Service.

use std::fs;
use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::Plane;
use super::built::Built;
use super::keeper::Part;
use super::pki::Authority;
use super::site::Site;
use super::start::port;
use crate::person::{Person, documents};
use crate::wait::until;

/// Its webhooks for what the tests create; those of frameworks that are not installed stay out.
const WEBHOOKS: [&str; 7] = ["job", "jobset", "pod", "workload", "clusterqueue", "resourceflavor", "cohort"];
/// Kinds that Kueue converts between versions.
const CONVERTED: [&str; 4] = ["workloads", "clusterqueues", "localqueues", "cohorts"];
const NAMESPACE: &str = "kueue-system";
const ACCOUNT: &str = "kueue-controller-manager";
/// Kueue reads this folder whatever its configuration says.
const METRICS_CERTIFICATES: &str = "/etc/kueue/metrics/certs";

/// Starts Kueue and registers it; the running part and the address of its health endpoint.
pub async fn start(built: &Built, site: &Site, admin: &Person, authority: &Authority, server: &str) -> (Part, String) {
    let (webhook, health) = (port(), port());
    let certificates = site.folder.join("kueue");
    fs::create_dir_all(&certificates).expect("the plane's folder can be written");
    authority.server(&certificates, &[]);
    metrics_certificates(&certificates);
    let bundle = base64(authority.pem().as_bytes());
    let address = site.address;
    let config = |path: &str| json!({"url": format!("https://{address}:{webhook}{path}"), "caBundle": bundle});

    // 1. Its kinds and its namespace.
    let mut definitions = documents(&built.manifests("kueue", "crds"));
    for definition in &mut definitions {
        let name = definition["metadata"]["name"].as_str().expect("a definition has a name").to_owned();
        if CONVERTED.iter().any(|kind| name.starts_with(&format!("{kind}."))) {
            let webhook = json!({"conversionReviewVersions": ["v1"], "clientConfig": config("/convert")});
            definition["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": webhook});
        }
    }
    definitions.extend(documents(&built.manifests("kueue", "jobset")));
    admin.define(definitions).await;
    admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})).await;
    let token = account(built, admin).await;
    let kubeconfig = authority.bearer(server, "kueue", &token);

    // 2. The process.
    let file = site.folder.join("kueue.yaml");
    fs::write(&file, configuration(address, webhook, health, &certificates)).expect("the configuration can be written");
    let flags = vec![
        format!("--config={}", file.display()),
        format!("--kubeconfig={}", kubeconfig.display()),
        "--zap-log-level=2".to_owned(),
    ];
    let mut part = site.start("kueue", &built.program("kueue", "kueue"), flags);
    let health = format!("{address}:{health}");
    until("Kueue is ready", Duration::from_mins(2), async || {
        if let Some(status) = part.ended() {
            panic!("Kueue ended with {status}:\n{}", part.tail());
        }
        crate::wait::http(&health, "/readyz").await
    })
    .await;

    // 3. Its webhooks, now that it answers them.
    for mut configuration in documents(&built.manifests("kueue", "webhooks.yaml")) {
        let kind = configuration["kind"].as_str().expect("a configuration has a kind").to_lowercase();
        configuration["metadata"]["name"] = json!(format!("kueue-{kind}"));
        let hooks = configuration["webhooks"].as_array_mut().expect("a configuration has webhooks");
        hooks.retain(|hook| WEBHOOKS.iter().any(|name| is_for(hook, name)));
        for hook in hooks {
            let path = hook["clientConfig"]["service"]["path"].as_str().expect("a webhook has a path").to_owned();
            hook["clientConfig"] = config(&path);
            let system = json!(["kube-system", "kueue-system"]);
            let outside = json!({"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": system});
            hook["namespaceSelector"] = json!({"matchExpressions": [outside]});
        }
        admin.apply(&configuration).await;
    }
    (part, health)
}

/// Kueue's own ServiceAccount with the rights its installation gives it, and a token of it.
async fn account(built: &Built, admin: &Person) -> String {
    let api = "rbac.authorization.k8s.io";
    let subjects = json!([{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}]);
    for file in ["role.yaml", "manager_secrets_role.yaml", "leader_election_role.yaml"] {
        for mut role in documents(&built.manifests("kueue", &format!("rbac/{file}"))) {
            let name = format!("kueue-{}", role["metadata"]["name"].as_str().expect("a role has a name"));
            let kind = role["kind"].as_str().expect("a role has a kind").to_owned();
            role["metadata"]["name"] = json!(name);
            let mut binding = json!({"apiVersion": format!("{api}/v1"), "kind": format!("{kind}Binding"),
                                     "metadata": {"name": name}, "subjects": subjects,
                                     "roleRef": {"apiGroup": api, "kind": kind, "name": name}});
            if kind == "Role" {
                role["metadata"]["namespace"] = json!(NAMESPACE);
                binding["metadata"]["namespace"] = json!(NAMESPACE);
            }
            admin.apply(&role).await;
            admin.apply(&binding).await;
        }
    }
    admin.token(NAMESPACE, ACCOUNT).await
}

fn is_for(hook: &Value, name: &str) -> bool {
    let hook = hook["name"].as_str().unwrap_or_default();
    hook == format!("m{name}.kb.io") || hook == format!("v{name}.kb.io")
}

/// Puts a certificate where Kueue looks for one whatever its configuration says. Nobody checks it, so any will do; a pair
/// that is there stays, for another Kueue may be reading it.
fn metrics_certificates(from: &Path) {
    let place = Path::new(METRICS_CERTIFICATES);
    let of = from.parent().and_then(Path::file_name).unwrap_or_default().display();
    let new = place.with_file_name(format!("new-{of}"));
    // The pair appears whole or not at all: a folder takes the place of none or of an empty one.
    let made = fs::create_dir_all(&new)
        .and_then(|()| fs::copy(from.join("tls.crt"), new.join("tls.crt")))
        .and_then(|_| fs::copy(from.join("tls.key"), new.join("tls.key")))
        .and_then(|_| fs::rename(&new, place));
    drop(fs::remove_dir_all(&new));
    if let Err(error) = made {
        assert!(place.join("tls.key").exists(), "{METRICS_CERTIFICATES} cannot be written ({error}); run as root");
    }
}

/// What the configuration says of gates.
fn gates(on: bool) -> String {
    format!("AdmissionGatedBy: {on}")
}

impl Plane {
    /// Starts Kueue anew, reading gates or ignoring them. Who asks for it has the plane alone, and puts it right again.
    pub async fn kueue_reads_gates(&self, on: bool) {
        let file = self.folder.join("kueue.yaml");
        let text = fs::read_to_string(&file).expect("Kueue has a configuration");
        fs::write(&file, text.replace(&gates(!on), &gates(on))).expect("the configuration can be written");
        self.kueue.lock().expect("no test breaks the lock").again();
        let health = &self.kueue_health;
        until("Kueue is back", Duration::from_secs(90), async || crate::wait::http(health, "/readyz").await).await;
    }
}

fn configuration(address: Ipv4Addr, webhook: u16, health: u16, certificates: &Path) -> String {
    format!(
        "apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
leaderElection: {{leaderElect: false}}
metrics: {{bindAddress: \"0\"}}
health: {{healthProbeBindAddress: \"{address}:{health}\"}}
webhook: {{host: {address}, port: {webhook}, certDir: {certificates}}}
internalCertManagement: {{enable: false}}
clientConnection: {{qps: 200, burst: 400}}
manageJobsWithoutQueueName: false
integrations: {{frameworks: [\"batch/job\", \"pod\", \"jobset.x-k8s.io/jobset\"]}}
featureGates: {{{gates}, ElasticJobsViaWorkloadSlices: true, VisibilityOnDemand: false, MultiKueue: false}}
",
        gates = gates(true),
        certificates = certificates.display()
    )
}

/// Standard base64 with padding (RFC 4648 §4).
pub fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, at| word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4_usize {
            let index = usize::try_from(word >> (18 - 6 * at) & 63).expect("six bits");
            text.push(if at <= chunk.len() { char::from(LETTERS[index]) } else { '=' });
        }
    }
    text
}
