//! The CustomResourceDefinitions: structural, bounded, in step with their files, and of one mind with `stagger lint`.

mod structural;
mod table;

use std::collections::BTreeSet;

use expect_test::expect_file;
use serde_json::Value;
use stagger::api::crd::{self, Kind};
use stagger::api::yaml;
use stagger::failure::Severity;
use stagger::scenario::{Input, Limits, read, validate};

fn schema(kind: &Kind) -> Value {
    crd::manifest(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone()
}

#[test]
fn the_files_in_crds_are_generated() {
    for kind in crd::KINDS {
        let path = format!("../../../crds/{}.yaml", kind.plural);
        let text = yaml::of(&crd::manifest(kind)).expect("a definition is plain data");
        expect_file![path].assert_eq(&text);
    }
    let files: String = crd::KINDS.iter().map(|kind| format!("- {}.yaml\n", kind.plural)).collect();
    let kustomization =
        format!("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n{files}");
    expect_file!["../../../crds/kustomization.yaml"].assert_eq(&kustomization);
}

#[test]
fn the_yaml_reads_back_as_what_was_meant() {
    for kind in crd::KINDS {
        let text = yaml::of(&crd::manifest(kind)).unwrap();
        let reading = read(&[Input::text("crd.yaml", &text)], &Limits::default());
        assert_eq!(reading.manifests[0].value, crd::manifest(kind), "{}", kind.kind);
    }
}

#[test]
fn every_schema_is_structural() {
    for kind in crd::KINDS {
        assert_eq!(structural::complaints(&schema(kind)), Vec::<String>::new(), "{}", kind.kind);
    }
}

#[test]
fn the_structural_check_catches_what_the_api_server_refuses() {
    let bad = serde_json::json!({"type": "object", "properties": {
        "a": {"$ref": "#/$defs/A"},
        "b": {"type": ["string", "null"]},
        "c": {"type": "array", "items": {"type": "string", "maxLength": 3}},
        "d": {"type": "integer", "format": "uint8"},
        "e": {"type": "string", "maxLength": 9, "enum": ["x"], "default": "y"},
        "f": {"type": "string"},
        "g": {"type": "object", "properties": {}, "additionalProperties": {"type": "string", "maxLength": 3}},
    }});
    let complaints = structural::complaints(&bad).join("\n");
    for expected in
        ["/a: $ref", "/b: no type", "/c: unbounded", "/d: format", "/e: default", "/f: unbounded", "/g: both"]
    {
        assert!(complaints.contains(expected), "{expected} in\n{complaints}");
    }
}

/// The names after `self.` and `oldSelf.`, step by step.
fn paths(cel: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for root in ["self.", "oldSelf."] {
        for (at, _) in cel.match_indices(root) {
            if cel[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || before == '_' || before == '.') {
                continue;
            }
            let rest = &cel[at + root.len()..];
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(rest.len());
            let call = rest[end..].starts_with('(');
            let mut steps: Vec<String> = rest[..end].split('.').map(str::to_owned).collect();
            if call {
                steps.pop();
            }
            found.push(steps);
        }
    }
    found
}

#[test]
fn every_rule_names_fields_that_exist() {
    for kind in crd::KINDS {
        let root = schema(kind);
        structural::each(&root, "", &mut |path, schema| {
            for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
                let cel = rule["rule"].as_str().unwrap();
                for steps in paths(cel) {
                    let mut at = schema;
                    for step in steps {
                        // The API server itself knows the fields of metadata.
                        if step == "metadata" {
                            break;
                        }
                        // Words that CEL keeps for itself are written between underscores.
                        let name = step.trim_matches('_');
                        at = &at["properties"][name];
                        assert!(at.is_object(), "{}{path}: `{name}` in `{cel}`", kind.kind);
                    }
                }
                let depth = cel.chars().filter(|c| *c == '(').count();
                assert_eq!(depth, cel.chars().filter(|c| *c == ')').count(), "{cel}");
                assert_eq!(cel.matches('\'').count() % 2, 0, "{cel}");
                assert!(!rule["message"].as_str().unwrap().ends_with('.'), "{cel}");
            }
        });
    }
}

#[test]
fn kinds_names_and_columns_are_those_of_the_contract() {
    let names: Vec<String> =
        crd::KINDS.iter().map(|kind| format!("{} {} {}", kind.kind, kind.short, kind.namespaced)).collect();
    let contract = [
        "WorkloadSLO wslo true",
        "QualityGate qgate true",
        "GpuTenant gput false",
        "GpuInventory gpuinv false",
        "RateCard rates false",
        "CapacityPlan cplan false",
        "ServingBaseline sbase true",
    ];
    assert_eq!(names, contract);
    for kind in crd::KINDS {
        let manifest = crd::manifest(kind);
        assert_eq!(manifest["spec"]["names"]["categories"], serde_json::json!(["stagger"]));
        let version = &manifest["spec"]["versions"][0];
        assert!(version["subresources"]["status"].is_object());
        for column in version["additionalPrinterColumns"].as_array().unwrap() {
            let future = column["jsonPath"].as_str().unwrap() != ".metadata.creationTimestamp";
            assert!(!future || column["type"] != "date", "an age of the future: {column}");
        }
    }
}

#[test]
fn lint_and_the_definitions_refuse_the_same_objects() {
    let mut told = BTreeSet::new();
    for row in table::ROWS {
        let reading = read(&[Input::text("row.yaml", row.object)], &Limits::default());
        let findings = validate(&reading.manifests);
        let all = reading.findings.iter().chain(&findings);
        let errors: Vec<&str> =
            all.filter(|one| one.severity == Severity::Error).map(|one| one.message.as_str()).collect();
        match row.refused {
            "" => assert_eq!(errors, Vec::<&str>::new(), "{}", row.object),
            message => {
                assert!(!errors.is_empty(), "lint accepts what the API server refuses ({message}):\n{}", row.object);
                told.insert(message);
            }
        }
    }
    let rules: BTreeSet<&str> =
        crd::KINDS.iter().flat_map(|kind| crd::rules_of(kind.kind)).map(|one| one.message).collect();
    let by_schema: Vec<&&str> = told.iter().filter(|one| !rules.contains(**one)).collect();
    assert!(by_schema.iter().all(|one| table::BY_SCHEMA.contains(one)), "no rule says {by_schema:?}");
}
