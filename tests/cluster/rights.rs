//! Least privilege: controller and webhook do their whole work under the accounts that are shipped, and use every right of
//! them. A right that is used cannot be taken away, which `needed` tries one by one; one that is not has no business there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use stagger::calendar;
use stagger::controller::kinds::{KINDS, Watched};
use stagger::units::Timestamp;

use crate::admission::{GATE, GATES, GPU, KUEUE, QUEUE};
use crate::crds;
use crate::needed::needed;
use crate::person::{Person, documents};
use crate::plane::{Part, Plane, port};
use crate::shared::on_own_plane;
use crate::wait::{http, until};

pub const SYSTEM: &str = "stagger-system";
const NAMESPACE: &str = "rights";

const ADMISSION: &str = "admissionregistration.k8s.io";

/// API group, resource with its subresource, verb.
pub type Right = (String, String, String);

pub fn strings<'a>(rule: &'a Value, field: &str) -> impl Iterator<Item = String> + use<'a> {
    rule[field].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}

/// What is shipped.
fn shipped(rules: &[Value]) -> BTreeSet<Right> {
    let roles = rules.iter().filter(|one| one["kind"] == "ClusterRole" || one["kind"] == "Role");
    let mut rights = BTreeSet::new();
    for rule in roles.flat_map(|role| role["rules"].as_array().cloned().unwrap_or_default()) {
        for group in strings(&rule, "apiGroups") {
            for resource in strings(&rule, "resources") {
                rights.extend(strings(&rule, "verbs").map(|verb| (group.clone(), resource.clone(), verb)));
            }
        }
    }
    rights
}

/// A request: the right that it took, and the namespace and the name that it was about.
pub type Request = (Right, String, String);

/// The request of an entry of the audit log.
fn request(event: &Value) -> Request {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut resource = text("/objectRef/resource");
    if !text("/objectRef/subresource").is_empty() {
        resource = format!("{resource}/{}", text("/objectRef/subresource"));
    }
    let right = (text("/objectRef/apiGroup"), resource, text("/verb"));
    (right, text("/objectRef/namespace"), text("/objectRef/name"))
}

/// What an account has been given, request by request.
pub fn requests(plane: &Plane, account: &str) -> BTreeSet<Request> {
    let account = format!("system:serviceaccount:{SYSTEM}:{account}");
    let audit = plane.audit();
    let own = audit.iter().filter(|event| event["user"]["username"] == account.as_str());
    own.filter(|event| event["responseStatus"]["code"] != 403).map(request).collect()
}

/// What an account has asked for: what it was given, and what it was refused.
fn asked(plane: &Plane, account: &str) -> (BTreeSet<Right>, BTreeSet<Right>) {
    let (mut given, mut refused) = (BTreeSet::new(), BTreeSet::new());
    let account = format!("system:serviceaccount:{SYSTEM}:{account}");
    for event in plane.audit().iter().filter(|event| event["user"]["username"] == account.as_str()) {
        let (right, ..) = request(event);
        match event["responseStatus"]["code"].as_u64() {
            Some(403) => drop(refused.insert(right)),
            _ if right.1.is_empty() => {}
            _ => drop(given.insert(right)),
        }
    }
    (given, refused)
}

/// Every kind that is watched, as a definition without any schema where it is not installed.
async fn define(admin: &Person) {
    let mut missing = Vec::new();
    // Kubernetes' own kinds, Kueue's and JobSet are there, and so are ours.
    let there = ["node.k8s.io", "scheduling.k8s.io", "kueue.x-k8s.io", "jobset.x-k8s.io", "stagger.dev"];
    for kind in KINDS.iter().filter(|kind| kind.group.contains('.') && !there.contains(&kind.group)) {
        missing.push(definition(kind));
    }
    admin.define(missing).await;
}

