//! The whole cluster, read once: for commands, which plan from what is there and go.
//!
//! The same kinds and the same rows as the watches have, so that a command and the controller see the same.

use futures::{StreamExt, stream};
use kube::Api;
use kube::api::{DynamicObject, ListParams};
use kube::core::ApiResource;

use super::configuration;
use super::kinds::{KINDS, Need, Watched};
use super::project::project;
use super::settings::ReadYaml;
use crate::api::manifest::Manifest;
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterError, Kind, LIST_MAX, within};

/// As many as the API server gives at once by itself.
const PAGE: u32 = 500;
/// A million objects of one kind; beyond it something else is wrong.
const PAGES_MAX: usize = 2_000;
/// Kinds that are listed at once.
const AT_ONCE: usize = 6;

/// What was read.
#[derive(Debug, Default)]
pub struct Survey {
    /// By kind, in the order of [`KINDS`]; within it as the server lists: by namespace and name.
    pub manifests: Vec<Manifest>,
    /// What could not be read and can be done without, in sentences.
    pub remarks: Vec<String>,
}

/// Reads everything that `kueue::assemble` knows.
///
/// # Errors
/// When the cluster cannot be reached, or what nothing can be planned without is missing or forbidden.
pub async fn survey(cluster: &Cluster, kueue: (&str, &str), read_yaml: ReadYaml) -> Result<Survey, ClusterError> {
    let mut survey = Survey::default();
    match configuration::read(cluster, kueue, read_yaml).await {
        Ok(documents) => survey.manifests.extend(documents),
        Err(error) if error.kind == Kind::Forbidden => {
            survey.remarks.push(format!("Kueue's defaults are taken for its configuration: {error}"));
        }
        Err(error) => return Err(error),
    }
    let reading = stream::iter(KINDS.iter().map(|kind| async move { (kind, list(cluster, kind).await) }));
    let mut listed = reading.buffered(AT_ONCE);
    while let Some((kind, result)) = listed.next().await {
        match result {
            Ok(rows) => survey.manifests.extend(rows),
            Err(error) if error.kind == Kind::NotFound && kind.need == Need::WhereInstalled => {}
            Err(error) if error.kind == Kind::NotFound => {
                let message = format!("{} is not known there: is Kueue installed in this cluster?", kind.resource());
                return Err(ClusterError { message, ..error });
            }
            Err(error) if error.kind == Kind::Forbidden && kind.need == Need::WhereInstalled => {
                survey.remarks.push(format!("planned without {}: {error}", kind.resource()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(survey)
}

async fn list(cluster: &Cluster, kind: &Watched) -> Result<Vec<Manifest>, ClusterError> {
    let mut missing = None;
    for version in 0..kind.versions.len() {
        let api = kind.api(version);
        let mut rows = Vec::new();
        let take = |object| rows.push(project(object, &api, &Clock::WALL));
        match pages(cluster, kind, &api, take).await {
            Ok(()) => return Ok(rows),
            // Not installed, or in another version.
            Err(error) if error.kind == Kind::NotFound => missing = Some(error),
            Err(error) => return Err(error),
        }
    }
    missing.map_or_else(|| Ok(Vec::new()), Err)
}

/// Lists one kind page by page and hands on each object, so that never more than a page is held.
///
/// # Errors
/// The first page that does not come.
pub async fn pages(
    cluster: &Cluster,
    kind: &Watched,
    api: &ApiResource,
    mut take: impl FnMut(DynamicObject),
) -> Result<(), ClusterError> {
    let objects: Api<DynamicObject> = Api::all_with(cluster.client.clone(), api);
    let mut params = ListParams::default().limit(PAGE);
    if let Some(label) = kind.label {
        params = params.labels(label);
    }
    for _ in 0..PAGES_MAX {
        let page = within(LIST_MAX, "list", &kind.resource(), objects.list(&params)).await?;
        let next = page.metadata.continue_.clone().filter(|next| !next.is_empty());
        page.items.into_iter().for_each(&mut take);
        match next {
            Some(next) => params = params.continue_token(&next),
            None => break,
        }
    }
    Ok(())
}
