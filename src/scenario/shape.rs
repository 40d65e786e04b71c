//! The shape of our own kinds, checked against the very schema from which their CRDs are made.
//!
//! One walk finds every wrong field, not the first one only. It knows the schema keywords that our types use and no
//! others (a test holds the two together), and reads user-written times and numbers by the name of their type.
//! Deliberately absent: rules between fields; they are in `rules`.

use serde_json::{Map, Value};

use super::identity::{describe, escape, raw};
use super::{codes, kinds, words};
use crate::api::manifest::Manifest;
use crate::failure::{Finding, Severity};

/// What the walk found: findings, and the values that cannot be decoded.
#[derive(Debug, Default)]
pub struct Shape {
    pub findings: Vec<Finding>,
    /// Pointers of values that are wrong or missing, with one of the right shape to put in their place, so that the
    /// rules between the other fields can still be checked. An outer one stands before those inside it.
    pub bad: Vec<(String, Value)>,
}

/// Findings in one object: a generated list with a mistake in each of its items is one mistake.
pub const OBJECT_FINDINGS_MAX: usize = 200;

/// Checks the value at `pointer` against a schema.
#[must_use]
pub fn check(object: &Manifest, pointer: &str, schema: &Value) -> Shape {
    let mut walk = Walk { object, definitions: &schema["$defs"], shape: Shape::default() };
    if let Some(value) = object.at(pointer) {
        walk.value(pointer, value, schema);
    }
    walk.shape
}

struct Walk<'a> {
    object: &'a Manifest,
    definitions: &'a Value,
    shape: Shape,
}

