//! `read`: from paths and text to manifests, with a finding for everything that is not one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::build::{Document, Fault};
use super::limits::{Budget, Limits};
use super::{codes, files, identity, json, yaml};
use crate::api::manifest::{Manifest, Origin};
use crate::api::spans::{NodeId, SpanTree};
use crate::failure::{Finding, Lines, Severity, SourceFile, Span};

/// Something to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file, or a folder with everything below it that is called `*.yaml`, `*.yml` or `*.json`.
    Path(PathBuf),
    /// Bytes under a name, such as those of standard input under `<stdin>`.
    Bytes { name: String, bytes: Vec<u8> },
}

impl Input {
    #[must_use]
    pub fn text(name: &str, text: &str) -> Self {
        Self::Bytes { name: name.to_owned(), bytes: text.as_bytes().to_vec() }
    }
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// In the order in which they were written: by input, file name and place.
    pub manifests: Vec<Manifest>,
    pub findings: Vec<Finding>,
}

impl Reading {
    /// Whether something that was meant to be read was not.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Error)
    }
}

/// Reads every manifest of the inputs.
///
/// An error in one document leaves the others readable. Namespaced objects without a namespace get `default`; an
/// object with `generateName` only gets a name. Objects of unknown kinds are kept, with a note.
#[must_use]
pub fn read(inputs: &[Input], limits: &Limits) -> Reading {
    let mut reader = Reader::new(limits);
    for input in inputs {
        match input {
            Input::Bytes { name, bytes } => reader.bytes(name, bytes.clone(), false),
            Input::Path(path) => {
                let found = files::find(path, limits);
                let from_folder = found.files.first() != Some(path);
                for finding in found.findings {
                    reader.report(finding);
                }
                for file in found.files {
                    // A folder and a file in it may both be given.
                    if !reader.seen_files.insert(file.canonicalize().unwrap_or_else(|_| file.clone())) {
                        continue;
                    }
                    let shown = file.display().to_string();
                    match files::bytes(&file, limits.file_bytes) {
                        Ok(bytes) => reader.bytes(&shown, bytes, from_folder),
                        Err(finding) => reader.report(finding),
                    }
                }
            }
        }
    }
    reader.embedded();
    reader.finish()
}

/// Where Kueue's installation keeps its Configuration: under this key of a ConfigMap.
const CONFIGURATION_KEY: &str = "controller_manager_config.yaml";

struct Reader<'a> {
    limits: &'a Limits,
    budget: Budget,
    bytes_left: usize,
    reading: Reading,
    seen_files: HashSet<PathBuf>,
    /// Group, kind, namespace and name → the manifest that has them.
    seen: HashMap<(String, String, String, String), usize>,
    /// `apiVersion` and kind of what is not known → how many, and the first.
    unknown: BTreeMap<(String, String), (usize, Option<Span>)>,
    /// Group, kind, namespace and prefix of `generateName` → the last ending that was given.
    endings: HashMap<(String, String, String, String), usize>,
    lines: Lines,
    /// Findings beyond the limit.
    left_out: usize,
    left_out_errors: usize,
    /// Whether a limit was reached behind which nothing more is read.
    full: bool,
    /// Whether the file being read was found in a folder rather than named.
    in_folder: bool,
    /// Kueue's Configuration inside ConfigMaps, to be read once everything else is.
    embedded: Vec<Arc<SourceFile>>,
}

impl<'a> Reader<'a> {
    fn new(limits: &'a Limits) -> Self {
        Self {
            limits,
            budget: Budget::new(limits),
            bytes_left: limits.total_bytes,
            reading: Reading::default(),
            seen_files: HashSet::new(),
            seen: HashMap::new(),
            unknown: BTreeMap::new(),
            endings: HashMap::new(),
            lines: Lines::default(),
            left_out: 0,
            left_out_errors: 0,
            full: false,
            in_folder: false,
            embedded: Vec::new(),
        }
    }

    /// Reads what stands inside ConfigMaps like documents of their own, with places in their own text. What stands inside
    /// those is not looked into.
    fn embedded(&mut self) {
        for file in std::mem::take(&mut self.embedded) {
            self.file(&file, false);
        }
        self.embedded.clear();
    }

    fn bytes(&mut self, name: &str, bytes: Vec<u8>, from_folder: bool) {
        if bytes.len() > self.limits.file_bytes {
            self.report(files::too_large(name, self.limits.file_bytes));
            return;
        }
        let Some(left) = self.bytes_left.checked_sub(bytes.len()) else {
            let limit = super::limits::megabytes(self.limits.total_bytes);
            let message = format!("more than {limit} of files; this one and what follows are not read");
            self.report(Finding::error(codes::TOO_LARGE, name, message));
            self.bytes_left = 0;
            return;
        };
        self.bytes_left = left;
        match files::text(name, bytes) {
            Ok(file) => self.file(&file, from_folder),
            Err(finding) => self.report(finding),
        }
    }

