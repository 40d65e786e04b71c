//! Objects that are accepted and objects that are refused, with the message a person reads. A cluster test applies the same.

pub struct Row {
    pub object: &'static str,
    /// Part of what the API server says; empty where it accepts.
    pub refused: &'static str,
}

/// What the schema itself says, rather than a rule.
pub const BY_SCHEMA: &[&str] = &["Unsupported value", "Duplicate value", "Required value", "Invalid value", "Too many"];

const fn accepts(object: &'static str) -> Row {
    Row { object, refused: "" }
}

const fn rejects(object: &'static str, refused: &'static str) -> Row {
    Row { object, refused }
}

pub const ROWS: &[Row] = &[
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: evals, namespace: evals}
spec:
  selector: {matchLabels: {app: eval}, matchExpressions: [{key: tier, operator: In, values: [a]}]}
  finishBy: \"2026-11-30T17:00:00+01:00\"
  deadlinePolicy: Hard
  valueAfterDeadline: [{after: 1h, valuePercent: 50}, {after: 90m, valuePercent: 10}]
  expectedRuntime: {p50: 1h, p90: 1h15m}
  flavorRuntimes: [{flavor: h100, p50: 30m}]
  interruption: {tolerance: Checkpointable, checkpointInterval: 15m}
  allowedFlavors: [h100, a100]
  budget: {amount: \"120.00\", currency: EUR}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, finishByTime: {time: \"17:00\", timeZone: Europe/Madrid}}",
        "give exactly one of finishBy, finishWithin and finishByTime (none is allowed under BestEffort)",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, targetRef: {group: batch, kind: Job, name: a}, selector: {}}",
        "targetRef and selector exclude each other",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 0s}",
        "finishWithin must be longer than zero",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishBy: \"2026-11-30T17:00:00Z\", notBefore: \"2026-11-30T18:00:00+01:00\"}",
        "notBefore must be before finishBy",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, expectedRuntime: {p50: 2h, p90: 90m}}",
        "p90 must not be below p50: nine of ten runs cannot end sooner than half of them",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, flavorRuntimes: [{flavor: a100, p50: 0s}]}",
        "p50 must be longer than zero",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, flavorRuntimes: [{flavor: a100, p50: 1h}, {flavor: a100, p50: 2h}]}",
        "Duplicate value",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, valueAfterDeadline: [{after: 2h, valuePercent: 50}, {after: 1h, valuePercent: 10}]}",
        "tiers must ascend by after",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, valueAfterDeadline: [{after: 1h, valuePercent: 10}, {after: 2h, valuePercent: 50}]}",
        "valuePercent must not rise with time",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, interruption: {tolerance: Checkpointable}}",
        "Checkpointable work needs checkpointInterval: how much is lost at most when it is stopped",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, deadlinePolicy: hard}",
        "Unsupported value",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: WorkloadSLO