/// A schema with its references followed.
struct Expected<'a> {
    schema: &'a Value,
    /// The name of the type, when it has one: `Instant`, `Quantity`.
    name: &'a str,
    nullable: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, pointer: &str, value: &Value, schema: &'a Value) {
        if self.shape.findings.len() >= OBJECT_FINDINGS_MAX {
            return;
        }
        let expected = self.resolve(schema);
        if value.is_null() {
            self.null(pointer, &expected, schema);
            return;
        }
        if let Some(kind) = words::Written::named(expected.name) {
            self.written(pointer, value, kind, schema);
            return;
        }
        if let Some(words) = words(expected.schema) {
            self.word(pointer, value, &words, schema);
            return;
        }
        match (type_of(expected.schema), value) {
            ("object", Value::Object(entries)) => self.object(pointer, entries, expected.schema),
            ("array", Value::Array(items)) => self.list(pointer, items, expected.schema),
            ("string", Value::String(text)) => self.text(pointer, text, expected.schema),
            ("integer", Value::Number(number)) if number.is_i64() || number.is_u64() => {
                self.integer(pointer, value, expected.schema);
            }
            ("boolean", Value::Bool(_)) => {}
            (wanted, _) => self.wrong_type(pointer, value, wanted, schema),
        }
    }

    /// Follows `$ref` and sees through the `anyOf` by which an optional reference is written.
    fn resolve(&self, schema: &'a Value) -> Expected<'a> {
        let mut expected = Expected { schema, name: "", nullable: false };
        // A type refers to another, not in circles: two steps are a nullable reference.
        for _ in 0..4 {
            if let Some(reference) = expected.schema["$ref"].as_str() {
                expected.name = reference.rsplit('/').next().unwrap_or(reference);
                expected.schema = &self.definitions[expected.name];
            } else if let Some(options) = expected.schema["anyOf"].as_array()
                && let Some(other) = options.iter().find(|option| option["type"] != "null")
                && options.iter().any(|option| option["type"] == "null")
            {
                expected.nullable = true;
                expected.schema = other;
            } else {
                break;
            }
        }
        let types = expected.schema["type"].as_array();
        expected.nullable |= types.is_some_and(|types| types.iter().any(|one| one == "null"));
        expected
    }

    fn null(&mut self, pointer: &str, expected: &Expected<'_>, schema: &Value) {
        let message = format!("{} is empty", field(pointer));
        let finding = self.finding(codes::SHAPE, pointer, message, "no value");
        if expected.nullable {
            let finding = Finding { severity: Severity::Warning, ..finding };
            self.shape.findings.push(finding.hint("it counts as absent; give it a value or remove it"));
        } else {
            self.refuse(pointer, finding.hint("give it a value, or remove it"), schema);
        }
    }

    fn object(&mut self, pointer: &str, entries: &Map<String, Value>, schema: &'a Value) {
        if let Some(each) = schema.get("additionalProperties") {
            self.at_most(pointer, entries.len(), schema, "maxProperties", "entries");
            for (key, value) in entries {
                self.value(&format!("{pointer}/{}", escape(key)), value, each);
            }
            return;
        }
        let Some(properties) = schema["properties"].as_object() else { return };
        for (key, value) in entries {
            let pointer = format!("{pointer}/{}", escape(key));
            match properties.get(key) {
                Some(property) => self.value(&pointer, value, property),
                None => self.unknown(&pointer, key, properties),
            }
        }
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        for name in required.filter(|name| !entries.contains_key(*name)) {
            let message = format!("{} has no `{name}`", field(pointer));
            let expected = properties.get(name).and_then(|property| property["description"].as_str());
            let finding = self.finding(codes::SHAPE, pointer, message, format!("`{name}` is needed here"));
            let finding = match expected {
                Some(expected) => finding.hint(format!("{name}: {}", lower_first(expected))),
                None => finding,
            };
            self.refuse(&format!("{pointer}/{}", escape(name)), finding, properties.get(name).unwrap_or(schema));
        }
    }

    fn unknown(&mut self, pointer: &str, key: &str, properties: &Map<String, Value>) {
        let message = format!("there is no field `{}`; it is ignored", field(pointer));
        let finding = Finding::warning(codes::UNKNOWN_FIELD, self.object.subject(), message);
        let finding = finding.at(self.object.key_span(pointer), "unknown field");
        let names = properties.keys().map(String::as_str);
        let near =
            words::meant(key).filter(|name| properties.contains_key(*name)).or_else(|| kinds::nearest(key, names));
        self.shape.findings.push(match near {
            Some(near) => finding.hint(format!("did you mean {near}?")),
            None => {
                let all: Vec<&str> = properties.keys().map(String::as_str).collect();
                finding.hint(format!("the fields here are {}", all.join(", ")))
            }
        });
    }

    fn list(&mut self, pointer: &str, items: &[Value], schema: &'a Value) {
        self.at_most(pointer, items.len(), schema, "maxItems", "items");
        if items.len() < size(schema, "minItems").unwrap_or(0) {
            let message = format!("{} is an empty list", field(pointer));
            let finding = self.finding(codes::OUT_OF_BOUNDS, pointer, message, "nothing in it");
            self.shape.findings.push(finding.hint("it needs at least one item"));
        }
        // What is beyond the limit is not looked at: one finding says that it is there.
        let most = size(schema, "maxItems").unwrap_or(usize::MAX);
        for (index, item) in items.iter().enumerate().take(most) {
            self.value(&format!("{pointer}/{index}"), item, &schema["items"]);
        }
    }

    fn text(&mut self, pointer: &str, text: &str, schema: &Value) {
        self.at_most(pointer, text.chars().count(), schema, "maxLength", "characters");
        if text.is_empty() && size(schema, "minLength").unwrap_or(0) > 0 {
            let message = format!("{} is an empty text", field(pointer));
            let finding = self.finding(codes::OUT_OF_BOUNDS, pointer, message, "nothing in it");
            self.shape.findings.push(finding);
        }
        if let Some(pattern) = schema["pattern"].as_str()
            && !words::matches(pattern, text)
        {
            let message = format!("`{text}` is not {}", words::pattern_meaning(pattern));
            let finding = self.finding(codes::NOT_ONE_OF, pointer, message, "not in the form expected");
            self.shape.findings.push(finding);
        }
    }

    fn integer(&mut self, pointer: &str, value: &Value, schema: &Value) {
        let number = value.as_i64().map_or_else(|| value.as_u64().map(i128::from), |number| Some(i128::from(number)));
        let bound = |name: &str| schema.get(name).and_then(Value::as_i64).map(i128::from);
        let (least, most) = (bound("minimum"), bound("maximum"));
        let Some(number) = number else { return };
        if least.is_some_and(|least| number < least) || most.is_some_and(|most| number > most) {
            let range = match (least, most) {
                (Some(least), Some(most)) => format!("from {least} to {most}"),
                (Some(least), None) => format!("{least} or more"),
                (_, most) => format!("{} or less", most.unwrap_or_default()),
            };
            let message = format!("{} is {number}, expected a number {range}", field(pointer));
            let finding = self.finding(codes::OUT_OF_BOUNDS, pointer, message, format!("expected {range}"));
            self.refuse(pointer, finding, schema);
        }
    }

    fn written(&mut self, pointer: &str, value: &Value, kind: words::Written, schema: &Value) {
        let raw = raw(self.object, pointer);
        let shown = field(pointer);
        let (message, hint) = match value {
            Value::String(text) => match kind.read(text) {
                Ok(()) => return,
                Err(_) if text.is_empty() => (format!("{shown} is an empty text, expected {}", kind.expected()), None),
                Err(reason) => (format!("{shown}: {reason}"), kind.suggestion(text)),
            },
            Value::Number(number) if kind.takes_numbers() => match kind.read(&number.to_string()) {
                Ok(()) if number.is_i64() => return,
                Ok(()) => {
                    let message = format!("{shown} is the number {number}, expected a whole number or a text");
                    (message, Some(format!("write it in quotes: \"{number}\"")))
                }
                Err(reason) => (format!("{shown}: {reason}"), None),
            },
            _ => {
                let message = format!("{shown} is {}, expected {}", describe(value, raw.as_deref()), kind.expected());
                let scalar = raw.filter(|_| !value.is_object() && !value.is_array());
                (message, scalar.and_then(|raw| kind.how_to_write(value, &raw)))
            }
        };
        let finding = self.finding(kind.code(), pointer, message, kind.label());
        let finding = if let Some(hint) = hint { finding.hint(hint) } else { finding };
        if value.is_string() {
            // It decodes; the rules pass over a text that cannot be read.
            self.shape.findings.push(finding);
        } else {
            self.refuse(pointer, finding, schema);
        }
    }

    fn word(&mut self, pointer: &str, value: &Value, words: &[&str], schema: &Value) {
        let Value::String(word) = value else {
            self.wrong_type(pointer, value, "string", schema);
            return;
        };
        if words.contains(&word.as_str()) {
            return;
        }
        let listed = words.join(", ");
        let message = format!("{} is `{word}`, expected one of {listed}", field(pointer));
        let finding = self.finding(codes::NOT_ONE_OF, pointer, message, "not one of those expected");
        let finding = match kinds::nearest(word, words.iter().copied()) {
            Some(near) => finding.hint(format!("did you mean {near}?")),
            None => finding,
        };
        self.refuse(pointer, finding, schema);
    }

    fn wrong_type(&mut self, pointer: &str, value: &Value, wanted: &str, schema: &Value) {
        let wanted = match wanted {
            "object" => "a map",
            "array" => "a list",
            "integer" => "a whole number",
            "boolean" => "true or false",
            _ => "text",
        };
        let raw = raw(self.object, pointer);
        let message = format!("{} is {}, expected {wanted}", field(pointer), describe(value, raw.as_deref()));
        let finding = self.finding(codes::SHAPE, pointer, message, format!("expected {wanted}"));
        let finding = match (wanted, value, raw) {
            ("text", Value::Bool(_) | Value::Number(_), Some(raw)) => {
                finding.hint(format!("write it in quotes: \"{raw}\""))
            }
            ("a list", Value::Object(_) | Value::String(_), _) => finding.hint("begin each item with a dash: `- `"),
            ("a whole number", Value::String(_), _) => finding.hint("write it without quotes"),
            _ => finding,
        };
        self.refuse(pointer, finding, schema);
    }

    fn at_most(&mut self, pointer: &str, found: usize, schema: &Value, bound: &str, what: &str) {
        if let Some(most) = size(schema, bound).filter(|most| found > *most) {
            let message = format!("{} has {found} {what}, at most {most} are allowed", field(pointer));
            let finding = self.finding(codes::OUT_OF_BOUNDS, pointer, message, format!("more than {most} {what}"));
            self.shape.findings.push(finding);
        }
    }

    fn finding(&self, code: &'static str, pointer: &str, message: String, label: impl Into<String>) -> Finding {
        Finding::error(code, self.object.subject(), message).at(self.object.span(pointer), label)
    }

    /// Records a finding on a value that would not decode, or is not there. `schema`: the value's own.
    fn refuse(&mut self, pointer: &str, finding: Finding, schema: &Value) {
        let stand_in = self.stand_in(schema);
        self.shape.findings.push(finding);
        self.shape.bad.push((pointer.to_owned(), stand_in));
    }

    /// A value of the right shape: the least that decodes.
    fn stand_in(&self, schema: &Value) -> Value {
        let definition = |name: &str| &self.definitions[name];
        let schema = match schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
            Some("Quantity") => return Value::from(0),
            Some(name) => definition(name),
            None => schema,
        };
        if schema["anyOf"].is_array() {
            return Value::Null;
        }
        if let Some(words) = words(schema) {
            return words.first().map_or(Value::Null, |word| Value::from(*word));
        }
        match type_of(schema) {
            "object" => {
                let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
                let properties = &schema["properties"];
                Value::Object(required.map(|name| (name.to_owned(), self.stand_in(&properties[name]))).collect())
            }
            "array" => Value::Array(Vec::new()),
            "integer" => schema.get("minimum").cloned().unwrap_or_else(|| Value::from(0)),
            "boolean" => Value::Bool(false),
            _ => Value::from(""),
        }
    }
}

