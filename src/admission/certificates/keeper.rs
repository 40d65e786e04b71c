//! The writer: looks at both Secrets and both configurations, and does the one step that is due.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::sleep;

use super::configurations;
use super::published::{bundles, is_ours, patch};
use super::stored::{AUTHORITY, LEAF, authority_secret, leaf_secret, material, names};
use crate::admission::Told;
use crate::admission::tls::TlsError;
use crate::admission::tls::rotate::{Material, Step};
use crate::cluster::lease::Leadership;
use crate::cluster::{CALL_MAX, ClusterError, Kind, within};
use crate::units::Timestamp;

/// What one look came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Look {
    /// What was done; `None`: nothing was due.
    pub step: Option<Step>,
    /// A leaf was there before, so that somebody may be served under it.
    pub is_renewal: bool,
    /// What was left alone, and why.
    pub left_alone: Vec<String>,
}

/// Writes certificates into one namespace and our configurations.
pub struct Keeper {
    client: Client,
    secrets: Api<Secret>,
    namespace: String,
    names: Vec<String>,
}

/// A configuration as it was read.
struct Configuration {
    api: Api<DynamicObject>,
    name: &'static str,
    resource: String,
    value: Value,
}

impl Keeper {
    #[must_use]
    pub fn new(client: Client, namespace: &str, service: &str) -> Self {
        Self {
            secrets: Api::namespaced(client.clone(), namespace),
            client,
            namespace: namespace.to_owned(),
            names: names(service, namespace),
        }
    }

    /// Looks, and does at most one step. `may_write` is asked right before the write.
    ///
    /// # Errors
    /// When the server does not answer, or somebody else was first; the next look sees what there is then.
    pub async fn look(&self, may_write: impl Fn() -> bool, now: Timestamp) -> Result<Look, ClusterError> {
        let (authority, leaf) = (self.secret(AUTHORITY).await?, self.secret(LEAF).await?);
        let kept = material(authority.as_ref(), leaf.as_ref(), &self.names, now);
        let mut look = Look { is_renewal: kept.leaf.is_some(), ..Look::default() };
        let mut ours = Vec::new();
        for configuration in self.configurations().await? {
            match is_ours(&configuration.value) {
                Ok(()) => ours.push(configuration),
                Err(why) => look.left_alone.push(why),
            }
        }
        let bundle = kept.bundle();
        // Where there is nothing of ours to publish in, nothing keeps a leaf from being issued.
        let published = ours.iter().all(|one| bundles(&one.value).iter().all(|known| known == bundle.as_bytes()));
        let seen = if published { bundle.as_str() } else { "" };
        let Some(step) = kept.due(seen, now) else { return Ok(look) };
        if !may_write() {
            return Ok(look);
        }
        let next = kept.after(step, &self.names, now).map_err(|error| unmade(&error))?;
        match step {
            Step::AddAuthority | Step::DropAuthority => {
                let is_new = authority.is_none();
                self.write(AUTHORITY, is_new, authority_secret(authority, &self.namespace, &next)).await?;
            }
            Step::IssueLeaf => {
                let is_new = leaf.is_none();
                self.write(LEAF, is_new, leaf_secret(leaf, &self.namespace, &next)).await?;
            }
            Step::Publish => self.publish(&ours, &next).await?,
        }
        look.step = Some(step);
        Ok(look)
    }

    async fn secret(&self, name: &str) -> Result<Option<Secret>, ClusterError> {
        within(CALL_MAX, "get", "secrets", self.secrets.get_opt(name)).await
    }

    async fn write(&self, name: &str, is_new: bool, secret: Secret) -> Result<(), ClusterError> {
        let params = PostParams { field_manager: Some("stagger-ca".to_owned()), ..PostParams::default() };
        if is_new {
            within(CALL_MAX, "create", "secrets", self.secrets.create(&params, &secret)).await?;
        } else {
            // The resource version that was read rides along.
            within(CALL_MAX, "update", "secrets", self.secrets.replace(name, &params, &secret)).await?;
        }
        Ok(())
    }

