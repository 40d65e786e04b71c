//! The webhook and its policies on a real API server.

mod beginning;
mod cel_only;
mod down;
mod forgery;
mod gates;
mod late;
mod mutators;
mod shipped;
mod traps;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use shipped::{Registration, take_mode};
use tokio::sync::OnceCell;

use crate::crds;
use crate::person::{Person, documents};
use crate::plane::{Part, Plane, port};
use crate::wait::{http, until};

pub const KUEUE: &str = "kueue.x-k8s.io/v1beta2";
pub const GPU: &str = "nvidia.com/gpu";
pub const GATE: &str = "stagger.dev/planner";
pub const GATES: &str = "kueue.x-k8s.io/admission-gated-by";
pub const QUEUE: &str = "kueue.x-k8s.io/queue-name";
pub const TENANT: &str = "stagger.dev/tenant";
pub const TENANT_UID: &str = "stagger.dev/tenant-uid";
/// What the policies that protect say of a stamp that is another tenant's.
const WRONG_STAMP: &str = "is not that of the namespace's GpuTenant";
/// The name by which a cluster's API server calls it.
const NAME: &str = "stagger-webhook.stagger-system.svc";
/// Where tenant nlp works; vision works in the other.
pub const EVALS: &str = "forged-evals";
pub const VISION: &str = "forged-vision";

/// The webhook as a process, with the stamps of both tenants.
pub struct Installed {
    pub webhook: Mutex<Part>,
    /// How the API server finds it.
    registration: Registration,
    /// Where it answers probes.
    probes: String,
    /// With its certificate and key.
    folder: PathBuf,
    /// Name and UID of tenant nlp, and of vision.
    pub nlp: (String, String),
    pub vision: (String, String),
}

impl Installed {
    /// The labels that say so.
    pub fn labels(tenant: &(String, String)) -> Value {
        json!({TENANT: tenant.0, TENANT_UID: tenant.1})
    }

    pub fn stamp_of(object: &Value) -> (String, String) {
        let label = |key: &str| object["metadata"]["labels"][key].as_str().unwrap_or_default().to_owned();
        (label(TENANT), label(TENANT_UID))
    }

    /// Waits until the webhook is asked and answers, as it was before a test.
    async fn is_back(&self, admin: &Person) {
        // A gate is the webhook's alone; a stamp may also be a policy's.
        let job = json!({"apiVersion": "batch/v1", "kind": "Job",
                         "metadata": {"name": "again", "namespace": EVALS, "labels": {QUEUE: "gated"}},
                         "spec": {"suspend": true, "template": pod("", "", &json!({}))}});
        until("the webhook gates and stamps again", Duration::from_secs(30), async || {
            let made = admin.dry_run(&job).await.map_err(|refused| refused.message)?;
            let is_gated = made["metadata"]["annotations"][GATES] == GATE;
            if is_gated && Self::stamp_of(&made) == self.nlp { Ok(()) } else { Err(made["metadata"].to_string()) }
        })
        .await;
    }

