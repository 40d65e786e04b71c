//! What people are told when a cluster does not do what it was asked.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::Method;
use kube::Api;
use kube::api::ListParams;
use stagger::cluster::{Access, ClusterError, Kind, connect, within};

use super::fake::Fake;

type Pods = Api<kube::api::DynamicObject>;

fn pods(client: kube::Client) -> Pods {
    let kind = kube::core::GroupVersionKind::gvk("", "v1", "Pod");
    Api::namespaced_with(client, "evals", &kube::core::ApiResource::from_gvk(&kind))
}

async fn asked(fake: &Fake) -> Result<(), ClusterError> {
    let pods = pods(fake.client().await);
    within(Duration::from_millis(500), "list", "pods", pods.list(&ListParams::default())).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_has_its_kind_and_names_what_was_asked() {
    let fake = Fake::start(&["v1/pods"]).await;
    assert_eq!(asked(&fake).await, Ok(()));
    let refused = "pods is forbidden: User \"system:serviceaccount:a:b\" cannot list resource \"pods\" in API group \"\" in the namespace \"evals\"";
    let cases = [
        (401, "Unauthorized", Kind::Unauthorized, "the API server does not accept the credentials"),
        (403, refused, Kind::Forbidden, "system:serviceaccount:a:b may not list pods in the namespace evals"),
        (403, "exceeded quota: gpus", Kind::Forbidden, "failed to list pods: forbidden: exceeded quota: gpus"),
        (409, "", Kind::Conflict, "failed to list pods: the API server answers 409"),
        (410, "too old", Kind::Gone, "too old"),
        (422, "spec: wrong", Kind::Refused, "failed to list pods: spec: wrong"),
        (429, "slow down", Kind::Busy, "slow down"),
        (500, "etcd", Kind::Server, "etcd"),
        (0, "", Kind::Unreachable, "failed to list pods: the API server did not answer within 500 ms"),
    ];
    for (code, message, kind, told) in cases {
        fake.fail(Method::GET, "/api/v1/namespaces/evals/pods", code, message);
        let before = fake.asked(&Method::GET, "/api/v1");
        let error = asked(&fake).await.unwrap_err();
        assert_eq!(error.kind, kind, "{code} {error}");
        assert!(error.message.contains(told), "{error}");
        assert_eq!(fake.asked(&Method::GET, "/api/v1"), before + 1, "{code}: tried once");
        fake.heal();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_unreachable_and_a_kind_that_is_not_there_is_not_found() {
    let fake = Fake::start(&[]).await;
    assert_eq!(asked(&fake).await.unwrap_err().kind, Kind::NotFound);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let text = "{apiVersion: v1, kind: Config, current-context: c, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], contexts: [{name: c, context: {cluster: c, user: u, namespace: evals}}], users: []}";
    std::fs::write(&path, text).unwrap();
    let cluster = connect(&Access { kubeconfig: Some(path), ..Access::default() }).await.unwrap();
    assert_eq!(cluster.namespace, "evals");
    let call = pods(cluster.client).list(&ListParams::default()).await;
    let error = within(Duration::from_secs(5), "list", "pods", std::future::ready(call)).await.unwrap_err();
    assert_eq!(error.kind, Kind::Unreachable);
    assert!(error.message.contains("the API server cannot be reached: Connection refused"), "{error}");
}

#[tokio::test]
async fn a_kubeconfig_that_cannot_be_read_is_told() {
    let missing = Access { kubeconfig: Some(PathBuf::from("no-such-file")), ..Access::default() };
    let error = connect(&missing).await.map(drop).unwrap_err();
    assert_eq!(error.kind, Kind::NoConfig);
    assert!(error.message.contains("no-such-file"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, "{apiVersion: v1, kind: Config, contexts: [], clusters: [], users: []}").unwrap();
    let access = Access { kubeconfig: Some(path), context: Some("other".into()), ..Access::default() };
    assert!(connect(&access).await.map(drop).unwrap_err().message.contains("other"));
}
