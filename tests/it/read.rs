//! Reading manifests: what is accepted, and what is filled in.

use serde_json::json;
use stagger::scenario::{Input, Limits, Reading, read};

use crate::row::row;

fn reading(text: &str) -> Reading {
    read(&[Input::text("test.yaml", text)], &Limits::default())
}

/// Reads one object that must be fine.
fn value(text: &str) -> serde_json::Value {
    let indented: String = text.lines().map(|line| format!("  {line}\n")).collect();
    let reading = reading(&format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x}}\nspec:\n{indented}"));
    assert_eq!(reading.findings, []);
    reading.manifests[0].value["spec"].clone()
}

fn subjects(text: &str) -> Vec<String> {
    reading(text).manifests.iter().map(stagger::api::manifest::Manifest::subject).collect()
}

#[test]
fn a_configuration_inside_a_config_map_is_read_like_its_own_document() {
    let inside = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    resources:
      excludeResourcePrefixes: [example.com]
  other.yaml: |
    kind: Configuration
";
    let reading = read(&[Input::text("kueue.yaml", inside)], &Limits::default());
    assert!(reading.findings.is_empty(), "{:?}", reading.findings);
    let kinds: Vec<&str> = reading.manifests.iter().map(|manifest| manifest.kind.as_str()).collect();
    assert_eq!(kinds, ["ConfigMap", "Configuration"]);
    let found = reading.manifests[1].at("/resources/excludeResourcePrefixes/0").and_then(|value| value.as_str());
    assert_eq!(found, Some("example.com"));
    let span = reading.manifests[1].span("/resources").expect("it was written somewhere");
    assert_eq!(
        span.file.path,
        "kueue.yaml: ConfigMap kueue-system/kueue-manager-config: controller_manager_config.yaml"
    );
    assert_eq!(span.line_column().0, 4);
    // What does not read inside is told with its own place, and another controller's Configuration is left alone.
    let broken =
        read(&[Input::text("kueue.yaml", &inside.replace("[example.com]", "[example.com"))], &Limits::default());
    assert!(broken.has_errors());
    let foreign =
        read(&[Input::text("kueue.yaml", &inside.replace("config.kueue", "config.jobset"))], &Limits::default());
    assert_eq!((foreign.manifests.len(), foreign.findings.len()), (1, 0));
}

#[test]
fn scalars_mean_what_kubectl_takes_them_for() {
    let text = "a: [1, -2, 0x1f, 0o17, 0755, 1_000, 0b11, 18446744073709551615]\n\
                b: [1.5, 1e3, -.5, +7, 1., 1-2]\n\
                c: [true, False, yes, No, on, OFF, y]\n\
                d: [null, ~, '', \"null\", 'yes', 2026-11-30T12:00:00Z, 17:00, 1h30m]\n\
                e: !!str 5\nf: !!int \"5\"\ng:\n";
    let expected = json!({
        "a": [1, -2, 31, 15, 493, 1000, 3, 18_446_744_073_709_551_615_u64],
        "b": [1.5, 1000.0, -0.5, 7, 1.0, "1-2"],
        "c": [true, false, true, false, true, false, true],
        "d": [null, null, "", "null", "yes", "2026-11-30T12:00:00Z", "17:00", "1h30m"],
        "e": "5", "f": 5, "g": null,
    });
    assert_eq!(value(text), expected);
}

#[test]
fn anchors_aliases_and_merge_keys_are_followed() {
    let text = "base: &base {a: 1, b: 2}\nmore: &more {c: 3, a: 9}\nuses: [*base]\nmerged: {<<: *base, b: 5}\nboth:\n  <<: [*base, *more]\n  d: 4";
    let expected = json!({
        "base": {"a": 1, "b": 2}, "more": {"c": 3, "a": 9}, "uses": [{"a": 1, "b": 2}],
        "merged": {"a": 1, "b": 5}, "both": {"a": 1, "b": 2, "c": 3, "d": 4},
    });
    assert_eq!(value(text), expected);
}

#[test]
fn a_list_gives_its_items_and_each_keeps_its_own_place() {
    let text = r#"{"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a", "namespace": "n"}},
        {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "b", "namespace": "n"}}]}"#;
    let reading = reading(text);
    assert_eq!(reading.findings, []);
    let place = |index: usize| reading.manifests[index].span("/metadata/name").map(|span| span.to_string());
    assert_eq!(place(0).as_deref(), Some("test.yaml:2:72"));
    assert_eq!(place(1).as_deref(), Some("test.yaml:3:72"));
}

