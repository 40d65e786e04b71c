//! What each scenario claims: its figures, worked out by hand.

/// What a folder's README states in figures.
pub struct Claim {
    pub folder: &'static str,
    pub workloads: usize,
    /// Everything that is noticed while reading and assembling.
    pub noticed: &'static [&'static str],
    pub plan: Figures,
    /// What Kueue alone would come to: (on time, at risk, late).
    pub kueue: (u64, u64, u64),
    /// Runs that the claim determines, as `from–to flavor workload`; what ties leave open is not listed.
    pub runs: &'static [&'static str],
}

pub struct Figures {
    /// (on time, at risk, late)
    pub verdicts: (u64, u64, u64),
    /// `flavor resource peak/capacity`
    pub peaks: &'static [&'static str],
    /// `None` where ties leave it open.
    pub makespan: Option<&'static str>,
    pub gpu_seconds: Option<i128>,
}

pub const CLAIMS: &[Claim] = &[
    Claim {
        folder: "backfill-under-gang",
        workloads: 6,
        noticed: &[
            "warning SG036: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: llm/notebook-export",
        ],
        plan: Figures {
            verdicts: (5, 0, 0),
            peaks: &["h100 nvidia.com/gpu 8/8"],
            makespan: Some("12 h"),
            gpu_seconds: Some(187_200),
        },
        kueue: (3, 0, 2),
        runs: &[
            "12:00–12:30 h100 llm/probe",
            "12:30–14:00 h100 llm/sweep-lr",
            "12:30–14:00 h100 llm/sweep-wd",
            "14:00–16:00 h100 llm/gang",
            "16:00–19:00 h100 llm/distill",
            "16:00–00:00 h100 llm/notebook-export",
        ],
    },
    Claim {
        folder: "buy-before-launch",
        workloads: 5,
        noticed: &[],
        plan: Figures {
            verdicts: (3, 0, 2),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: None,
            gpu_seconds: Some(136_800),
        },
        kueue: (3, 0, 2),
        runs: &[],
    },
    Claim {
        folder: "cohort-lending-limit",
        workloads: 3,
        noticed: &[],
        plan: Figures {
            verdicts: (3, 0, 0),
            peaks: &["a100 nvidia.com/gpu 8/12"],
            makespan: Some("2 h"),
            gpu_seconds: Some(43_200),
        },
        kueue: (3, 0, 0),
        runs: &[],
    },
    Claim {
        folder: "conflict-named-fix",
        workloads: 4,
        noticed: &[],
        plan: Figures {
            verdicts: (3, 0, 1),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("5 h"),
            gpu_seconds: Some(57_600),
        },
        kueue: (3, 0, 1),
        runs: &["16:00–17:00 a100 ranking/export-report"],
    },
    Claim {
        folder: "cronjob-nightly",
        workloads: 3,
        noticed: &[],
        plan: Figures {
            verdicts: (3, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("1 d 5 h"),
            gpu_seconds: Some(100_800),
        },
        kueue: (2, 0, 1),
        runs: &[
            "02:00–03:00 a100 search/nightly-index-29934780",
            "02:00–03:00 a100 search/nightly-index-29936220",
            "03:00–08:00 a100 search/train-encoder",
        ],
    },
    Claim {
        folder: "gang-podsets",
        workloads: 2,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 0),
            peaks: &["a100 cpu 16/32", "a100 nvidia.com/gpu 8/8"],
            makespan: Some("3 h"),
            gpu_seconds: Some(72_000),
        },
        kueue: (1, 0, 1),
        runs: &["12:00–13:00 a100 vision/regression-eval", "13:00–15:00 a100 vision/detector"],
    },
    Claim {
        folder: "interruption-split",
        workloads: 2,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 0),
            peaks: &["a100 nvidia.com/gpu 8/8"],
            makespan: Some("6 h"),
            gpu_seconds: Some(96_000),
        },
        kueue: (2, 0, 0),
        runs: &["12:00–14:00, 15:00–16:40 a100 pretraining/checkpoints", "15:00–18:00 a100 pretraining/in-one-piece"],
    },
    Claim {
        folder: "night-window-dst",
        workloads: 2,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 0),
            peaks: &["a100 nvidia.com/gpu 8/8"],
            makespan: Some("13 h"),
            gpu_seconds: Some(280_800),
        },
        kueue: (2, 0, 0),
        runs: &["18:00–21:00 a100 speech/evening-eval", "22:00–06:00 a100 speech/weekly-train"],
    },
    Claim {
        folder: "noon-evals",
        workloads: 4,
        noticed: &[],
        plan: Figures {
            verdicts: (4, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("2 h"),
            gpu_seconds: Some(28_800),
        },
        kueue: (4, 0, 0),
        runs: &[
            "12:00–13:00 a100 evals/eval-1",
            "12:00–13:00 a100 evals/eval-2",
            "13:00–14:00 a100 evals/eval-3",
            "13:00–14:00 a100 evals/eval-4",
        ],
    },
    Claim {
        folder: "priority-inversion",
        workloads: 2,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("3 h"),
            gpu_seconds: Some(43_200),
        },
        kueue: (1, 0, 1),
        runs: &["12:00–13:00 a100 fraud/regulator-report", "13:00–15:00 a100 fraud/retrain"],
    },
    Claim {
        folder: "realistic-day",
        workloads: 40,
        noticed: &[
            "warning SG036: without a WorkloadSLO nobody knows how long they run, so they are taken to run to the end of the horizon: vision/notebook-ana",
        ],
        plan: Figures { verdicts: (37, 1, 1), peaks: &["h100 nvidia.com/gpu 8/8"], makespan: None, gpu_seconds: None },
        kueue: (16, 3, 20),
        runs: &[],
    },
    Claim {
        folder: "relax-or-rent",
        workloads: 4,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 2),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("2 h"),
            gpu_seconds: Some(28_800),
        },
        kueue: (2, 0, 2),
        runs: &[],
    },
    Claim {
        folder: "running-uncertain-end",
        workloads: 2,
        noticed: &[],
        plan: Figures {
            verdicts: (2, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("3 h"),
            gpu_seconds: Some(28_800),
        },
        kueue: (2, 0, 0),
        runs: &["12:00–13:00 a100 forecast/smoke", "14:00–15:00 a100 forecast/backtest"],
    },
    Claim {
        folder: "two-flavors",
        workloads: 4,
        noticed: &[],
        plan: Figures {
            verdicts: (4, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4", "h100 nvidia.com/gpu 2/2"],
            makespan: Some("1 h"),
            gpu_seconds: Some(21_600),
        },
        kueue: (4, 0, 0),
        runs: &[],
    },
    Claim {
        folder: "value-tiers",
        workloads: 3,
        noticed: &[],
        plan: Figures {
            verdicts: (1, 0, 2),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("3 h"),
            gpu_seconds: Some(43_200),
        },
        kueue: (1, 0, 2),
        runs: &[
            "12:00–13:00 a100 newsroom/brief",
            "13:00–14:00 a100 newsroom/digest",
            "14:00–15:00 a100 newsroom/archive",
        ],
    },
    Claim {
        folder: "zero-gpu",
        workloads: 4,
        noticed: &[],
        plan: Figures {
            verdicts: (4, 0, 0),
            peaks: &["a100 nvidia.com/gpu 4/4"],
            makespan: Some("2 h"),
            gpu_seconds: Some(14_400),
        },
        kueue: (4, 0, 0),
        runs: &["12:00–13:00 a100 data/eval", "12:00–13:00 none data/notify"],
    },
];
