//! GpuTenant: subjects that Kubernetes knows, guarantees that are said once.

use super::{Judge, warn};
use crate::api::tenant::{GpuTenantSpec, SubjectKind};
use crate::scenario::codes;

pub fn check(spec: &GpuTenantSpec, judge: &mut Judge<'_>) {
    judge.selector("/spec/namespaceSelector", spec.namespace_selector.as_ref());
    judge.unique("/spec/namespaces", "", spec.namespaces.iter().map(String::as_str));
    let guarantees = spec.guarantee.iter().map(|one| match &one.resource {
        Some(resource) => format!("{} {resource}", one.flavor),
        None => one.flavor.clone(),
    });
    judge.unique("/spec/guarantee", "/flavor", guarantees);
    for (index, subject) in spec.subjects.iter().enumerate() {
        let pointer = format!("/spec/subjects/{index}");
        match (subject.kind, &subject.namespace) {
            (SubjectKind::ServiceAccount, None) => {
                let message = format!("the ServiceAccount `{}` has no namespace", subject.name);
                judge.error(codes::CONTRADICTION, &format!("{pointer}/name"), message, "in which namespace?");
            }
            (SubjectKind::User | SubjectKind::Group, Some(_)) => {
                let message = format!("a {:?} has no namespace", subject.kind);
                judge.out_of_place(codes::CONTRADICTION, &format!("{pointer}/namespace"), message, "remove this");
            }
            _ => {}
        }
    }
    let places = ["/spec/namespaces", "/spec/namespaceSelector", "/spec/subjects"];
    if !places.into_iter().any(|place| judge.has(place))
        && !judge.misspelt("/spec", &["namespaces", "namespaceSelector", "subjects"])
    {
        let message = "no namespace and no subject belongs to the tenant, so nothing is ever charged to it";
        let finding = warn(judge.out_of_place(codes::CONTRADICTION, "/spec", message, "nobody"));
        finding.hint = Some("give namespaces, namespaceSelector or subjects".to_owned());
    }
}
