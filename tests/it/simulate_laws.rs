//! What must hold of every simulation, on random clusters and loads.

use proptest::prelude::*;
use stagger::kueue::quota::{Ledger, Tree, changes};
use stagger::kueue::simulate::{EVICTIONS_MAX, Runtimes, SimOptions, Simulation, Steps, simulate};
use stagger::plan::snapshot::{NodeId, PreemptionPolicy, Snapshot};
use stagger::units::{Seconds, Timestamp};

use crate::simulate::timeline;
use crate::world::{Job, a_job, a_running, a_snapshot, clock, minutes};

fn policies() -> impl Strategy<Value = PreemptionPolicy> {
    prop::sample::select(vec![
        PreemptionPolicy::Never,
        PreemptionPolicy::LowerPriority,
        PreemptionPolicy::LowerOrNewerEqualPriority,
        PreemptionPolicy::Any,
    ])
}

fn jobs() -> impl Strategy<Value = Vec<Job>> {
    let job = (0_usize..3, 1_i64..7, 1_i64..90, 0_i32..3, 0_i64..120, 0_i64..60, 0_u8..3, any::<bool>());
    prop::collection::vec(job, 1..25).prop_map(|jobs| {
        type Drawn = (usize, i64, i64, i32, i64, i64, u8, bool);
        let build = |(n, drawn): (usize, Drawn)| {
            let (queue, gpus, runs, priority, created, late, tolerance, anywhere) = drawn;
            let created = at_minute(created);
            let job = a_job(&format!("{n:02}"))
                .queue(["a", "b", "c"][queue])
                .gpus(gpus)
                .runs(minutes(runs))
                .priority(priority)
                .not_before(&clock(created + minutes(late)))
                .created(&clock(created));
            let job = match tolerance {
                0 => job,
                1 => job.restartable(minutes(3)),
                _ => job.checkpointable(minutes(10), minutes(2)),
            };
            if anywhere { job } else { job.on("a100") }
        };
        jobs.into_iter().enumerate().map(build).collect()
    })
}

fn at_minute(minute: i64) -> Timestamp {
    crate::world::at("11:30") + minutes(minute)
}

/// Three queues, two of them in a nested cohort, with every kind of rule.
fn snapshots() -> impl Strategy<Value = Snapshot> {
    let limit = || prop::option::of(0_i64..5);
    let queue = || (0_i64..7, limit(), limit(), policies(), policies(), any::<[bool; 4]>(), prop::option::of(0_i32..3));
    let window = (0_usize..3, 0_u8..3, 0_i64..4, 0_i64..200, 1_i64..120);
    let windows = prop::collection::vec(window, 0..4);
    (queue(), queue(), queue(), windows, jobs(), 0_i64..3).prop_map(|(a, b, c, windows, jobs, busy)| {
        let mut world = a_snapshot().cohort("inner").under("outer");
        for (name, parent, queue) in [("a", "inner", a), ("b", "inner", b), ("c", "outer", c)] {
            let (nominal, borrowing, lending, within, reclaim, switches, threshold) = queue;
            world = world.queue(name).gpus("a100", nominal).under(parent);
            if let Some(limit) = borrowing {
                world = world.borrowing_limit(limit);
            }
            if let Some(limit) = lending {
                world = world.lending_limit(limit);
            }
            world = world.gpus("h100", 3).preempts_within(within).reclaims(reclaim);
            if switches[0] {
                world = world.strict_fifo();
            }
            if switches[1] {
                world = world.tries_next_flavor_before_borrowing();
            }
            if switches[2] {
                world = world.preempts_before_trying_next_flavor();
            }
            if switches[3] {
                world = world.preempts_while_borrowing(threshold);
            }
        }
        for (node, effect, quantity, from, length) in windows {
            world = world.queue(["a", "b", "c"][node]);
            let (from, to) = (clock(at_minute(from)), clock(at_minute(from + length)));
            world = match effect {
                0 => world.cap("a100", quantity, &from, &to),
                1 => world.reserve("a100", quantity, &from, &to),
                _ => world.add("a100", quantity, &from, &to),
            };
        }
        if busy > 0 {
            world = world.running(a_running("old").queue("a").on("h100").gpus(busy).until("12:45"));
        }
        world.jobs(jobs).build()
    })
}

fn played(snapshot: &Snapshot) -> Simulation {
    simulate(snapshot, &SimOptions::default())
}

