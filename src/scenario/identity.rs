//! Who an object is: `apiVersion`, kind, namespace, name; and whether its labels are what Kubernetes takes.

use std::sync::Arc;

use serde_json::Value;

use super::{codes, kinds, scalar};
use crate::api;
use crate::api::manifest::{Manifest, Origin};
use crate::failure::{Finding, Span};

/// An object with its identity, and what is wrong with it.
pub struct Identified {
    /// `None` when it cannot be told what it is.
    pub manifest: Option<Manifest>,
    /// Whether it is of a kind that stagger does not know.
    pub unknown: bool,
    /// Whether nothing in it says that it was meant to be an object of Kubernetes.
    pub foreign: bool,
    pub findings: Vec<Finding>,
}

/// Reads the identity of an object. `name` is its `generateName` when there is no name.
#[must_use]
pub fn identify(value: Value, origin: Arc<Origin>) -> Identified {
    let mut object = Manifest {
        api_version: String::new(),
        kind: String::new(),
        namespace: String::new(),
        name: String::new(),
        value,
        shared: Box::default(),
        origin: Some(origin),
    };
    let mut findings = Vec::new();
    let foreign = object.at("/apiVersion").is_none() && object.at("/kind").is_none();
    let refused = |findings| Identified { manifest: None, unknown: false, foreign, findings };

    if !object.value.is_object() {
        findings.push(not_an_object(&object));
        return refused(findings);
    }
    let api_version = text_at(&object, "/apiVersion");
    let kind = text_at(&object, "/kind");
    let (Ok(api_version), Ok(kind)) = (api_version, kind) else {
        findings.push(no_type(&object));
        return refused(findings);
    };
    (object.api_version, object.kind) = (api_version, kind);
    if is_output(&object.api_version) {
        let message = format!("{} is something stagger wrote, not something it reads", object.kind);
        findings
            .push(Finding::note(codes::UNKNOWN_KIND, object.kind.clone(), message).at(object.span("/kind"), "skipped"));
        return refused(findings);
    }
    match text_at(&object, "/metadata/name").or_else(|()| text_at(&object, "/metadata/generateName")) {
        Ok(name) => object.name = name,
        // A controller reads its one Configuration from a file, and nobody has to name it.
        Err(())
            if (object.group(), object.kind.as_str()) == ("config.kueue.x-k8s.io", "Configuration")
                && object.at("/metadata/name").is_none() =>
        {
            "configuration".clone_into(&mut object.name);
        }
        Err(()) => {
            findings.push(no_name(&object));
            return refused(findings);
        }
    }
    object.namespace = text_at(&object, "/metadata/namespace").unwrap_or_default();

    let known = kinds::find(object.group(), &object.kind);
    match known {
        Some(kind) => settle_namespace(&mut object, kind.namespaced, &mut findings),
        None => findings.extend(near_miss(&object)),
    }
    findings.extend(version(&object));
    if known.is_some() {
        findings.extend(name_rules(&object));
    }
    findings.extend(metadata_text(&object, "labels"));
    findings.extend(metadata_text(&object, "annotations"));
    let unknown = known.is_none() && findings.is_empty();
    Identified { manifest: Some(object), unknown, foreign, findings }
}

fn not_an_object(object: &Manifest) -> Finding {
    let what = describe(&object.value, None);
    let message = format!("a manifest is a map with apiVersion and kind, found {what}");
    let finding = Finding::error(codes::NO_IDENTITY, file_of(object), message).at(object.span(""), "not a manifest");
    if object.value.is_array() {
        return finding.hint("put the objects into `items` of a `kind: List`, or separate them by `---`");
    }
    finding
}

fn no_type(object: &Manifest) -> Finding {
    let lacks = |field: &str| text_at(object, &format!("/{field}")).is_err();
    let missing = match (lacks("apiVersion"), lacks("kind")) {
        (true, true) => "apiVersion and no kind",
        (true, false) => "apiVersion",
        _ => "kind",
    };
    let subject = object.at("/kind").and_then(Value::as_str).map_or_else(|| file_of(object), str::to_owned);
    let pointer = if missing == "kind" { "/kind" } else { "/apiVersion" };
    if let Some(found) = object.at(pointer) {
        let found = describe(found, raw(object, pointer).as_deref());
        let message = format!("{} is {found}, expected text", &pointer[1..]);
        return Finding::error(codes::NO_IDENTITY, subject, message).at(head(object, pointer), "expected text");
    }
    let message = format!("the object has no {missing}");
    let finding =
        Finding::error(codes::NO_IDENTITY, subject, message).at(head(object, pointer), format!("no {missing}"));
    match object.at("/kind").and_then(Value::as_str).and_then(kinds::named) {
        Some(kind) if kind.group == api::GROUP => {
            finding.hint(format!("add `apiVersion: {}/{}`", api::GROUP, api::VERSION))
        }
        Some(kind) if !kind.group.is_empty() => finding.hint(format!("the group of {} is {}", kind.name, kind.group)),
        _ => finding,
    }
}

