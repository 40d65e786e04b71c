//! Names as types, so that a flavor is never passed where a queue is meant.
//!
//! All are cheap to clone (shared text). They hold what Kubernetes accepted; nobody inside re-checks them.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl $name {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }
        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    )+};
}

names! {
    /// A GpuTenant's name.
    TenantId,
    /// A ClusterQueue's or Cohort's name.
    QueueName,
    /// A ResourceFlavor's name.
    FlavorName,
    /// A Kubernetes resource name such as `nvidia.com/gpu` or `cpu`.
    ResourceName,
    /// `namespace/name` of a workload object; the kind stands beside it.
    WorkloadKey,
}

impl ResourceName {
    /// Whether amounts are counted in thousandths (millicores).
    #[must_use]
    pub fn is_milli(&self) -> bool {
        self.as_str() == "cpu"
    }

    /// Whether one unit of it stands for GPU time in reports: `nvidia.com/gpu`, `amd.com/gpu`, `nvidia.com/mig-…`,
    /// and thousandths of a GPU (`…/gpu-milli`, the name Alibaba's trace uses).
    #[must_use]
    pub fn is_accelerator(&self) -> bool {
        let name = self.as_str();
        let last = name.rsplit('/').next().unwrap_or(name);
        last == "gpu" || last == "gpu-milli" || last.starts_with("mig-") || last == "tpu" || last == "gpu.shared"
    }

    /// How many of this resource's base units make one GPU.
    #[must_use]
    pub fn units_per_gpu(&self) -> i64 {
        if self.as_str().ends_with("/gpu-milli") { 1000 } else { 1 }
    }

    /// A base-unit amount as a Kubernetes quantity: `2`, `1500m`.
    #[must_use]
    pub fn quantity(&self, amount: crate::units::Amount) -> String {
        if self.is_milli() && amount.0 % 1000 != 0 {
            format!("{}m", amount.0)
        } else if self.is_milli() {
            format!("{}", amount.0 / 1000)
        } else {
            format!("{}", amount.0)
        }
    }
}

impl WorkloadKey {
    #[must_use]
    pub fn new(namespace: &str, name: &str) -> Self {
        Self::from(format!("{namespace}/{name}"))
    }
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.as_str().split_once('/').map_or("", |(namespace, _)| namespace)
    }
    #[must_use]
    pub fn name(&self) -> &str {
        self.as_str().split_once('/').map_or(self.as_str(), |(_, name)| name)
    }
}
