//! Our kinds on a real API server: what it accepts, what it refuses, and in which words.

#[path = "../it/crds/table.rs"]
#[expect(dead_code, reason = "a schema's own words are told apart where there is no API server")]
mod table;

use std::path::Path;

use serde_json::json;

use crate::person::{documents, written};
use crate::plane::Plane;
use crate::shared::on_plane;

/// Installs our kinds.
pub async fn installed(plane: &Plane) {
    plane.admin.define(documents(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crds"))).await;
}

#[test]
fn every_object_of_the_table_is_accepted_or_refused_in_the_words_a_person_reads() {
    on_plane(async |plane| {
        installed(plane).await;
        for name in ["evals", "serving"] {
            plane.admin.apply(&json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
        }
        let mut wrong = Vec::new();
        for row in table::ROWS {
            let object = written(row.object).remove(0);
            let said = match plane.admin.dry_run(&object).await {
                Ok(_) => String::new(),
                Err(refused) => refused.message,
            };
            let as_written = if row.refused.is_empty() { said.is_empty() } else { said.contains(row.refused) };
            if !as_written {
                wrong.push(format!("{}\nexpected: {:?}\nsaid: {said}\n", row.object, row.refused));
            }
        }
        assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), table::ROWS.len(), wrong.join("\n"));
    });
}
