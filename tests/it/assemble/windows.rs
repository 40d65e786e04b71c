//! Capacity windows and prices, on the wall clock.

use expect_test::{Expect, expect};

use super::{assembled, findings, snapshot, whole, with_batch};

/// A plan with these windows over `batch`, from Saturday 24 October 2026 in Madrid, where clocks go back that night.
#[track_caller]
fn check(windows: &str, expected: Expect) {
    let text = format!(
        "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {{name: autumn}}
spec: {{now: \"2026-10-24T12:00:00+02:00\", timeZone: Europe/Madrid, horizon: 24h}}
---
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {{name: plan}}
spec:
  windows:{windows}
"
    );
    let assembled = assembled(&with_batch(&text));
    let shown = snapshot(&assembled);
    let windows: Vec<&str> = shown.lines().filter(|line| line.starts_with("window")).collect();
    expected.assert_eq(&format!("{}\n{}", windows.join("\n"), findings(&assembled)));
}

#[test]
fn a_window_is_an_instant_to_an_instant_or_recurs_on_the_wall_clock() {
    check(
        "
  - {name: repair, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00+02:00\", end: \"2026-10-24T20:00:00+02:00\"}
  - {name: past, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-20T18:00:00Z\", end: \"2026-10-21T18:00:00Z\"}
  - name: night
    clusterQueue: batch
    flavor: a100
    resource: nvidia.com/gpu
    quantity: \"3\"
    effect: Reserve
    recurring: {days: [Sat, Sun], startTime: \"22:00\", endTime: \"06:00\", timeZone: Europe/Madrid}
  - name: from-afar
    clusterQueue: batch
    flavor: a100
    resource: nvidia.com/gpu
    quantity: 1
    effect: Add
    recurring: {days: [Sun], startTime: \"09:00\", endTime: \"10:00\", timeZone: America/New_York}",
        expect![[r#""#]],
    );
}

#[test]
fn windows_that_cannot_be_meant_are_errors() {
    check(
        "
  - {name: nowhere, clusterQueue: bacth, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T20:00:00Z\"}
  - {name: both, clusterQueue: batch, cohort: all, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T20:00:00Z\"}
  - {name: no-flavor, clusterQueue: batch, flavor: a10, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T20:00:00Z\"}
  - {name: no-quota, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpus, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T20:00:00Z\"}
  - {name: backwards, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T18:00:00Z\"}
  - {name: never, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-10-24T18:00:00Z\"}
  - {name: negative, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: -2, effect: Cap, start: \"2026-10-24T18:00:00Z\", end: \"2026-10-24T20:00:00Z\"}",
        expect![[r#""#]],
    );
}

#[test]
fn a_window_that_adds_makes_room_for_what_would_never_fit() {
    let text = |quantity: u32| {
        with_batch(&format!(
            "
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {{name: plan}}
spec:
  windows:
  - name: rented
    clusterQueue: batch
    flavor: a100
    resource: nvidia.com/gpu
    quantity: {quantity}
    effect: Add
    recurring: {{days: [Mon, Tue, Wed], startTime: \"18:00\", endTime: \"22:00\", timeZone: Etc/UTC}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: big, namespace: evals, labels: {{kueue.x-k8s.io/queue-name: batch}}}}
spec: {{template: {{spec: {{containers: [{{resources: {{limits: {{nvidia.com/gpu: 6}}}}}}]}}}}}}
"
        ))
    };
    assert_eq!(assembled(&text(2)).snapshot.workloads.len(), 1);
    assert_eq!(assembled(&text(1)).unplaceable.len(), 1);
}

#[test]
fn a_plan_for_queues_that_are_not_there_is_told_of() {
    let text = with_batch(
        "
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: plan}
spec: {queues: [batch, bach], cohorts: [everything]}
---
apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: second}
spec: {}
",
    );
    expect![[r#""#]].assert_eq(&findings(&assembled(&text)));
}

/// One rate card's spec, in flow style, priced from noon in Madrid on 30 November 2026.
#[track_caller]
fn check_prices(cards: &[&str], expected: Expect) {
    let card = |(at, spec): (usize, &&str)| {
        format!("---\napiVersion: stagger.dev/v1alpha1\nkind: RateCard\nmetadata: {{name: card-{at}}}\nspec: {{{spec}}}\n")
    };
    let queue = "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: noon}
spec: {now: \"2026-11-30T12:00:00+01:00\", timeZone: Europe/Madrid, horizon: 24h}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu, cpu, memory]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}, {name: cpu, nominalQuota: 64}, {name: memory, nominalQuota: 1Ti}]}
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 4}, {name: cpu, nominalQuota: 64}, {name: memory, nominalQuota: 1Ti}]}
---
apiVersion: stagger.dev/v1alpha1
kind: GpuInventory
metadata: {name: all}
spec: {devices: [{name: big-board, resourceName: nvidia.com/gpu, match: {gpu: a100}}]}
";
    let text = queue.to_owned() + &cards.iter().enumerate().map(card).collect::<String>();
    let assembled = assembled(&text);
    let shown = snapshot(&assembled);
    let prices: Vec<&str> = shown.lines().filter(|line| line.starts_with("price")).collect();
    expected.assert_eq(&format!("{}\n{}", prices.join("\n"), findings(&assembled)));
}

#[test]
fn rates_price_cells_everyday_and_by_the_clock() {
    check_prices(
        &["currency: EUR, rates: [\
            {flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}, \
            {flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"1.25\", \
             recurring: {days: [Mon, Tue], startTime: \"22:00\", endTime: \"06:00\", timeZone: Europe/Madrid}}, \
            {resource: cpu, unit: CpuHour, amount: \"0.04\"}, \
            {resource: memory, unit: GiBHour, amount: \"0.005\"}, \
            {resource: energy, unit: KWh, amount: \"0.20\"}, \
            {flavor: b200, resource: nvidia.com/gpu, unit: GpuHour, amount: \"9\"}]"],
        expect![[r#""#]],
    );
}

#[test]
fn a_card_that_comes_into_force_later_is_a_stretch_of_time() {
    check_prices(
        &[
            "currency: EUR, effectiveTo: \"2026-12-01T00:00:00Z\", rates: [{device: big-board, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}]",
            "currency: EUR, effectiveFrom: \"2026-12-01T00:00:00Z\", rates: [{device: big-board, resource: nvidia.com/gpu, unit: GpuHour, amount: \"3\"}]",
            "currency: USD, effectiveTo: \"2026-01-01T00:00:00Z\", rates: [{resource: cpu, unit: CpuHour, amount: \"1\"}]",
        ],
        expect![[r#""#]],
    );
}

#[test]
fn overlapping_rates_and_mixed_currencies_are_refused() {
    check_prices(
        &[
            "currency: EUR, rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}, {resource: nvidia.com/gpu, unit: GpuHour, amount: \"2\"}]",
            "currency: USD, rates: [{resource: cpu, unit: GpuHour, amount: \"1\"}]",
        ],
        expect![[r#""#]],
    );
}

#[test]
fn a_cron_job_keeps_its_wall_clock_across_a_change_of_clocks() {
    let text = with_batch(
        "
apiVersion: stagger.dev/v1alpha1
kind: Scenario
metadata: {name: autumn}
spec: {now: \"2026-10-24T12:00:00+02:00\", timeZone: Europe/Madrid, horizon: 48h}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: evals}
spec:
  schedule: \"30 2,5 * * *\"
  timeZone: Europe/Madrid
  jobTemplate:
    metadata: {labels: {kueue.x-k8s.io/queue-name: batch}}
    spec: {template: {spec: {containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]}}}
",
    );
    expect![[r#""#]].assert_eq(&whole(&assembled(&text)));
}
