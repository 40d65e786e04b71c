//! The parts under `kueue::assemble` that stand alone: quantities, schedules, requests.

use proptest::prelude::*;
use serde_json::json;
use stagger::calendar;
use stagger::kueue::cron::Schedule;
use stagger::kueue::pod::PodSpec;
use stagger::kueue::quantity::Quantity;
use stagger::kueue::requests::{self, ContainerLimits, Rules};
use stagger::kueue::types::ConfigurationResources;
use stagger::names::ResourceName;

fn amount(text: &str, resource: &str) -> Result<i64, String> {
    let resource = ResourceName::from(resource);
    Quantity::parse(text)?.amount(&resource).map(|amount| amount.0).ok_or_else(|| "too large".to_owned())
}

#[test]
fn quantities_count_as_kueue_counts_them() {
    let cases = [
        ("2", "nvidia.com/gpu", 2),
        ("2", "cpu", 2000),
        ("1500m", "cpu", 1500),
        ("0.5", "cpu", 500),
        ("100u", "cpu", 1),
        ("1500m", "memory", 2),
        ("16Gi", "memory", 16 << 30),
        ("1.5Gi", "memory", 3 << 29),
        ("0.1Ki", "memory", 103),
        ("1e3", "memory", 1000),
        ("12E2", "memory", 1200),
        ("1E", "memory", 1_000_000_000_000_000_000),
        ("4Ei", "memory", 4 << 60),
        ("+3k", "memory", 3000),
        (".5", "cpu", 500),
        ("5.", "memory", 5),
        ("1n", "memory", 1),
        ("0.0000000001", "cpu", 1),
        ("0", "cpu", 0),
        ("007", "memory", 7),
        ("9223372036854775807", "memory", i64::MAX),
    ];
    for (text, resource, expected) in cases {
        assert_eq!(amount(text, resource), Ok(expected), "{text} of {resource}");
    }
}

#[test]
fn rejects_what_is_no_quantity() {
    for text in
        ["", "-1", "-0.5", "two", "1.2.3", "1 Gi", "1gi", "1KI", "e3", "1e", "1e+", ".", "+", "0x10", "1_000", "∞"]
    {
        assert!(Quantity::parse(text).is_err(), "{text:?} must be refused");
    }
    assert!(amount("9223372036854775808", "memory").is_err());
    assert!(amount("8Ei", "memory").is_err());
    assert!(amount("1e400", "memory").is_err());
    assert!(amount("9223372036854775807", "cpu").is_err(), "as millicores it is past the end");
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_of_quantities_panic(text in "\\PC{0,24}") {
        let _ = Quantity::parse(&text);
    }

    #[test]
    fn whole_numbers_count_as_themselves_under_every_notation(value in 0i64..1_000_000) {
        let thousandths = format!("{}m", value * 1000);
        let decimal = format!("{}.{:03}k", value / 1000, value % 1000);
        let exponent = format!("{value}000e-3");
        for text in [value.to_string(), thousandths, decimal, exponent] {
            prop_assert_eq!(amount(&text, "memory"), Ok(value));
        }
    }

    #[test]
    fn a_fraction_rounds_up_and_never_by_a_whole(thousandths in 0i64..10_000_000) {
        let counted = amount(&format!("{thousandths}m"), "memory").unwrap();
        prop_assert!(counted * 1000 >= thousandths && (counted - 1) * 1000 < thousandths.max(1));
    }
}

