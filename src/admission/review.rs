//! An AdmissionReview as the API server sends it.
//!
//! The uid is found leniently first, so that even a request we cannot read gets an answer of its own and not whatever
//! the failure policy says.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::object::{Metadata, Object, Text, object};

const VERSION: &str = "admission.k8s.io/v1";

/// The request and the uid to answer with.
#[derive(Debug)]
pub struct Review<'a> {
    pub uid: String,
    pub request: Request<'a>,
}

/// A review that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Empty where not even that was found.
    pub uid: String,
    /// A fragment that says what was wrong.
    pub why: String,
}

/// What is asked. Names of Kubernetes' AdmissionRequest.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request<'a> {
    #[serde(borrow, default, deserialize_with = "null_is_empty")]
    uid: Text<'a>,
    #[serde(borrow)]
    pub resource: Resource<'a>,
    #[serde(borrow, default, deserialize_with = "null_is_empty")]
    pub sub_resource: Text<'a>,
    /// Where the object lives; the object's own word is not taken for it. Empty for cluster-scoped ones.
    #[serde(borrow, default, deserialize_with = "null_is_empty")]
    pub namespace: Text<'a>,
    /// Empty while a name is still to be generated.
    #[serde(borrow, default, deserialize_with = "null_is_empty")]
    pub name: Text<'a>,
    pub operation: Verb,
    #[serde(borrow, default)]
    pub user_info: User<'a>,
    #[serde(borrow, default, deserialize_with = "object")]
    pub object: Option<Object<'a>>,
    #[serde(borrow, default, deserialize_with = "object")]
    pub old_object: Option<Object<'a>>,
    /// Answered as any other: the answer is all we do.
    pub dry_run: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verb {
    Create,
    Update,
    Delete,
    Connect,
}

#[derive(Debug, Deserialize)]
pub struct Resource<'a> {
    #[serde(borrow, default)]
    pub group: Text<'a>,
    #[serde(borrow)]
    pub resource: Text<'a>,
}

/// Who asks. Behind an impersonation only the assumed identity is seen, and only that one counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct User<'a> {
    #[serde(borrow, deserialize_with = "null_is_empty")]
    pub username: Text<'a>,
    #[serde(borrow)]
    pub groups: Option<Vec<Text<'a>>>,
}

fn null_is_empty<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Text<'de>, D::Error> {
    Ok(Option::<Text<'de>>::deserialize(from)?.unwrap_or_default())
}

/// What an API server sends, read in one pass.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Whole<'a> {
    #[serde(borrow, default)]
    api_version: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "object")]
    request: Option<Request<'a>>,
}

/// The same, step by step: for what is not so, to say how far it is.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    api_version: Option<Text<'a>>,
    #[serde(borrow)]
    request: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Identified<'a> {
    #[serde(borrow)]
    uid: Option<Cow<'a, str>>,
}

/// Reads a review.
///
/// # Errors
/// When it is no AdmissionReview v1 with a request in it; with the uid, where that could be found.
pub fn parse(body: &[u8]) -> Result<Review<'_>, Unreadable> {
    if let Ok(Whole { api_version, request: Some(request) }) = serde_json::from_slice::<Whole<'_>>(body)
        && api_version.as_deref() == Some(VERSION)
        && !request.uid.is_empty()
    {
        return Ok(Review { uid: request.uid.to_string(), request });
    }
    let nobody = |why: String| Unreadable { uid: String::new(), why };
    let envelope: Envelope<'_> = serde_json::from_slice(body).map_err(|error| nobody(error.to_string()))?;
    let raw = envelope.request.ok_or_else(|| nobody("there is no request in it".to_owned()))?.get();
    let uid = identity(raw);
    let unreadable = |why: String| Unreadable { uid: uid.clone(), why };
    if envelope.api_version.as_deref() != Some(VERSION) {
        return Err(unreadable(format!("its apiVersion is not {VERSION}")));
    }
    if uid.is_empty() {
        return Err(unreadable("its request has no uid".to_owned()));
    }
    let request: Request<'_> = serde_json::from_str(raw).map_err(|error| unreadable(error.to_string()))?;
    Ok(Review { uid, request })
}

fn identity(raw: &str) -> String {
    let found: Result<Identified<'_>, _> = serde_json::from_str(raw);
    found.ok().and_then(|found| found.uid).unwrap_or_default().into_owned()
}

/// The uid in the beginning of a body that was cut off, where the API server writes it.
#[must_use]
pub fn uid_of(beginning: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(beginning);
    let rest = &text[text.find(r#""request""#)?..];
    let value = rest[rest.find(r#""uid""#)? + r#""uid""#.len()..].trim_start().strip_prefix(':')?;
    let value = value.trim_start().strip_prefix('"')?;
    let uid = &value[..value.find('"')?];
    let plain =
        uid.len() <= 64 && !uid.is_empty() && uid.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    plain.then(|| uid.to_owned())
}

impl Request<'_> {
    #[must_use]
    pub fn is(&self, group: &str, resource: &str) -> bool {
        self.resource.group == group && self.resource.resource == resource
    }

    #[must_use]
    pub fn groups(&self) -> &[Text<'_>] {
        self.user_info.groups.as_deref().unwrap_or_default()
    }
}

/// The metadata of an object that may be absent.
#[must_use]
pub fn metadata<'a, 'b>(object: Option<&'b Object<'a>>) -> Option<&'b Metadata<'a>> {
    object?.metadata.as_ref()
}
