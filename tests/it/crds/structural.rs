//! Kubernetes' conditions on a structural schema, as far as our definitions could break them.

use serde_json::Value;

/// What a node of a schema may say.
const KEYWORDS: &[&str] = &[
    "type",
    "format",
    "description",
    "nullable",
    "default",
    "enum",
    "pattern",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "maxItems",
    "minItems",
    "maxLength",
    "minLength",
    "maxProperties",
    "maximum",
    "minimum",
    "anyOf",
    "x-kubernetes-int-or-string",
    "x-kubernetes-validations",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
];

/// Calls `visit` with every node and its path.
pub fn each(schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        each(inner, &format!("{path}/{name}"), visit);
    }
    for inner in ["items", "additionalProperties"] {
        if schema[inner].is_object() {
            each(&schema[inner], &format!("{path}/*"), visit);
        }
    }
}

pub fn complaints(root: &Value) -> Vec<String> {
    let mut found = Vec::new();
    each(root, "", &mut |path, schema| {
        let mut complain = |what: &str| found.push(format!("{path}: {what}"));
        for keyword in schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str()) {
            if !KEYWORDS.contains(&keyword) {
                complain(keyword);
            }
        }
        let either = schema["x-kubernetes-int-or-string"] == true;
        let kind = schema["type"].as_str();
        if either == kind.is_some() {
            complain("no type, or one beside int-or-string");
        }
        if either && schema["anyOf"] != serde_json::json!([{"type": "integer"}, {"type": "string"}]) {
            complain("int-or-string is written in one form only");
        }
        if !either && !schema["anyOf"].is_null() {
            complain("anyOf");
        }
        if schema["properties"].is_object() && schema["additionalProperties"].is_object() {
            complain("both properties and additionalProperties");
        }
        bounded(path, kind, schema, &mut complain);
        format(kind, schema, &mut complain);
        default(schema, &mut complain);
        keys(schema, &mut complain);
        for required in schema["required"].as_array().into_iter().flatten() {
            if !schema["properties"][required.as_str().unwrap_or_default()].is_object() {
                complain("requires what it does not have");
            }
        }
        if schema["nullable"] == true && schema["enum"].is_array() {
            complain("a nullable enum would refuse null");
        }
    });
    found
}

fn bounded(path: &str, kind: Option<&str>, schema: &Value, complain: &mut dyn FnMut(&str)) {
    // The API server bounds the first two itself; a currency's pattern leaves exactly three letters.
    let own = !["/apiVersion", "/kind"].contains(&path) && schema["pattern"] != "^[A-Z]{3}$";
    match kind {
        Some("array") if !schema["maxItems"].is_u64() => complain("unbounded list"),
        Some("string") if own && !schema["maxLength"].is_u64() && !schema["enum"].is_array() => {
            complain("unbounded string");
        }
        _ if schema["additionalProperties"].is_object() && !schema["maxProperties"].is_u64() => {
            complain("unbounded map");
        }
        _ => {}
    }
}

fn format(kind: Option<&str>, schema: &Value, complain: &mut dyn FnMut(&str)) {
    match (kind, schema["format"].as_str()) {
        (_, None) | (Some("integer"), Some("int64" | "int32")) | (Some("string"), Some("date-time")) => {}
        _ => complain("format that Kubernetes does not know"),
    }
}

fn default(schema: &Value, complain: &mut dyn FnMut(&str)) {
    let default = &schema["default"];
    let fits = match schema["type"].as_str() {
        _ if default.is_null() => true,
        Some("string") => schema["enum"].as_array().is_none_or(|words| words.contains(default)) && default.is_string(),
        Some("integer") => default.is_i64() || default.is_u64(),
        Some("object") => {
            default.as_object().is_some_and(|fields| fields.keys().all(|field| schema["properties"][field].is_object()))
        }
        _ => false,
    };
    if !fits {
        complain("default that does not fit");
    }
}

fn keys(schema: &Value, complain: &mut dyn FnMut(&str)) {
    for key in schema["x-kubernetes-list-map-keys"].as_array().into_iter().flatten() {
        let required = schema["items"]["required"].as_array().is_some_and(|required| required.contains(key));
        if !required {
            complain("a list's key must be required");
        }
    }
    if schema["x-kubernetes-list-type"] == "set" && schema["items"]["type"] != "string" {
        complain("a set of something else than words");
    }
}
