//! Options of `stagger whatif` from flags: `--add a100=4`, `--remove a100:batch=2`, `--outage a100=8@FROM/TO`.
//!
//! Each flag is one row; commas join several changes in it. A flag is read to the same option that a Scenario writes, and
//! everything wrong with every flag is told in one run.

use crate::api::rate_card::{Rate, RateUnit};
use crate::api::scenario::{CapacityChange, WhatIfOption};
use crate::api::written::{Decimal, Instant, Quantity};
use crate::calendar;
use crate::names::{FlavorName, ResourceName};
use crate::plan::snapshot::{CellId, Snapshot};
use crate::units::{Money, Timestamp};

/// Letters of one flag's value that an error repeats.
const SHOWN_MAX: usize = 60;

/// An option and the flag it came from, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Flagged {
    pub(super) flag: String,
    pub(super) option: WhatIfOption,
}

/// What a flag asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flag {
    Add,
    Remove,
    Outage,
    Price,
    Grow,
}

impl Flag {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Remove => "remove",
            Self::Outage => "outage",
            Self::Price => "price",
            Self::Grow => "grow",
        }
    }

    fn expected(self) -> &'static str {
        match self {
            Self::Add | Self::Remove => "FLAVOR[:QUEUE]=N[@FROM/TO], such as a100=4 or a100:batch=4",
            Self::Outage => "FLAVOR[:QUEUE]=N@FROM/TO, such as a100=8@+2h/+6h",
            Self::Price => "FLAVOR=AMOUNT, the price of a GPU-hour, such as a100=1.90",
            Self::Grow => "a whole percentage from -100 to 10000, such as 20 or 20%",
        }
    }
}

/// Reads one flag's value.
///
/// # Errors
/// One sentence that quotes what was read and says what was expected.
pub(super) fn read(flag: Flag, text: &str, now: Timestamp) -> Result<Flagged, String> {
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    let name = format!("{} {shown}", flag.name());
    let wrong = |what: &str| format!("--{}: read `{shown}`: {what}; expected {}", flag.name(), flag.expected());
    let mut option = empty(&name);
    if flag == Flag::Grow {
        let percent = text.trim().trim_end_matches('%').trim().trim_start_matches('+').parse::<i32>();
        let percent = percent.map_err(|_| wrong("no whole number"))?;
        if !(-100..=10_000).contains(&percent) {
            return Err(wrong("out of range"));
        }
        option.growth_percent = Some(percent);
        return Ok(Flagged { flag: format!("--{name}"), option });
    }
    for part in text.split(',') {
        let (target, value) = part.split_once('=').ok_or_else(|| wrong("no `=`"))?;
        let (target, value) = (target.trim(), value.trim());
        let (flavor, queue) = target.split_once(':').map_or((target, None), |(flavor, queue)| (flavor, Some(queue)));
        if flavor.is_empty() || queue.is_some_and(str::is_empty) {
            return Err(wrong("an empty name"));
        }
        if flag == Flag::Price {
            Money::parse(value).map_err(|message| wrong(&message))?;
            option.price.push(rate(flavor, value));
            continue;
        }
        let (quantity, times) =
            value.split_once('@').map_or((value, None), |(quantity, times)| (quantity, Some(times)));
        let quantity: i64 = quantity.trim().parse().map_err(|_| wrong(&format!("`{quantity}` is no whole number")))?;
        if quantity <= 0 {
            return Err(wrong("a number of GPUs is at least 1"));
        }
        let (from, to) = times.map_or(Ok((None, None)), |times| span(times, now)).map_err(|message| wrong(&message))?;
        let change = change(flavor, queue, quantity, (from, to));
        match flag {
            Flag::Add => option.add.push(change),
            Flag::Remove => option.remove.push(change),
            _ if times.is_none() => return Err(wrong("no time")),
            _ => option.outage.push(change),
        }
    }
    Ok(Flagged { flag: format!("--{name}"), option })
}