fn no_name(object: &Manifest) -> Finding {
    let pointer = "/metadata/name";
    let message = match object.at(pointer) {
        Some(found) => {
            format!("metadata.name is {}, expected text", describe(found, raw(object, pointer).as_deref()))
        }
        None => "the object has no metadata.name".to_owned(),
    };
    let finding = Finding::error(codes::NO_IDENTITY, object.kind.clone(), message);
    let label = if object.at(pointer).is_some() { "expected text" } else { "no name" };
    let finding = finding.at(head(object, pointer), label);
    match object.at(pointer) {
        Some(Value::Bool(_) | Value::Number(_)) => finding.hint("write it in quotes"),
        _ => finding,
    }
}

/// Namespaced objects without a namespace are in `default`; cluster-scoped ones have none.
fn settle_namespace(object: &mut Manifest, namespaced: bool, findings: &mut Vec<Finding>) {
    if namespaced && object.namespace.is_empty() {
        "default".clone_into(&mut object.namespace);
    } else if !namespaced && !object.namespace.is_empty() {
        let message = format!("{} is cluster-scoped; its namespace `{}` is ignored", object.kind, object.namespace);
        object.namespace.clear();
        let finding = Finding::warning(codes::METADATA, object.subject(), message);
        findings.push(finding.at(object.key_span("/metadata/namespace"), "remove this"));
    }
}

/// A kind that is nearly one we know, or one we know in a group where it is not.
fn near_miss(object: &Manifest) -> Option<Finding> {
    let group = object.group();
    if let Some(known) = kinds::named(&object.kind) {
        let shown = if known.group.is_empty() { "the core group (v1)" } else { known.group };
        let message = format!("{} is a kind of {shown}, not of {}", object.kind, object.api_version);
        let finding = Finding::warning(codes::UNKNOWN_KIND, object.subject(), message);
        return Some(finding.at(object.span("/apiVersion"), format!("expected {shown}")).hint("the object is ignored"));
    }
    let in_group = || kinds::KINDS.iter().filter(|kind| kind.group == group).map(|kind| kind.name);
    let ours = group == api::GROUP;
    // Other groups have more kinds than we know: only a slip of one or two letters is surely one.
    let slips = if object.kind.len() < 8 { 1 } else { 2 };
    let slip = |near: &&str| strsim::damerau_levenshtein(&near.to_lowercase(), &object.kind.to_lowercase()) <= slips;
    let near = kinds::nearest(&object.kind, in_group()).filter(|near| ours || slip(near));
    if near.is_none() && !ours {
        return None;
    }
    let message = format!("there is no kind {} in {group}", object.kind);
    let finding =
        Finding::error(codes::UNKNOWN_KIND, object.subject(), message).at(object.span("/kind"), "unknown kind");
    Some(match near {
        Some(near) => finding.hint(format!("did you mean {near}?")),
        None => finding.hint(format!("the kinds are {}", in_group().collect::<Vec<_>>().join(", "))),
    })
}

fn version(object: &Manifest) -> Option<Finding> {
    let expected = format!("{}/{}", api::GROUP, api::VERSION);
    if object.group() != api::GROUP || object.api_version == expected {
        return None;
    }
    let message = format!("apiVersion {} is not known", object.api_version);
    let finding = Finding::error(codes::VERSION, object.subject(), message);
    Some(finding.at(object.span("/apiVersion"), "unknown version").hint(format!("write {expected}")))
}

