//! The forgery matrix on a real API server: every way a label reaches a pod or job, by everybody who might try.

use std::time::Duration;

use serde_json::{Value, json};

use super::{EVALS, Installed, grant, installed, pod};
use crate::person::{Person, Refused};
use crate::plane::Plane;
use crate::shared::on_plane;
use crate::wait::until;

/// What comes of a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    /// It goes through, with the true stamp.
    Corrected,
    Denied,
    /// It goes through as it is; the audit log tells.
    Allowed,
}

use Cell::{Allowed, Corrected, Denied};

/// Tenant user, tenant account, namespace admin, node, binder, cluster admin. All have every right over pods and jobs, so
/// that what refuses is not RBAC. A node makes mirror pods only, and the webhook is not called for nodes: the policy is.
const ROWS: [(&str, [Cell; 6]); 5] = [
    ("pods create", [Corrected, Corrected, Corrected, Denied, Corrected, Corrected]),
    ("pods update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("pods/status update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("pods/binding create", [Denied, Denied, Denied, Denied, Denied, Allowed]),
    ("jobs/status update", [Denied, Denied, Denied, Denied, Denied, Allowed]),
];

/// Each persona with the name under which the API server knows it.
async fn personas(plane: &Plane) -> Vec<(String, Person)> {
    let runner = plane.bearer("runner", &plane.admin.token(EVALS, "runner").await).await;
    let binder = plane.bearer("other-scheduler", &plane.admin.token("kube-system", "other-scheduler").await).await;
    vec![
        ("ana".to_owned(), plane.user("ana", &["vision-people"]).await),
        (format!("system:serviceaccount:{EVALS}:runner"), runner),
        ("evals-admin".to_owned(), plane.user("evals-admin", &[]).await),
        ("system:node:gpu-1".to_owned(), plane.user("system:node:gpu-1", &["system:nodes"]).await),
        ("system:serviceaccount:kube-system:other-scheduler".to_owned(), binder),
        ("root".to_owned(), plane.user("root", &["system:masters"]).await),
    ]
}

/// One try: what the API server said, and the object afterwards.
async fn attempt(
    plane: &Plane,
    who: &Person,
    path: &str,
    name: &str,
    forged: &Value,
) -> (Result<(), Refused>, Option<Value>) {
    const MERGE: &str = "application/merge-patch+json";
    let admin = &plane.admin;
    let labels = json!({"metadata": {"labels": forged}});
    let (kind, version) = if path.starts_with("jobs") { ("Job", "batch/v1") } else { ("Pod", "v1") };
    let base = if kind == "Job" { "/apis/batch/v1" } else { "/api/v1" };
    let at = format!("{base}/namespaces/{EVALS}/{}s/{name}", kind.to_lowercase());
    // 1. What there is before, made by somebody trusted.
    match path {
        "pods create" => {}
        "jobs/status update" => {
            let template =
                json!({"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]}});
            let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": EVALS},
                             "spec": {"suspend": true, "template": template}});
            admin.create(&job).await.expect("a job is made");
        }
        _ => {
            let mut before = pod(name, EVALS, &json!({}));
            if path != "pods/binding create" {
                before["spec"]["nodeName"] = json!("gpu-1");
            }
            admin.create(&before).await.expect("a pod is made");
        }
    }
    // 2. The try.
    let said = match path {
        "pods create" => {
            let mut made = pod(name, EVALS, forged);
            if who.name == "system:node:gpu-1" {
                let node = admin.get("v1", "Node", "", "gpu-1").await.expect("the node is there");
                made["spec"]["nodeName"] = json!("gpu-1");
                made["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "a"});
                made["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Node", "name": "gpu-1",
                                                              "uid": node["metadata"]["uid"], "controller": true}]);
            }
            who.create(&made).await.map(drop)
        }
        "pods/binding create" => {
            let binding = json!({"apiVersion": "v1", "kind": "Binding",
                                 "metadata": {"name": name, "namespace": EVALS, "labels": forged},
                                 "target": {"apiVersion": "v1", "kind": "Node", "name": "gpu-1"}});
            who.send("POST", &format!("{at}/binding"), "application/json", &binding).await.map(drop)
        }
        "pods/status update" | "jobs/status update" => {
            who.send("PATCH", &format!("{at}/status"), MERGE, &labels).await.map(drop)
        }
        _ => who.send("PATCH", &at, MERGE, &labels).await.map(drop),
    };
    (said, admin.get(version, kind, EVALS, name).await.ok())
}