fn definition(kind: &Watched) -> Value {
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = json!({"name": kind.versions[0], "served": true, "storage": true, "schema": schema});
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
           "metadata": {"name": kind.resource(), "annotations": {"api-approved.kubernetes.io": "unapproved, a stand-in for tests"}},
           "spec": {"group": kind.group, "scope": if kind.namespaced { "Namespaced" } else { "Cluster" },
                    "names": {"plural": kind.plural, "singular": kind.kind.to_lowercase(), "kind": kind.kind},
                    "versions": [version]}})
}

/// An object of a queued kind that our gate holds.
fn gated(kind: &Watched) -> Value {
    let group = if kind.group.is_empty() { String::new() } else { format!("{}/", kind.group) };
    let mut object = json!({"apiVersion": format!("{group}{}", kind.versions[0]), "kind": kind.kind,
        "metadata": {"name": "held", "namespace": NAMESPACE, "labels": {QUEUE: NAMESPACE}, "annotations": {GATES: GATE}}});
    let container = json!({"name": "main", "image": "none"});
    let labels = json!({"app": "held"});
    object["spec"] = match kind.kind {
        "Job" => json!({"suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}),
        "JobSet" => json!({"suspend": true, "replicatedJobs": [{"name": "main", "replicas": 1, "template":
            {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}}}]}),
        "StatefulSet" => json!({"replicas": 0, "serviceName": "held", "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}}),
        "Pod" => json!({"containers": [container], "schedulingGates": [{"name": "kueue.x-k8s.io/admission"}]}),
        "Workload" => {
            json!({"queueName": NAMESPACE, "active": false, "podSets": [{"name": "main", "count": 1, "template":
            {"spec": {"restartPolicy": "Never", "containers": [container]}}}]})
        }
        _ => json!({}),
    };
    object
}

/// The rules of shipped files, applied; and a kubeconfig of their account.
async fn account(plane: &Plane, name: &str, files: &[&str]) -> (Vec<Value>, PathBuf) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kustomize/components");
    let rules: Vec<Value> = files.iter().flat_map(|file| documents(&root.join(file))).collect();
    for rule in &rules {
        plane.admin.apply(rule).await;
    }
    let token = plane.admin.token(SYSTEM, name).await;
    (rules, plane.authority.bearer(&plane.server, name, &token))
}

/// Waits until the account has used everything that it was given, and has asked for nothing else.
async fn used(plane: &Plane, name: &str, rules: &[Value]) {
    let shipped = shipped(rules);
    until(&format!("{name} uses every right"), Duration::from_mins(1), async || {
        let (given, refused) = asked(plane, name);
        assert!(refused.is_empty(), "{name} lacks {refused:?}");
        let unused: Vec<&Right> = shipped.difference(&given).collect();
        if unused.is_empty() { Ok(()) } else { Err(format!("not used: {unused:?}")) }
    })
    .await;
    let (given, _) = asked(plane, name);
    let beyond: Vec<&Right> = given.difference(&shipped).collect();
    assert!(beyond.is_empty(), "{name} has rights from elsewhere: {beyond:?}");
    needed(plane, name, rules).await;
}

fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_stagger"))
}

#[test]
fn each_account_does_its_work_and_uses_every_right_that_it_is_given() {
    on_own_plane(async |plane| {
        stage(plane).await;
        controller(plane).await;
        watchdog(plane).await;
        webhook(plane).await;
    });
}

/// Every kind there is, and a queue that Kueue does not serve: what is let go waits, and can be held again.
async fn stage(plane: &Plane) {
    let admin = &plane.admin;
    crds::installed(plane).await;
    for namespace in [NAMESPACE, SYSTEM] {
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
    }
    let map = json!({"name": "kueue-manager-config", "namespace": "kueue-system"});
    admin.apply(&json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": map, "data": {}})).await;
    let queue = json!({"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [GPU],
        "flavors": [{"name": NAMESPACE, "resources": [{"name": GPU, "nominalQuota": 4}]}]}]});
    let named = json!({"name": NAMESPACE});
    admin.apply(&json!({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": named})).await;
    admin.apply(&json!({"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": named, "spec": queue})).await;
    let local = json!({"name": NAMESPACE, "namespace": NAMESPACE});
    let spec = json!({"clusterQueue": NAMESPACE});
    admin.apply(&json!({"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": local, "spec": spec})).await;
    plane.kueue.lock().expect("no test breaks the lock").kill();
    for kind in ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"] {
        let hooks = json!({"name": format!("kueue-{}", kind.to_lowercase())});
        let hooks = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": hooks});
        admin.delete(&hooks).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    }
    define(admin).await;
}

/// A day's work: a plan, a promise, a tenant, a job that is let go, held again and let go again; and the end of it all.
async fn controller(plane: &Plane) {
    let admin = &plane.admin;
    let (rules, kubeconfig) = account(plane, "stagger-controller", &["controller/rights.yaml"]).await;
    let (ours, named) = ("stagger.dev/v1alpha1", json!({"name": NAMESPACE}));
    let spec = json!({"queues": [NAMESPACE], "mode": "Enforce", "horizon": "6h"});
    admin.apply(&json!({"apiVersion": ours, "kind": "CapacityPlan", "metadata": named, "spec": spec})).await;
    let spec = json!({"namespaces": [NAMESPACE]});
    admin.apply(&json!({"apiVersion": ours, "kind": "GpuTenant", "metadata": named, "spec": spec})).await;
    let due = calendar::rfc3339(Timestamp(stagger::clock::now().0 + 4 * 3600), chrono_tz::UTC);
    let promise = json!({"targetRef": {"group": "batch", "kind": "Job", "name": "eval-1"}, "finishBy": due,
                         "deadlinePolicy": "Hard", "expectedRuntime": {"p50": "1h", "p90": "1h"}});
    let slo = json!({"name": "evals", "namespace": NAMESPACE});
    admin.apply(&json!({"apiVersion": ours, "kind": "WorkloadSLO", "metadata": slo, "spec": promise})).await;
    let mut job = gated(KINDS.iter().find(|kind| kind.kind == "Job").expect("jobs are watched"));
    job["metadata"]["name"] = json!("eval-1");
    job["spec"]["template"]["spec"]["containers"][0]["resources"] =
        json!({"limits": {GPU: "1"}, "requests": {GPU: "1"}});
    admin.create(&job).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    let metrics = format!("127.0.0.1:{}", port());
    let flags = vec![
        "controller".to_owned(),
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--metrics-listen={metrics}"),
    ];
    let controller = Part::start("controller-rights", program(), flags, &plane.folder);
    until("the controller is ready", Duration::from_mins(1), async || http(&metrics, "/readyz").await).await;
    let goes = async || {
        until("the job is let go", Duration::from_mins(1), async || {
            let found = admin.get("batch/v1", "Job", NAMESPACE, "eval-1").await.map_err(|error| error.message)?;
            let gates = &found["metadata"]["annotations"][GATES];
            if gates.is_null() { Ok(()) } else { Err(format!("{gates}\n{}", controller.tail())) }
        })
        .await;
    };
    goes().await;
    let again = json!({"metadata": {"annotations": {GATES: GATE}}});
    admin.merge(&job, &again).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    goes().await;
    // Nobody stamps here, so that what is made now came without a stamp; a Deployment is nothing else to the controller.
    let labels = json!({"app": "late"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "none"}]}});
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "late", "namespace": NAMESPACE},
        "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}});
    until("it is made after its namespace became the tenant's", Duration::from_secs(30), async || {
        let space = admin.get("v1", "Namespace", "", NAMESPACE).await.map_err(|refused| refused.message)?;
        let made = admin.dry_run(&deployment).await.map_err(|refused| refused.message)?;
        let at = |object: &Value, pointer: &str| object.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let since = at(&space, "/metadata/annotations/stagger.dev~1tenant-since").ok_or("nobody's yet")?;
        let now = at(&made, "/metadata/creationTimestamp").unwrap_or_default();
        if now > since { Ok(()) } else { Err(now) }
    })
    .await;
    admin.create(&deployment).await.unwrap_or_else(|refused| panic!("{}", refused.message));
    // What stamps is looked for: the webhook's configuration, and where that is not there, the policy.
    let policy = |verb: &str| (ADMISSION.to_owned(), "mutatingadmissionpolicies".to_owned(), verb.to_owned());
    until("it looks for the policy", Duration::from_mins(1), async || {
        let (given, _) = asked(plane, "stagger-controller");
        if given.contains(&policy("get")) { Ok(()) } else { Err(controller.tail()) }
    })
    .await;
    for configuration in documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("webhooks/mutating.yaml")) {
        admin.apply(&configuration).await;
    }
    // The end: everything of every kind is let go, under the same account.
    for kind in queued() {
        admin.create(&gated(kind)).await.unwrap_or_else(|refused| panic!("{}: {}", kind.kind, refused.message));
    }
    let released = Command::new(program())
        .args(["controller", "--release-all"])
        .arg(format!("--kubeconfig={}", kubeconfig.display()))
        .output()
        .expect("stagger runs");
    assert!(released.status.success(), "{}", String::from_utf8_lossy(&released.stderr));
    used(plane, "stagger-controller", &rules).await;
}