/// `--own FLAVOR=AMOUNT`: what an owned GPU-hour costs.
///
/// # Errors
/// As [`read`].
pub(super) fn own(text: &str, snapshot: &Snapshot) -> Result<(CellId, Money), String> {
    let expected = "expected FLAVOR=AMOUNT, the cost of an owned GPU-hour (`stagger prices owned` computes it)";
    let wrong = |what: &str| format!("--own: read `{text}`: {what}; {expected}");
    let (flavor, amount) = text.split_once('=').ok_or_else(|| wrong("no `=`"))?;
    let amount = Money::parse(amount.trim()).map_err(|message| wrong(&message))?;
    let flavor = FlavorName::from(flavor.trim());
    let ids = (0_u32..).map(CellId).zip(&snapshot.cells);
    let found = ids.clone().find(|(_, cell)| cell.flavor == flavor && cell.resource.is_accelerator());
    let Some((cell, _)) = found else {
        let mut known: Vec<&str> = ids.map(|(_, cell)| cell.flavor.as_str()).collect();
        known.dedup();
        return Err(wrong(&format!("no queue has accelerators of that flavor; there are: {}", known.join(", "))));
    };
    if amount.nanos < 0 {
        return Err(wrong("a cost is at least 0"));
    }
    Ok((cell, amount))
}

/// `FROM/TO`, each an instant or `+DURATION` from now; one of them may be empty.
fn span(text: &str, now: Timestamp) -> Result<(Option<Timestamp>, Option<Timestamp>), String> {
    let (from, to) = text.split_once('/').ok_or_else(|| format!("`{text}` has no `/` between FROM and TO"))?;
    let instant = |text: &str| match text.trim() {
        "" => Ok(None),
        text => match text.strip_prefix('+') {
            Some(span) => calendar::parse_duration(span).map(|span| Some(now + span)),
            None => calendar::parse_instant(text).map(Some),
        },
    };
    let (from, to) = (instant(from)?, instant(to)?);
    if from.zip(to).is_some_and(|(from, to)| from >= to) {
        return Err("it ends before it begins".to_owned());
    }
    Ok((from, to))
}

fn change(
    flavor: &str,
    queue: Option<&str>,
    quantity: i64,
    (from, to): (Option<Timestamp>, Option<Timestamp>),
) -> CapacityChange {
    let written = |at: Timestamp| Instant(calendar::rfc3339(at, chrono_tz::UTC));
    CapacityChange {
        flavor: flavor.to_owned(),
        resource: None,
        quantity: Quantity::Text(quantity.to_string()),
        queue: queue.map(str::to_owned),
        from: from.map(written),
        to: to.map(written),
        lead_time: None,
        minimum_duration: None,
        recurring: None,
    }
}

fn rate(flavor: &str, amount: &str) -> Rate {
    Rate {
        flavor: Some(flavor.to_owned()),
        device: None,
        // Replaced by the flavor's own accelerator once the queues are known.
        resource: String::new(),
        unit: RateUnit::GpuHour,
        amount: Decimal(amount.to_owned()),
        recurring: None,
    }
}

/// Names the accelerator that a price flag leaves out.
pub(super) fn name_resources(flagged: &mut Flagged, snapshot: &Snapshot) {
    let default = ResourceName::from("nvidia.com/gpu");
    for rate in &mut flagged.option.price {
        let of_flavor = snapshot
            .cells
            .iter()
            .find(|cell| rate.flavor.as_deref() == Some(cell.flavor.as_str()) && cell.resource.is_accelerator());
        let resource = of_flavor.map_or(&default, |cell| &cell.resource);
        rate.resource = resource.as_str().to_owned();
    }
}

fn empty(name: &str) -> WhatIfOption {
    WhatIfOption {
        name: name.to_owned(),
        add: Vec::new(),
        remove: Vec::new(),
        outage: Vec::new(),
        price: Vec::new(),
        growth_percent: None,
    }
}
