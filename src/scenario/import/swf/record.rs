//! A data line of the format: 18 numbers, -1 for unknown.

use crate::failure::Finding;
use crate::names::{TenantId, WorkloadKey};
use crate::replay::Past;
use crate::scenario::codes::traces as codes;
use crate::scenario::import::intake::{Intake, Refusal};
use crate::scenario::import::report::DropReason;
use crate::scenario::import::source::{LINE_BYTES_MAX, Line};
use crate::scenario::import::table::shorten;
use crate::scenario::import::trace::{SPAN_SECONDS_MAX, TraceJob, UNITS_MAX};
use crate::units::{Amount, Seconds, Timestamp, div_ceil};

use super::{Choices, RuntimeFrom};

pub const WAIT_TIME: &str = "wait time";

/// The fields in their order.
const FIELDS: [&str; 18] = [
    "job number",
    "submit time",
    WAIT_TIME,
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
const JOB: usize = 0;
const SUBMIT: usize = 1;
const WAIT: usize = 2;
const RUN: usize = 3;
const ALLOCATED: usize = 4;
const REQUESTED: usize = 7;
const REQUESTED_TIME: usize = 8;
const STATUS: usize = 10;
const USER: usize = 11;

/// A data line; `None` where it says -1.
pub struct Record {
    pub line: usize,
    pub job: i64,
    submit: Seconds,
    wait: Option<Seconds>,
    run: Option<Seconds>,
    requested_time: Option<Seconds>,
    processors: Option<i64>,
    pub status: Option<i64>,
    user: Option<i64>,
}

/// A number in decimal notation: its whole part, and whether a fraction follows.
#[derive(Clone, Copy)]
struct Decimal {
    whole: i64,
    fraction: bool,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !all_digits(digits) || !all_digits(fraction) {
            return None;
        }
        // Digits only: what does not parse is too large, and every limit below says so.
        let whole = whole.parse().unwrap_or(i64::MAX);
        Some(Self { whole, fraction: fraction.bytes().any(|byte| byte != b'0') })
    }

    fn up(self) -> i64 {
        self.whole.saturating_add(i64::from(self.fraction))
    }
}

pub fn record(intake: &mut Intake, line: Line<'_>) -> Result<Record, Finding> {
    if line.text.len() > LINE_BYTES_MAX {
        let message = format!("the line has {} bytes, more than {LINE_BYTES_MAX}", line.text.len());
        return Err(Finding::warning(codes::LIMIT, line.subject(), message));
    }
    let words: Vec<&str> = line.text.split_whitespace().collect();
    if words.len() != FIELDS.len() {
        let message = format!("the line has {} fields, and {} are expected", words.len(), FIELDS.len());
        return Err(line.warning(codes::SHAPE, 0, line.text.len(), message));
    }
    let mut numbers = Vec::with_capacity(FIELDS.len());
    for (word, field) in words.iter().zip(FIELDS) {
        let number = Decimal::parse(word).ok_or_else(|| {
            at(line, word, codes::NUMBER, format!("{field} is `{}`, and a number is expected", shorten(word)))
        })?;
        numbers.push(number);
    }
    let known = |field: usize, value: i64, high: i64| match value {
        -1 => Ok(None),
        value if (0..=high).contains(&value) => Ok(Some(value)),
        _ => {
            let message = format!("{} is {}, and -1 or 0 to {high} is expected", FIELDS[field], shorten(words[field]));
            Err(at(line, words[field], codes::RANGE, message))
        }
    };
    let count = |field: usize, high: i64| {
        if numbers[field].fraction {
            let message = format!("{} is `{}`, and a whole number is expected", FIELDS[field], shorten(words[field]));
            return Err(at(line, words[field], codes::NUMBER, message));
        }
        known(field, numbers[field].whole, high)
    };
    // A fraction of a second of waiting costs nobody; a run must never be planned shorter than it was.
    let required = |field: usize, value: Option<i64>| {
        value.ok_or_else(|| {
            at(line, words[field], codes::RANGE, format!("{} is -1, and the job needs one", FIELDS[field]))
        })
    };
    let job = required(JOB, count(JOB, i64::MAX - 1)?)?;
    let submit = required(SUBMIT, known(SUBMIT, numbers[SUBMIT].whole, SPAN_SECONDS_MAX)?)?;
    // Planning does not need it, so a broken one spoils no row.
    let wait = Some(numbers[WAIT].up()).filter(|wait| (0..=SPAN_SECONDS_MAX).contains(wait));
    let run = known(RUN, numbers[RUN].up(), SPAN_SECONDS_MAX)?;
    let requested_time = known(REQUESTED_TIME, numbers[REQUESTED_TIME].up(), SPAN_SECONDS_MAX)?;
    let processors = count(ALLOCATED, UNITS_MAX)?.filter(|procs| *procs > 0);
    let processors = processors.or(count(REQUESTED, UNITS_MAX)?.filter(|procs| *procs > 0));
    let status = count(STATUS, 5)?;
    let user = count(USER, i64::MAX - 1)?;
    for (field, number) in FIELDS.iter().zip(&numbers) {
        if number.whole == -1 {
            intake.miss(field);
        }
    }
    Ok(Record {
        line: line.number,
        job,
        submit: Seconds(submit),
        wait: wait.map(Seconds),
        run: run.map(Seconds),
        requested_time: requested_time.map(Seconds),
        processors,
        status,
        user,
    })
}

