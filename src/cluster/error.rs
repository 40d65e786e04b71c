//! What went wrong between us and the API server, in one sentence and one kind.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use kube::core::Status;

/// The kinds, a closed set: what a retry and a metric's label rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// There is no kubeconfig and no pod's environment, or it cannot be read.
    NoConfig,
    /// No answer: refused, reset, not trusted, or not in time. A write may have happened all the same.
    Unreachable,
    /// The credentials are not accepted.
    Unauthorized,
    /// The user may not do that.
    Forbidden,
    /// The object, or its kind, is not there.
    NotFound,
    /// Created by somebody else first.
    AlreadyExists,
    /// Changed by somebody else since it was read.
    Conflict,
    /// The resource version is too old to go on from.
    Gone,
    /// The object itself is refused: by its schema, a policy or a webhook.
    Refused,
    /// The server is too busy; later it may work.
    Busy,
    /// The server failed.
    Server,
    /// The answer is not what the API promises.
    Unreadable,
}

/// A call that did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterError {
    pub kind: Kind,
    /// A sentence without a full stop that begins in lower case or with the user's name.
    pub message: String,
}

impl fmt::Display for ClusterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ClusterError {}

impl Kind {
    /// For a metric's label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::NoConfig => "no_config",
            Self::Unreachable => "unreachable",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::AlreadyExists => "already_exists",
            Self::Conflict => "conflict",
            Self::Gone => "gone",
            Self::Refused => "refused",
            Self::Busy => "busy",
            Self::Server => "server",
            Self::Unreadable => "unreadable",
        }
    }
}

impl ClusterError {
    pub(super) fn no_config(why: impl fmt::Display) -> Self {
        Self { kind: Kind::NoConfig, message: format!("failed to find out how to reach a cluster: {why}") }
    }

    pub(super) fn late(verb: &str, resource: &str, limit: Duration) -> Self {
        let message =
            format!("failed to {verb} {resource}: the API server did not answer within {} ms", limit.as_millis());
        Self { kind: Kind::Unreachable, message }
    }

    /// The error of a call that was to `verb` some `resource` (`leases.coordination.k8s.io`).
    #[must_use]
    pub fn of(verb: &str, resource: &str, error: &kube::Error) -> Self {
        let failed =
            |kind: Kind, why: &dyn fmt::Display| Self { kind, message: format!("failed to {verb} {resource}: {why}") };
        match error {
            kube::Error::Api(status) => Self::of_status(verb, resource, status),
            kube::Error::SerdeError(_) | kube::Error::FromUtf8(_) | kube::Error::LinesCodecMaxLineLengthExceeded => {
                failed(Kind::Unreadable, error)
            }
            kube::Error::BuildRequest(_) | kube::Error::HttpError(_) => failed(Kind::Refused, error),
            kube::Error::Auth(_) => failed(Kind::Unauthorized, error),
            kube::Error::InferConfig(_)
            | kube::Error::InferKubeconfig(_)
            | kube::Error::ProxyProtocolDisabled { .. } => Self::no_config(error),
            _ => failed(Kind::Unreachable, &format_args!("the API server cannot be reached: {}", root_of(error))),
        }
    }

    /// The same of a status that the server sent.
    #[must_use]
    pub fn of_status(verb: &str, resource: &str, status: &Status) -> Self {
        let kind = match (status.code, status.reason.as_str()) {
            (401, _) => Kind::Unauthorized,
            (403, _) => Kind::Forbidden,
            (404, _) => Kind::NotFound,
            (409, "AlreadyExists") => Kind::AlreadyExists,
            (409, _) => Kind::Conflict,
            (410, _) => Kind::Gone,
            (429 | 503 | 504, _) => Kind::Busy,
            (code, _) if code >= 500 => Kind::Server,
            _ => Kind::Refused,
        };
        let message = match kind {
            Kind::Unauthorized => {
                format!("failed to {verb} {resource}: the API server does not accept the credentials")
            }
            Kind::Forbidden => match denied(&status.message) {
                Some((user, place)) => format!("{user} may not {verb} {resource}{place}"),
                None => format!("failed to {verb} {resource}: forbidden: {}", status.message),
            },
            _ if status.message.is_empty() => {
                format!("failed to {verb} {resource}: the API server answers {}", status.code)
            }
            _ => format!("failed to {verb} {resource}: {}", status.message),
        };
        Self { kind, message }
    }
}

/// User and place of the authorizer's own refusal: `… is forbidden: User "u" cannot list resource "r" in API group "g"
/// in the namespace "n"`. Other refusals (a policy's, a quota's) are worded otherwise and give `None`.
fn denied(message: &str) -> Option<(String, String)> {
    let (_, told) = message.split_once("User \"")?;
    let (user, rest) = told.split_once("\" cannot ")?;
    let place = match rest.split_once("in the namespace \"").and_then(|(_, place)| place.split_once('"')) {
        Some((namespace, _)) => format!(" in the namespace {namespace}"),
        None if rest.contains("at the cluster scope") => " in the whole cluster".to_owned(),
        None => String::new(),
    };
    Some((user.to_owned(), place))
}

/// How deep causes are nested at most: connection, TLS, certificate and room to spare.
const CAUSES_MAX: usize = 16;

/// The innermost cause, which is the one that says something.
fn root_of(error: &kube::Error) -> String {
    let mut told: &dyn Error = error;
    for _ in 0..CAUSES_MAX {
        match told.source() {
            Some(cause) => told = cause,
            None => break,
        }
    }
    told.to_string()
}