fn queued() -> impl Iterator<Item = &'static Watched> {
    KINDS.iter().filter(|kind| kind.queued && kind.kind != "CronJob")
}

/// The controller has ended and everything is held once more: the watchdog lets it go under its own account.
async fn watchdog(plane: &Plane) {
    let admin = &plane.admin;
    let (rules, kubeconfig) = account(plane, "stagger-watchdog", &["controller/watchdog-rights.yaml"]).await;
    let again = json!({"metadata": {"annotations": {GATES: GATE}}});
    for kind in queued() {
        let patched = admin.merge(&gated(kind), &again).await;
        patched.unwrap_or_else(|refused| panic!("{}: {}", kind.kind, refused.message));
    }
    let flags = vec![
        "watchdog".to_owned(),
        format!("--kubeconfig={}", kubeconfig.display()),
        "--stale-after=1s".to_owned(),
        "--all-after=1s".to_owned(),
    ];
    let _watchdog = Part::start("watchdog-rights", program(), flags, &plane.folder);
    used(plane, "stagger-watchdog", &rules).await;
    for kind in queued() {
        let one = gated(kind);
        let (version, name) = (one["apiVersion"].as_str().expect("a version"), "held");
        until(&format!("the {} is let go", kind.kind), Duration::from_secs(30), async || {
            let found = admin.get(version, kind.kind, NAMESPACE, name).await.map_err(|error| error.message)?;
            let gates = &found["metadata"]["annotations"][GATES];
            if gates.is_null() { Ok(()) } else { Err(gates.to_string()) }
        })
        .await;
    }
}

