//! How a command reaches a cluster, with kubectl's flags.

use std::path::PathBuf;

use clap::Args;

use super::exit::{Exit, Failed};
use crate::cluster::{self, Access, Cluster, ClusterError, Kind};

#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Cluster")]
pub(super) struct ReachArgs {
    /// The kubeconfig to use [default: $KUBECONFIG, else ~/.kube/config, else the pod's account]
    #[arg(long, env = "STAGGER_KUBECONFIG", value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) kubeconfig: Option<PathBuf>,
    /// The context in it
    #[arg(long, env = "STAGGER_CONTEXT", value_name = "NAME")]
    pub(super) context: Option<String>,
    /// Whom to impersonate
    #[arg(long = "as", env = "STAGGER_AS", value_name = "USER")]
    pub(super) user: Option<String>,
    /// The groups of whom to impersonate
    #[arg(long = "as-group", env = "STAGGER_AS_GROUP", value_name = "GROUP", requires = "user")]
    pub(super) groups: Vec<String>,
}

/// Makes a client.
///
/// # Errors
/// Ends with 8 when nothing says how to reach a cluster.
pub(super) async fn connect(args: &ReachArgs) -> Result<Cluster, Failed> {
    let ReachArgs { kubeconfig, context, user, groups } = args.clone();
    cluster::connect(&Access { kubeconfig, context, user, groups }).await.map_err(|error| refused(&error))
}

/// A cluster's error as the end of a command.
pub(super) fn refused(error: &ClusterError) -> Failed {
    let hint = match error.kind {
        Kind::NoConfig => Some("give --kubeconfig, or paths to read from files"),
        Kind::Unreachable => Some("is it the right context? `kubectl config current-context` says which one is used"),
        Kind::Forbidden => Some("reading needs get and list; deploy/kustomize has a role for it"),
        Kind::Unauthorized => Some("the credentials may have expired; log in again"),
        _ => None,
    };
    Failed { exit: Exit::Cluster, message: error.message.clone(), hint: hint.map(str::to_owned) }
}
