//! From the JSON schema of a type to the structural schema that Kubernetes asks for.
//!
//! References are written out, an optional field is `nullable` (the API server treats its null as absent, as our readers
//! do), documented words become an `enum`, and a list that must not be empty is required.

use serde_json::{Map, Value, json};

/// The keywords that are copied as they stand.
const COPIED: &[&str] = &[
    "maxItems",
    "minItems",
    "maxLength",
    "minLength",
    "maxProperties",
    "maximum",
    "minimum",
    "pattern",
    "enum",
    "default",
    "description",
];

/// A root schema with its definitions, as a structural schema.
#[must_use]
pub fn of(root: &Value) -> Value {
    Value::Object(Unfold { definitions: &root["$defs"] }.schema(root))
}

struct Unfold<'a> {
    definitions: &'a Value,
}

impl Unfold<'_> {
    /// Our types do not contain themselves, so this ends.
    fn schema(&self, schema: &Value) -> Map<String, Value> {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = &self.definitions[reference.rsplit('/').next().unwrap_or(reference)];
            return overlay(self.schema(definition), schema, definition);
        }
        if schema["x-kubernetes-int-or-string"] == true {
            return quantity(schema);
        }
        if let Some(inner) = optional(schema) {
            let mut unfolded = overlay(self.schema(inner), schema, inner);
            unfolded.insert("nullable".to_owned(), json!(true));
            return unfolded;
        }
        if let Some(words) = schema["oneOf"].as_array() {
            return enumeration(schema, words);
        }
        let mut unfolded = Map::new();
        Self::kind(schema, &mut unfolded);
        for keyword in COPIED {
            if let Some(value) = schema.get(*keyword) {
                unfolded.insert((*keyword).to_owned(), value.clone());
            }
        }
        self.inside(schema, &mut unfolded);
        unfolded
    }

    fn kind(schema: &Value, unfolded: &mut Map<String, Value>) {
        let kinds: Vec<&str> = match &schema["type"] {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if kinds.contains(&"null") {
            unfolded.insert("nullable".to_owned(), json!(true));
        }
        if let Some(kind) = kinds.into_iter().find(|kind| *kind != "null") {
            unfolded.insert("type".to_owned(), json!(kind));
            match (kind, schema["format"].as_str()) {
                // Kubernetes knows no unsigned integers; their bounds are written as such.
                ("integer", Some(_)) => drop(unfolded.insert("format".to_owned(), json!("int64"))),
                ("string", Some("date-time")) => drop(unfolded.insert("format".to_owned(), json!("date-time"))),
                _ => {}
            }
        }
    }

    fn inside(&self, schema: &Value, unfolded: &mut Map<String, Value>) {
        if let Some(properties) = schema["properties"].as_object() {
            let mut required: Vec<&str> =
                schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let mut unfolded_properties = Map::new();
            for (name, property) in properties {
                let mut property = self.schema(property);
                let never_empty = property.get("minItems").is_some_and(|least| least != 0);
                if never_empty && !property.contains_key("nullable") && !required.contains(&name.as_str()) {
                    // The type's own default, nothing, would not be allowed.
                    property.remove("default");
                    required.push(name);
                }
                unfolded_properties.insert(name.clone(), Value::Object(property));
            }
            required.sort_unstable();
            if !required.is_empty() {
                unfolded.insert("required".to_owned(), json!(required));
            }
            unfolded.insert("properties".to_owned(), Value::Object(unfolded_properties));
        }
        for inner in ["items", "additionalProperties"] {
            if let Some(schema) = schema.get(inner).filter(|schema| schema.is_object()) {
                unfolded.insert(inner.to_owned(), Value::Object(self.schema(schema)));
            }
        }
    }
}

/// What stands beside a reference beats what the definition says, but for the meanings of its words.
fn overlay(mut inner: Map<String, Value>, outer: &Value, definition: &Value) -> Map<String, Value> {
    if let Some(default) = outer.get("default") {
        inner.insert("default".to_owned(), default.clone());
    }
    if let Some(about) = outer["description"].as_str() {
        let own = definition["description"].as_str().unwrap_or_default();
        let known = inner.get("description").and_then(Value::as_str).unwrap_or_default();
        let meanings = if inner.contains_key("enum") { known.strip_prefix(own).unwrap_or_default() } else { "" };
        inner.insert("description".to_owned(), json!(format!("{about}{meanings}")));
    }
    inner
}

/// The other side of `anyOf: [..., {type: null}]`.
fn optional(schema: &Value) -> Option<&Value> {
    let options = schema["anyOf"].as_array()?;
    options.iter().any(|option| option["type"] == "null").then_some(())?;
    options.iter().find(|option| option["type"] != "null")
}

/// Words, each with its meaning: the meanings move into the description.
fn enumeration(schema: &Value, options: &[Value]) -> Map<String, Value> {
    let mut words: Vec<Value> = Vec::new();
    let mut about = schema["description"].as_str().unwrap_or_default().to_owned();
    for option in options {
        if let Some(word) = option["const"].as_str() {
            if let Some(meaning) = option["description"].as_str() {
                about.push_str(&format!(" {word}: {}", lower_first(meaning)));
            }
            words.push(json!(word));
        }
        words.extend(option["enum"].as_array().into_iter().flatten().cloned());
    }
    let mut unfolded = Map::new();
    unfolded.insert("type".to_owned(), json!("string"));
    unfolded.insert("enum".to_owned(), Value::Array(words));
    unfolded.insert("description".to_owned(), json!(about));
    unfolded
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

/// The one form in which Kubernetes takes a number or a text.
fn quantity(schema: &Value) -> Map<String, Value> {
    let mut unfolded = Map::new();
    unfolded.insert("x-kubernetes-int-or-string".to_owned(), json!(true));
    unfolded.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
    unfolded.insert("maxLength".to_owned(), json!(32));
    let pattern = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]+))?$";
    unfolded.insert("pattern".to_owned(), json!(pattern));
    overlay(unfolded, schema, schema)
}