#[test]
fn nobody_forges_a_stamp_on_any_path_and_the_audit_log_names_who_tried() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-1"}});
        plane.admin.apply(&node).await;
        let personas = personas(plane).await;
        let rule = json!({"apiGroups": ["", "batch"], "verbs": ["*"],
                          "resources": ["pods", "pods/status", "pods/binding", "bindings", "jobs", "jobs/status"]});
        for (user, _) in &personas {
            grant(plane, user, &json!([rule])).await;
        }
        let forged = Installed::labels(&here.vision);
        let mut wrong = Vec::new();
        for (path, cells) in ROWS {
            for ((user, who), expected) in personas.iter().zip(cells) {
                let name = format!("{}-{}", path.replace([' ', '/'], "-"), who.name.replace(':', "-"));
                let (said, after) = attempt(plane, who, path, &name, &forged).await;
                let stamp = after.as_ref().map(Installed::stamp_of);
                let found = match (&said, &stamp) {
                    (Err(refused), stamp) if refused.code == 403 || refused.code == 422 => {
                        if stamp.as_ref().is_some_and(|stamp| *stamp != here.nlp) {
                            wrong.push(format!("{path} by {user}: denied, and yet {stamp:?}"));
                        }
                        Denied
                    }
                    (Ok(()), Some(stamp)) if *stamp == here.nlp => Corrected,
                    (Ok(()), Some(_)) => Allowed,
                    other => panic!("{path} by {user}: {other:?}"),
                };
                if found != expected {
                    wrong.push(format!("{path} by {user}: {found:?} instead of {expected:?}: {said:?}, {stamp:?}"));
                }
                let logged = plane.audit().into_iter().any(|event| {
                    event["user"]["username"] == user.as_str()
                        && event["objectRef"]["name"] == name.as_str()
                        && (event["responseStatus"]["code"].as_u64() == Some(403)) == (found == Denied)
                });
                if !logged {
                    wrong.push(format!("{path} by {user}: the audit log does not tell"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    });
}

#[test]
fn a_namespace_cannot_take_another_tenant_for_itself() {
    on_plane(async |plane| {
        let here = installed(plane).await;
        let owner = plane.user("namespace-owner", &[]).await;
        let rule = json!({"apiGroups": [""], "resources": ["namespaces", "namespaces/status", "namespaces/finalize"], "verbs": ["*"]});
        grant(plane, "namespace-owner", &json!([rule])).await;
        // Labels of others are none of our business.
        let other = json!({"metadata": {"labels": {"team": "speech"}}});
        let at = format!("/api/v1/namespaces/{EVALS}");
        until("another label is free", Duration::from_secs(30), async || {
            let sent = owner.send("PATCH", &at, "application/merge-patch+json", &other).await;
            sent.map(drop).map_err(|refused| refused.message)
        })
        .await;
        let taken = json!({"metadata": {"labels": Installed::labels(&here.vision)}});
        for path in ["", "/status"] {
            let at = format!("/api/v1/namespaces/{EVALS}{path}");
            let refused = owner.send("PATCH", &at, "application/merge-patch+json", &taken).await;
            let refused = refused.expect_err("a namespace's tenant is not for its owner to set");
            assert!(refused.message.contains("written by stagger's controller only"), "{}", refused.message);
        }
        let since = json!({"metadata": {"annotations": {"stagger.dev/tenant-since": "2020-01-01T00:00:00Z"}}});
        let refused = owner.send("PATCH", &at, "application/merge-patch+json", &since).await;
        let refused = refused.expect_err("since when is not for its owner to say");
        assert!(refused.message.contains("written by stagger's controller only"), "{}", refused.message);
        let new = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "forged-new", "labels": Installed::labels(&here.vision)}});
        owner.create(&new).await.expect_err("nor when it is new");
    });
}
