//! Why there is a new plan, told from two looks.

use stagger::controller::changes::{ChangeKind, between, sentence};
use stagger::plan::snapshot::Snapshot;
use stagger::units::Seconds;

use super::fake::{Fake, at};

fn look(fake: &Fake) -> Snapshot {
    fake.scope.look(&mut fake.rows().iter(), at(0), &fake.settings).snapshot
}

fn kinds(before: &Fake, after: &Fake) -> Vec<ChangeKind> {
    between(&look(before), &look(after), &|_, _| true).into_iter().map(|change| change.kind).collect()
}

fn running() -> Fake {
    let mut fake = Fake::touchstone();
    for name in ["eval-1", "eval-2"] {
        let job = fake.find(name);
        (job.gates, job.admitted) = (String::new(), Some(at(0)));
    }
    fake
}

#[test]
fn nothing_has_changed_between_equal_looks() {
    assert_eq!(kinds(&running(), &running()), []);
}

/// Another plan's work ends all day long; a plan that was made anew each time kept the loop from its own.
#[test]
fn what_happens_in_queues_that_do_not_matter_is_no_change() {
    let mut after = running();
    after.find("eval-1").finished = Some(at(0));
    assert_eq!(between(&look(&running()), &look(&after), &|_, _| false), []);
}

#[test]
fn each_change_has_its_name() {
    let changed = |change: fn(&mut Fake)| {
        let mut after = running();
        change(&mut after);
        kinds(&running(), &after)
    };
    assert_eq!(changed(|it| it.find("eval-1").finished = Some(at(0))), [ChangeKind::Ended]);
    assert_eq!(changed(|it| it.find("eval-1").admitted = None), [ChangeKind::Evicted]);
    assert_eq!(changed(|it| it.find("eval-3").admitted = Some(at(0))), [ChangeKind::Started]);
    assert_eq!(changed(|it| it.jobs.retain(|job| job.name != "eval-3")), [ChangeKind::Removed]);
    assert_eq!(changed(|it| it.find("eval-3").priority = 9), [ChangeKind::Priority]);
    assert_eq!(changed(|it| it.find("eval-3").gpus = 1), [ChangeKind::Promise]);
    assert_eq!(changed(|it| it.quota = 6), [ChangeKind::Quota]);
    assert_eq!(changed(|it| it.due = "2026-11-30T18:00:00+01:00"), [ChangeKind::Promise, ChangeKind::Promise]);
}

#[test]
fn the_clock_alone_changes_nothing() {
    let fake = running();
    let later = Fake { now: at(0) + Seconds(30), ..running() };
    assert_eq!(kinds(&fake, &later), []);
}

#[test]
fn a_sentence_names_the_first_and_counts_the_rest() {
    let mut after = running();
    after.find("eval-1").finished = Some(at(0));
    let told = sentence(&between(&look(&running()), &look(&after), &|_, _| true));
    assert_eq!(told, "evals/eval-1 has ended");
}
