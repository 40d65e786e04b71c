//! What a CapacityPlan is told of the webhook: whether every replica knows this generation of it.
//!
//! Pure.

use serde_json::Value;

use crate::admission::Known;
use crate::api::manifest::Manifest;
use crate::api::status::ConditionStatus;

/// What was heard of the webhook.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Webhook {
    #[default]
    Unasked,
    /// Why its replicas are not known.
    Unread(String),
    /// There is no Service of that name.
    Absent,
    /// Those that may get a request, by name.
    Replicas(Vec<Heard>),
}

/// What one replica said, or why it said nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    pub name: String,
    pub answer: Result<Known, String>,
}

/// Which generation of which plan: one that was deleted and made anew is another.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanVersion {
    pub uid: String,
    pub generation: i64,
}

impl PlanVersion {
    #[must_use]
    pub fn of(row: &Manifest) -> Self {
        let uid = row.at("/metadata/uid").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self { uid, generation: row.at("/metadata/generation").and_then(Value::as_i64).unwrap_or_default() }
    }
}

/// The judgement, its reason and a sentence.
#[must_use]
pub fn acknowledged(plan: &PlanVersion, webhook: &Webhook) -> (ConditionStatus, &'static str, String) {
    let replicas = match webhook {
        Webhook::Unasked => {
            return (ConditionStatus::Unknown, "NotAsked", "the webhook has not been asked yet".to_owned());
        }
        Webhook::Unread(why) => return (ConditionStatus::Unknown, "NotAsked", why.clone()),
        Webhook::Absent => {
            let told = "there is no webhook: new work is held only where its author asks for it";
            return (ConditionStatus::Unknown, "NoWebhook", told.to_owned());
        }
        Webhook::Replicas(replicas) => replicas,
    };
    let generation = plan.generation;
    let known = |heard: &Heard| heard.answer.as_ref().ok().map(|known| known.generation(&plan.uid));
    // One that is ahead of what we see knows it too.
    let behind = |heard: &&Heard| known(heard).is_some_and(|known| known.is_none_or(|known| known < generation));
    if let Some((first, others)) = first(replicas.iter().filter(behind)) {
        let knows = match known(first).flatten() {
            Some(older) => format!("knows generation {older} of this plan and not yet {generation}"),
            None => "does not know this plan yet".to_owned(),
        };
        return (ConditionStatus::False, "NotKnown", format!("{} {knows}{others}", first.name));
    }
    if let Some((first, others)) = first(replicas.iter().filter(|heard| heard.answer.is_err())) {
        let why = first.answer.as_ref().err().map_or("", String::as_str);
        return (ConditionStatus::Unknown, "NoAnswer", format!("{}: {why}{others}", first.name));
    }
    match replicas.len() {
        0 => (
            ConditionStatus::False,
            "NoReplica",
            "no replica of the webhook is ready: new work comes ungated".to_owned(),
        ),
        1 => (ConditionStatus::True, "Known", format!("the one replica of the webhook knows generation {generation}")),
        count => (
            ConditionStatus::True,
            "Known",
            format!("all {count} replicas of the webhook know generation {generation}"),
        ),
    }
}

/// The first one, and how many more there are, in words.
fn first<'a>(mut replicas: impl Iterator<Item = &'a Heard>) -> Option<(&'a Heard, String)> {
    let first = replicas.next()?;
    let others = match replicas.count() {
        0 => String::new(),
        more => format!("; and so {more} more"),
    };
    Some((first, others))
}
