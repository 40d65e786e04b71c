//! Runs × rate cards → charges: what a run costs, which price holds, what nobody held.

use proptest::prelude::*;
use stagger::ledger::card::Rate;
use stagger::ledger::charge::Term;
use stagger::ledger::run::Window;
use stagger::names::FlavorName;
use stagger::units::{Money, Timestamp};

use crate::ledger_fixture::{
    Books, GPU, RunWords, a_capacity, a_card, a_rate, a_run, at, borne, lines, of_term, window,
};

fn gpus_at(amount: &str) -> Vec<stagger::ledger::card::Card> {
    vec![a_card(vec![a_rate(GPU, amount)])]
}

fn codes(books: &Books, over: Window) -> Vec<&'static str> {
    books.try_price(over).expect_err("it must be refused").iter().map(|finding| finding.code).collect()
}

#[test]
fn a_run_costs_units_times_hours_times_rate() {
    let books =
        Books { runs: vec![a_run("train").holds(GPU, 8).hours(0, 3)], cards: gpus_at("2.50"), ..Books::default() };
    let priced = books.price(window(0, 24));
    assert_eq!(lines(&priced, &books.runs), ["train#1 team-a allocated 60.00"]);
    assert_eq!((priced.currency.as_str(), priced.capacity), ("EUR", None));
}

/// gpustack#6054: 30 minutes at 4 GPUs and 20 minutes at 1 GPU are 7/3 GPU-hours, not 0.833.
#[test]
fn attempts_in_one_hour_are_counted_each_for_its_own_time() {
    let mut long = a_run("serve").holds(GPU, 4);
    long.end = Some(Timestamp(at(0).0 + 1800));
    let mut short = a_run("serve").attempt(2);
    (short.start, short.end) = (Timestamp(at(0).0 + 2400), Some(at(1)));
    let books = Books { runs: vec![long, short], cards: gpus_at("1"), ..Books::default() };
    let priced = books.price(window(0, 1));
    assert_eq!(priced.total().decimal(), "2.333333");
    assert_eq!(priced.charges.iter().map(|charge| charge.unit_seconds).sum::<i128>(), 8400);
}

#[test]
fn a_price_change_in_mid_run_is_the_sum_of_its_parts() {
    let (mut old, mut new) = (a_card(vec![a_rate(GPU, "2")]), a_card(vec![a_rate(GPU, "3")]));
    (old.from, new.from) = (Some(at(-100)), Some(at(1)));
    let books = Books { runs: vec![a_run("train").hours(0, 3)], cards: vec![new, old], ..Books::default() };
    let priced = books.price(window(0, 24));
    assert_eq!(lines(&priced, &books.runs), ["train#1 team-a allocated 2.00", "train#1 team-a allocated 6.00"]);
    assert_eq!(priced.prices_from, Some(at(1)));
}

#[test]
fn a_recurring_price_holds_inside_its_windows_only() {
    let night = Rate { windows: Some(vec![window(1, 2), window(25, 26)]), ..a_rate(GPU, "1") };
    let cards = vec![a_card(vec![a_rate(GPU, "3"), night])];
    let books = Books { runs: vec![a_run("train").hours(0, 3)], cards, ..Books::default() };
    assert_eq!(books.price(window(0, 24)).total().decimal(), "7.00");
}

#[test]
fn a_row_for_the_flavor_wins_over_a_row_for_all() {
    let h100 = Rate { flavor: Some(FlavorName::from("h100")), ..a_rate(GPU, "4") };
    let runs = vec![a_run("a"), a_run("b").on("h100")];
    let books = Books { runs, cards: vec![a_card(vec![a_rate(GPU, "1.5"), h100])], ..Books::default() };
    let priced = books.price(window(0, 1));
    assert_eq!(lines(&priced, &books.runs), ["a#1 team-a allocated 1.50", "b#1 team-a allocated 4.00"]);
}

#[test]
fn cores_and_memory_are_priced_by_their_own_units() {
    let rates = vec![
        a_rate(GPU, "1"),
        Rate { per_units: 1000, ..a_rate("cpu", "0.04") },
        Rate { per_units: 1 << 30, ..a_rate("memory", "0.005") },
    ];
    let run = a_run("train").holds("cpu", 1500).holds("memory", 16 << 30);
    let books = Books { runs: vec![run], cards: vec![a_card(rates)], ..Books::default() };
    assert_eq!(books.price(window(0, 1)).total().decimal(), "1.14");
}

