//! The codes of everything the checker can find wrong, with what each means.
//!
//! A code never changes its meaning and is never given again. `docs/reference/plan-findings.md` is this table.

macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, $meaning:literal;)+) => {
        $(#[doc = concat!($title, ": ", $meaning)] pub const $name: &str = $code;)+

        /// `(code, title, meaning)`, ascending by code.
        pub const TABLE: &[(&str, &str, &str)] = &[$(($code, $title, $meaning)),+];
    };
}

codes! {
    UNKNOWN_WORKLOAD = "P0001", "unknown workload", "A release names a workload that the snapshot does not have.";
    RELEASED_TWICE = "P0002", "released twice", "A workload is released more than once.";
    DROPPED = "P0003", "dropped workload", "A workload is neither released nor named among problems or conflicts.";
    LEFT_OUT = "P0004", "left out without need", "A workload is named as one that cannot be placed, but an option of it fits once everything else has ended.";
    QUEUE_STOPPED = "P0005", "stopped queue", "A workload is released from a ClusterQueue that admits nothing new.";
    MISDESCRIBED = "P0006", "wrong description", "Kind, tenant or ClusterQueue of a release differ from its workload's.";
    NO_SUCH_OPTION = "P0007", "no such option", "Flavor and footprint of a release are none of its workload's options: it must run whole on one of them.";
    WRONG_RESOURCES = "P0008", "wrong resources", "The resources of a release are not the sum of its footprint over flavors.";
    MALFORMED_PIECES = "P0009", "malformed pieces", "The pieces do not begin at the start, are out of order, touch, or are too short to do any work.";
    STARTS_TOO_EARLY = "P0010", "starts too early", "A piece begins before now or before the workload's earliest start.";
    INTERRUPTED = "P0011", "interrupted too often", "A workload is interrupted more often than its tolerance allows; without one, at all.";
    WRONG_HELD_TIME = "P0012", "wrong held time", "The work done in the pieces is not the option's runtime at the promised quantile.";
    WRONG_END = "P0013", "wrong end", "The p50 end does not follow from the pieces.";
    WRONG_END_P90 = "P0014", "wrong p90 end", "The p90 end does not follow from the pieces.";
    WRONG_DUE = "P0015", "wrong due time", "finishBy is not the workload's.";
    WRONG_SLACK = "P0016", "wrong slack", "The slack is not finishBy minus the p90 end.";
    WRONG_VERDICT = "P0017", "wrong verdict", "OnTime, AtRisk, Late, NoDeadline or Unknown does not follow from the ends and the due time.";
    FROZEN_MOVED = "P0018", "frozen release moved", "A release promised within the frozen window is elsewhere, although its place is still free.";
    OUT_OF_ORDER = "P0019", "out of order", "Releases do not stand by start, then in the snapshot's order.";
    OVER_QUOTA = "P0020", "over quota", "At some instant a tree uses more than all its quota.";
    OVER_BORROWING_LIMIT = "P0021", "over the borrowing limit", "At some instant a queue or cohort uses more of its cohort than its borrowing limit allows.";
    OVER_CAP = "P0022", "over a cap", "At some instant a window's cap is exceeded.";
    ADDS_TO_OVERFULL = "P0023", "adds to what is over-full", "Running work, reserves or a dropped quota exceed a limit alone, and planned work uses more there.";
    NO_REASON = "P0024", "no reason", "A release does not say why it starts when it does (a warning).";
    WRONG_COUNTS = "P0030", "wrong counts", "onTime, atRisk, late or the rest do not count the verdicts.";
    WRONG_PEAK = "P0031", "wrong peak", "A peak, its first instant or its capacity is not what the releases and running work add up to.";
    WRONG_MAKESPAN = "P0032", "wrong makespan", "The makespan is not the last p50 end minus now.";
    WRONG_GPU_SECONDS = "P0033", "wrong GPU time", "gpuSeconds is not the held GPU time of planned work.";
    WRONG_COST = "P0034", "wrong cost", "The cost or its currency is not what the held time costs at the rates in force.";
    WRONG_HEAD = "P0040", "wrong head", "now, horizon, time zone, objective or seed are not those of the snapshot and the policy.";
    WRONG_LEVELS = "P0041", "wrong levels", "The levels are not those of the objective, in its order.";
    WRONG_LEVEL_VALUE = "P0042", "wrong level value", "A level's value is not what the releases amount to.";
    BOUND_ABOVE_VALUE = "P0043", "bound above value", "A bound claims that the plan itself is impossible.";
    NOT_OPTIMAL = "P0044", "not optimal", "The status is Optimal, but some level's bound does not meet its value.";
    WRONG_GAP = "P0045", "wrong gap", "The gap is not that of the first level whose bound does not meet its value.";
    CONFLICT_UNKNOWN = "P0050", "conflict about others", "A conflict names a workload that does not exist or has no due time.";
}