/// The webhook that keeps its own certificate. One Secret is there and holds nothing, so that it is updated.
async fn webhook(plane: &Plane) {
    let admin = &plane.admin;
    let files = ["webhook/reading.yaml", "internal-cert/writing.yaml"];
    let (rules, kubeconfig) = account(plane, "stagger-webhook", &files).await;
    for source in ["webhooks/mutating.yaml", "webhooks/validating.yaml"] {
        for configuration in documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join(source)) {
            admin.apply(&configuration).await;
        }
    }
    let secret = json!({"name": "stagger-webhook-tls", "namespace": SYSTEM});
    let empty = json!({"tls.crt": "", "tls.key": ""});
    admin.apply(&json!({"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls", "metadata": secret, "data": empty})).await;
    let metrics = format!("127.0.0.1:{}", port());
    let flags = vec![
        "webhook".to_owned(),
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--listen=127.0.0.1:{}", port()),
        format!("--metrics-listen={metrics}"),
        "--mode=protect".to_owned(),
    ];
    let webhook = Part::start("webhook-rights", program(), flags, &plane.folder);
    until("the webhook is ready", Duration::from_mins(1), async || {
        http(&metrics, "/readyz").await.map_err(|error| format!("{error}\n{}", webhook.tail()))
    })
    .await;
    used(plane, "stagger-webhook", &rules).await;
}