#[test]
fn a_resource_nobody_prices_is_inside_the_price_of_the_gpus() {
    let books = Books { runs: vec![a_run("train").holds("cpu", 8000)], cards: gpus_at("2"), ..Books::default() };
    let priced = books.price(window(0, 1));
    assert_eq!(priced.total().decimal(), "2.00");
    assert_eq!(priced.findings.iter().map(|f| (f.code, f.subject.as_str())).collect::<Vec<_>>(), [("SG148", "cpu")]);
}

#[test]
fn overlapping_prices_are_refused() {
    let books = Books {
        runs: vec![a_run("train")],
        cards: vec![a_card(vec![a_rate(GPU, "2"), a_rate(GPU, "2")])],
        ..Books::default()
    };
    assert_eq!(codes(&books, window(0, 1)), ["SG143"]);
}

#[test]
fn a_missing_price_is_refused() {
    let only_h100 = Rate { flavor: Some(FlavorName::from("h100")), ..a_rate(GPU, "4") };
    let books = Books { runs: vec![a_run("train")], cards: vec![a_card(vec![only_h100])], ..Books::default() };
    assert_eq!(codes(&books, window(0, 1)), ["SG144"]);
    let mut expired = a_card(vec![a_rate(GPU, "2")]);
    expired.to = Some(Timestamp(at(0).0 + 1800));
    let books = Books { runs: vec![a_run("train")], cards: vec![expired], ..Books::default() };
    assert_eq!(codes(&books, window(0, 1)), ["SG144"], "half an hour without a price is refused, not free");
    assert_eq!(codes(&Books { runs: vec![a_run("train")], ..Books::default() }, window(0, 1)), ["SG146"]);
}

#[test]
fn currencies_are_never_mixed_and_prices_never_negative() {
    let mut dollars = a_card(vec![a_rate(GPU, "2")]);
    dollars.currency = "USD".to_owned();
    let books =
        Books { runs: vec![a_run("t")], cards: vec![a_card(vec![a_rate(GPU, "2")]), dollars], ..Books::default() };
    assert!(codes(&books, window(0, 1)).contains(&"SG140"));
    let books = Books { runs: vec![a_run("t")], cards: gpus_at("-2"), ..Books::default() };
    assert_eq!(codes(&books, window(0, 1)), ["SG141"]);
}

#[test]
fn figures_too_large_to_be_exact_are_refused() {
    let cards = vec![a_card(vec![a_rate(GPU, "999999999999999999")])];
    let run = a_run("t").holds(GPU, i64::MAX).hours(0, 1_000_000);
    assert_eq!(codes(&Books { runs: vec![run], cards, ..Books::default() }, window(0, 1_000_000)), ["SG145"]);
}

#[test]
fn capacity_is_allocated_or_idle() {
    let capacity = Some(vec![a_capacity("a100", GPU, 4, window(0, 10))]);
    let runs = vec![a_run("a").holds(GPU, 3).hours(0, 5), a_run("b").hours(4, 5)];
    let books = Books { runs, cards: gpus_at("2"), capacity, ..Books::default() };
    let priced = books.price(window(0, 10));
    assert_eq!(priced.capacity.map(Money::decimal).as_deref(), Some("80.00"));
    assert_eq!([of_term(&priced, Term::Allocated), of_term(&priced, Term::Idle)], ["32.00", "48.00"]);
    assert_eq!(borne(&priced, "-"), "48.00");
}

/// kubecost#1978: allocation above the inventory came out as negative idle cost.
#[test]
fn allocation_beyond_capacity_is_never_negative_idle() {
    let capacity = Some(vec![a_capacity("a100", GPU, 2, window(0, 2))]);
    let books = Books { runs: vec![a_run("a").holds(GPU, 3)], cards: gpus_at("2"), capacity, ..Books::default() };
    let priced = books.price(window(0, 2));
    assert_eq!([of_term(&priced, Term::Allocated), of_term(&priced, Term::Idle)], ["6.00", "4.00"]);
    assert_eq!(
        (priced.capacity.map(Money::decimal).as_deref(), priced.beyond.decimal().as_str()),
        (Some("8.00"), "2.00")
    );
    assert_eq!(priced.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["SG147"]);
}

