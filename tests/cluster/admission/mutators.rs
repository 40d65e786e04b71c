//! istio#55691, istio#56102, kueue#4681: somebody else changes what we have written, before us, after us, and again after
//! we were asked again. Either the stamp is right in the end, or what is wrong is refused.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::routing::post;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use stagger::admission::tls::{self, Identity, Served};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::shipped::{stamping, take_mode};
use super::{EVALS, Installed, TENANT, TENANT_UID, WRONG_STAMP, installed, pod};
use crate::person::Person;
use crate::plane::{Plane, base64};
use crate::shared::alone_on_plane;
use crate::wait::until;

const SOON: Duration = Duration::from_secs(30);
const REGISTRATION: &str = "admissionregistration.k8s.io/v1";
/// Sorts after ours.
const OTHER: &str = "99-other";

/// By this label one sees that the policy has run.
const RAN: &str = "other-ran";

/// What the other one makes of our label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Removes,
    Changes,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Comes {
    Stamped,
    /// Without a stamp: the controller finds it.
    Bare,
    /// With what was said.
    Refused(String),
}

/// Another webhook: it knows pods by their label `other`, and does with our stamp what that says.
async fn serve(plane: &Plane) -> String {
    let folder = plane.folder.join("other");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    plane.authority.server(&folder, &[]);
    let read = |name: &str| std::fs::read(folder.join(name)).expect("it was written");
    let identity = Identity::from_pem(&read("tls.crt"), &read("tls.key")).expect("they belong together");
    let acceptor: TlsAcceptor = Arc::new(tls::server(Served::new(identity)).expect("TLS can be set up")).into();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let address = listener.local_addr().expect("it listens").to_string();
    let router = Router::new().route("/", post(async |body: Bytes| changed(&body)));
    tokio::spawn(async move {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (acceptor, service) = (acceptor.clone(), TowerToHyperService::new(router.clone()));
            tokio::spawn(async move {
                let Ok(stream) = acceptor.accept(stream).await else { return };
                // It ends when the client leaves.
                drop(hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
            });
        }
    });
    address
}

fn changed(body: &[u8]) -> ([(HeaderName, &'static str); 1], String) {
    let review: Value = serde_json::from_slice(body).expect("a review is JSON");
    let (request, path) = (&review["request"], "/metadata/labels/stagger.dev~1tenant-uid");
    let labels = &request["object"]["metadata"]["labels"];
    let patch = match labels["other"].as_str() {
        Some("Removes") if labels[TENANT_UID].is_string() => json!([{"op": "remove", "path": path}]),
        Some("Changes") => json!([{"op": "add", "path": path, "value": "other"}]),
        _ => json!([]),
    };
    let mut response = json!({"uid": request["uid"], "allowed": true});
    if patch.as_array().is_some_and(|steps| !steps.is_empty()) {
        response["patchType"] = json!("JSONPatch");
        response["patch"] = json!(base64(patch.to_string().as_bytes()));
    }
    let review = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response});
    ([(CONTENT_TYPE, "application/json")], review.to_string())
}

/// Registers it, asked again when somebody changes what it has written, or not.
async fn register(plane: &Plane, address: &str, again: &str) {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"], "scope": "Namespaced"});
    let selector = json!({"matchExpressions": [{"key": "other", "operator": "In", "values": ["Removes", "Changes"]}]});
    let client = json!({"url": format!("https://{address}/"), "caBundle": base64(plane.authority.pem().as_bytes())});
    let hook = json!({"name": "other.example.com", "admissionReviewVersions": ["v1"], "clientConfig": client,
                      "failurePolicy": "Fail", "rules": [rule], "objectSelector": selector, "sideEffects": "None",
                      "timeoutSeconds": 5, "reinvocationPolicy": again});
    let configuration = json!({"apiVersion": REGISTRATION, "kind": "MutatingWebhookConfiguration",
                               "metadata": {"name": OTHER}, "webhooks": [hook]});
    plane.admin.apply(&configuration).await;
}

/// A mutator inside the API server, which runs before webhooks and again after them.
async fn before_us(admin: &Person) {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]});
    let selector = json!({"matchLabels": {"other": "BeforeUs"}});
    let change = |key: &str| {
        format!("[JSONPatch{{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('{key}'), value: 'other'}}]")
    };
    let mutation = |key: &str| json!({"patchType": "JSONPatch", "jsonPatch": {"expression": change(key)}});
    let spec = json!({"failurePolicy": "Fail", "reinvocationPolicy": "IfNeeded",
                      "matchConstraints": {"resourceRules": [rule], "objectSelector": selector},
                      "mutations": [mutation(TENANT_UID), mutation(RAN)]});
    admin
        .apply(
            &json!({"apiVersion": stamping(), "kind": "MutatingAdmissionPolicy", "metadata": {"name": OTHER}, "spec": spec}),
        )
        .await;
    let spec = json!({"policyName": OTHER});
    admin.apply(&json!({"apiVersion": stamping(), "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": OTHER}, "spec": spec})).await;
}

