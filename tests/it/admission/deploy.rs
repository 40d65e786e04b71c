//! The installation in `deploy/`: readable, of one mind with the code, and with no right too many.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use stagger::admission::certificates::{LEASE, stored};
use stagger::admission::kinds::KINDS;
use stagger::admission::live::sources;
use stagger::admission::policy::{MUTATING, NAMESPACE, POLICIES, SERVICE, VALIDATING, policy};
use stagger::admission::{Trusted, tls::issue};
use stagger::controller::acknowledged::replicas::PORT;
use stagger::controller::kinds;
use stagger::scenario::{Input, Limits, read};

fn objects(path: &str) -> Vec<Value> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/kustomize").join(path);
    let text = fs::read_to_string(full).unwrap();
    let reading = read(&[Input::text(path, &text)], &Limits::default());
    reading.manifests.iter().map(|manifest| manifest.value.clone()).collect()
}

fn roles() -> Vec<Value> {
    objects("base/identities.yaml").into_iter().filter(|object| object["kind"] == "ClusterRole").collect()
}

fn words(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect()
}

#[test]
fn every_privilege_that_a_policy_asks_for_is_granted_by_a_role_and_no_other_is() {
    let granted: BTreeSet<String> = roles()
        .iter()
        .flat_map(|role| role["rules"].as_array().unwrap())
        .filter(|rule| !words(&rule["verbs"]).contains(&"get"))
        .flat_map(|rule| {
            let resource = words(&rule["resources"])[0];
            words(&rule["verbs"]).into_iter().map(move |verb| format!("resource('{resource}').check('{verb}')"))
        })
        .collect();
    let asked: String = POLICIES.iter().map(|one| policy(one).to_string()).collect();
    for grant in &granted {
        assert!(asked.contains(grant), "nothing asks for {grant}");
    }
    assert_eq!(granted.len(), 3);
    for (at, _) in asked.match_indices("resource('").filter(|(at, _)| asked[*at..].contains(".check(")) {
        let check = &asked[at..at + asked[at..].find("')").unwrap()];
        assert!(granted.iter().any(|grant| grant.starts_with(check)), "no role grants {check}");
    }
}

#[test]
fn no_role_has_a_wildcard_and_the_controllers_privileges_are_over_our_own_kinds_alone() {
    for role in roles() {
        for rule in role["rules"].as_array().unwrap() {
            assert_eq!(rule["apiGroups"], json!(["stagger.dev"]), "{role}");
            assert!(!rule.to_string().contains('*'), "{role}");
        }
    }
    let accounts: Vec<Value> =
        objects("base/identities.yaml").into_iter().filter(|object| object["kind"] == "ServiceAccount").collect();
    assert_eq!(accounts.len(), 3);
    let bound = objects("base/identities.yaml");
    let of_webhook = bound.iter().filter(|object| object["kind"] == "ClusterRoleBinding");
    assert!(of_webhook.clone().all(|binding| !binding["subjects"].to_string().contains("stagger-webhook")));
}

/// Groups and resources of a role that grants the same verbs on all of them.
fn granted(role: &Value, verbs: [&str; 2]) -> BTreeSet<(String, String)> {
    let mut granted = BTreeSet::new();
    for rule in role["rules"].as_array().unwrap() {
        assert_eq!(words(&rule["verbs"]), verbs);
        for group in words(&rule["apiGroups"]) {
            granted
                .extend(words(&rule["resources"]).into_iter().map(|resource| (group.to_owned(), resource.to_owned())));
        }
    }
    granted
}

#[test]
fn the_webhook_may_list_and_watch_exactly_what_it_watches() {
    let granted = granted(&objects("components/webhook/reading.yaml")[0], ["list", "watch"]);
    let watched: BTreeSet<_> =
        sources().iter().map(|source| (source.group.to_owned(), source.plural.to_owned())).collect();
    assert_eq!(granted, watched);
}

