//! Somebody who talks to the API server under their own credentials, in raw JSON.

use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{GroupVersionKind, Status};
use kube::{Client, Config};
use serde_json::{Value, json};
use stagger::scenario::{Input, Limits, read};

use crate::wait::until;

pub struct Person {
    pub name: String,
    pub client: Client,
    kubeconfig: PathBuf,
}

/// Every document of a file or folder of YAML.
pub fn documents(path: &Path) -> Vec<Value> {
    values(&[Input::Path(path.to_owned())])
}

/// Every document of a text of YAML.
pub fn written(text: &str) -> Vec<Value> {
    values(&[Input::text("text", text)])
}

fn values(inputs: &[Input]) -> Vec<Value> {
    let reading = read(inputs, &Limits::default());
    assert!(!reading.manifests.is_empty(), "nothing was read of {inputs:?}: {:?}", reading.findings);
    reading.manifests.into_iter().map(|manifest| manifest.value).collect()
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// What the API server said when it refused, or why it could not be asked.
#[derive(Debug)]
pub struct Refused {
    pub code: u16,
    pub message: String,
}

impl From<kube::Error> for Refused {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => {
                let Status { code, message, .. } = *status;
                Self { code, message }
            }
            other => Self { code: 0, message: format!("{other:?}") },
        }
    }
}

impl Person {
    pub async fn new(name: &str, kubeconfig: PathBuf) -> Self {
        let read = Kubeconfig::read_from(&kubeconfig).expect("the kubeconfig can be read");
        let options = KubeConfigOptions::default();
        let mut config = Config::from_custom_kubeconfig(read, &options).await.expect("the kubeconfig is complete");
        config.default_retry = false;
        let client = Client::try_from(config).expect("a client can be made");
        Self { name: name.to_owned(), client, kubeconfig }
    }

    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The API of an object's kind, in its namespace if it has one.
    pub fn api(&self, api_version: &str, kind: &str, namespace: &str) -> Api<DynamicObject> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        if namespace.is_empty() {
            Api::all_with(self.client.clone(), &resource)
        } else {
            Api::namespaced_with(self.client.clone(), namespace, &resource)
        }
    }

    fn api_of(&self, object: &Value) -> Api<DynamicObject> {
        self.api(text(object, "/apiVersion"), text(object, "/kind"), text(object, "/metadata/namespace"))
    }

    /// The body of a GET of status 200.
    pub async fn text(&self, path: &str) -> Result<String, String> {
        let request = http::Request::get(path).body(Vec::new()).expect("a path makes a request");
        self.client.request_text(request).await.map_err(|error| error.to_string())
    }

    /// A request of any shape.
    pub async fn send(&self, method: &str, path: &str, kind: &str, body: &Value) -> Result<Value, Refused> {
        let request = http::Request::builder().method(method).uri(path).header("Content-Type", kind);
        let request = request.body(body.to_string().into_bytes()).expect("a path makes a request");
        Ok(self.client.request::<Value>(request).await?)
    }

    pub async fn create(&self, object: &Value) -> Result<Value, Refused> {
        let made: DynamicObject = serde_json::from_value(object.clone()).expect("an object has a kind");
        let created = self.api_of(object).create(&PostParams::default(), &made).await?;
        Ok(serde_json::to_value(created).expect("an object is JSON"))
    }

    pub async fn dry_run(&self, object: &Value) -> Result<Value, Refused> {
        let made: DynamicObject = serde_json::from_value(object.clone()).expect("an object has a kind");
        let params = PostParams { dry_run: true, ..PostParams::default() };
        let created = self.api_of(object).create(&params, &made).await?;
        Ok(serde_json::to_value(created).expect("an object is JSON"))
    }

    /// Server-side apply that must succeed.
    pub async fn apply(&self, object: &Value) -> Value {
        let name = text(object, "/metadata/name");
        let params = PatchParams::apply("stagger-tests").force();
        let applied = self.api_of(object).patch(name, &params, &Patch::Apply(object)).await;
        let applied = applied.unwrap_or_else(|error| panic!("{} {name} is refused: {error}", text(object, "/kind")));
        serde_json::to_value(applied).expect("an object is JSON")
    }

    /// Installs CustomResourceDefinitions, and waits until the API server serves them. Other documents are passed over.
    pub async fn define(&self, definitions: Vec<Value>) {
        let definitions: Vec<Value> =
            definitions.into_iter().filter(|one| one["kind"] == "CustomResourceDefinition").collect();
        for definition in &definitions {
            self.apply(definition).await;
        }
        for definition in &definitions {
            let name = text(definition, "/metadata/name");
            until(&format!("{name} is served"), Duration::from_mins(1), async || {
                let found = self.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", name).await;
                let found = found.map_err(|error| error.message)?;
                let conditions = found["status"]["conditions"].as_array().cloned().unwrap_or_default();
                let is = |kind: &str| conditions.iter().any(|one| one["type"] == kind && one["status"] == "True");
                assert!(!is("NonStructuralSchema"), "{name} has no structural schema: {conditions:?}");
                if is("Established") && is("NamesAccepted") { Ok(()) } else { Err(format!("{conditions:?}")) }
            })
            .await;
        }
    }

    /// A ServiceAccount, made where it is missing, and a token of it.
    pub async fn token(&self, namespace: &str, name: &str) -> String {
        let metadata = json!({"name": name, "namespace": namespace});
        self.apply(&json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})).await;
        let path = format!("/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token");
        let spec = json!({"expirationSeconds": 86_400});
        let body = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec});
        let answer = self.send("POST", &path, "application/json", &body).await.expect("a token is given");
        text(&answer, "/status/token").to_owned()
    }

    pub async fn get(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Result<Value, Refused> {
        let found = self.api(api_version, kind, namespace).get(name).await?;
        Ok(serde_json::to_value(found).expect("an object is JSON"))
    }

    pub async fn list(&self, api_version: &str, kind: &str, namespace: &str) -> Vec<Value> {
        let found = self.listed(api_version, kind, namespace).await;
        found.unwrap_or_else(|refused| panic!("{kind} cannot be listed by {}: {}", self.name, refused.message))
    }

    pub async fn listed(&self, api_version: &str, kind: &str, namespace: &str) -> Result<Vec<Value>, Refused> {
        let found = self.api(api_version, kind, namespace).list(&ListParams::default()).await?;
        Ok(found.items.into_iter().map(|item| serde_json::to_value(item).expect("an object is JSON")).collect())
    }

    /// A merge patch of `object`'s namesake.
    pub async fn merge(&self, object: &Value, patch: &Value) -> Result<Value, Refused> {
        let name = text(object, "/metadata/name");
        let patched = self.api_of(object).patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(serde_json::to_value(patched).expect("an object is JSON"))
    }

    /// The same of its status.
    pub async fn merge_status(&self, object: &Value, patch: &Value) -> Result<Value, Refused> {
        let name = text(object, "/metadata/name");
        let patched = self.api_of(object).patch_status(name, &PatchParams::default(), &Patch::Merge(patch)).await?;
        Ok(serde_json::to_value(patched).expect("an object is JSON"))
    }

    pub async fn delete(&self, object: &Value) -> Result<(), Refused> {
        let params = DeleteParams::background();
        self.api_of(object).delete(text(object, "/metadata/name"), &params).await?;
        Ok(())
    }
}