/// A warning about a word of the line.
fn at(line: Line<'_>, word: &str, code: &'static str, message: String) -> Finding {
    // The first equal word that stands alone: equal words have equal problems, so the caret is fair on any of them.
    let start = line
        .text
        .match_indices(word)
        .map(|(start, _)| start)
        .find(|start| {
            let before = line.text[..*start].chars().next_back().is_none_or(char::is_whitespace);
            before && line.text[start + word.len()..].chars().next().is_none_or(char::is_whitespace)
        })
        .unwrap_or(0);
    line.warning(code, start, start + word.len(), message)
}

impl Record {
    /// Takes in a later burst of the same job.
    pub fn join(&mut self, burst: &Self) {
        self.run = match (self.run, burst.run) {
            (Some(before), Some(more)) => Some(Seconds((before + more).0.min(SPAN_SECONDS_MAX))),
            (known, None) | (None, known) => known,
        };
        self.submit = self.submit.min(burst.submit);
        // A later burst waits after an earlier one ran; the job's own wait is that of its first.
        self.processors = self.processors.max(burst.processors);
    }

    pub fn job(&self, start: Timestamp, choices: Choices, rounded: &mut u64) -> Result<TraceJob, Refusal> {
        let ran = self.run.is_some_and(|run| run > Seconds::ZERO);
        if self.status == Some(5) && !ran {
            return Err(DropReason::Cancelled.into());
        }
        let runtime = match choices.runtime {
            RuntimeFrom::Recorded => self.run,
            RuntimeFrom::Requested => self.requested_time,
        };
        let runtime = runtime.filter(|span| *span > Seconds::ZERO).ok_or(DropReason::NoRuntime)?;
        let processors = self.processors.ok_or(DropReason::NoSize)?;
        let amount = match choices.procs_per_gpu {
            Some(rate) => {
                *rounded += u64::from(processors % rate != 0);
                Amount(div_ceil(processors, rate))
            }
            None => Amount(processors * 1000),
        };
        let tenant = self.user.map(|user| format!("user-{user}"));
        Ok(TraceJob {
            line: self.line,
            key: WorkloadKey::new(tenant.as_deref().unwrap_or("nobody"), &format!("job-{}", self.job)),
            tenant: tenant.map(TenantId::from),
            class: None,
            submitted: start + self.submit,
            due: None,
            value: 1,
            amount,
            flavors: Vec::new(),
            runtime: Some(runtime),
            past: Past {
                started: self.wait.map(|wait| start + self.submit + wait),
                limit: self.requested_time.filter(|span| *span > Seconds::ZERO),
            },
        })
    }
}
