//! The watches of the controller, on an API server of a few lines: what it forgets is listed anew.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use stagger::clock::Clock;
use stagger::controller::rows::{Rows, State};
use stagger::controller::watch::{Watching, watch};
use tokio::time::timeout;

use crate::cluster::fake::Fake;

const NAMESPACES: &str = "/api/v1/namespaces";
/// A bound on what comes within moments unless it never comes.
const SOON: Duration = Duration::from_mins(1);

/// A server refuses the request itself where it has forgotten the version that a watch goes on from.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_while_the_version_was_forgotten_is_seen() {
    let server = Fake::start(&["v1/namespaces"]).await;
    let put = |name: &str| {
        server.put(NAMESPACES, json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    };
    put("first");
    let rows = Rows::default();
    let on_error = Arc::new(|_: &str, _: &_| {});
    let watching = Watching { client: server.client().await, rows: rows.clone(), clock: Clock::WALL, on_error };
    let watches = tokio::spawn(watch(watching));
    for name in ["first", "second", "third"] {
        if name != "first" {
            server.cut_watches(true);
            put(name);
        }
        let has = || rows.read_kinds(&["Namespace"], |rows| rows.filter(|row| row.name == name).count() == 1);
        let mut changes = rows.changes();
        let seen = async {
            while rows.state("Namespace") != State::Listed || !has() {
                changes.changed().await.expect("rows go on");
            }
        };
        assert!(timeout(SOON, seen).await.is_ok(), "{name} is never seen");
    }
    watches.abort();
}
