//! An API server in memory, over plain HTTP: objects with resource versions, lists, watches, JSON Patch, refusals.
//!
//! It knows no schema and no permission; a test says which kinds are served and what fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use self::paths::{Target, query, target};

pub mod paths;

#[derive(Default)]
struct Kept {
    version: u64,
    /// By collection (with the namespace in it) and name.
    objects: BTreeMap<(String, String), Value>,
    /// Every change: its version, the resource it is of, what happened, the object.
    history: Vec<(u64, String, &'static str, Value)>,
    /// `group/version/plural`; empty group: `v1/pods`.
    served: BTreeSet<String>,
    /// The kinds of served resources, where discovery shows them.
    kinds: BTreeMap<String, String>,
    /// Method and beginning of a path, and what is answered instead; a code of 0: nothing at all.
    failing: Vec<(Method, String, u16, String)>,
    asked: Vec<(Method, String)>,
    /// Watches end when this is raised.
    cut: u64,
}

pub struct Fake {
    kept: Mutex<Kept>,
    changed: watch::Sender<u64>,
    pub address: String,
}

impl Fake {
    /// A server of these resources (`coordination.k8s.io/v1/leases`).
    pub async fn start(served: &[&str]) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let served = served.iter().map(|name| (*name).to_owned()).collect();
        let fake = Arc::new(Self {
            kept: Mutex::new(Kept { served, ..Kept::default() }),
            changed: watch::channel(0).0,
            address: format!("http://{}", listener.local_addr().unwrap()),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&fake));
        tokio::spawn(async move { axum::serve(listener, router).await });
        fake
    }

    /// A client of it, as `cluster::connect` makes one.
    pub async fn client(&self) -> kube::Client {
        let folder = tempfile::tempdir().unwrap();
        let access = stagger::cluster::Access { kubeconfig: Some(self.kubeconfig(&folder)), ..Default::default() };
        stagger::cluster::connect(&access).await.unwrap().client
    }

    /// A kubeconfig in a folder that is to live as long as it is needed.
    pub fn kubeconfig(&self, folder: &tempfile::TempDir) -> PathBuf {
        let path = folder.path().join("config");
        let text = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "fake",
            "clusters": [{"name": "fake", "cluster": {"server": self.address}}],
            "contexts": [{"name": "fake", "context": {"cluster": "fake", "user": "fake"}}],
            "users": [{"name": "fake", "user": {}}],
        });
        std::fs::write(&path, text.to_string()).unwrap();
        path
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap()
    }

    /// Puts an object there, as somebody else would. `collection`: `/api/v1/namespaces/evals/pods`.
    pub fn put(&self, collection: &str, object: Value) -> Value {
        let mut kept = self.kept();
        let name = object["metadata"]["name"].as_str().unwrap().to_owned();
        let key = (collection.to_owned(), name);
        let what = if kept.objects.contains_key(&key) { "MODIFIED" } else { "ADDED" };
        let stored = store(&mut kept, key, what, object);
        self.changed.send_replace(kept.version);
        stored
    }

    pub fn remove(&self, collection: &str, name: &str) {
        let mut kept = self.kept();
        let key = (collection.to_owned(), name.to_owned());
        let gone = kept.objects.remove(&key).unwrap();
        kept.version += 1;
        let (version, resource) = (kept.version, target(collection).resource);
        kept.history.push((version, resource, "DELETED", gone));
        self.changed.send_replace(version);
    }

    pub fn get(&self, collection: &str, name: &str) -> Option<Value> {
        self.kept().objects.get(&(collection.to_owned(), name.to_owned())).cloned()
    }

    /// Serves a kind from now on, as when its CustomResourceDefinition is installed; discovery shows it.
    pub fn serve_kind(&self, group: &str, version: &str, plural: &str, kind: &str) {
        let dash = if group.is_empty() { "" } else { "/" };
        let mut kept = self.kept();
        kept.served.insert(format!("{group}{dash}{version}/{plural}"));
        kept.kinds.insert(format!("{group}{dash}{version}/{plural}"), kind.to_owned());
    }

    /// From now on, such requests are answered so; a code of 0 means not at all.
    pub fn fail(&self, method: Method, path: &str, code: u16, message: &str) {
        self.kept().failing.push((method, path.to_owned(), code, message.to_owned()));
    }

    pub fn heal(&self) {
        self.kept().failing.clear();
    }

    /// Ends all watches, as a server does that restarts. `forget`: resource versions from before are too old then.
    pub fn cut_watches(&self, forget: bool) {
        let mut kept = self.kept();
        kept.cut += 1;
        if forget {
            kept.history.clear();
        }
        kept.version += 1;
        self.changed.send_replace(kept.version);
    }

    /// How often such a request was made.
    pub fn asked(&self, method: &Method, path: &str) -> usize {
        self.kept().asked.iter().filter(|(known, asked)| known == method && asked.starts_with(path)).count()
    }
}