#[test]
fn items_of_a_typed_list_take_their_type_from_it() {
    let text = "apiVersion: batch/v1\nkind: JobList\nitems: [{metadata: {name: a}}, {metadata: {name: b}}]";
    assert_eq!(subjects(text), ["Job default/a", "Job default/b"]);
}

#[test]
fn namespaced_objects_get_the_default_namespace_and_others_none() {
    let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n---\n\
                apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n";
    assert_eq!(subjects(text), ["Job default/a", "ClusterQueue q"]);
}

#[test]
fn a_made_up_name_never_takes_one_that_is_given() {
    let one = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: eval-}\n";
    let named = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: eval-1}\n";
    assert_eq!(
        subjects(&format!("{named}---\n{one}---\n{one}")),
        ["Job default/eval-1", "Job default/eval-2", "Job default/eval-3"]
    );
}

#[test]
fn comments_empty_documents_and_line_ends_of_other_systems_are_fine() {
    let text = "\u{FEFF}# only a comment\r\n---\r\n---\r\napiVersion: v1\r\nkind: Secret\r\nmetadata: {name: x}\r\n...\r\n---\r\n# the end\r\n";
    let reading = reading(text);
    assert_eq!(reading.findings, []);
    assert_eq!(reading.manifests[0].subject(), "Secret default/x");
}

#[test]
fn an_error_in_one_document_hides_no_other_document() {
    let text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nkind: [\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: b}\n";
    let reading = reading(text);
    assert_eq!(reading.findings.len(), 1);
    assert_eq!(subjects(text), ["Secret default/a", "Secret default/b"]);
}

#[test]
fn folders_are_read_in_order_of_name_and_other_files_in_them_are_ignored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    let secret = |name: &str| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: {name}}}\n");
    write("b.yaml", &secret("b"));
    write("a/z.yml", &secret("z"));
    write("c.json", "{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"c\"}}\n");
    write("README.md", "# not: a manifest: at all");
    write(".hidden.yaml", "]");
    let inputs = [Input::Path(folder.path().to_owned()), Input::Path(folder.path().join("b.yaml"))];
    let reading = read(&inputs, &Limits::default());
    assert_eq!(reading.findings, []);
    let names: Vec<&str> = reading.manifests.iter().map(|manifest| manifest.name.as_str()).collect();
    assert_eq!(names, ["z", "b", "c"]);
}

#[test]
fn a_laugh_that_grows_without_end_is_refused() {
    let mut text = String::from(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n",
    );
    for level in 1..12 {
        let previous = level - 1;
        let uses = vec![format!("*a{previous}"); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
    }
    let reading = reading(&text);
    assert_eq!(reading.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SG083"]);
}

#[test]
fn limits_end_in_findings() {
    let limits = Limits { file_bytes: 100, objects: 2, depth: 5, ..Limits::default() };
    let codes = |text: &str| {
        let reading = read(&[Input::text("t.yaml", text)], &limits);
        reading.findings.iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(&"x".repeat(101)), ["SG080"]);
    assert_eq!(codes("[[[[[[]]]]]]"), ["SG082"]);
    assert_eq!(codes("{\"a\":[[[[[[]]]]]]}"), ["SG082"]);
    let objects = Limits { file_bytes: 10_000, ..limits };
    let secret = |name: u32| format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s{name}}}\n---\n");
    let many: String = (0..5).map(secret).collect();
    let reading = read(&[Input::text("t.yaml", &many)], &objects);
    assert_eq!(reading.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SG081"]);
    assert_eq!(reading.manifests.len(), 2);
}

#[test]
fn a_pointer_into_an_object_leads_where_serde_json_says() {
    let value = json!({"a": {"b/c": [10, {"": 1}, [2, 3]], "0": "zero", "~x": true, "": {"d": null}}, "": [4]});
    let object = row(value.clone());
    let members = ["", "a", "b~1c", "~0x", "0", "00", "1", "+1", "-", "2", "d", "99999999999999999999"];
    let mut pointers = vec![String::new(), "a".to_owned()];
    let mut level = vec![String::new()];
    for _ in 0..4 {
        level = level.iter().flat_map(|head| members.iter().map(move |member| format!("{head}/{member}"))).collect();
        pointers.extend(level.iter().cloned());
    }
    for pointer in &pointers {
        assert_eq!(object.at(pointer), value.pointer(pointer), "{pointer}");
    }
}