/// kubecost#1389: idle GPU cost on nodes without GPUs.
#[test]
fn a_price_times_no_capacity_is_nothing() {
    let capacity = Some(vec![a_capacity("a100", GPU, 0, window(0, 2))]);
    let books = Books { cards: gpus_at("2"), capacity, ..Books::default() };
    assert_eq!(books.price(window(0, 2)).charges, []);
}

#[test]
fn stranded_capacity_is_a_line_of_its_own() {
    let mut capacity = a_capacity("a100", "nvidia.com/mig-3g.40gb", 7, window(0, 1));
    capacity.stranded = stagger::units::Amount(1);
    let run = stagger::ledger::run::Run { resources: std::collections::BTreeMap::new(), ..a_run("a") };
    let books = Books {
        runs: vec![run.holds("nvidia.com/mig-3g.40gb", 6)],
        cards: vec![a_card(vec![a_rate("nvidia.com/mig-3g.40gb", "1")])],
        capacity: Some(vec![capacity]),
        ..Books::default()
    };
    let priced = books.price(window(0, 1));
    assert_eq!(
        [Term::Allocated, Term::Idle, Term::Stranded].map(|term| of_term(&priced, term)),
        ["6.00", "0.00", "1.00"]
    );
}

#[test]
fn what_lies_outside_the_window_costs_nothing_in_it() {
    let books = Books {
        runs: vec![a_run("a").hours(0, 10), a_run("b").hours(20, 30)],
        cards: gpus_at("1"),
        ..Books::default()
    };
    assert_eq!(books.price(window(2, 5)).total().decimal(), "3.00");
}

proptest! {
    /// A half-open interval cut in two owns the cut once.
    #[test]
    fn splitting_a_run_changes_nothing(cut in 1_i64..7199, units in 1_i64..9, nanos in 0_i128..9_000_000_000) {
        let mut first = a_run("a").holds(GPU, units).hours(0, 2);
        let mut rate = a_rate(GPU, "0");
        rate.amount = Money { nanos };
        let cards = vec![a_card(vec![rate])];
        let whole = Books { runs: vec![first.clone()], cards: cards.clone(), ..Books::default() };
        let middle = Timestamp(at(0).0 + cut);
        let mut second = first.clone();
        (first.end, second.start, second.attempt) = (Some(middle), middle, 2);
        let parts = Books { runs: vec![first, second], cards, ..Books::default() };
        prop_assert_eq!(whole.price(window(0, 2)).total(), parts.price(window(0, 2)).total());
    }

    /// Capacity + beyond = allocated + idle, whatever runs there are and in whatever order they come.
    #[test]
    fn capacity_adds_up_to_the_last_unit(runs in proptest::collection::vec((0_i64..20_000, 1_i64..20_000, 1_i64..5), 0..25), total in 0_i64..12, nanos in 1_i128..5_000_000_000) {
        let run = |(index, (start, length, units)): (usize, &(i64, i64, i64))| {
            let mut run = a_run(&format!("r{index}")).holds(GPU, *units);
            (run.start, run.end) = (Timestamp(at(0).0 + start), Some(Timestamp(at(0).0 + start + length)));
            run
        };
        let mut rate = a_rate(GPU, "0");
        rate.amount = Money { nanos };
        let over = window(0, 12);
        let mut books = Books {
            runs: runs.iter().enumerate().map(run).collect(),
            cards: vec![a_card(vec![rate])],
            capacity: Some(vec![a_capacity("a100", GPU, total, over)]),
            ..Books::default()
        };
        let priced = books.price(over);
        let capacity = priced.capacity.expect("capacity was stated");
        prop_assert_eq!(capacity + priced.beyond, priced.total());
        books.runs.reverse();
        let backwards = books.price(over);
        prop_assert_eq!(backwards.total(), priced.total());
        prop_assert_eq!(lines(&backwards, &books.runs).len(), priced.charges.len());
    }
}