    async fn configurations(&self) -> Result<Vec<Configuration>, ClusterError> {
        let mut found = Vec::new();
        for (resource, name) in configurations() {
            let api = Api::<DynamicObject>::all_with(self.client.clone(), &resource);
            let words = format!("{}.{}", resource.plural, resource.group);
            let Some(object) = within(CALL_MAX, "get", &words, api.get_opt(name)).await? else { continue };
            let value = serde_json::to_value(&object)
                .map_err(|error| ClusterError::of("read", &words, &kube::Error::SerdeError(error)))?;
            found.push(Configuration { api, name, resource: words, value });
        }
        Ok(found)
    }

    async fn publish(&self, ours: &[Configuration], kept: &Material) -> Result<(), ClusterError> {
        let bundle = kept.bundle();
        for one in ours {
            let Some(operations) = patch(&one.value, &bundle) else { continue };
            let operations = serde_json::from_value(operations)
                .map_err(|error| ClusterError::of("patch", &one.resource, &kube::Error::SerdeError(error)))?;
            let params = PatchParams { field_manager: Some("stagger-ca".to_owned()), ..PatchParams::default() };
            let patch = Patch::Json::<()>(operations);
            within(CALL_MAX, "patch", &one.resource, one.api.patch(one.name, &params, &patch)).await?;
        }
        Ok(())
    }
}

fn unmade(error: &TlsError) -> ClusterError {
    ClusterError { kind: Kind::Unreadable, message: format!("failed to {error}") }
}

/// Certificates last for weeks; an hour between two looks is often.
const HOUR: Duration = Duration::from_hours(1);
/// After an error the next look comes sooner.
const AGAIN: Duration = Duration::from_secs(10);
/// Between two rounds at least, so that who writes the same field as we do is not fought at full speed.
const REST: Duration = Duration::from_secs(2);
/// How long several API servers may take to see a new bundle, before anybody is served under it.
const SETTLE: Duration = Duration::from_secs(10);
/// A bootstrap takes three steps, a rotation four over a month.
const STEPS_MAX: usize = 8;

/// Looks every hour, when nudged and when leadership comes, for as long as it is polled.
pub async fn keep(
    keeper: Keeper,
    leadership: Leadership,
    nudge: Arc<Notify>,
    now: fn() -> Timestamp,
    tell: impl Fn(Told<'_>),
) {
    let mut changes = leadership.changes();
    let mut told: Vec<String> = Vec::new();
    loop {
        let mut pause = HOUR;
        for _ in 0..STEPS_MAX {
            if !leadership.is_leader() {
                break;
            }
            match keeper.look(|| leadership.is_leader(), now()).await {
                Ok(look) => {
                    look.left_alone.iter().filter(|why| !told.contains(why)).for_each(|why| tell(Told::Trouble(why)));
                    told = look.left_alone;
                    match look.step {
                        Some(step) => {
                            tell(Told::Done(done(step)));
                            if step == Step::Publish && look.is_renewal {
                                sleep(SETTLE).await;
                            }
                        }
                        None => break,
                    }
                }
                // Somebody else wrote in between: what he wrote is looked at at once.
                Err(error) if matches!(error.kind, Kind::Conflict | Kind::AlreadyExists) => {}
                Err(error) => {
                    tell(Told::Trouble(&error.message));
                    pause = AGAIN;
                    break;
                }
            }
        }
        sleep(REST).await;
        tokio::select! {
            () = sleep(pause) => {}
            () = nudge.notified() => {}
            changed = changes.changed() => {
                // The election is over: nobody leads any more, and there is nothing left to keep.
                if changed.is_err() {
                    return;
                }
            }
        }
    }
}

fn done(step: Step) -> &'static str {
    match step {
        Step::AddAuthority => "a new authority was made",
        Step::Publish => "the bundle was published",
        Step::IssueLeaf => "a new certificate was issued",
        Step::DropAuthority => "the old authority was dropped",
    }
}