/// Has our own webhook asked again, as it is shipped, or not.
async fn ask_again(admin: &Person, again: &str) {
    let mut ours =
        admin.get(REGISTRATION, "MutatingWebhookConfiguration", "", "00-stagger").await.expect("it is there");
    ours["webhooks"][0]["reinvocationPolicy"] = json!(again);
    let at = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/00-stagger";
    admin.send("PUT", at, "application/json", &ours).await.expect("it is changed");
}

async fn made(somebody: &Person, here: &Installed, other: &str) -> Result<Comes, String> {
    match somebody.dry_run(&pod("other", EVALS, &json!({"other": other}))).await {
        Ok(made) if Installed::stamp_of(&made) == here.nlp => Ok(Comes::Stamped),
        Ok(made) if made["metadata"]["labels"][TENANT_UID].is_null() => Ok(Comes::Bare),
        Ok(made) => Err(format!("a wrong stamp came through: {}", made["metadata"]["labels"])),
        Err(refused) => Ok(Comes::Refused(refused.message)),
    }
}

#[test]
fn whoever_changes_the_stamp_beside_us_it_is_right_in_the_end_or_refused() {
    alone_on_plane(async |plane| {
        let here = installed(plane).await;
        let admin = &plane.admin;
        let somebody = plane.user("somebody", &[]).await;
        let address = serve(plane).await;
        // The mode; whether we are asked again, whether the other is; what he does; what comes of it.
        let table = [
            ("protect", "IfNeeded", "Never", Does::Removes, None),
            ("protect", "IfNeeded", "Never", Does::Changes, None),
            ("protect", "IfNeeded", "IfNeeded", Does::Changes, Some(WRONG_STAMP)),
            ("protect", "IfNeeded", "IfNeeded", Does::Removes, Some("")),
            ("protect", "Never", "Never", Does::Changes, Some(WRONG_STAMP)),
            ("protect", "Never", "Never", Does::Removes, Some("")),
            ("enforce", "Never", "Never", Does::Removes, Some("stagger.dev/tenant-uid is missing")),
            ("enforce", "IfNeeded", "Never", Does::Removes, None),
        ];
        for (mode, ours, others, does, expected) in table {
            take_mode(admin, mode, &here.registration).await;
            ask_again(admin, ours).await;
            register(plane, &address, others).await;
            until(&format!("{mode}, we {ours}, the other {others}, {does:?}"), SOON, async || {
                let found = made(&somebody, here, &format!("{does:?}")).await?;
                let fits = match (&found, expected) {
                    (Comes::Stamped, None) | (Comes::Bare, Some("")) => true,
                    (Comes::Refused(said), Some(part)) => !part.is_empty() && said.contains(part),
                    _ => false,
                };
                if fits { Ok(()) } else { Err(format!("{found:?}")) }
            })
            .await;
        }
        here.protects_again(plane).await;
        before_us(admin).await;
        // It writes before we are asked, and once more when we have written; then we are asked again.
        let bent = pod("other", EVALS, &json!({"other": "BeforeUs"}));
        let bent = until("a policy changes it", SOON, async || {
            let made = somebody.dry_run(&bent).await.map_err(|refused| refused.message)?;
            let has_run = made["metadata"]["labels"][RAN] == "other";
            if has_run { Ok(made) } else { Err(made["metadata"]["labels"].to_string()) }
        })
        .await;
        assert_eq!(Installed::stamp_of(&bent), here.nlp, "what changes it before us does not win");
        for (version, kind) in [
            (REGISTRATION, "MutatingWebhookConfiguration"),
            (stamping(), "MutatingAdmissionPolicyBinding"),
            (stamping(), "MutatingAdmissionPolicy"),
        ] {
            let gone = json!({"apiVersion": version, "kind": kind, "metadata": {"name": OTHER}});
            admin.delete(&gone).await.expect("it is deleted");
        }
        until("nobody changes it any more", SOON, async || {
            let found = made(&somebody, here, "Changes").await?;
            let other = made(&somebody, here, "BeforeUs").await?;
            if (&found, &other) == (&Comes::Stamped, &Comes::Stamped) {
                Ok(())
            } else {
                Err(format!("{found:?} {other:?}"))
            }
        })
        .await;
        let made = somebody.dry_run(&pod("other", EVALS, &json!({TENANT: "nobody"}))).await.expect("a pod is made");
        assert_eq!(Installed::stamp_of(&made), here.nlp);
    });
}
