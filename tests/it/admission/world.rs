//! A small cluster, requests in its words, and a JSON patch applied as the API server would.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stagger::admission::{
    ClusterQueue, Decision, Directory, LocalQueue, Mode, Namespace, Operation, Tenant, TenantRef, World, decide, parse,
};
use stagger::api::capacity_plan::{self, CapacityPlanSpec};
use stagger::api::tenant::GpuTenantSpec;

pub fn id(name: &str) -> TenantRef {
    TenantRef { name: name.to_owned(), uid: format!("uid-of-{name}") }
}

pub fn tenant(name: &str, spec: Value) -> Tenant {
    let spec: GpuTenantSpec = serde_json::from_value(spec).unwrap();
    Tenant { id: id(name), spec }
}

pub fn namespace(name: &str, labels: &[(&str, &str)]) -> Namespace {
    let labels: BTreeMap<String, String> =
        labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Namespace { name: name.to_owned(), uid: format!("uid-of-{name}"), labels }
}

pub fn directory() -> Directory {
    let tenants = vec![
        tenant(
            "nlp",
            json!({"namespaces": ["evals", "shared"], "agents": {"sessionLabel": "agents.example/session"},
                   "subjects": [{"kind": "ServiceAccount", "namespace": "shared", "name": "nlp-runner"}]}),
        ),
        tenant(
            "vision",
            json!({"namespaceSelector": {"matchLabels": {"team": "vision"}}, "namespaces": ["shared"],
                   "subjects": [{"kind": "Group", "name": "vision-people"}]}),
        ),
    ];
    let namespaces = vec![
        namespace("evals", &[]),
        namespace("vision", &[("team", "vision")]),
        namespace("shared", &[]),
        namespace("free", &[]),
    ];
    Directory::new(tenants, namespaces)
}

/// Tenant nlp has `evals`, vision has `vision`, both share `shared`, nobody has `free`. The queue `batch` is gated, `open`
/// is not.
pub fn cluster(mode: Mode) -> World {
    let mut world = World { mode, directory: Arc::new(directory()), ..World::default() };
    let queues = Arc::make_mut(&mut world.queues);
    for namespace in ["evals", "vision", "shared", "free"] {
        for queue in ["batch", "open"] {
            let local = LocalQueue { cluster_queue: queue.to_owned() };
            queues.local.insert((namespace.to_owned(), queue.to_owned()), local);
        }
    }
    queues.cluster.insert("batch".to_owned(), ClusterQueue { cohort: Some("inner".to_owned()) });
    queues.cluster.insert("open".to_owned(), ClusterQueue::default());
    queues.cohorts.insert("inner".to_owned(), "outer".to_owned());
    let plan = CapacityPlanSpec {
        cohorts: vec!["outer".to_owned()],
        mode: capacity_plan::Mode::Enforce,
        ..CapacityPlanSpec::default()
    };
    queues.plans.insert("main".to_owned(), plan);
    world
}

/// One request, built in the words of the API server.
#[derive(Debug, Clone)]
pub struct Ask(pub Value);

pub fn ask(operation: &str, group: &str, resource: &str) -> Ask {
    Ask(json!({
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": group, "version": "v1", "kind": "Any"},
        "resource": {"group": group, "version": "v1", "resource": resource},
        "operation": operation,
        "namespace": "evals",
        "name": "",
        "userInfo": {"username": "ana", "groups": ["system:authenticated"]},
        "object": null, "oldObject": null, "dryRun": false, "options": null,
    }))
}

pub fn create(group: &str, resource: &str, object: Value) -> Ask {
    ask("CREATE", group, resource).object(object)
}

pub fn update(group: &str, resource: &str, old: Value, new: Value) -> Ask {
    ask("UPDATE", group, resource).object(new).old(old)
}

impl Ask {
    pub fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0[key] = value.into();
        self
    }
    pub fn object(self, object: Value) -> Self {
        self.set("object", object)
    }
    pub fn old(self, object: Value) -> Self {
        self.set("oldObject", object)
    }
    pub fn within(self, namespace: &str) -> Self {
        self.set("namespace", namespace)
    }
    pub fn sub(self, resource: &str) -> Self {
        self.set("subResource", resource)
    }
    pub fn user(mut self, name: &str, groups: &[&str]) -> Self {
        self.0["userInfo"] = json!({"username": name, "groups": groups});
        self
    }
    pub fn body(&self) -> String {
        json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": self.0}).to_string()
    }
    pub fn decide(&self, world: &World) -> Decision {
        let body = self.body();
        decide(&parse(body.as_bytes()).unwrap().request, world)
    }
    /// The object after the patch.
    pub fn result(&self, world: &World) -> Value {
        applied(&self.0["object"], &self.decide(world).patch)
    }
}

pub fn controller(name: &str) -> String {
    format!("system:serviceaccount:kube-system:{name}-controller")
}

/// RFC 6902's add and remove, strict: a missing parent is an error.
pub fn applied(object: &Value, patch: &[Operation]) -> Value {
    let mut result = object.clone();
    for operation in patch {
        let (Operation::Add { path, .. } | Operation::Remove { path }) = operation;
        let (parent, key) = path.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent: &mut Map<String, Value> =
            result.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")).as_object_mut().unwrap();
        match operation {
            Operation::Add { value, .. } => drop(parent.insert(key, value.clone())),
            Operation::Remove { .. } => drop(parent.remove(&key).unwrap()),
        }
    }
    result
}

pub fn labels(object: &Value) -> String {
    object["metadata"]["labels"].to_string()
}

pub fn a_job(queue: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "train", "labels": {"kueue.x-k8s.io/queue-name": queue}},
        "spec": {"template": {"spec": {"containers": []}}},
    })
}
