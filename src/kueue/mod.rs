//! Reading Kubernetes and Kueue objects the way Kueue does.

pub mod quota;
