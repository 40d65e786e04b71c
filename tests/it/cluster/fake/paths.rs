//! What a path of the API means.

use std::collections::BTreeMap;

use axum::http::Uri;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `coordination.k8s.io/v1/leases`, `v1/pods`.
    pub resource: String,
    /// The path without the object's name.
    pub collection: String,
    pub name: Option<String>,
    namespace: Option<String>,
}

pub fn target(path: &str) -> Target {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    let (head, rest) = parts.split_at(if parts[0] == "apis" { 3.min(parts.len()) } else { 2.min(parts.len()) });
    let (namespace, plural, name) = match rest {
        ["namespaces", namespace, plural] => (Some(*namespace), *plural, None),
        ["namespaces", namespace, plural, name, ..] => (Some(*namespace), *plural, Some(*name)),
        [plural] => (None, *plural, None),
        [plural, name, ..] => (None, *plural, Some(*name)),
        [] => (None, "", None),
    };
    let mut collection = format!("/{}", head.join("/"));
    if let Some(namespace) = namespace {
        collection += &format!("/namespaces/{namespace}");
    }
    collection += &format!("/{plural}");
    Target {
        resource: format!("{}/{plural}", head[1..].join("/")),
        collection,
        name: name.map(str::to_owned),
        namespace: namespace.map(str::to_owned),
    }
}

impl Target {
    pub fn plural(&self) -> &str {
        self.resource.rsplit('/').next().unwrap()
    }

    pub fn version(&self) -> &str {
        self.resource.rsplit_once('/').unwrap().0
    }

    /// Whether a collection's objects belong to this list, which may be of all namespaces.
    pub fn covers(&self, collection: &str) -> bool {
        let other = target(collection);
        other.resource == self.resource && self.namespace.as_ref().is_none_or(|_| other.namespace == self.namespace)
    }

    pub fn is_in_scope(&self, object: &Value) -> bool {
        self.namespace.as_ref().is_none_or(|namespace| object["metadata"]["namespace"] == namespace.as_str())
    }
}

pub fn query(uri: &Uri) -> BTreeMap<String, String> {
    let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(key, value)| (key.to_owned(), value.replace("%3D", "=").replace("%2F", "/"))).collect()
}
