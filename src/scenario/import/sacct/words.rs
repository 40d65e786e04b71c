//! How Slurm writes states, times, limits and resources.

use crate::calendar;
use crate::units::{Seconds, Timestamp};

/// What a state says about a job's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It ended, well or not.
    Ended,
    Cancelled,
    /// It still holds its resources.
    Running,
    Pending,
}

/// `COMPLETED`, `CANCELLED by 102216`, `CANCELLED+`; `None` for a word that Slurm does not have.
pub fn state(text: &str) -> Option<State> {
    let word = text.split_whitespace().next().unwrap_or("").trim_end_matches('+').to_ascii_uppercase();
    match word.as_str() {
        "COMPLETED" | "FAILED" | "TIMEOUT" | "NODE_FAIL" | "OUT_OF_MEMORY" | "BOOT_FAIL" | "DEADLINE" | "PREEMPTED"
        | "REQUEUED" | "REQUEUE" | "REVOKED" | "LAUNCH_FAILED" | "STOPPED" => Some(State::Ended),
        "CANCELLED" => Some(State::Cancelled),
        "RUNNING" | "COMPLETING" | "RESIZING" | "SUSPENDED" => Some(State::Running),
        "PENDING" | "CONFIGURING" | "REQUEUE_HOLD" | "REQUEUE_FED" | "RESV_DEL_HOLD" | "SPECIAL_EXIT" => {
            Some(State::Pending)
        }
        _ => None,
    }
}

/// `2026-01-05T10:00:00` as UTC, or seconds since 1970; `Ok(None)` for `Unknown`, `None` and nothing.
///
/// # Errors
/// When it is neither.
pub fn instant(text: &str) -> Result<Option<Timestamp>, ()> {
    match text {
        "" | "Unknown" | "None" | "N/A" => Ok(None),
        digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().map(|seconds| Some(Timestamp(seconds))).map_err(|_| ())
        }
        text => {
            let zoned = text.ends_with('Z') || text.get(10..).is_some_and(|clock| clock.contains(['+', '-']));
            let whole = if zoned { text.to_owned() } else { format!("{text}Z") };
            calendar::parse_instant(&whole).map(Some).map_err(|_| ())
        }
    }
}

/// `[days-]hours:minutes:seconds`, `minutes:seconds` or minutes; `Ok(None)` where there is no limit of the job's own.
///
/// # Errors
/// When it is none of these.
pub fn limit(text: &str) -> Result<Option<Seconds>, ()> {
    match text.to_ascii_lowercase().as_str() {
        "" | "unlimited" | "partition_limit" | "infinite" | "unknown" | "n/a" | "invalid" => return Ok(None),
        _ => {}
    }
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(number(days)?), clock),
        None => (None, text),
    };
    let clock = clock.split('.').next().unwrap_or(clock);
    let parts: Vec<i64> = clock.split(':').map(number).collect::<Result<_, ()>>()?;
    let seconds = match (days, parts.as_slice()) {
        (_, [hours, minutes, seconds]) => hours * 3600 + minutes * 60 + seconds,
        (Some(_), [hours, minutes]) => hours * 3600 + minutes * 60,
        (Some(_), [hours]) => hours * 3600,
        (None, [minutes, seconds]) => minutes * 60 + seconds,
        (None, [minutes]) => minutes * 60,
        _ => return Err(()),
    };
    let seconds = days.unwrap_or(0) * 86_400 + seconds;
    Ok((seconds > 0).then_some(Seconds(seconds)))
}

/// At most a million, so that no sum of a few overflows.
fn number(text: &str) -> Result<i64, ()> {
    let digits = !text.is_empty() && text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().map_err(|_| ()) } else { Err(()) }
}

/// GPUs, and of which type where one is named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Gpus {
    pub count: i64,
    pub kind: Option<String>,
}

/// The GPUs of `billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1`; `Ok(None)` where no GPU is named.
///
/// # Errors
/// When a number of GPUs is none.
pub fn gpus(text: &str) -> Result<Option<Gpus>, ()> {
    let mut untyped: Option<i64> = None;
    let mut typed: Vec<(&str, i64)> = Vec::new();
    for part in text.split(',') {
        let Some((name, value)) = part.split_once('=') else { continue };
        let name = name.trim();
        if name == "gres/gpu" {
            untyped = Some(count(value)?);
        } else if let Some(kind) = name.strip_prefix("gres/gpu:") {
            typed.push((kind, count(value)?));
        }
    }
    let sum = typed.iter().map(|(_, count)| count).sum();
    let kind = match typed.as_slice() {
        [(kind, _)] => Some((*kind).to_owned()),
        _ => None,
    };
    Ok(untyped.or((!typed.is_empty()).then_some(sum)).map(|count| Gpus { count, kind }))
}

/// Beyond any cluster, and a few still add up.
const GPUS_MAX: i64 = 1_000_000_000;

fn count(text: &str) -> Result<i64, ()> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits {
        return Err(());
    }
    text.parse().ok().filter(|count| *count <= GPUS_MAX).ok_or(())
}
