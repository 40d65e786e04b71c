//! A client, found as kubectl finds it: a kubeconfig and its context, or the account of the pod we run in.
//!
//! The client library tries a request again up to fifteen times and waits for an answer without end; both are off here,
//! for a renewal that hangs is worse than one that fails.

use std::path::PathBuf;
use std::time::Duration;

use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};

use super::error::ClusterError;

/// One object is read or written within this, or the call has failed.
pub const CALL_MAX: Duration = Duration::from_secs(2);
/// A page of a list takes longer, and a person waits for it.
pub const LIST_MAX: Duration = Duration::from_secs(15);
/// A connection stands within this; a server that is there answers in milliseconds.
const CONNECT_MAX: Duration = Duration::from_secs(5);
/// A watch is asked anew every five minutes at most; a connection that is silent for longer is dead.
const SILENCE_MAX: Duration = Duration::from_secs(330);

/// How to get in. All empty: as kubectl without flags.
#[derive(Debug, Clone, Default)]
pub struct Access {
    pub kubeconfig: Option<PathBuf>,
    pub context: Option<String>,
    /// Whom to impersonate.
    pub user: Option<String>,
    pub groups: Vec<String>,
}

/// A cluster that can be asked.
#[derive(Clone)]
pub struct Cluster {
    pub client: Client,
    /// The namespace that counts where none is named.
    pub namespace: String,
    /// The API server's address, for messages.
    pub server: String,
}

/// Makes a client; asks the server nothing yet.
///
/// # Errors
/// When there is neither a kubeconfig nor a pod's account, or what there is cannot be read.
pub async fn connect(access: &Access) -> Result<Cluster, ClusterError> {
    // Another part of the process may have been first; one provider is compiled in, so it is the same.
    let _was_installed = rustls::crypto::ring::default_provider().install_default();
    let mut config = config(access).await?;
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_MAX);
    // Counted from the last word either way, not from when a connection was laid aside.
    (config.read_timeout, config.reset_reader_on_write) = (Some(SILENCE_MAX), true);
    if let Some(user) = &access.user {
        config.auth_info.impersonate = Some(user.clone());
        config.auth_info.impersonate_groups = (!access.groups.is_empty()).then(|| access.groups.clone());
    }
    let (namespace, server) = (config.default_namespace.clone(), config.cluster_url.to_string());
    let client = Client::try_from(config).map_err(ClusterError::no_config)?;
    Ok(Cluster { client, namespace, server })
}

async fn config(access: &Access) -> Result<Config, ClusterError> {
    let file = match &access.kubeconfig {
        Some(path) => Some(Kubeconfig::read_from(path).map_err(ClusterError::no_config)?),
        None => match Kubeconfig::read() {
            Ok(found) => Some(found),
            // A file that is there and wrong is told; one that is not there means: we run in a pod.
            Err(kube::config::KubeconfigError::ReadConfig(error, _))
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                None
            }
            Err(kube::config::KubeconfigError::FindPath) => None,
            Err(error) => return Err(ClusterError::no_config(error)),
        },
    };
    let Some(file) = file else {
        return Config::incluster().map_err(|error| {
            ClusterError::no_config(format!("there is no kubeconfig, and this is not a pod with an account ({error})"))
        });
    };
    // The library would take a proxy for web pages from the environment, and then refuse to use it. A proxy for the
    // cluster is written in the kubeconfig.
    let proxied = file.clusters.iter().any(|named| {
        named.cluster.as_ref().and_then(|cluster| cluster.proxy_url.as_ref()).is_some_and(|url| !url.is_empty())
    });
    let options = KubeConfigOptions { context: access.context.clone(), cluster: None, user: None };
    let mut config = Config::from_custom_kubeconfig(file, &options).await.map_err(ClusterError::no_config)?;
    if !proxied {
        config.proxy_url = None;
    }
    Ok(config)
}

/// Makes one call within a limit. `verb` and `resource` are for messages: `update`, `leases.coordination.k8s.io`.
///
/// # Errors
/// When it does not come back in time, or comes back with an error. A write that was late may have happened.
pub async fn within<T>(
    limit: Duration,
    verb: &str,
    resource: &str,
    call: impl Future<Output = kube::Result<T>>,
) -> Result<T, ClusterError> {
    match tokio::time::timeout(limit, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(ClusterError::of(verb, resource, &error)),
        Err(_) => Err(ClusterError::late(verb, resource, limit)),
    }
}