metadata: {name: a, namespace: evals}
spec: {finishWithin: 4h, budget: {amount: \"-1\", currency: EUR}}",
        "amount must not be negative",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: gate, namespace: evals}
spec: {outcomeClass: eval-run, criteria: [{name: a, metric: accuracy, comparison: AtLeast, threshold: \"0.80\", minSamples: 100}], unverifiedAfter: 24h}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: gate, namespace: evals}
spec: {outcomeClass: eval-run}",
        "Required value",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: QualityGate
metadata: {name: gate, namespace: evals}
spec: {outcomeClass: eval-run, criteria: [{name: a, metric: m, comparison: AtMost, threshold: \"1\"}], unverifiedAfter: 0s}",
        "unverifiedAfter must be longer than zero",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: nlp}
spec: {namespaces: [evals], subjects: [{kind: ServiceAccount, namespace: ci, name: runner}, {kind: Group, name: nlp}], guarantee: [{flavor: a100, quantity: 4}]}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: nlp}
spec: {subjects: [{kind: ServiceAccount, name: runner}]}",
        "a ServiceAccount needs its namespace; users and groups have none",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: nlp}
spec: {namespaceSelector: {matchExpressions: [{key: team, operator: In}]}}",
        "the operators In and NotIn need values, Exists and DoesNotExist take none",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuTenant
metadata: {name: nlp}
spec: {namespaces: [evals], guarantee: [{flavor: a100, quantity: 4}, {flavor: a100, quantity: 2}]}",
        "a flavor and resource may be guaranteed once only",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuInventory
metadata: {name: all}
spec: {devices: [{name: a100, resourceName: nvidia.com/gpu}, {name: slice, resourceName: nvidia.com/mig-1g.10gb, basis: ComputeSlices, fraction: {numerator: 1, denominator: 7}}]}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuInventory
metadata: {name: all}
spec: {devices: [{name: slice, resourceName: nvidia.com/mig-1g.10gb, basis: Memory}]}",
        "a basis other than Whole needs a fraction, and Whole means a whole board",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: GpuInventory
metadata: {name: all}
spec: {devices: [{name: slice, resourceName: nvidia.com/gpu, basis: Memory, fraction: {numerator: 8, denominator: 7}}]}",
        "a device is at most a whole board",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: y2026}
spec: {currency: EUR, effectiveFrom: \"2026-01-01T00:00:00Z\", rates: [{flavor: a100, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}, {resource: cpu, unit: CpuHour, amount: \"0.04\"}]}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: y2026}
spec: {currency: EUR, effectiveFrom: \"2026-01-01T00:00:00Z\", effectiveTo: \"2026-01-01T00:00:00Z\", rates: []}",
        "effectiveTo must be after effectiveFrom",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: y2026}
spec: {currency: EUR, rates: [{flavor: a100, device: slice, resource: nvidia.com/gpu, unit: GpuHour, amount: \"2.50\"}]}",
        "a rate is for a flavor or for a device, not for both",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: y2026}
spec: {currency: EUR, rates: [{resource: memory, unit: CpuHour, amount: \"2.50\"}]}",
        "cpu is priced by the CpuHour, memory and ephemeral-storage by the GiBHour, energy by the KWh",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: RateCard
metadata: {name: y2026}
spec: {currency: euro, rates: []}",
        "Invalid value",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {queues: [batch], mode: Enforce, horizon: 24h, solver: {timeLimit: 5s, gap: 1%}, windows: [{name: night, clusterQueue: batch, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Add, recurring: {days: [Mon, Tue], startTime: \"22:00\", endTime: \"06:00\", timeZone: Europe/Madrid}}]}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {windows: [{name: night, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Add, start: \"2026-11-30T00:00:00Z\", end: \"2026-11-30T01:00:00Z\"}]}",
        "give exactly one of clusterQueue and cohort",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {windows: [{name: night, cohort: all, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-11-30T00:00:00Z\"}]}",
        "give start and end, or recurring",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {windows: [{name: night, cohort: all, flavor: a100, resource: nvidia.com/gpu, quantity: 2, effect: Cap, start: \"2026-11-30T01:00:00Z\", end: \"2026-11-30T01:00:00+01:00\"}]}",
        "end must be after start",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {solver: {gap: 101%}}",
        "gap is at most 100%",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: CapacityPlan
metadata: {name: main}
spec: {queues: [batch, batch]}",
        "Duplicate value",
    ),
    accepts(
        "apiVersion: stagger.dev/v1alpha1
kind: ServingBaseline
metadata: {name: chat, namespace: serving}
spec: {targetRef: {group: apps, kind: Deployment, name: chat}, flavor: h100, resource: nvidia.com/gpu, gpusPerReplica: 2, promise: {objectives: [{metric: TTFT, percentile: \"99\", target: 250ms}], errorRateMax: \"0.01\"}, capacity: {highestPass: \"12.5\", lowestFail: \"14\"}}",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: ServingBaseline
metadata: {name: chat, namespace: serving}
spec: {targetRef: {group: apps, kind: Deployment, name: chat}, flavor: h100, resource: nvidia.com/gpu, gpusPerReplica: 2, promise: {objectives: [{metric: TTFT, percentile: \"100\", target: 250ms}]}, capacity: {highestPass: \"12.5\"}}",
        "percentile lies between 0 and 100",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: ServingBaseline
metadata: {name: chat, namespace: serving}
spec: {targetRef: {group: apps, kind: Deployment, name: chat}, flavor: h100, resource: nvidia.com/gpu, gpusPerReplica: 2, promise: {objectives: [{metric: TTFT, percentile: \"99\", target: 250ms}], errorRateMax: \"1.5\"}, capacity: {highestPass: \"12.5\"}}",
        "errorRateMax is a share of requests, from 0 to 1",
    ),
    rejects(
        "apiVersion: stagger.dev/v1alpha1
kind: ServingBaseline
metadata: {name: chat, namespace: serving}
spec: {targetRef: {group: apps, kind: Deployment, name: chat}, flavor: h100, resource: nvidia.com/gpu, gpusPerReplica: 2, promise: {objectives: [{metric: TTFT, percentile: \"99\", target: 250ms}]}, capacity: {highestPass: \"12.5\", lowestFail: \"12.5\"}}",
        "lowestFail must be above highestPass",
    ),
];
