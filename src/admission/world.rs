//! What is known of the cluster when a request arrives, from memory.
//!
//! Kept in step by watches elsewhere; here it is a value.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::object::Text;
use super::owners::Owners;
use super::queues::Queues;
use super::review::Request;
use super::tenancy::Directory;

/// How strict the webhook is about stamps. Whether work is gated is not its matter: the CapacityPlan's own mode says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Nothing is refused; what would be is warned of.
    #[default]
    Observe,
    /// Forged stamps, foreign edits and removed gates are refused.
    Protect,
    /// Work whose tenant cannot be told is refused too.
    Enforce,
}

/// Everything `decide` may know. A clone costs little: its parts are shared until one of them changes.
#[derive(Debug, Clone, Default)]
pub struct World {
    pub mode: Mode,
    pub directory: Arc<Directory>,
    pub queues: Arc<Queues>,
    pub owners: Owners,
    pub trusted: Arc<Trusted>,
    /// Known WorkloadSLOs as `namespace/name`; `None`: not watched.
    pub promises: Option<Arc<BTreeSet<String>>>,
}

/// Whose word counts, by exact name: names are never matched by pattern or part.
#[derive(Debug, Clone)]
pub struct Trusted {
    /// May write stamps and plans, and release gates: our controller.
    pub stampers: BTreeSet<String>,
    /// May release gates and nothing more: our watchdog.
    pub releasers: BTreeSet<String>,
    /// The same for whole groups: a break-glass group.
    pub stamper_groups: BTreeSet<String>,
    /// Make pods and jobs on behalf of an owner. Their owner references are believed.
    pub controllers: BTreeSet<String>,
    /// Kueue: passes a job's gates on to its Workload and pods, and its removal too.
    pub kueue: BTreeSet<String>,
    /// Make MultiKueue's copies in a worker cluster; elsewhere the work was gated already.
    pub multikueue: BTreeSet<String>,
}

/// Kubernetes' own controllers that make pods or jobs, each with its ServiceAccount in kube-system.
const BUILT_IN: [&str; 7] = [
    "cronjob-controller",
    "daemon-set-controller",
    "deployment-controller",
    "job-controller",
    "replicaset-controller",
    "replication-controller",
    "statefulset-controller",
];

/// Operators by the ServiceAccounts of their own installation manifests.
const OPERATORS: [(&str, &str); 6] = [
    ("jobset-system", "jobset-controller-manager"),
    ("kubeflow", "training-operator"),
    ("kubeflow-system", "kubeflow-trainer-controller-manager"),
    ("kuberay-system", "kuberay-operator"),
    ("lws-system", "lws-controller-manager"),
    ("mpi-operator", "mpi-operator"),
];

/// How the API server calls a ServiceAccount. Namespace and name both count.
#[must_use]
pub fn service_account(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

impl Default for Trusted {
    fn default() -> Self {
        let one = |name: String| BTreeSet::from([name]);
        let mut controllers: BTreeSet<String> =
            BUILT_IN.iter().map(|name| service_account("kube-system", name)).collect();
        controllers.insert("system:kube-controller-manager".to_owned());
        controllers.extend(OPERATORS.iter().map(|(namespace, name)| service_account(namespace, name)));
        let kueue = service_account("kueue-system", "kueue-controller-manager");
        controllers.insert(kueue.clone());
        Self {
            stampers: one(service_account("stagger-system", "stagger-controller")),
            releasers: one(service_account("stagger-system", "stagger-watchdog")),
            stamper_groups: one("system:masters".to_owned()),
            controllers,
            kueue: one(kueue),
            multikueue: one(service_account("kueue-system", "multikueue-sa")),
        }
    }
}

impl Trusted {
    #[must_use]
    pub fn may_stamp(&self, request: &Request<'_>) -> bool {
        let listed = |group: &Text<'_>| self.stamper_groups.contains(&**group);
        self.stampers.contains(&*request.user_info.username) || request.groups().iter().any(listed)
    }

    #[must_use]
    pub fn may_release(&self, request: &Request<'_>) -> bool {
        self.releasers.contains(&*request.user_info.username) || self.may_stamp(request)
    }

    #[must_use]
    pub fn is_controller(&self, request: &Request<'_>) -> bool {
        self.controllers.contains(&*request.user_info.username)
    }

    #[must_use]
    pub fn is_kueue(&self, request: &Request<'_>) -> bool {
        self.kueue.contains(&*request.user_info.username)
    }

    #[must_use]
    pub fn is_multikueue(&self, request: &Request<'_>) -> bool {
        self.multikueue.contains(&*request.user_info.username)
    }
}