/// Kubernetes' rule for names: a DNS subdomain.
fn name_rules(object: &Manifest) -> Vec<Finding> {
    let generated = object.at("/metadata/name").is_none();
    let pointer = if generated { "/metadata/generateName" } else { "/metadata/name" };
    let fields = [(pointer, &object.name, 253, "name"), ("/metadata/namespace", &object.namespace, 63, "namespace")];
    let mut findings = Vec::new();
    for (pointer, text, most, what) in fields {
        if text.is_empty() {
            continue;
        }
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || (c == '.' && most == 253);
        let edge = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let ends_well = text.starts_with(edge) && (generated || text.ends_with(edge));
        let message = if text.len() > most {
            format!("the {what} has {} characters, at most {most} are allowed", text.len())
        } else if !ends_well || !text.chars().all(allowed) {
            let dots = if most == 253 { ", `-` and `.`" } else { " and `-`" };
            format!(
                "`{text}` is not a {what}: lower-case letters, digits{dots}, beginning and ending with a letter or digit"
            )
        } else {
            continue;
        };
        let finding = Finding::error(codes::METADATA, object.subject(), message);
        findings.push(finding.at(object.span(pointer), format!("not a {what} in Kubernetes")));
    }
    findings
}

/// Of so many labels that are not text each is shown with its place, which is looked for among all of them.
const WRONG_MAX: usize = 100;

/// Labels and annotations are text. `1.10` without quotes is a number, and matches no selector.
fn metadata_text(object: &Manifest, field: &str) -> Vec<Finding> {
    let singular = field.trim_end_matches('s');
    let pointer = format!("/metadata/{field}");
    let entries = match object.at(&pointer) {
        None | Some(Value::Null) => return Vec::new(),
        Some(Value::Object(entries)) => entries,
        Some(other) => {
            let message = format!("metadata.{field} is {}, expected a map", describe(other, None));
            let finding = Finding::error(codes::METADATA, object.subject(), message);
            return vec![finding.at(object.span(&pointer), "expected a map")];
        }
    };
    // An empty value is the empty text to Kubernetes.
    let mut wrong = entries.iter().filter(|(_, value)| !value.is_string() && !value.is_null());
    let mut findings = Vec::new();
    for (key, value) in wrong.by_ref().take(WRONG_MAX) {
        let pointer = format!("{pointer}/{}", escape(key));
        let text = raw(object, &pointer);
        let message = format!("the {singular} `{key}` is {}, expected text", describe(value, text.as_deref()));
        let finding = Finding::error(codes::METADATA, object.subject(), message);
        let finding = finding.at(object.span(&pointer), "not text");
        findings.push(match text.filter(|_| !value.is_object() && !value.is_array()) {
            Some(text) => finding.hint(format!("write it in quotes: \"{text}\"")),
            None => finding,
        });
    }
    let more = wrong.count();
    if more > 0 {
        let message = format!("{more} more {field} are not text");
        findings
            .push(Finding::error(codes::METADATA, object.subject(), message).at(object.span(&pointer), "among these"));
    }
    findings
}

/// The text at a pointer, if it is text and not empty.
fn text_at(object: &Manifest, pointer: &str) -> Result<String, ()> {
    match object.at(pointer) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        _ => Err(()),
    }
}

/// A segment of a JSON pointer.
#[must_use]
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What a scalar looks like in the file, when that is short and on one line.
#[must_use]
pub fn raw(object: &Manifest, pointer: &str) -> Option<String> {
    let span = object.span(pointer)?;
    let text = span.file.text.get(span.start..span.end)?;
    (text.len() <= 60 && !text.contains('\n')).then(|| text.to_owned())
}

/// A value for people: `the number 3`, `a list`; what Kubernetes reads from `raw`, if that differs from it.
#[must_use]
pub fn describe(value: &Value, raw: Option<&str>) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(truth) => match raw.filter(|raw| scalar::old_boolean(raw).is_some()) {
            Some(raw) => format!("`{raw}`, which YAML reads as {truth}"),
            None => truth.to_string(),
        },
        Value::Number(number) => match raw.filter(|raw| *raw != number.to_string()) {
            Some(raw) => format!("`{raw}`, which YAML reads as the number {number}"),
            None => format!("the number {number}"),
        },
        Value::String(text) if text.chars().count() <= 60 => format!("the text `{text}`"),
        Value::String(_) => "a long text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a map".to_owned(),
    }
}

/// Documents that stagger writes: `stagger.dev/plan/v1` and its like.
fn is_output(api_version: &str) -> bool {
    api_version.strip_prefix(api::GROUP).is_some_and(|rest| rest.matches('/').count() == 2)
}

/// The first line of the object, for something that is missing from it.
fn head(object: &Manifest, pointer: &str) -> Option<Span> {
    let mut span = object.span(pointer)?;
    let line = span.file.text[span.start..span.end].lines().next().map_or(0, str::len);
    span.end = span.start + line;
    Some(span)
}

fn file_of(object: &Manifest) -> String {
    object.origin.as_ref().map_or_else(|| "object".to_owned(), |origin| origin.file.path.clone())
}
