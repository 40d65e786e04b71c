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
        expect![[r#"
            window repair Cap 2 a100/gpu at batch, 18:00 to 20:00
            window night Reserve 3 a100/gpu at batch, 22:00 to Sun 25 06:00
            window night Reserve 3 a100/gpu at batch, Sun 25 22:00 to Mon 26 06:00
            window night Reserve 3 a100/gpu at batch, Sat 31 22:00 to Sun 01 06:00
            window from-afar Add 1 a100/gpu at batch, Sun 25 14:00 to Sun 25 15:00
        "#]],
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
        expect![[r#"

            error SG042 CapacityPlan plan: window `nowhere`: no ClusterQueue `bacth` is there ^ bacth
              hint: did you mean `batch`?
            error SG042 CapacityPlan plan: window `both`: exactly one of clusterQueue and cohort is needed ^ {name: both, clusterQueue: batch, cohort…
            error SG022 CapacityPlan plan: window `no-flavor`: no ResourceFlavor `a10` is there ^ a10
              hint: did you mean `a100`?
            error SG042 CapacityPlan plan: window `no-quota`: no queue or cohort has quota of nvidia.com/gpus on a100 ^ nvidia.com/gpus
              hint: did you mean `nvidia.com/gpu`?
            error SG043 CapacityPlan plan: window `backwards`: it ends before it starts ^ "2026-10-24T18:00:00Z"
            error SG043 CapacityPlan plan: window `never`: it needs either start and end, or recurring ^ {name: never, clusterQueue: batch, flavo…
            error SG038 CapacityPlan plan: window `negative`: `-2` is negative; quantities here are zero or more ^ -2
        "#]],
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
    expect![[r#"
        error SG049 CapacityPlan plan: no ClusterQueue `bach` is there ^ bach
          hint: did you mean `batch`?
        error SG049 CapacityPlan plan: no Cohort `everything` is there ^ everything
        warning SG048 CapacityPlan second: is one of several CapacityPlans; `plan`, the first by name, is followed ^ second
          hint: give one CapacityPlan a run, or name the one to follow
    "#]]
    .assert_eq(&findings(&assembled(&text)));
}

/// One rate card's spec, in flow style, priced from noon in Madrid on 30 November 2026.
#[track_caller]
fn check_prices(cards: &[&str], expected: Expect) {
    let card = |(at, spec): (usize, &&str)| {
        format!(
            "---\napiVersion: stagger.dev/v1alpha1\nkind: RateCard\nmetadata: {{name: card-{at}}}\nspec: {{{spec}}}\n"
        )
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
        expect![[r#"
            price a100/cpu 0.04 EUR
            price a100/nvidia.com/gpu 2.50 EUR; 1.25 22:00 to Tue 01 06:00; 1.25 Tue 01 22:00 to Wed 02 06:00; 1.25 Mon 07 22:00 to Tue 08 06:00
            price h100/cpu 0.04 EUR
            note SG046 RateCard card-0: rates[3] is too small per unit of memory to plan with; only reports count it ^ "0.005"
            note SG046 RateCard card-0: rates[5] prices nothing here: no queue has quota of nvidia.com/gpu on b200 ^ {flavor: b200, resource: nvidia.com/gpu,…
        "#]],
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
        expect![[r#"
            price a100/nvidia.com/gpu 2.50 EUR; 3.00 Tue 01 01:00 to Tue 08 12:00
        "#]],
    );
}

#[test]
fn overlapping_rates_and_mixed_currencies_are_refused() {
    check_prices(
        &[
            "currency: EUR, rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}, {resource: nvidia.com/gpu, unit: GpuHour, amount: \"2\"}]",
            "currency: USD, rates: [{resource: cpu, unit: GpuHour, amount: \"1\"}]",
        ],
        expect![[r#"
            price a100/nvidia.com/gpu 2.50 EUR
            price h100/nvidia.com/gpu 2.00 EUR
            error SG045 RateCard card-1: is in USD while `card-0`, in force together with it, is in EUR ^ USD
              hint: give all rate cards in one currency; nothing here converts money
            error SG038 RateCard card-1: GpuHour does not measure cpu ^ GpuHour
            error SG044 RateCard card-0: prices what rates[0] of `card-0` prices at the same time ^ {resource: nvidia.com/gpu, unit: GpuHour…
              hint: end one before the other begins, or remove one
        "#]],
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
    expect![[r#"
        from 2026-10-24T12:00:00+02:00 to 2026-10-26T11:00:00+01:00
        queue batch: 4 a100/gpu
        CronJob evals/nightly-29881470 in batch, created Sun 25 02:30, from Sun 25 02:30, no SLO: [1 a100/gpu] ?
        CronJob evals/nightly-29881530 in batch, created Sun 25 02:30, from Sun 25 02:30, no SLO: [1 a100/gpu] ?
        CronJob evals/nightly-29881710 in batch, created Sun 25 05:30, from Sun 25 05:30, no SLO: [1 a100/gpu] ?
        CronJob evals/nightly-29882970 in batch, created Mon 26 02:30, from Mon 26 02:30, no SLO: [1 a100/gpu] ?
        CronJob evals/nightly-29883150 in batch, created Mon 26 05:30, from Mon 26 05:30, no SLO: [1 a100/gpu] ?
        warning SG036 input: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: evals/nightly-29881470, evals/nightly-29881530, evals/nightly-29881710, evals/nightly-29882970, evals/nightly-29883150
          hint: give them a WorkloadSLO with expectedRuntime
    "#]].assert_eq(&whole(&assembled(&text)));
}
