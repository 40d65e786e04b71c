//! Objects as rows: as the API server would give them, from JSON.

use serde_json::Value;
use stagger::api::manifest::Manifest;

/// What it says of itself is left empty where it says nothing.
pub fn row(value: Value) -> Manifest {
    let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    Manifest {
        api_version: text("/apiVersion"),
        kind: text("/kind"),
        namespace: text("/metadata/namespace"),
        name: text("/metadata/name"),
        value,
        shared: Box::default(),
        origin: None,
    }
}
