//! `KIND/NAME` as people write it for `--for`.

use super::exit::Failed;
use crate::names::WorkloadKey;

/// A workload as named on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// As written: `job`, `Job`, `jobs`.
    kind: String,
    namespace: Option<String>,
    name: String,
}

/// Reads `Job/eval-1`, `job/evals/eval-1` or `eval-1`.
///
/// # Errors
/// A fragment that says what was expected.
pub(super) fn parse(text: &str) -> Result<Reference, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let (kind, namespace, name) = match parts[..] {
        [name] => ("", None, name),
        [kind, name] => (kind, None, name),
        [kind, namespace, name] => (kind, Some(namespace.to_owned()), name),
        _ => ("", None, ""),
    };
    if name.is_empty() {
        return Err(format!("`{text}` is not KIND/NAME such as Job/eval-1"));
    }
    Ok(Reference { kind: kind.to_owned(), namespace, name: name.to_owned() })
}

impl Reference {
    /// Whether it means this workload; `namespace` is what `-n` says.
    pub(super) fn means(&self, kind: &str, key: &WorkloadKey, namespace: Option<&str>) -> bool {
        let wanted = self.kind.to_ascii_lowercase();
        let kind = kind.to_ascii_lowercase();
        let kind_fits = wanted.is_empty() || wanted == kind || wanted == format!("{kind}s");
        let namespace = self.namespace.as_deref().or(namespace);
        kind_fits && key.name() == self.name && namespace.is_none_or(|namespace| namespace == key.namespace())
    }

    /// The one of these that is meant.
    ///
    /// # Errors
    /// None or several: says which there are.
    pub(super) fn pick<'a>(
        &self,
        all: impl Iterator<Item = (&'a str, &'a WorkloadKey)>,
        namespace: Option<&str>,
    ) -> Result<WorkloadKey, Failed> {
        let all: Vec<(&str, &WorkloadKey)> = all.collect();
        let found: Vec<&(&str, &WorkloadKey)> =
            all.iter().filter(|(kind, key)| self.means(kind, key, namespace)).collect();
        match found[..] {
            [(_, key)] => Ok((*key).clone()),
            [] => {
                let failed = Failed::usage(format!("there is no workload {} in the input", self.name));
                let near = |key: &WorkloadKey| strsim::jaro_winkler(key.name(), &self.name);
                let best = all.iter().max_by(|a, b| near(a.1).total_cmp(&near(b.1)));
                Err(match best {
                    Some((kind, key)) => {
                        failed.hint(format!("did you mean {kind}/{} in namespace {}?", key.name(), key.namespace()))
                    }
                    None => failed,
                })
            }
            _ => {
                let names: Vec<String> = found.iter().map(|(kind, key)| format!("{kind} {key}")).collect();
                let failed = Failed::usage(format!("{} is several workloads: {}", self.name, names.join(", ")));
                Err(failed.hint("say which with KIND/NAME and -n NAMESPACE"))
            }
        }
    }
}
