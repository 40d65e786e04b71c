//! The questions, each within its own deadline. One that is not answered does not keep the others from being asked.

use kube::Client;
use serde_json::{Value, json};

use super::facts::{Answer, Facts, Probe};
use crate::admission::certificates::{LEASE, stored};
use crate::admission::policy::{MUTATING, NAMESPACE, POLICIES, SERVICE, STAMPING, STAMPING_VERSIONS, VALIDATING};
use crate::api::keys::{GATES, GATES_REFUSAL};
use crate::api::{GROUP, VERSION, crd};
use crate::cluster::{CALL_MAX, Cluster, ClusterError, Kind, get, within};

/// The leases of our processes.
pub(super) const LEASES: [&str; 2] = ["stagger-controller", LEASE];

const GROUP_OF_ADMISSION: &str = "/apis/admissionregistration.k8s.io";
const STAMPING_PLURAL: &str = "mutatingadmissionpolicies";

/// Asks everything. `namespace`: where the dry run of a Job is tried.
///
/// # Errors
/// When the server cannot be reached, or does not even say its version.
pub async fn gather(cluster: &Cluster, namespace: &str) -> Result<Facts, ClusterError> {
    let client = &cluster.client;
    let version = within(CALL_MAX, "get", "/version", client.apiserver_version()).await?.git_version;
    let policies = POLICIES.iter().map(|policy| policy.name.to_owned());
    let registration = format!("{GROUP_OF_ADMISSION}/v1");
    let deployment = |namespace: &str, name: &str| format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let stamping_version = stamping_version(client).await;
    let stamping = match stamping_version {
        Some(version) => get(client, &format!("{GROUP_OF_ADMISSION}/{version}/{STAMPING_PLURAL}/{STAMPING}")).await,
        None => Ok(None),
    };
    let crds = crd::KINDS.iter().map(|kind| format!("{}.{GROUP}", kind.plural));
    Ok(Facts {
        version,
        crds: all(client, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crds).await,
        kueue_group: get(client, &format!("/apis/{}", crate::admission::KUEUE)).await,
        kueue_deployment: get(client, &deployment("kueue-system", "kueue-controller-manager")).await,
        probe: probe(client, namespace).await,
        plans: get(client, &format!("/apis/{GROUP}/{VERSION}/capacityplans")).await,
        tenants: get(client, &format!("/apis/{GROUP}/{VERSION}/gputenants")).await,
        mutating: get(client, &format!("{registration}/mutatingwebhookconfigurations/{MUTATING}")).await,
        validating: get(client, &format!("{registration}/validatingwebhookconfigurations/{VALIDATING}")).await,
        stamping_version,
        stamping,
        policies: all(client, &format!("{registration}/validatingadmissionpolicies"), policies.clone()).await,
        bindings: all(client, &format!("{registration}/validatingadmissionpolicybindings"), policies).await,
        webhook: get(client, &deployment(NAMESPACE, SERVICE)).await,
        leaf: get(client, &format!("/api/v1/namespaces/{NAMESPACE}/secrets/{}", stored::LEAF)).await,
        leases: {
            let path = format!("/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases");
            all(client, &path, LEASES.iter().map(|name| (*name).to_owned())).await
        },
    })
}

/// The first version that has MutatingAdmissionPolicies; a server that cannot be asked has none for us.
async fn stamping_version(client: &Client) -> Option<&'static str> {
    for version in STAMPING_VERSIONS {
        let Ok(Some(found)) = get(client, &format!("{GROUP_OF_ADMISSION}/{version}")).await else { continue };
        let mut resources = found["resources"].as_array().into_iter().flatten();
        if resources.any(|resource| resource["name"] == STAMPING_PLURAL) {
            return Some(version);
        }
    }
    None
}

async fn all(
    client: &Client,
    collection: &str,
    names: impl Iterator<Item = String>,
) -> std::collections::BTreeMap<String, Answer> {
    let mut answers = std::collections::BTreeMap::new();
    for name in names {
        let answer = get(client, &format!("{collection}/{name}")).await;
        answers.insert(name, answer);
    }
    answers
}

/// A Job that no cluster would run, sent as a dry run: Kueue refuses its gate where it reads gates.
async fn probe(client: &Client, namespace: &str) -> Probe {
    let job = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "stagger-doctor-probe", "namespace": namespace, "annotations": {GATES: ","}},
        "spec": {"suspend": true, "template": {"spec": {
            "restartPolicy": "Never",
            "containers": [{
                "name": "probe",
                "image": "probe",
                "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"cpu": "1m", "memory": "1Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": false,
                    "capabilities": {"drop": ["ALL"]},
                    "runAsNonRoot": true,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
            }],
        }}},
    });
    let params = kube::api::PostParams { dry_run: true, ..kube::api::PostParams::default() };
    let path = format!("/apis/batch/v1/namespaces/{namespace}/jobs");
    let request = match kube::core::Request::new(path).create(&params, job.to_string().into_bytes()) {
        Ok(request) => request,
        Err(error) => return Probe::Unknown(error.to_string()),
    };
    match within(CALL_MAX, "create", "jobs (as a dry run)", client.request::<Value>(request)).await {
        Ok(_) => Probe::Accepted,
        Err(error) if error.message.contains(GATES_REFUSAL) => Probe::Refused,
        Err(error) if error.kind == Kind::NotFound => {
            Probe::Unknown(format!("there is no namespace {namespace} to try a Job in"))
        }
        Err(error) => Probe::Unknown(error.message),
    }
}