#[test]
fn the_watchdog_may_list_and_let_go_exactly_what_it_sweeps() {
    let granted = granted(&objects("components/controller/watchdog-rights.yaml")[0], ["list", "patch"]);
    let swept = kinds::KINDS.iter().filter(|kind| kind.queued && kind.kind != "CronJob");
    assert_eq!(granted, swept.map(|kind| (kind.group.to_owned(), kind.plural.to_owned())).collect());
}

#[test]
fn the_controller_may_read_exactly_what_it_watches_and_write_on_what_it_lets_go_or_stamps_later() {
    let role = &objects("components/controller/rights.yaml")[0];
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for rule in role["rules"].as_array().unwrap() {
        assert!(!rule.to_string().contains('*'), "{rule}");
        let verbs = words(&rule["verbs"]);
        for resource in words(&rule["resources"]) {
            let named = (words(&rule["apiGroups"])[0].to_owned(), resource.to_owned());
            if verbs.contains(&"watch") {
                assert!(verbs.contains(&"list"), "{rule}");
                read.insert(named.clone());
            }
            if verbs.contains(&"patch") {
                written.insert(named);
            }
        }
    }
    let named = |group: &str, plural: &str| (group.to_owned(), plural.to_owned());
    let planned = kinds::KINDS.iter().map(|kind| named(kind.group, kind.plural));
    let stamped: BTreeSet<_> = KINDS.iter().map(|kind| named(kind.group, kind.resource)).collect();
    assert_eq!(read, planned.chain(stamped.clone()).collect());
    // A CronJob's gate is that of the jobs it makes; it is never taken off the template.
    let held = kinds::KINDS.iter().filter(|kind| kind.queued && kind.kind != "CronJob");
    let queued = held.map(|kind| named(kind.group, kind.plural));
    let others = [
        ("", "namespaces"),
        ("events.k8s.io", "events"),
        ("stagger.dev", "capacityplans/status"),
        ("stagger.dev", "gputenants/status"),
        ("stagger.dev", "workloadslos/status"),
    ];
    let others = others.map(|(group, plural)| named(group, plural));
    assert_eq!(written, queued.chain(stamped).chain(others).collect());
}