/// `/spec/windows/0/start` → `spec.windows[0].start`.
#[must_use]
pub fn field(pointer: &str) -> String {
    let mut shown = String::new();
    for segment in pointer.split('/').skip(1) {
        let segment = segment.replace("~1", "/").replace("~0", "~");
        let index = !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit());
        if index || segment.contains(['.', '/']) {
            shown.push_str(&format!("[{segment}]"));
        } else {
            let dot = if shown.is_empty() { "" } else { "." };
            shown.push_str(&format!("{dot}{segment}"));
        }
    }
    shown
}

/// The words of an enumeration, however schemars writes it.
fn words(schema: &Value) -> Option<Vec<&str>> {
    if let Some(words) = schema["enum"].as_array() {
        return Some(words.iter().filter_map(Value::as_str).collect());
    }
    let options = schema["oneOf"].as_array()?;
    let words = options.iter().flat_map(|option| {
        let one = option["const"].as_str();
        one.into_iter().chain(option["enum"].as_array().into_iter().flatten().filter_map(Value::as_str))
    });
    Some(words.collect())
}

/// The type, without `null`.
fn type_of(schema: &Value) -> &str {
    match &schema["type"] {
        Value::String(one) => one,
        Value::Array(several) => several.iter().filter_map(Value::as_str).find(|one| *one != "null").unwrap_or(""),
        _ => "",
    }
}

fn size(schema: &Value, name: &str) -> Option<usize> {
    schema.get(name)?.as_u64().and_then(|size| usize::try_from(size).ok())
}

fn lower_first(text: &str) -> String {
    let text = text.trim_end_matches('.');
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