fn store(kept: &mut Kept, key: (String, String), what: &'static str, mut object: Value) -> Value {
    kept.version += 1;
    object["metadata"]["resourceVersion"] = json!(kept.version.to_string());
    if object["metadata"]["uid"].is_null() {
        object["metadata"]["uid"] = json!(format!("uid-{}", kept.version));
    }
    let resource = target(&key.0).resource;
    kept.history.push((kept.version, resource, what, object.clone()));
    kept.objects.insert(key, object.clone());
    object
}

fn status(code: u16, reason: &str, message: &str) -> Response {
    let body = json!({
        "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
        "code": code, "reason": reason, "message": message,
    });
    reply(code, &body)
}

fn reply(code: u16, body: &Value) -> Response {
    let code = StatusCode::from_u16(code).unwrap();
    (code, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

async fn answer(State(fake): State<Arc<Fake>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let failing = {
        let mut kept = fake.kept();
        kept.asked.push((method.clone(), uri.path().to_owned()));
        kept.failing.iter().find(|(known, path, ..)| *known == method && uri.path().starts_with(path.as_str())).cloned()
    };
    match failing {
        Some((_, _, 0, _)) => return std::future::pending().await,
        Some((_, _, code, message)) => return status(code, "", &message),
        None => {}
    }
    if uri.path() == "/version" {
        let (git, major, minor) = ("v1.35.4", "1", "35");
        let rest = ["gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"].map(|key| (key, ""));
        let mut version: BTreeMap<&str, &str> = rest.into();
        version.extend([("gitVersion", git), ("major", major), ("minor", minor)]);
        return reply(200, &json!(version));
    }
    if let Some(document) = discovery(&fake.kept().kinds, uri.path()) {
        return reply(200, &document);
    }
    let target = target(uri.path());
    if !fake.kept().served.contains(&target.resource) {
        return (StatusCode::NOT_FOUND, "404 page not found\n").into_response();
    }
    let asked = query(&uri);
    let slim = headers.get(header::ACCEPT).is_some_and(|kind| kind.to_str().unwrap().contains("PartialObjectMetadata"));
    match (method, &target.name) {
        (Method::GET, Some(name)) => match fake.get(&target.collection, name) {
            Some(object) => reply(200, &object),
            None => status(404, "NotFound", &format!("{} \"{name}\" not found", target.plural())),
        },
        (Method::GET, None) if asked.get("watch").is_some_and(|watch| watch == "true") => {
            follow(&fake, target, asked, slim)
        }
        (Method::GET, None) => list(&fake, &target, &asked, slim),
        (Method::POST, None) => create(&fake, &target, &asked, &body),
        (Method::PUT, Some(name)) => replace(&fake, &target, name, &body),
        (Method::PATCH, Some(name)) => patch(&fake, &target, name, &body),
        _ => status(405, "MethodNotAllowed", "the fake does not do that"),
    }
}

/// `/apis/GROUP` and `/apis/GROUP/VERSION` (or `/api/v1`), of kinds that are served.
fn discovery(kinds: &BTreeMap<String, String>, path: &str) -> Option<Value> {
    let path = path.trim_start_matches("/apis").trim_start_matches("/api").trim_matches('/');
    let within = kinds.iter().filter_map(|(name, kind)| Some((name.strip_prefix(path)?.strip_prefix('/')?, kind)));
    let (mut resources, mut versions) = (Vec::new(), BTreeSet::new());
    for (rest, kind) in within.filter(|_| !path.is_empty()) {
        match rest.split_once('/') {
            None => resources.push(json!({"name": rest, "kind": kind})),
            Some((version, _)) => {
                versions.insert(json!({"groupVersion": format!("{path}/{version}")}).to_string());
            }
        }
    }
    let versions: Vec<Value> = versions.iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    if !resources.is_empty() {
        return Some(json!({"kind": "APIResourceList", "resources": resources}));
    }
    let first = versions.first()?.clone();
    Some(json!({"kind": "APIGroup", "name": path, "versions": versions, "preferredVersion": first}))
}

fn list(fake: &Fake, target: &Target, asked: &BTreeMap<String, String>, slim: bool) -> Response {
    let kept = fake.kept();
    let items: Vec<Value> = kept
        .objects
        .iter()
        .filter(|((collection, _), object)| target.covers(collection) && selected(asked, object))
        .map(|(_, object)| shown(object, slim))
        .collect();
    let (api, kind) = if slim { ("meta.k8s.io/v1", "PartialObjectMetadataList") } else { (target.version(), "List") };
    let body = json!({"apiVersion": api, "kind": kind, "metadata": {"resourceVersion": kept.version.to_string()}, "items": items});
    reply(200, &body)
}

fn selected(asked: &BTreeMap<String, String>, object: &Value) -> bool {
    let name = asked.get("fieldSelector").and_then(|selector| selector.strip_prefix("metadata.name="));
    name.is_none_or(|name| object["metadata"]["name"] == name)
}

fn shown(object: &Value, slim: bool) -> Value {
    if slim {
        json!({"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": object["metadata"]})
    } else {
        object.clone()
    }
}

fn create(fake: &Fake, target: &Target, asked: &BTreeMap<String, String>, body: &[u8]) -> Response {
    let object: Value = serde_json::from_slice(body).unwrap();
    let name = object["metadata"]["name"].as_str().unwrap().to_owned();
    if fake.get(&target.collection, &name).is_some() {
        return status(409, "AlreadyExists", &format!("{} \"{name}\" already exists", target.plural()));
    }
    let dry = asked.contains_key("dryRun");
    reply(201, &if dry { object } else { fake.put(&target.collection, object) })
}

fn replace(fake: &Fake, target: &Target, name: &str, body: &[u8]) -> Response {
    let object: Value = serde_json::from_slice(body).unwrap();
    let mut kept = fake.kept();
    let key = (target.collection.clone(), name.to_owned());
    let Some(known) = kept.objects.get(&key) else { return status(404, "NotFound", "not found") };
    let given = &object["metadata"]["resourceVersion"];
    if !given.is_null() && *given != known["metadata"]["resourceVersion"] {
        return status(
            409,
            "Conflict",
            "the object has been modified; please apply your changes to the latest version",
        );
    }
    let stored = store(&mut kept, key, "MODIFIED", object);
    fake.changed.send_replace(kept.version);
    reply(200, &stored)
}

/// JSON Patch with `test`, `add` and `replace` of members.
fn patch(fake: &Fake, target: &Target, name: &str, body: &[u8]) -> Response {
    let Ok(Value::Array(operations)) = serde_json::from_slice(body) else {
        return status(415, "UnsupportedMediaType", "the fake knows JSON Patch only");
    };
    let mut kept = fake.kept();
    let key = (target.collection.clone(), name.to_owned());
    let Some(mut object) = kept.objects.get(&key).cloned() else { return status(404, "NotFound", "not found") };
    for operation in operations {
        let path = operation["path"].as_str().unwrap();
        match operation["op"].as_str().unwrap() {
            "test" if object.pointer(path) == Some(&operation["value"]) => {}
            "add" | "replace" => {
                let (parent, member) = path.rsplit_once('/').unwrap();
                let member = member.replace("~1", "/").replace("~0", "~");
                match object.pointer_mut(parent) {
                    Some(Value::Object(map)) => drop(map.insert(member, operation["value"].clone())),
                    _ => return status(422, "Invalid", "the path leads nowhere"),
                }
            }
            _ => return status(422, "Invalid", "the test failed"),
        }
    }
    let stored = store(&mut kept, key, "MODIFIED", object);
    fake.changed.send_replace(kept.version);
    reply(200, &stored)
}

/// Events from a version on, until the watch is cut.
fn follow(fake: &Arc<Fake>, target: Target, asked: BTreeMap<String, String>, slim: bool) -> Response {
    let from: u64 = asked.get("resourceVersion").and_then(|version| version.parse().ok()).unwrap_or(0);
    let (cut, oldest) = {
        let kept = fake.kept();
        (kept.cut, kept.history.first().map(|(version, ..)| *version))
    };
    let forgotten = cut > 0 && oldest.is_none_or(|oldest| from + 1 < oldest) && from < fake.kept().version;
    if forgotten {
        return status(410, "Expired", "too old resource version");
    }
    let state = (Arc::clone(fake), fake.changed.subscribe(), from);
    let lines = stream::unfold(state, move |(fake, mut changed, from)| {
        let (target, asked) = (target.clone(), asked.clone());
        async move {
            loop {
                let next = {
                    let kept = fake.kept();
                    if kept.cut != cut {
                        return None;
                    }
                    kept.history
                        .iter()
                        .find(|(version, resource, _, object)| {
                            *version > from
                                && *resource == target.resource
                                && selected(&asked, object)
                                && target.is_in_scope(object)
                        })
                        .cloned()
                };
                if let Some((version, _, what, object)) = next {
                    let line = format!("{}\n", json!({"type": what, "object": shown(&object, slim)}));
                    return Some((Ok::<_, std::io::Error>(line), (fake, changed, version)));
                }
                changed.changed().await.ok()?;
            }
        }
    });
    ([(header::CONTENT_TYPE, "application/json")], Body::from_stream(lines)).into_response()
}
