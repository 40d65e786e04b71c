//! What is answered: a verdict, a patch of single keys, warnings, and what the audit log shall say.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// Kubernetes cuts longer warnings, and the rest of the list with them.
pub const WARNING_BYTES_MAX: usize = 120;
/// More would be read by nobody.
const WARNINGS_MAX: usize = 8;

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Why it is refused; `None`: allowed.
    pub denied: Option<String>,
    /// RFC 6902, in the order in which it is applied; empty: nothing changes.
    pub patch: Vec<Operation>,
    pub warnings: Vec<String>,
    /// For the audit log: key and value.
    pub audit: Vec<(&'static str, String)>,
    pub outcome: Outcome,
}

/// One operation of a JSON patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Add { path: String, value: Value },
    Remove { path: String },
}

/// What came of a request, as a closed set for metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Not ours to look at.
    Ignored,
    /// Looked at, and nothing to change.
    Unchanged,
    /// A tenant was written.
    Stamped,
    /// Our gate was added, and a tenant written where there is one.
    Gated,
    /// A key that an update had dropped was put back.
    Restored,
    /// Allowed, but it would not be in a stricter mode.
    Tolerated,
    Denied,
    /// It could not be read, and was refused.
    Unreadable,
}

impl Outcome {
    pub const ALL: [Self; 8] = [
        Self::Ignored,
        Self::Unchanged,
        Self::Stamped,
        Self::Gated,
        Self::Restored,
        Self::Tolerated,
        Self::Denied,
        Self::Unreadable,
    ];

    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Unchanged => "unchanged",
            Self::Stamped => "stamped",
            Self::Gated => "gated",
            Self::Restored => "restored",
            Self::Tolerated => "tolerated",
            Self::Denied => "denied",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Decision {
    fn plain(outcome: Outcome) -> Self {
        Self { denied: None, patch: Vec::new(), warnings: Vec::new(), audit: Vec::new(), outcome }
    }

    #[must_use]
    pub fn ignored() -> Self {
        Self::plain(Outcome::Ignored)
    }

    #[must_use]
    pub fn unchanged() -> Self {
        Self::plain(Outcome::Unchanged)
    }

    /// A refusal, with a message that names the key, what was expected, and who may change it.
    #[must_use]
    pub fn denied(message: impl Into<String>) -> Self {
        let message = message.into();
        let mut decision = Self::plain(Outcome::Denied);
        decision.audit("decision", "denied");
        decision.denied = Some(message);
        decision
    }

    /// The answer to what cannot be read. An API server never sends such a thing.
    #[must_use]
    pub fn unreadable(why: &str) -> Self {
        let mut decision = Self::denied(format!("the admission request cannot be read: {why}"));
        decision.outcome = Outcome::Unreadable;
        decision
    }

    pub fn warn(&mut self, text: &str) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(text[..text.floor_char_boundary(WARNING_BYTES_MAX)].to_owned());
        }
    }

    pub fn audit(&mut self, key: &'static str, value: impl Into<String>) {
        self.audit.push((key, value.into()));
    }

    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.denied.is_none()
    }
}

impl Operation {
    /// One step of RFC 6902.
    #[must_use]
    pub fn document(&self) -> Value {
        serde_json::to_value(self.step()).expect("texts and values are always JSON")
    }

    fn step(&self) -> Step<'_> {
        match self {
            Self::Add { path, value } => Step { op: "add", path, value: Some(value) },
            Self::Remove { path } => Step { op: "remove", path, value: None },
        }
    }
}

/// RFC 6902.
#[derive(Serialize)]
struct Step<'a> {
    op: &'static str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Review<'a> {
    api_version: &'static str,
    kind: &'static str,
    response: Response<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Response<'a> {
    uid: &'a str,
    allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<Status<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    audit_annotations: BTreeMap<&'static str, &'a str>,
}

#[derive(Serialize)]
struct Status<'a> {
    code: u16,
    reason: &'static str,
    message: &'a str,
}

/// The AdmissionReview that answers the request with that uid.
#[must_use]
pub fn respond(uid: &str, decision: &Decision) -> Vec<u8> {
    let (code, reason) = if decision.outcome == Outcome::Unreadable { (400, "BadRequest") } else { (403, "Forbidden") };
    let patches = decision.is_allowed() && !decision.patch.is_empty();
    let patch = patches.then(|| {
        let steps: Vec<Step<'_>> = decision.patch.iter().map(Operation::step).collect();
        base64(&serde_json::to_vec(&steps).expect("texts and values are always JSON"))
    });
    let response = Response {
        uid,
        allowed: decision.is_allowed(),
        status: decision.denied.as_deref().map(|message| Status { code, reason, message }),
        patch_type: patches.then_some("JSONPatch"),
        patch,
        warnings: &decision.warnings,
        audit_annotations: decision.audit.iter().map(|(key, value)| (*key, value.as_str())).collect(),
    };
    let review = Review { api_version: "admission.k8s.io/v1", kind: "AdmissionReview", response };
    serde_json::to_vec(&review).expect("texts are always JSON")
}

/// RFC 4648 with padding, as Go reads a byte slice in JSON.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |at: usize| u32::from(chunk.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let index = usize::try_from(bits >> (18 - 6 * at) & 63).unwrap_or(0);
            let known = u32::try_from(chunk.len()).is_ok_and(|length| at <= length);
            text.push(if known { char::from(ALPHABET[index]) } else { '=' });
        }
    }
    text
}
