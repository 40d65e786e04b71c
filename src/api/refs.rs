//! The small shapes that several kinds share: references, selectors, recurring windows.

use std::collections::BTreeMap;

use chrono::Weekday;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::written::{TimeOfDay, Zone};
use crate::calendar::Recurrence;

/// The schema of a map's values: text of at most so many characters.
pub(super) fn text_up_to(characters: u32) -> serde_json::Value {
    serde_json::json!({"type": "string", "maxLength": characters})
}

/// An object in the same namespace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TargetRef {
    /// API group, such as `batch`; empty for the core group.
    #[serde(default)]
    #[schemars(length(max = 253))]
    pub group: String,
    /// Kind, such as `Job`.
    #[schemars(length(min = 1, max = 63))]
    pub kind: String,
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// An object whose kind is known from the field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NameRef {
    /// Name of the object.
    #[schemars(length(min = 1, max = 253))]
    pub name: String,
}

/// Kubernetes' label selector: all `matchLabels` and all `matchExpressions` must hold. An empty one matches everything.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LabelSelector {
    /// Labels with exactly these values.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("maxProperties" = 64, "additionalProperties" = text_up_to(63)))]
    pub match_labels: BTreeMap<String, String>,
    /// Further requirements.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    pub match_expressions: Vec<LabelRequirement>,
}

/// One requirement of a label selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LabelRequirement {
    /// The label's key.
    #[schemars(length(min = 1, max = 317))]
    pub key: String,
    /// How the label is compared with `values`.
    pub operator: LabelOperator,
    /// For `In` and `NotIn`: at least one. For the others: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64), inner(length(max = 63)))]
    pub values: Vec<String>,
}

/// Kubernetes' selector operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum LabelOperator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Whether labels, looked up one by one, satisfy the selector.
    #[must_use]
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        let labels_hold = self.match_labels.iter().all(|(key, value)| label(key) == Some(value));
        labels_hold
            && self.match_expressions.iter().all(|requirement| {
                let found = label(&requirement.key);
                let listed = found.is_some_and(|value| requirement.values.iter().any(|other| other == value));
                match requirement.operator {
                    LabelOperator::In => listed,
                    // Kubernetes: an absent label satisfies NotIn.
                    LabelOperator::NotIn => !listed,
                    LabelOperator::Exists => found.is_some(),
                    LabelOperator::DoesNotExist => found.is_none(),
                }
            })
    }
}

/// A window that recurs on some weekdays between two wall-clock times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Recurring {
    /// The days on which it starts.
    #[schemars(length(min = 1, max = 7))]
    pub days: Vec<Day>,
    /// When it starts.
    pub start_time: TimeOfDay,
    /// When it ends; at or before `startTime` means on the next day.
    pub end_time: TimeOfDay,
    /// The zone of both times.
    pub time_zone: Zone,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl Day {
    #[must_use]
    pub fn weekday(self) -> Weekday {
        match self {
            Self::Mon => Weekday::Mon,
            Self::Tue => Weekday::Tue,
            Self::Wed => Weekday::Wed,
            Self::Thu => Weekday::Thu,
            Self::Fri => Weekday::Fri,
            Self::Sat => Weekday::Sat,
            Self::Sun => Weekday::Sun,
        }
    }
}

impl Recurring {
    /// The recurrence, with its times and zone read.
    ///
    /// # Errors
    /// A fragment that quotes the first bad text and says what was expected.
    pub fn read(&self) -> Result<Recurrence, String> {
        Ok(Recurrence {
            days: self.days.iter().map(|day| day.weekday()).collect(),
            start: self.start_time.read()?,
            end: self.end_time.read()?,
            zone: self.time_zone.read()?,
        })
    }
}