    fn file(&mut self, file: &Arc<SourceFile>, from_folder: bool) {
        if self.full {
            return;
        }
        self.in_folder = from_folder;
        if from_folder && is_kustomization(&file.path) {
            let message = "a kustomization is not read; the manifests it names are";
            self.report(Finding::note(codes::UNKNOWN_KIND, file.path.clone(), message));
            return;
        }
        let mut documents = 0_usize;
        let before = self.reading.findings.len();
        if file.text.trim_start().starts_with(['{', '[']) {
            let mut budget = std::mem::replace(&mut self.budget, Budget::new(self.limits));
            let outcome = json::read(&file.text, &mut budget, &mut |document, faults| {
                documents += 1;
                self.document(file, document, faults);
            });
            self.budget = budget;
            match outcome {
                Ok(()) => return,
                // Text in braces may also be YAML in flow style; quoted keys mean JSON.
                Err(fault) if documents > 0 || fault.code != codes::SYNTAX || is_json(&file.text, &file.path) => {
                    self.fault(file, fault);
                    return;
                }
                Err(_) => {}
            }
        }
        let mut budget = std::mem::replace(&mut self.budget, Budget::new(self.limits));
        yaml::read(&file.text, &mut budget, &mut |outcome, faults| match outcome {
            Ok(document) => {
                if !document.value.is_null() {
                    documents += 1;
                }
                self.document(file, document, faults);
            }
            Err(fault) => {
                for mild in faults {
                    self.fault(file, mild);
                }
                self.fault(file, fault);
            }
        });
        self.budget = budget;
        if documents == 0 && self.reading.findings.len() == before && !from_folder {
            let message = "there is no document in it";
            self.report(Finding::warning(codes::UNREADABLE, file.path.clone(), message));
        }
    }

    fn document(&mut self, file: &Arc<SourceFile>, document: Document, faults: Vec<Fault>) {
        for fault in faults {
            self.fault(file, fault);
        }
        let Document { value, spans } = document;
        if !value.is_null() {
            self.object(file, value, &Arc::new(spans), NodeId::ROOT, None);
        }
    }

    /// Takes an object, or the items of a List. `list`: the `apiVersion` and kind that a typed list gives its items.
    fn object(
        &mut self,
        file: &Arc<SourceFile>,
        mut value: Value,
        spans: &Arc<SpanTree>,
        root: NodeId,
        list: Option<(&str, &str)>,
    ) {
        if self.full {
            return;
        }
        if let Some((api_version, kind)) = list.filter(|_| value.is_object() && value.get("kind").is_none()) {
            value["apiVersion"] = Value::from(api_version);
            value["kind"] = Value::from(kind);
        }
        if list.is_none()
            && let Some((api_version, kind, items)) = take_list(&mut value)
        {
            let parent = spans.child(root, "items").unwrap_or(root);
            for (item, node) in items.into_iter().zip(spans.children(parent)) {
                self.object(file, item, spans, node, Some((&api_version, &kind)));
            }
            return;
        }
        if self.reading.manifests.len() >= self.limits.objects {
            let message = format!("more than {} objects; the rest is not read", self.limits.objects);
            self.report(Finding::error(codes::TOO_MANY, file.path.clone(), message));
            self.full = true;
            return;
        }
        let origin = Origin { file: Arc::clone(file), spans: Arc::clone(spans), root };
        let identified = identity::identify(value, Arc::new(origin));
        for mut finding in identified.findings {
            if identified.foreign && self.in_folder {
                // Folders hold other YAML too: values of a chart, a workflow. What is given by name was meant.
                finding.severity = Severity::Warning;
                finding.hint =
                    Some("it is left out; if it is meant to be a manifest, add apiVersion and kind".to_owned());
            }
            self.report(finding);
        }
        if let Some(manifest) = identified.manifest {
            self.manifest(manifest, identified.unknown);
        }
    }

    fn manifest(&mut self, mut manifest: Manifest, unknown: bool) {
        if unknown {
            let key = (manifest.api_version.clone(), manifest.kind.clone());
            let span = manifest.span("/kind");
            self.unknown.entry(key).or_insert((0, span)).0 += 1;
        }
        let generated = manifest.at("/metadata/name").is_none() && manifest.at("/metadata/generateName").is_some();
        if generated {
            self.generate_name(&mut manifest);
        }
        let key = key_of(&manifest);
        if let Some(first) = self.seen.get(&key).and_then(|index| self.reading.manifests.get(*index)) {
            let place = first.span("/metadata/name").map_or_else(String::new, |span| {
                let (line, column) = self.lines.locate(&span.file, span.start);
                format!(" at {}:{line}:{column}", span.file.path)
            });
            let message = format!("{} is defined twice; this one is left out", manifest.subject());
            let finding = Finding::error(codes::DUPLICATE_OBJECT, manifest.subject(), message)
                .at(manifest.span("/metadata/name"), "the second definition")
                .hint(format!("the first one is{place}; rename one or remove it"));
            self.report(finding);
            return;
        }
        self.embedded.extend(configuration_of(&manifest).map(Arc::new));
        self.seen.insert(key, self.reading.manifests.len());
        self.reading.manifests.push(manifest);
    }

