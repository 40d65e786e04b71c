//! No peeking: what is decided before an instant does not depend on anything the log says of later.

use proptest::prelude::*;
use stagger::plan::snapshot::Snapshot;
use stagger::replay::{History, Past, Rolled, Rules, roll};
use stagger::units::{Seconds, Timestamp};

use crate::world::{a_job, a_snapshot, at, clock, minutes};

/// (GPUs, minutes it runs, minute of arrival, minutes until due, kill limit in minutes)
type Drawn = (i64, i64, i64, Option<i64>, Option<i64>);

fn log() -> impl Strategy<Value = Vec<Drawn>> {
    let job = (1_i64..5, 1_i64..180, 0_i64..300, prop::option::of(10_i64..400), prop::option::of(5_i64..400));
    prop::collection::vec(job, 2..40)
}

fn history(log: &[Drawn]) -> History {
    let jobs = log.iter().enumerate().map(|(n, (gpus, runs, arrives, due, _))| {
        let created = at("12:00") + minutes(*arrives);
        let job = a_job(&format!("{n:02}")).gpus(*gpus).runs(minutes(*runs)).created(&clock(created));
        match due {
            Some(due) => job.due(&clock(created + minutes(*due))),
            None => job,
        }
    });
    let mut snapshot: Snapshot = a_snapshot().queue("batch").gpus("a100", 5).jobs(jobs).until("3d 00:00").build();
    let mut past = Vec::new();
    for workload in &mut snapshot.workloads {
        workload.earliest_start = workload.created;
        let n: usize = workload.key.name().parse().unwrap();
        past.push(Past { started: None, limit: log[n].4.map(minutes) });
    }
    History { snapshot, past }
}

/// Everything released before an instant, and what was forecast then.
fn decided(history: &History, rolled: &Rolled, before: Timestamp) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, workload) in history.snapshot.workloads.iter().enumerate() {
        let released = rolled.released[at].filter(|released| *released < before);
        let forecast = rolled.forecast[at].filter(|(when, _)| *when < before);
        if released.is_some() || forecast.is_some() {
            lines.push(format!("{} {released:?} {forecast:?}", workload.key));
        }
    }
    lines
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn later_arrivals_and_true_runtimes_of_unfinished_work_decide_nothing(
        log in log(),
        cut in 1_i64..400,
        other in 1_i64..500,
        debounce in prop::sample::select(vec![1_i64, 60, 420]),
    ) {
        let rules = Rules { debounce: Seconds(debounce), steps: 100, seed: 1 };
        let whole = history(&log);
        let rolled = roll(&whole, &rules);
        let cut = at("12:00") + minutes(cut);

        // The same past with another future: later arrivals are gone, and what has not ended by the cut takes another time.
        let mut blind = whole.clone();
        for (at, workload) in blind.snapshot.workloads.iter_mut().enumerate() {
            let run = &rolled.simulation.runs[at];
            let ended = run.end.is_some_and(|end| end < cut);
            if ended {
                continue;
            }
            let ran = run.attempts.first().map_or(0, |attempt| (cut - attempt.start).0.max(0));
            for option in &mut workload.options {
                option.runtime.p50 = Seconds(ran + other * 60);
                option.runtime.p90 = option.runtime.p50;
            }
        }
        let keep: Vec<bool> = blind.snapshot.workloads.iter().map(|workload| workload.created < cut).collect();
        let mut kept = keep.iter();
        blind.snapshot.workloads.retain(|_| *kept.next().unwrap());
        let mut kept = keep.iter();
        blind.past.retain(|_| *kept.next().unwrap());

        let again = roll(&blind, &rules);
        prop_assert_eq!(decided(&whole, &rolled, cut), decided(&blind, &again, cut));
    }
}