/// The runs of a schedule, one a line, in the zone's own time.
fn runs(schedule: &str, zone: &str, from: &str, to: &str) -> String {
    let zone = calendar::zone(zone).unwrap();
    let (from, to) = (calendar::parse_instant(from).unwrap(), calendar::parse_instant(to).unwrap());
    let runs = Schedule::parse(schedule).unwrap().runs(from, to, zone, 100);
    runs.into_iter().map(|at| calendar::rfc3339(at, zone)).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_hour_that_clocks_skip_has_no_run() {
    // In Madrid, 28 March 2027 has no 02:30.
    assert_eq!(
        runs("30 2 * * *", "Europe/Madrid", "2027-03-27T00:00:00Z", "2027-03-30T00:00:00Z"),
        "2027-03-27T02:30:00+01:00\n2027-03-29T02:30:00+02:00"
    );
}

#[test]
fn an_hour_that_clocks_repeat_has_its_runs_twice() {
    assert_eq!(
        runs("0,30 2 25 10 *", "Europe/Madrid", "2026-10-24T00:00:00Z", "2026-10-26T00:00:00Z"),
        "2026-10-25T02:00:00+02:00\n2026-10-25T02:30:00+02:00\n2026-10-25T02:00:00+01:00\n2026-10-25T02:30:00+01:00"
    );
}

#[test]
fn runs_begin_at_the_start_and_end_before_the_end() {
    assert_eq!(
        runs("@hourly", "Etc/UTC", "2026-11-30T12:00:00Z", "2026-11-30T14:00:00Z"),
        "2026-11-30T12:00:00Z\n2026-11-30T13:00:00Z"
    );
}

#[test]
fn either_day_field_suffices_only_when_both_are_restricted() {
    // Friday the 4th, 11th, …; the 7th is a Monday.
    let december = |schedule| runs(schedule, "Etc/UTC", "2026-12-01T00:00:00Z", "2026-12-12T00:00:00Z");
    assert_eq!(december("0 9 7 * fri"), "2026-12-04T09:00:00Z\n2026-12-07T09:00:00Z\n2026-12-11T09:00:00Z");
    assert_eq!(december("0 9 * * FRI"), "2026-12-04T09:00:00Z\n2026-12-11T09:00:00Z");
    assert_eq!(december("0 9 4/3 Dec ?"), "2026-12-04T09:00:00Z\n2026-12-07T09:00:00Z\n2026-12-10T09:00:00Z");
}

#[test]
fn rejects_what_is_no_schedule() {
    for text in ["", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 7"] {
        assert!(Schedule::parse(text).is_err(), "{text:?} must be refused");
    }
    for text in ["*/0 * * * *", "5-1 * * * *", "@every 1h", "@reboot", "a * * * *", "1,,2 * * * *", "TZ=UTC * * * * *"]
    {
        assert!(Schedule::parse(text).is_err(), "{text:?} must be refused");
    }
}

/// The requests of a pod spec times `count`, as `cpu 1500m, memory 2`.
fn asks(spec: serde_json::Value, count: i64, limits: serde_json::Value, resources: serde_json::Value) -> String {
    let spec: PodSpec = serde_json::from_value(spec).unwrap();
    let items: Vec<stagger::kueue::pod::LimitRangeItem> = serde_json::from_value(limits).unwrap();
    let limits = ContainerLimits::summarize(&items);
    let configuration: ConfigurationResources = serde_json::from_value(resources).unwrap();
    let overheads = [("kata".to_owned(), serde_json::from_value(json!({"cpu": "250m", "memory": "120"})).unwrap())];
    let overheads = overheads.into_iter().collect();
    let rules = Rules { overheads: &overheads, limits: limits.as_ref(), configuration: &configuration };
    let asked = requests::of_pod_set(&spec, count, rules).unwrap();
    asked.iter().map(|(name, amount)| format!("{name} {}", name.quantity(*amount))).collect::<Vec<_>>().join(", ")
}

fn plainly(spec: serde_json::Value, count: i64) -> String {
    asks(spec, count, json!([]), json!({}))
}

#[test]
fn limits_stand_in_for_requests_that_are_missing() {
    let spec =
        json!({"containers": [{"resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4"}, "requests": {"cpu": 1}}}]});
    assert_eq!(plainly(spec, 3), "cpu 3, nvidia.com/gpu 6");
}

#[test]
fn containers_add_up_and_init_containers_only_matter_when_larger() {
    let container = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
    let small = json!({"containers": [container("1"), container("500m")], "initContainers": [container("1")]});
    assert_eq!(plainly(small, 1), "cpu 1500m");
    let large = json!({"containers": [container("1")], "initContainers": [container("2"), container("3")]});
    assert_eq!(plainly(large, 1), "cpu 3");
}

#[test]
fn sidecars_run_beside_the_containers_and_beside_later_init_containers() {
    let sidecar = json!({"restartPolicy": "Always", "resources": {"requests": {"cpu": "1"}}});
    let init = json!({"resources": {"requests": {"cpu": "2"}}});
    let main = json!({"resources": {"requests": {"cpu": "1"}}});
    assert_eq!(plainly(json!({"containers": [main], "initContainers": [sidecar, init]}), 1), "cpu 3");
    assert_eq!(plainly(json!({"containers": [main], "initContainers": [init, sidecar]}), 1), "cpu 2");
}

