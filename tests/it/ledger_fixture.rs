//! Runs, cards and capacity in the words of the domain, for the accounting tests.

use std::collections::BTreeMap;

use stagger::ledger::card::{Capacity, Card, Guarantee, Overhead, Rate, Shared, Split, Terms};
use stagger::ledger::charge::{Priced, Term};
use stagger::ledger::price::{Input, price};
use stagger::ledger::run::{EndReason, Run, Window};
use stagger::names::{FlavorName, ResourceName, TenantId, WorkloadKey};
use stagger::units::{Amount, Money, Seconds, Timestamp};

pub const GPU: &str = "nvidia.com/gpu";

/// Hour `hours` of a day nobody names.
pub fn at(hours: i64) -> Timestamp {
    Timestamp(1_800_000_000 + hours * 3600)
}

pub fn window(from: i64, to: i64) -> Window {
    Window { from: at(from), to: at(to) }
}

pub fn euros(text: &str) -> Money {
    Money::parse(text).expect("the test's amount must be a decimal")
}

/// One attempt, by default of `team-a`, succeeded, on 1 a100 in the first hour.
pub fn a_run(name: &str) -> Run {
    Run {
        workload: WorkloadKey::new("evals", name),
        attempt: 1,
        tenant: Some(TenantId::from("team-a")),
        class: Some("eval-run".to_owned()),
        queue: Some("batch".into()),
        flavor: FlavorName::from("a100"),
        resources: BTreeMap::from([(ResourceName::from(GPU), Amount(1))]),
        created: None,
        start: at(0),
        end: Some(at(1)),
        end_reason: EndReason::Succeeded,
        fingerprint: BTreeMap::new(),
    }
}

pub trait RunWords: Sized {
    fn tenant(self, name: &str) -> Self;
    fn on(self, flavor: &str) -> Self;
    fn holds(self, resource: &str, units: i64) -> Self;
    fn hours(self, from: i64, to: i64) -> Self;
    fn attempt(self, number: u32) -> Self;
    fn ended(self, reason: EndReason) -> Self;
}

impl RunWords for Run {
    fn tenant(mut self, name: &str) -> Self {
        self.tenant = Some(TenantId::from(name));
        self
    }
    fn on(mut self, flavor: &str) -> Self {
        self.flavor = FlavorName::from(flavor);
        self
    }
    fn holds(mut self, resource: &str, units: i64) -> Self {
        self.resources.insert(ResourceName::from(resource), Amount(units));
        self
    }
    fn hours(mut self, from: i64, to: i64) -> Self {
        (self.start, self.end) = (at(from), Some(at(to)));
        self
    }
    fn attempt(mut self, number: u32) -> Self {
        self.attempt = number;
        self
    }
    fn ended(mut self, reason: EndReason) -> Self {
        self.end_reason = reason;
        self
    }
}

/// A price for every flavor.
pub fn a_rate(resource: &str, amount: &str) -> Rate {
    Rate {
        flavor: None,
        resource: ResourceName::from(resource),
        per_units: 1,
        amount: euros(amount),
        windows: None,
        place: format!("RateCard eur, {resource}"),
    }
}

pub fn a_card(rates: Vec<Rate>) -> Card {
    Card {
        name: "eur".to_owned(),
        currency: "EUR".to_owned(),
        from: None,
        to: None,
        rates,
        guaranteed: Terms::default(),
        borrowed: Terms::default(),
        idle: Split::Apart,
        overheads: Vec::new(),
        shared: Vec::new(),
    }
}

pub fn an_overhead(name: &str, per_hour: &str, split: Split) -> Overhead {
    Overhead { name: name.to_owned(), amount: euros(per_hour), per: Seconds::HOUR, split }
}

pub fn a_shared_tenant(name: &str, split: Split) -> Shared {
    Shared { tenant: TenantId::from(name), split }
}

pub fn a_guarantee(tenant: &str, flavor: &str, gpus: i64) -> Guarantee {
    Guarantee {
        tenant: TenantId::from(tenant),
        flavor: FlavorName::from(flavor),
        resource: ResourceName::from(GPU),
        quantity: Amount(gpus),
    }
}

pub fn a_capacity(flavor: &str, resource: &str, units: i64, window: Window) -> Capacity {
    Capacity {
        flavor: FlavorName::from(flavor),
        resource: ResourceName::from(resource),
        window,
        total: Amount(units),
        stranded: Amount(0),
    }
}

/// Everything a test may set; the rest is empty.
#[derive(Default)]
pub struct Books {
    pub runs: Vec<Run>,
    pub cards: Vec<Card>,
    pub guarantees: Vec<Guarantee>,
    pub capacity: Option<Vec<Capacity>>,
}

impl Books {
    pub fn price(&self, window: Window) -> Priced {
        self.try_price(window).unwrap_or_else(|findings| panic!("refused: {findings:?}"))
    }

    pub fn try_price(&self, window: Window) -> Result<Priced, Vec<stagger::failure::Finding>> {
        price(&Input {
            runs: &self.runs,
            cards: &self.cards,
            guarantees: &self.guarantees,
            capacity: self.capacity.as_deref(),
            credits: &[],
            window,
        })
    }
}

/// What a tenant bears, as a decimal; `-` stands for what stands apart.
pub fn borne(priced: &Priced, tenant: &str) -> String {
    let mine = |name: Option<&TenantId>| name.map_or("-", TenantId::as_str) == tenant;
    priced
        .charges
        .iter()
        .filter(|charge| mine(charge.tenant.as_ref()))
        .map(|charge| charge.amount)
        .sum::<Money>()
        .decimal()
}

/// One line per charge: `run tenant term amount`, in order.
pub fn lines(priced: &Priced, runs: &[Run]) -> Vec<String> {
    let line = |charge: &stagger::ledger::charge::Charge| {
        let run =
            charge.run.map_or("-".to_owned(), |run| format!("{}#{}", runs[run].workload.name(), runs[run].attempt));
        let tenant = charge.tenant.as_ref().map_or("-", TenantId::as_str);
        format!("{run} {tenant} {} {}", charge.term.as_str(), charge.amount)
    };
    priced.charges.iter().map(line).collect()
}

pub fn of_term(priced: &Priced, term: Term) -> String {
    priced.sum(term).decimal()
}