    /// Makes up a name the way the API server would, but the same one every time.
    fn generate_name(&mut self, manifest: &mut Manifest) {
        let prefix = manifest.name.trim_end_matches('-').to_owned();
        let ending = self.endings.entry(key_of(manifest)).or_insert(0);
        loop {
            *ending += 1;
            manifest.name = format!("{prefix}-{ending}");
            if !self.seen.contains_key(&key_of(manifest)) {
                break;
            }
        }
        let message = format!("it has generateName only; it is called {} here", manifest.name);
        let finding = Finding::note(codes::FILLED_IN, manifest.subject(), message);
        self.report(finding.at(manifest.span("/metadata/generateName"), "the cluster would choose the ending"));
    }

    fn fault(&mut self, file: &Arc<SourceFile>, fault: Fault) {
        if self.full {
            return;
        }
        self.full = fault.code == codes::TOO_LARGE;
        let severity = if fault.mild { Severity::Warning } else { Severity::Error };
        let span = Span { file: Arc::clone(file), start: fault.at.0, end: fault.at.1 };
        let mut finding = Finding::new(fault.code, severity, file.path.clone(), fault.message);
        finding.hint = fault.hint;
        if let Some(first) = fault.first {
            finding.hint = Some(format!("the first one is on line {}", self.lines.locate(file, first).0));
        }
        self.report(finding.at(Some(span), fault.label));
    }

    fn report(&mut self, finding: Finding) {
        if self.reading.findings.len() < self.limits.findings {
            self.reading.findings.push(finding);
        } else {
            self.left_out += 1;
            self.left_out_errors += usize::from(finding.severity == Severity::Error);
        }
    }

    fn finish(mut self) -> Reading {
        for ((api_version, kind), (count, span)) in std::mem::take(&mut self.unknown) {
            let times = if count == 1 { String::new() } else { format!(" ({count} objects)") };
            let message = format!("stagger does not plan {kind} of {api_version}; it is ignored{times}");
            let finding = Finding::note(codes::UNKNOWN_KIND, format!("{kind} ({api_version})"), message);
            self.report(finding.at(span, "not a kind that is planned"));
        }
        if self.left_out > 0 {
            let severity = if self.left_out_errors > 0 { Severity::Error } else { Severity::Note };
            let message =
                format!("{} more findings, {} of them errors, are not listed", self.left_out, self.left_out_errors);
            self.reading.findings.push(Finding::new(codes::MORE, severity, "input", message));
        }
        self.reading
    }
}

/// Kueue's Configuration where it stands inside a ConfigMap; other controllers keep theirs under the same key.
fn configuration_of(manifest: &Manifest) -> Option<SourceFile> {
    if manifest.kind != "ConfigMap" || !manifest.group().is_empty() {
        return None;
    }
    let text = manifest.at("/data")?.get(CONFIGURATION_KEY)?.as_str()?;
    let file = manifest.origin.as_ref().map_or("ConfigMap", |origin| origin.file.path.as_str());
    let path = format!("{file}: {}: {CONFIGURATION_KEY}", manifest.subject());
    text.contains("config.kueue.x-k8s.io/").then(|| SourceFile { path, text: text.to_owned() })
}

fn key_of(manifest: &Manifest) -> (String, String, String, String) {
    let group = manifest.group().to_owned();
    (group, manifest.kind.clone(), manifest.namespace.clone(), manifest.name.clone())
}

/// The items of a List, with the `apiVersion` and kind they have when they do not say so themselves.
fn take_list(value: &mut Value) -> Option<(String, String, Vec<Value>)> {
    let kind = value.get("kind")?.as_str()?.strip_suffix("List")?.to_owned();
    let api_version = value.get("apiVersion")?.as_str()?.to_owned();
    match value.get_mut("items")?.take() {
        Value::Array(items) => Some((api_version, kind, items)),
        _ => None,
    }
}

fn is_kustomization(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    matches!(name, "kustomization.yaml" | "kustomization.yml" | "Kustomization")
}

fn is_json(text: &str, path: &str) -> bool {
    let inner = text.trim_start().trim_start_matches(['{', '[']).trim_start();
    path.ends_with(".json") || inner.starts_with('"')
}
