//! Our kinds' schemas and the walk that checks against them know the same words.

use serde_json::Value;
use stagger::scenario::schema;

const KINDS: [&str; 8] = [
    "WorkloadSLO",
    "QualityGate",
    "GpuTenant",
    "GpuInventory",
    "RateCard",
    "CapacityPlan",
    "ServingBaseline",
    "Scenario",
];

/// What the walk enforces, and what only describes.
const KEYWORDS: [&str; 24] = [
    "$ref",
    "$defs",
    "$schema",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "const",
    "oneOf",
    "anyOf",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "maxProperties",
    "pattern",
    "format",
    "default",
    "description",
    "title",
];

/// Calls `visit` with every schema inside a schema.
fn each(schema: &Value, path: &str, visit: &mut dyn FnMut(&str, &Value)) {
    visit(path, schema);
    for map in ["properties", "$defs"] {
        for (name, inner) in schema[map].as_object().into_iter().flatten() {
            each(inner, &format!("{path}/{name}"), visit);
        }
    }
    for list in ["oneOf", "anyOf"] {
        for inner in schema[list].as_array().into_iter().flatten() {
            each(inner, path, visit);
        }
    }
    for one in ["items", "additionalProperties"] {
        if schema[one].is_object() {
            each(&schema[one], &format!("{path}/*"), visit);
        }
    }
}

#[test]
fn the_walk_knows_every_keyword_of_our_schemas() {
    for kind in KINDS {
        each(&schema(kind).expect("one of our kinds"), kind, &mut |path, schema| {
            for keyword in schema.as_object().into_iter().flatten().map(|(keyword, _)| keyword.as_str()) {
                assert!(KEYWORDS.contains(&keyword) || keyword.starts_with("x-kubernetes-"), "{path}: {keyword}");
            }
        });
    }
}

#[test]
fn every_list_and_map_is_bounded_and_every_field_described() {
    for kind in KINDS {
        each(&schema(kind).expect("one of our kinds"), kind, &mut |path, schema| {
            let is = |wanted: &str| match &schema["type"] {
                Value::String(one) => one == wanted,
                Value::Array(several) => several.iter().any(|one| one == wanted),
                _ => false,
            };
            if is("array") {
                assert!(schema["maxItems"].is_u64(), "{path} has no maxItems");
            }
            if schema["additionalProperties"].is_object() {
                assert!(schema["maxProperties"].is_u64(), "{path} has no maxProperties");
            }
            for (name, field) in schema["properties"].as_object().into_iter().flatten() {
                assert!(
                    field["description"].is_string() || field["$ref"].is_string(),
                    "{path}/{name} is not described"
                );
            }
        });
    }
}

#[test]
fn no_schema_has_floating_point() {
    for kind in KINDS {
        each(&schema(kind).expect("one of our kinds"), kind, &mut |path, schema| {
            assert!(schema["type"] != "number", "{path} is floating point");
        });
    }
}

#[test]
fn other_kinds_have_no_schema_here() {
    assert_eq!(schema("Job"), None);
}
