//! Kueue: whether it is there, how old it is, and whether it reads gates.

use super::examine::version;
use super::facts::{Facts, Probe};
use super::{Check, Status};
use crate::api::status::tells_gates_ignored;

/// The first release with gates.
const LEAST: (u64, u64) = (0, 17);
/// From here on the feature is on unless it is turned off.
const DEFAULT_ON: (u64, u64) = (0, 19);

pub(super) fn examine(facts: &Facts) -> [Check; 2] {
    [installed(facts), gates(facts)]
}

fn installed(facts: &Facts) -> Check {
    const NAME: &str = "kueue";
    let group = match &facts.kueue_group {
        Err(error) => return Check::new(NAME, Status::Unknown, &*error.message),
        Ok(None) => {
            return Check::new(NAME, Status::Failed, "Kueue is not installed")
                .action("install Kueue; stagger only says when work may start, Kueue starts it");
        }
        Ok(Some(group)) => group,
    };
    let versions: Vec<&str> =
        group["versions"].as_array().into_iter().flatten().filter_map(|version| version["version"].as_str()).collect();
    let served = format!("Kueue serves {}", versions.join(", "));
    let Some(tag) = image_tag(facts) else {
        return Check::new(NAME, Status::Ok, format!("{served}; its release is not known"));
    };
    match version(&tag) {
        Some(release) if release < LEAST => {
            Check::new(NAME, Status::Failed, format!("{served}; its release is {tag}, which has no admission gates"))
                .action("upgrade Kueue to 0.17 or later")
        }
        _ => Check::new(NAME, Status::Ok, format!("{served}; its release is {tag}")),
    }
}

/// The tag of the manager's image, where the Deployment can be read and has one.
fn image_tag(facts: &Facts) -> Option<String> {
    let deployment = facts.kueue_deployment.as_ref().ok()?.as_ref()?;
    let containers = deployment.pointer("/spec/template/spec/containers")?.as_array()?;
    let image = containers.iter().filter_map(|container| container["image"].as_str()).find(|i| i.contains("kueue"))?;
    let name = image.split('@').next()?;
    let (_, tag) = name.rsplit_once('/').map_or(name, |(_, last)| last).split_once(':')?;
    Some(tag.to_owned())
}

fn gates(facts: &Facts) -> Check {
    const NAME: &str = "gates";
    match &facts.probe {
        Probe::Refused => Check::new(NAME, Status::Ok, "Kueue reads admission gates (AdmissionGatedBy is on)"),
        Probe::Accepted => {
            let newer = image_tag(facts).and_then(|tag| version(&tag)).is_some_and(|release| release >= DEFAULT_ON);
            let how = if newer { "do not turn it off" } else { "it is off by default before Kueue 0.19" };
            let told = if holds_otherwise(facts) {
                "Kueue ignores admission gates: work is held through its Workload's spec.active, single pods are not held"
            } else {
                "Kueue ignores admission gates: nothing is held until its planned start"
            };
            Check::new(NAME, Status::Warning, told)
                .action(format!("set featureGates.AdmissionGatedBy to true in Kueue's configuration; {how}"))
        }
        Probe::Unknown(why) => {
            Check::new(NAME, Status::Unknown, format!("whether Kueue reads admission gates is not known: {why}"))
                .action("give -n NAMESPACE with a namespace in which you may create Jobs; nothing is created")
        }
    }
}

/// Whether the controller has found the same and says that it holds work without gates.
fn holds_otherwise(facts: &Facts) -> bool {
    let plans = facts.plans.as_ref().ok().and_then(Option::as_ref).and_then(|list| list["items"].as_array());
    plans.into_iter().flatten().any(tells_gates_ignored)
}