#[test]
fn pod_level_resources_replace_the_sum_for_cpu_and_memory_only() {
    let spec = json!({
        "resources": {"requests": {"cpu": "6", "nvidia.com/gpu": 9}, "limits": {"memory": "10"}},
        "containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"nvidia.com/gpu": 1}}}]
    });
    assert_eq!(plainly(spec, 1), "cpu 6, memory 10, nvidia.com/gpu 1");
}

#[test]
fn overhead_is_the_pods_own_or_its_runtime_class_s() {
    let container = json!([{"resources": {"requests": {"cpu": "1"}}}]);
    assert_eq!(plainly(json!({"containers": container, "runtimeClassName": "kata"}), 2), "cpu 2500m, memory 240");
    let own = json!({"containers": container, "runtimeClassName": "kata", "overhead": {"cpu": "1"}});
    assert_eq!(plainly(own, 1), "cpu 2");
    assert_eq!(plainly(json!({"containers": container, "runtimeClassName": "other"}), 1), "cpu 1");
}

#[test]
fn limit_ranges_fill_in_as_the_api_server_and_kueue_do() {
    let spec = json!({"containers": [{"resources": {"requests": {"memory": "5"}}}]});
    let ranges = json!([
        {"type": "Container", "defaultRequest": {"cpu": "500m"}, "default": {"cpu": "2"}},
        {"type": "Container", "defaultRequest": {"cpu": "700m"}, "max": {"memory": "7"}},
        {"type": "Pod", "max": {"cpu": "1"}}
    ]);
    assert_eq!(asks(spec, 1, ranges, json!({})), "cpu 500m, memory 5");
    let empty = json!({"containers": [{}]});
    let only_max = json!([{"type": "Container", "max": {"memory": "7"}}]);
    assert_eq!(asks(empty, 1, only_max, json!({})), "memory 7");
}

#[test]
fn rounding_is_per_pod_before_counting() {
    let spec = json!({"containers": [{"resources": {"requests": {"memory": "1500m", "cpu": "1u"}}}]});
    assert_eq!(plainly(spec, 10), "cpu 10m, memory 20");
}

#[test]
fn configuration_drops_prefixes_and_transforms_what_is_left() {
    let spec = json!({"containers": [{"resources": {"limits": {
        "nvidia.com/mig-1g.5gb": 2, "nvidia.com/gpu": 3, "networking.example/vf": 1, "cpu": "1500m"}}}]});
    let configuration = json!({
        "excludeResourcePrefixes": ["networking.example"],
        "transformations": [
            {"input": "nvidia.com/mig-1g.5gb", "strategy": "Replace",
             "outputs": {"example.com/gpu-memory": "5Gi", "example.com/credits": 10}},
            {"input": "nvidia.com/gpu", "outputs": {"example.com/credits": 60}},
            {"input": "cpu", "outputs": {"example.com/cores": 1}}
        ]
    });
    assert_eq!(
        asks(spec, 1, json!([]), configuration),
        "cpu 1500m, example.com/cores 2, example.com/credits 200, example.com/gpu-memory 10737418240, nvidia.com/gpu 3"
    );
}

#[test]
fn multiply_by_multiplies_the_input_first() {
    let spec = json!({"containers": [{"resources": {"limits": {"nvidia.com/gpumem": 1024, "nvidia.com/gpu": 2}}}]});
    let replace = json!({"transformations": [{"input": "nvidia.com/gpumem", "strategy": "Replace",
        "multiplyBy": "nvidia.com/gpu", "outputs": {"nvidia.com/total-gpumem": 1}}]});
    assert_eq!(asks(spec, 2, json!([]), replace), "nvidia.com/gpu 4, nvidia.com/total-gpumem 4096");
}

#[test]
fn amounts_past_the_end_are_refused_not_wrapped() {
    let spec: PodSpec =
        serde_json::from_value(json!({"containers": [{"resources": {"limits": {"memory": "4Ei"}}}]})).unwrap();
    let (overheads, configuration) = (std::collections::BTreeMap::new(), ConfigurationResources::default());
    let rules = Rules { overheads: &overheads, limits: None, configuration: &configuration };
    assert_eq!(requests::of_pod_set(&spec, 2, rules).unwrap_err().0.as_str(), "memory");
}