#[test]
fn the_controller_finds_and_reaches_where_the_webhook_tells_which_plans_it_knows() {
    let (webhook, controller) =
        (objects("components/webhook/webhook.yaml"), objects("components/controller/controller.yaml"));
    let of = |all: &[Value], kind: &str| all.iter().find(|object| object["kind"] == kind).unwrap().clone();
    let named = |ports: &Value| {
        let mut ports = ports.as_array().unwrap().iter();
        ports.find(|port| port["name"] == PORT).unwrap().clone()
    };
    let service = of(&webhook, "Service");
    assert_eq!(service["metadata"]["name"], SERVICE);
    assert_eq!(named(&service["spec"]["ports"])["targetPort"], PORT);
    let pod = &of(&webhook, "Deployment")["spec"]["template"];
    let port = named(&pod["spec"]["containers"][0]["ports"])["containerPort"].clone();
    let name = &pod["metadata"]["labels"]["app.kubernetes.io/name"];
    let way =
        json!({"to": [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": name}}}], "ports": [{"port": port}]});
    let egress = of(&controller, "NetworkPolicy")["spec"]["egress"].clone();
    assert!(egress.as_array().unwrap().contains(&way), "{egress}");
}

#[test]
fn every_pod_of_ours_is_fit_for_pod_security_restricted_and_names_its_account() {
    let files = ["webhook/webhook.yaml", "controller/controller.yaml", "controller/watchdog.yaml"];
    for file in files {
        let all = objects(&format!("components/{file}"));
        for deployment in all.iter().filter(|object| object["kind"] == "Deployment") {
            assert_eq!(deployment["metadata"]["namespace"], NAMESPACE);
            let pod = &deployment["spec"]["template"]["spec"];
            assert!(
                ["stagger-webhook", "stagger-controller", "stagger-watchdog"]
                    .contains(&pod["serviceAccountName"].as_str().unwrap())
            );
            assert_eq!(pod["securityContext"]["runAsNonRoot"], true, "{file}");
            assert_eq!(pod["securityContext"]["seccompProfile"]["type"], "RuntimeDefault", "{file}");
            for container in pod["containers"].as_array().unwrap() {
                let context = &container["securityContext"];
                assert_eq!(context["allowPrivilegeEscalation"], false, "{file}");
                assert_eq!(context["readOnlyRootFilesystem"], true, "{file}");
                assert_eq!(context["capabilities"]["drop"], json!(["ALL"]), "{file}");
                assert!(container["resources"]["limits"]["memory"].is_string(), "{file}");
            }
        }
    }
}

#[test]
fn certificates_are_written_under_their_names_only_and_nobody_may_list_all_secrets() {
    let all = objects("components/internal-cert/writing.yaml");
    let rules: Vec<Value> = all
        .iter()
        .filter(|object| object["kind"] == "Role" || object["kind"] == "ClusterRole")
        .flat_map(|role| role["rules"].as_array().unwrap().clone())
        .collect();
    let mut named = BTreeSet::new();
    for rule in &rules {
        assert!(!rule.to_string().contains('*') && !rule.to_string().contains("delete"), "{rule}");
        if words(&rule["verbs"]) != ["create"] {
            named.extend(words(&rule["resourceNames"]).into_iter().map(str::to_owned));
        }
    }
    let wanted = [stored::AUTHORITY, stored::LEAF, LEASE, MUTATING, VALIDATING];
    assert_eq!(named, wanted.iter().map(|name| (*name).to_owned()).collect());
    let role = all.iter().find(|object| object["kind"] == "Role").unwrap();
    assert_eq!(role["metadata"]["namespace"], NAMESPACE);
}

#[test]
fn the_accounts_are_those_that_the_code_trusts() {
    let trusted = Trusted::default();
    for binding in objects("base/identities.yaml").iter().filter(|object| object["kind"] == "ClusterRoleBinding") {
        let subject = &binding["subjects"][0];
        let name = subject["name"].as_str().unwrap();
        let user = format!("system:serviceaccount:{}:{name}", subject["namespace"].as_str().unwrap());
        let known = match name {
            "stagger-controller" => &trusted.stampers,
            "stagger-watchdog" => &trusted.releasers,
            _ => &trusted.kueue,
        };
        assert!(known.contains(&user), "{user}");
    }
}

#[test]
fn the_webhook_runs_where_the_configurations_look_for_it() {
    let all = objects("components/webhook/webhook.yaml");
    let of = |kind: &str| all.iter().find(|object| object["kind"] == kind).unwrap();
    assert_eq!(of("Service")["metadata"]["name"], SERVICE);
    assert!(all.iter().all(|object| object["metadata"]["namespace"] == NAMESPACE));
    let pod = &of("Deployment")["spec"]["template"]["spec"];
    assert_eq!(pod["serviceAccountName"], "stagger-webhook");
    let made = objects("components/cert-manager/certificate.yaml");
    let leaf = made.iter().find(|object| object["spec"]["secretName"] == stored::LEAF).unwrap();
    assert_eq!(words(&leaf["spec"]["dnsNames"]), issue::names(SERVICE, NAMESPACE));
}

#[test]
fn stricter_overlays_reach_every_policy_that_refuses() {
    for mode in ["protect", "enforce"] {
        let path = format!("{}/deploy/kustomize/overlays/{mode}/kustomization.yaml", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(path).unwrap();
        for one in POLICIES.iter().filter(|one| one.name != "stagger-stamp-missing") {
            assert!(text.contains(one.name.trim_start_matches("stagger-")), "{mode}: {}", one.name);
        }
        assert!(text.contains(&format!("value: {mode}")));
        // What must not be without a stamp is refused by a policy: a hook that fails would stop everybody's work.
        assert!(!text.contains("failurePolicy"), "{mode}");
    }
    let missing = &objects("overlays/enforce/missing.yaml")[0]["spec"];
    assert_eq!(missing["policyName"], "stagger-stamp-missing");
    assert_eq!(missing["validationActions"], json!(["Deny", "Audit"]));
}