/// What is held at `instant`, attempts and running work, and what is about to start then.
fn ledger_at(snapshot: &Snapshot, simulation: &Simulation, instant: Timestamp, starting: bool) -> Ledger {
    let mut ledger = Ledger::new(Tree::at(snapshot, instant));
    for running in &snapshot.running {
        if running.start <= instant && running.end_p50.is_none_or(|end| instant < end) {
            ledger.add(running.queue, &running.uses);
        }
    }
    for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
        for attempt in &run.attempts {
            let begun = if starting { attempt.start <= instant } else { attempt.start < instant };
            if begun && instant < attempt.end {
                ledger.add(workload.queue, &workload.options[attempt.option].uses);
            }
        }
    }
    ledger
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_starts_beyond_quota(snapshot in snapshots()) {
        let simulation = played(&snapshot);
        let starts = simulation.runs.iter().flat_map(|run| &run.attempts).filter(|attempt| attempt.start < attempt.end);
        for instant in starts.map(|attempt| attempt.start) {
            let after = ledger_at(&snapshot, &simulation, instant, true);
            let before = ledger_at(&snapshot, &simulation, instant, false);
            for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
                let begins = run.attempts.iter().find(|it| it.start == instant && it.start < it.end);
                let Some(attempt) = begins else { continue };
                for (cell, _) in &workload.options[attempt.option].uses {
                    prop_assert!(after.available(workload.queue, *cell).0 >= 0, "{} starts beyond quota", workload.key);
                    prop_assert!(before.available(workload.queue, *cell).0 > 0);
                }
            }
        }
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(snapshot in snapshots(), seed in any::<u64>()) {
        let simulation = played(&snapshot);
        let mut shuffled = snapshot.clone();
        let mut state = seed;
        for last in (1..shuffled.workloads.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.workloads.swap(last, usize::try_from(state >> 33).unwrap() % (last + 1));
        }
        let again = played(&shuffled);
        for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
            let place = shuffled.workloads.iter().position(|it| it.key == workload.key).unwrap();
            prop_assert_eq!(run, &again.runs[place]);
        }
    }

    #[test]
    fn releasing_everything_on_arrival_is_kueue_alone(snapshot in snapshots()) {
        let options = SimOptions::default();
        let mut steps = Steps::new(&snapshot, &options);
        while let Some(at) = steps.next() {
            for workload in steps.advance(at).arrived {
                steps.release(workload);
            }
            steps.admit();
        }
        prop_assert_eq!(steps.close(), simulate(&snapshot, &options));
    }

    #[test]
    fn the_same_input_gives_the_same_result(snapshot in snapshots()) {
        prop_assert_eq!(played(&snapshot), played(&snapshot.clone()));
    }

    #[test]
    fn every_attempt_is_consistent(snapshot in snapshots()) {
        let simulation = played(&snapshot);
        prop_assert_eq!(simulation.runs.len(), snapshot.workloads.len());
        for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
            prop_assert!(run.attempts.len() <= usize::try_from(EVICTIONS_MAX).unwrap() + 1);
            let mut free_from = workload.earliest_start;
            let mut ran = Seconds::ZERO;
            for (index, attempt) in run.attempts.iter().enumerate() {
                prop_assert!(free_from <= attempt.start && attempt.start <= attempt.end);
                prop_assert!(attempt.option < workload.options.len());
                prop_assert_eq!(attempt.evicted, index + 1 < run.attempts.len() || run.end.is_none());
                free_from = attempt.end;
                ran += attempt.end - attempt.start;
            }
            if let Some(end) = run.end {
                prop_assert_eq!(run.attempts.last().unwrap().end, end);
                prop_assert_eq!(run.waited, end - workload.earliest_start - ran);
                prop_assert!(ran >= workload.options[run.attempts.last().unwrap().option].runtime.p50);
            }
        }
    }

    #[test]
    fn whoever_fits_an_empty_cluster_is_admitted_in_the_end(snapshot in snapshots()) {
        // Once all windows are over and all else has finished, a head that fits must have gone; only a strict queue
        // may be stuck behind work that never fits.
        let simulation = played(&snapshot);
        let last = changes(&snapshot).last().map_or(snapshot.now, |change| change.0).max(snapshot.horizon_end);
        let empty = Ledger::new(Tree::at(&snapshot, last));
        let fits = |index: usize| {
            let workload = &snapshot.workloads[index];
            workload.options.iter().any(|option| empty.fits(workload.queue, &option.uses))
        };
        let stuck = |queue: NodeId| {
            (0..snapshot.workloads.len()).any(|other| snapshot.workloads[other].queue == queue && !fits(other))
        };
        for (index, run) in simulation.runs.iter().enumerate() {
            let queue = snapshot.workloads[index].queue;
            prop_assert!(run.end.is_some() || !fits(index) || stuck(queue), "{}", timeline(&snapshot, &simulation));
        }
    }

    #[test]
    fn a_single_best_effort_queue_never_idles_while_unit_jobs_wait(
        arrivals in prop::collection::vec((0_i64..40, 1_i64..30), 1..40), capacity in 1_i64..5,
    ) {
        let job = |(n, (arrives, runs)): (usize, &(i64, i64))| {
            a_job(&format!("{n:02}")).runs(minutes(*runs)).not_before(&clock(at_minute(30 + arrives)))
        };
        let jobs: Vec<Job> = arrivals.iter().enumerate().map(job).collect();
        let snapshot = a_snapshot().queue("batch").gpus("a100", capacity).jobs(jobs).build();
        let simulation = played(&snapshot);
        for (workload, run) in snapshot.workloads.iter().zip(&simulation.runs) {
            let start = run.attempts[0].start;
            prop_assert!(run.end.is_some());
            for minute in 0..(start - workload.earliest_start).0 / 60 {
                let instant = workload.earliest_start + minutes(minute);
                let busy = simulation.runs.iter().flat_map(|it| &it.attempts);
                let busy = busy.filter(|it| it.start <= instant && instant < it.end).count();
                prop_assert_eq!(i64::try_from(busy).unwrap(), capacity);
            }
        }
    }

    #[test]
    fn longer_runtimes_given_one_by_one_are_played_exactly(
        snapshot in snapshots(), seconds in prop::collection::vec(1_i64..9_000, 0..30),
    ) {
        let given: Vec<Seconds> = seconds.iter().map(|it| Seconds(*it)).collect();
        let simulation = simulate(&snapshot, &SimOptions { runtimes: Runtimes::Explicit(given.clone()) });
        for ((workload, run), given) in snapshot.workloads.iter().zip(&simulation.runs).zip(&given) {
            if let ([only], Some(end)) = (run.attempts.as_slice(), run.end) {
                prop_assert_eq!(end - only.start, *given, "{}", workload.key);
            }
        }
    }
}
