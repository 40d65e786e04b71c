//! YAML to manifests, for tests.

use saphyr_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};
use stagger::api::manifest::Manifest;

pub fn manifests(text: &str) -> Vec<Manifest> {
    let mut parser = Parser::new_from_str(text);
    let mut found = Vec::new();
    let mut stack: Vec<(Value, Option<String>)> = Vec::new();
    while let Some(event) = parser.next_event() {
        let (event, _) = event.expect("the YAML of a test must be YAML");
        let done = match event {
            Event::MappingStart(..) => {
                stack.push((Value::Object(Map::new()), None));
                None
            }
            Event::SequenceStart(..) => {
                stack.push((Value::Array(Vec::new()), None));
                None
            }
            Event::MappingEnd | Event::SequenceEnd => stack.pop().map(|(value, _)| value),
            Event::Scalar(text, style, ..) => {
                if let Some((Value::Object(_), key @ None)) = stack.last_mut() {
                    *key = Some(text.into_owned());
                    continue;
                }
                Some(match style {
                    ScalarStyle::Plain => serde_json::from_str(&text).unwrap_or_else(|_| match &*text {
                        "" | "~" => Value::Null,
                        other => Value::String(other.to_owned()),
                    }),
                    _ => Value::String(text.into_owned()),
                })
            }
            _ => None,
        };
        let Some(value) = done else { continue };
        match stack.last_mut() {
            Some((Value::Object(map), key)) => {
                map.insert(key.take().expect("a value must have a key"), value);
            }
            Some((Value::Array(list), _)) => list.push(value),
            _ if value.is_object() => found.push(manifest(value)),
            _ => {}
        }
    }
    found
}

fn manifest(value: Value) -> Manifest {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    Manifest {
        api_version: text("/apiVersion"),
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
        value: value.clone(),
        origin: None,
    }
}
