//! The bundle in a webhook configuration: what is there, and the patch that puts ours there.

use k8s_openapi::ByteString;
use serde_json::{Value, json};

/// Only what carries this label is touched.
pub const LABEL: (&str, &str) = ("app.kubernetes.io/part-of", "stagger");

/// cert-manager's annotation: where it stands, the bundle is written by others.
const INJECTED: &str = "/metadata/annotations/cert-manager.io~1inject-ca-from";

/// More webhooks than this has no configuration of ours.
const WEBHOOKS_MAX: usize = 64;

/// The bundles of a configuration's webhooks, in order; empty where there is none.
#[must_use]
pub fn bundles(configuration: &Value) -> Vec<Vec<u8>> {
    let read = |webhook: &Value| {
        let bundle = webhook.pointer("/clientConfig/caBundle")?;
        serde_json::from_value::<ByteString>(bundle.clone()).ok().map(|bytes| bytes.0)
    };
    webhooks(configuration).map(|webhook| read(webhook).unwrap_or_default()).collect()
}

fn webhooks(configuration: &Value) -> impl Iterator<Item = &Value> {
    configuration["webhooks"].as_array().into_iter().flatten().take(WEBHOOKS_MAX)
}

/// Whether the bundle is ours to write.
///
/// # Errors
/// Why not, as a sentence.
pub fn is_ours(configuration: &Value) -> Result<(), String> {
    let subject = || {
        let text = |pointer| configuration.pointer(pointer).and_then(Value::as_str).unwrap_or("?");
        format!("{} {}", text("/kind"), text("/metadata/name"))
    };
    if configuration["metadata"]["labels"][LABEL.0] != LABEL.1 {
        return Err(format!("{} has no label {}={}: its caBundle is left alone", subject(), LABEL.0, LABEL.1));
    }
    if configuration.pointer(INJECTED).is_some() {
        return Err(format!("{} gets its caBundle from cert-manager: it is left alone", subject()));
    }
    Ok(())
}

/// The JSON Patch that publishes a bundle; `None`: it is there already. Each webhook is named by a test first, for what
/// stands at an index may have changed.
#[must_use]
pub fn patch(configuration: &Value, bundle: &str) -> Option<Value> {
    let encoded = json!(ByteString(bundle.as_bytes().to_vec()));
    let mut operations = Vec::new();
    for (index, (webhook, known)) in webhooks(configuration).zip(bundles(configuration)).enumerate() {
        if known == bundle.as_bytes() {
            continue;
        }
        let at = format!("/webhooks/{index}");
        operations.push(json!({"op": "test", "path": format!("{at}/name"), "value": webhook["name"]}));
        operations.push(json!({"op": "add", "path": format!("{at}/clientConfig/caBundle"), "value": encoded}));
    }
    (!operations.is_empty()).then_some(Value::Array(operations))
}
