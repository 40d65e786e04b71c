//! An overlay of `deploy/kustomize` as it is shipped, with the image of the tests, applied to the real node.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::Node;
use super::runtime::STAGGER;
use crate::wait::until;

pub const NAMESPACE: &str = "stagger-system";
pub const DEPLOYMENTS: [&str; 3] = ["stagger-webhook", "stagger-controller", "stagger-watchdog"];
const OURS: &str = "stagger.dev/v1alpha1";
const TENANT: &str = "stagger.dev/tenant";
const TENANT_UID: &str = "stagger.dev/tenant-uid";

/// What was applied.
pub struct Installation<'a> {
    node: &'a Node,
    folder: PathBuf,
    kustomization: Value,
}

impl<'a> Installation<'a> {
    /// Applies an overlay with these patches and waits until its pods are ready.
    pub fn apply(node: &'a Node, overlay: &str, patches: &Value) -> Self {
        Self::of(node, overlay, &json!({"resources": [format!("overlays/{overlay}")], "patches": patches}))
    }

    /// Applies an overlay of one's own. Its parts are named as they lie in `deploy/kustomize`.
    pub fn of(node: &'a Node, name: &str, parts: &Value) -> Self {
        let folder = node.plane.folder.join(format!("overlay-{name}"));
        fs::create_dir_all(&folder).expect("the plane's folder can be written");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kustomize");
        let mut kustomization = parts.clone();
        for list in ["resources", "components"] {
            for part in kustomization.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                *part = json!(relative(&folder, &root.join(part.as_str().expect("a part has a name"))));
            }
        }
        kustomization["apiVersion"] = json!("kustomize.config.k8s.io/v1beta1");
        kustomization["kind"] = json!("Kustomization");
        let mut here = Self { node, folder, kustomization };
        here.upgrade(STAGGER);
        here
    }

    /// Applies the same with this image and waits until its pods are ready.
    pub fn upgrade(&mut self, image: &str) {
        let (name, tag) = image.split_once(':').expect("the image has a tag");
        self.kustomization["images"] = json!([{"name": "stagger", "newName": name, "newTag": tag}]);
        // JSON is YAML.
        let file = self.folder.join("kustomization.yaml");
        fs::write(file, self.kustomization.to_string()).expect("the plane's folder can be written");
        self.must(&["apply", "--server-side", "-k", &self.folder.display().to_string()]);
        for deployment in DEPLOYMENTS {
            self.rolled_out(deployment);
        }
    }

    /// Waits until the pods of a Deployment are those it asks for, and ready.
    pub fn rolled_out(&self, deployment: &str) {
        self.must(&["rollout", "status", &format!("deployment/{deployment}"), "-n", NAMESPACE, "--timeout=120s"]);
    }

    /// Runs kubectl, which must succeed.
    pub fn must(&self, words: &[&str]) -> String {
        self.node.kubectl(words).unwrap_or_else(|error| panic!("kubectl {words:?}: {error}\n{}", self.told()))
    }

    /// How things stand, for a failure's message.
    pub fn told(&self) -> String {
        let mut text = String::new();
        let all = ["get", "pods,jobs,workloads", "-A", "-o", "wide"];
        let events = ["get", "events", "-A", "--sort-by=.lastTimestamp"];
        for words in [&all[..], &events[..]] {
            text.push_str(&self.node.kubectl(words).unwrap_or_else(|error| error));
        }
        for deployment in DEPLOYMENTS {
            let name = format!("deployment/{deployment}");
            let log = self.node.kubectl(&["logs", &name, "-n", NAMESPACE, "--tail=30", "--all-pods=true"]);
            text.push_str(&format!("\n{name}:\n{}", log.unwrap_or_else(|error| error)));
        }
        text
    }

    /// A tenant and its one namespace; when it returns, work there is stamped. Its name and UID.
    pub async fn tenant(&self, tenant: &str, namespace: &str) -> (String, String) {
        let admin = &self.node.plane.admin;
        let spec = json!({"displayName": tenant, "namespaces": [namespace]});
        let kind = json!({"apiVersion": OURS, "kind": "GpuTenant", "metadata": {"name": tenant}, "spec": spec});
        let uid = admin.apply(&kind).await["metadata"]["uid"].as_str().expect("an object has a UID").to_owned();
        admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})).await;
        let stamp = (tenant.to_owned(), uid);
        let found = until("work is stamped", Duration::from_mins(1), async || {
            let made = admin.dry_run(&pod(namespace)).await.map_err(|refused| refused.message)?;
            if stamp_of(&made) == stamp { Ok(made) } else { Err(format!("{}\n{}", made["metadata"], self.told())) }
        });
        found.await;
        stamp
    }

    /// Removes everything that was applied, and returns when it is gone.
    pub async fn remove(self) {
        // What a person who uninstalls does first.
        self.must(&["delete", "capacityplans", "--all", "--timeout=60s"]);
        self.must(&["delete", "-k", &self.folder.display().to_string(), "--wait=false"]);
        let gone = until("what was applied is gone", Duration::from_mins(2), async || {
            let definitions = self.definitions();
            for name in definitions.iter().filter(|one| forgotten(one)).map(|one| &one["metadata"]["name"]) {
                let name = name.as_str().expect("an object has a name");
                // Any change lets the API server try again, and once it is gone there is nothing to annotate.
                let again = ["annotate", "customresourcedefinition", name, "stagger.dev/try=again", "--overwrite"];
                drop(self.node.kubectl(&again));
            }
            let namespace = self.must(&["get", "namespace", NAMESPACE, "--ignore-not-found", "-o", "name"]);
            if definitions.is_empty() && namespace.is_empty() {
                return Ok(());
            }
            Err(format!("{namespace}{definitions:#?}"))
        });
        gone.await;
    }

    /// Our CustomResourceDefinitions that are still there.
    fn definitions(&self) -> Vec<Value> {
        let listed = self.must(&["get", "customresourcedefinitions", "-o", "json"]);
        let mut list: Value = serde_json::from_str(&listed).expect("kubectl writes JSON");
        let Value::Array(mut all) = list["items"].take() else { panic!("no list: {list}") };
        all.retain(|one| one["spec"]["group"] == "stagger.dev");
        all
    }
}

/// Whether the API server may have given up deleting a CustomResourceDefinition until it looks at all of them again
/// after five minutes: when it could not read the objects, it tries again after 5 ms, and if by then it has not yet
/// read of its own failure, that try ends in a conflict and no other follows (`crd_finalizer.go` of Kubernetes 1.35).
fn forgotten(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.is_some_and(|all| all.iter().any(|one| one["reason"] == "InstanceDeletionFailed"))
}

/// The tenant and its UID that an object is stamped with.
pub fn stamp_of(object: &Value) -> (String, String) {
    let label = |key: &str| object["metadata"]["labels"][key].as_str().unwrap_or_default().to_owned();
    (label(TENANT), label(TENANT_UID))
}

/// A pod that nobody places.
pub fn pod(namespace: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "plain-", "namespace": namespace},
           "spec": {"restartPolicy": "Never", "schedulerName": "nobody", "containers": [{"name": "main", "image": "none"}]}})
}

/// kustomize takes no absolute paths.
fn relative(from: &Path, to: &Path) -> String {
    let up = "../".repeat(from.components().count() - 1);
    format!("{up}{}", to.strip_prefix("/").unwrap_or(to).display())
}
