//! Whether a kind is served, and in which version: the server's own preference first.

use kube::Client;
use kube::core::ApiResource;
use serde::Deserialize;
use serde_json::Value;

use super::client::{CALL_MAX, within};
use super::error::{ClusterError, Kind};

/// More versions than this has no group.
const VERSIONS_MAX: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Group {
    #[serde(default)]
    versions: Vec<Version>,
    #[serde(default)]
    preferred_version: Option<Version>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    group_version: String,
}

#[derive(Debug, Deserialize)]
struct Resources {
    #[serde(default)]
    resources: Vec<Resource>,
}

#[derive(Debug, Deserialize)]
struct Resource {
    name: String,
    kind: String,
}

/// The resource by its group and plural name; `None`: this cluster does not have it.
///
/// # Errors
/// When the server does not say.
pub async fn discover(client: &Client, group: &str, plural: &str) -> Result<Option<ApiResource>, ClusterError> {
    let mut versions = Vec::new();
    if group.is_empty() {
        versions.push("v1".to_owned());
    } else {
        let Some(found) = get(client, &format!("/apis/{group}")).await? else { return Ok(None) };
        let found: Group = read(found, group)?;
        versions.extend(found.preferred_version.map(|version| version.group_version));
        for version in found.versions.into_iter().take(VERSIONS_MAX) {
            if !versions.contains(&version.group_version) {
                versions.push(version.group_version);
            }
        }
    }
    for api_version in versions {
        let root = if group.is_empty() { "/api" } else { "/apis" };
        let Some(found) = get(client, &format!("{root}/{api_version}")).await? else { continue };
        let found: Resources = read(found, group)?;
        if let Some(resource) = found.resources.into_iter().find(|resource| resource.name == plural) {
            let version = api_version.rsplit('/').next().unwrap_or_default().to_owned();
            let (group, plural) = (group.to_owned(), plural.to_owned());
            return Ok(Some(ApiResource { group, version, api_version, kind: resource.kind, plural }));
        }
    }
    Ok(None)
}

/// A document of the server; `None`: it has none there.
///
/// # Errors
/// When it does not answer, or forbids it.
pub async fn get(client: &Client, path: &str) -> Result<Option<Value>, ClusterError> {
    let request = kube::core::Request::new(path).list(&kube::api::ListParams::default());
    let request = request.map_err(|error| ClusterError::of("get", path, &kube::Error::BuildRequest(error)))?;
    match within(CALL_MAX, "get", path, client.request::<Value>(request)).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind == Kind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value, group: &str) -> Result<T, ClusterError> {
    serde_json::from_value(value).map_err(|error| ClusterError::of("read", group, &kube::Error::SerdeError(error)))
}