    /// Goes back to what a test found, from whatever mode: the webhook running, the policies those of `protect` alone.
    ///
    /// An API server follows kinds of policies one by one, and acts by what was deleted for a moment longer. While the webhook
    /// is down one sees it: nothing stamps, nothing asks for a stamp, and a forged one is refused.
    async fn protects_again(&self, plane: &Plane) {
        let admin = &plane.admin;
        let somebody = plane.user("somebody", &[]).await;
        self.webhook.lock().expect("no test breaks the lock").kill();
        take_mode(admin, "protect", &self.registration).await;
        let bare = pod("settled", EVALS, &json!({}));
        let forged = pod("settled", EVALS, &Self::labels(&self.vision));
        until("only the policies that protect are left", Duration::from_secs(30), async || {
            let made = somebody.dry_run(&bare).await.map_err(|refused| refused.message)?;
            if Self::stamp_of(&made) != (String::new(), String::new()) {
                return Err(format!("still stamped: {}", made["metadata"]["labels"]));
            }
            match somebody.dry_run(&forged).await {
                Err(refused) if refused.message.contains(WRONG_STAMP) => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
        self.webhook.lock().expect("no test breaks the lock").again();
        self.is_back(admin).await;
    }
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The checks of `stagger doctor`, with its dry run in a namespace of ours.
pub fn doctor(plane: &Plane) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_stagger"))
        .args(["doctor", "-o", "json", "-n", EVALS])
        .arg(format!("--kubeconfig={}", plane.admin.kubeconfig().display()))
        .output()
        .expect("stagger runs");
    let said: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    said["checks"].as_array().expect("checks").clone()
}

/// Installs kinds, tenants, policies that protect, and the webhook; once for all tests.
pub async fn installed(plane: &Plane) -> &'static Installed {
    static INSTALLED: OnceCell<Installed> = OnceCell::const_new();
    INSTALLED.get_or_init(async || install(plane).await).await
}

/// Takes away what `install` has put between a request and its object, on a plane that others use after us.
pub async fn uninstall(plane: &Plane) {
    let admin = &plane.admin;
    let hooks = ["webhooks/mutating.yaml", "webhooks/validating.yaml", "webhooks/bindings-protect.yaml"];
    let mut objects: Vec<Value> = hooks.iter().flat_map(|source| documents(&file(source))).collect();
    let plan =
        |name: &str| json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": name}});
    objects.extend(["gated", "open"].map(plan));
    for object in &objects {
        match admin.delete(object).await {
            Ok(()) => {}
            // Not every mode binds every policy.
            Err(refused) => assert_eq!(refused.code, 404, "{}", refused.message),
        }
    }
}

/// Installs all of it on a plane.
pub async fn install(plane: &Plane) -> Installed {
    let admin = &plane.admin;
    crds::installed(plane).await;

    // 1. Two tenants, and the labels that our controller keeps on their namespaces.
    let mut stamps = Vec::new();
    for (tenant, namespace) in [("forged-nlp", EVALS), ("forged-vision", VISION)] {
        let kind = json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "GpuTenant", "metadata": {"name": tenant},
                          "spec": {"displayName": tenant, "namespaces": [namespace]}});
        let uid = admin.apply(&kind).await["metadata"]["uid"].as_str().expect("an object has a UID").to_owned();
        let stamp = (tenant.to_owned(), uid);
        let metadata = json!({"name": namespace, "labels": Installed::labels(&stamp)});
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})).await;
        stamps.push(stamp);
    }

    // 2. A queue whose work waits for the plan, and one whose work does not.
    for (queue, mode) in [("gated", "Enforce"), ("open", "Observe")] {
        // More than all tests together take: none waits for what another one holds.
        let quota = json!({"name": GPU, "nominalQuota": 64});
        let group =
            json!({"coveredResources": [GPU], "flavors": [{"name": format!("{queue}-a100"), "resources": [quota]}]});
        let objects = [
            json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": format!("{queue}-a100")}}),
            json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": queue},
                   "spec": {"namespaceSelector": {}, "resourceGroups": [group]}}),
            json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": queue, "namespace": EVALS},
                   "spec": {"clusterQueue": queue}}),
            json!({"apiVersion": "stagger.dev/v1alpha1", "kind": "CapacityPlan", "metadata": {"name": queue},
                   "spec": {"queues": [queue], "mode": mode}}),
        ];
        for object in &objects {
            admin.apply(object).await;
        }
    }

    // 3. Whose rights count: those of our accounts, as they are shipped, and of Kueue's.
    admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "stagger-system"}})).await;
    for source in ["base/identities.yaml", "components/webhook/reading.yaml"] {
        for object in documents(&file(&format!("deploy/kustomize/{source}"))) {
            admin.apply(&object).await;
        }
    }
    let token = admin.token("stagger-system", "stagger-webhook").await;
    let account = plane.authority.bearer(&plane.server, "stagger-webhook", &token);

    // 4. The process.
    let (address, probes) = (port(), format!("127.0.0.1:{}", port()));
    let folder = plane.folder.join("webhook");
    fs::create_dir_all(&folder).expect("a folder can be made");
    plane.authority.server(&folder, &[NAME]);
    let path = |name: &str| folder.join(name).display().to_string();
    let flags = [
        "webhook".to_owned(),
        format!("--kubeconfig={}", account.display()),
        format!("--listen=127.0.0.1:{address}"),
        format!("--metrics-listen={probes}"),
        "--mode=protect".to_owned(),
        format!("--cert={}", path("tls.crt")),
        format!("--key={}", path("tls.key")),
        format!("--ca={}", plane.folder.join("ca.crt").display()),
    ];
    let mut webhook = Part::start("webhook", Path::new(env!("CARGO_BIN_EXE_stagger")), flags.to_vec(), &plane.folder);
    until("the webhook is ready", Duration::from_secs(30), async || {
        if let Some(status) = webhook.ended() {
            panic!("the webhook ended with {status}:\n{}", webhook.tail());
        }
        http(&probes, "/readyz").await
    })
    .await;

    // 5. Its registration, by address instead of by Service, and the policies.
    let registration =
        Registration { address: format!("127.0.0.1:{address}"), bundle: plane.authority.pem().to_owned() };
    take_mode(admin, "protect", &registration).await;
    // An API server takes up new policies and webhooks within a moment; a forged stamp tells when.
    let mut stamps = stamps.into_iter();
    let (nlp, vision) = (stamps.next().expect("two tenants"), stamps.next().expect("two tenants"));
    let forged = pod("probe", EVALS, &Installed::labels(&vision));
    until("a stamp is corrected", Duration::from_secs(30), async || {
        let made = admin.dry_run(&forged).await.map_err(|refused| refused.message)?;
        if Installed::stamp_of(&made) == nlp { Ok(()) } else { Err(made["metadata"]["labels"].to_string()) }
    })
    .await;
    // And so do the policies, asked by somebody who may do everything but what is ours.
    let somebody = plane.user("somebody", &[]).await;
    grant(plane, "somebody", &json!([{"apiGroups": ["", "batch"], "resources": ["*"], "verbs": ["*"]}])).await;
    let taken = json!({"metadata": {"labels": Installed::labels(&vision)}});
    let at = format!("/api/v1/namespaces/{EVALS}?dryRun=All");
    until("the policies hold", Duration::from_secs(30), async || {
        match somebody.send("PATCH", &at, "application/merge-patch+json", &taken).await {
            Err(refused) if refused.message.contains("ValidatingAdmissionPolicy") => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    Installed { webhook: Mutex::new(webhook), registration, probes, folder, nlp, vision }
}

/// Gives a user these rights everywhere.
pub async fn grant(plane: &Plane, user: &str, rules: &Value) {
    let api = "rbac.authorization.k8s.io";
    let version = format!("{api}/v1");
    let named = json!({"name": user.replace(':', "-")});
    let role = json!({"apiVersion": version, "kind": "ClusterRole", "metadata": named, "rules": rules});
    let binding = json!({"apiVersion": version, "kind": "ClusterRoleBinding", "metadata": named,
                         "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": named["name"]},
                         "subjects": [{"apiGroup": api, "kind": "User", "name": user}]});
    plane.admin.apply(&role).await;
    plane.admin.apply(&binding).await;
}

/// A pod that asks for nothing.
pub fn pod(name: &str, namespace: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace, "labels": labels},
           "spec": {"restartPolicy": "Never", "schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}]}})
}
