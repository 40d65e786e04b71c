//! When a capacity window lasts, and how much it holds: the same rules for a plan of what is to come and for a report on
//! what has been.

use super::codes;
use super::quantity::Quantity;
use crate::api::capacity_plan::Window;
use crate::names::ResourceName;
use crate::units::{Amount, Timestamp};

/// A field of a window that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer within the window.
    pub field: &'static str,
    pub code: &'static str,
    pub message: String,
    /// What is said at the place itself.
    pub label: &'static str,
}

/// `[start, end)` of each occurrence, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretches {
    pub found: Vec<(Timestamp, Timestamp)>,
    /// There are more than were asked for.
    pub capped: bool,
}

/// The occurrences of a window that touch `[from, until)`, at most `most`.
///
/// # Errors
/// Every field that cannot be read, or that contradicts another.
pub fn stretches(window: &Window, from: Timestamp, until: Timestamp, most: usize) -> Result<Stretches, Vec<Fault>> {
    let value = |field, label| move |message| Fault { field, code: codes::BAD_VALUE, message, label };
    match (&window.start, &window.end, &window.recurring) {
        (Some(start), Some(end), None) => {
            let start = start.read().map_err(value("/start", "this value"));
            let end = end.read().map_err(value("/end", "this value"));
            match (start, end) {
                (Ok(start), Ok(end)) if start < end => {
                    let touches = end > from && start < until;
                    Ok(Stretches { found: touches.then_some((start, end)).into_iter().collect(), capped: false })
                }
                (Ok(_), Ok(_)) => Err(vec![Fault {
                    field: "/end",
                    code: codes::BAD_WINDOW_TIME,
                    message: "it ends before it starts".to_owned(),
                    label: "not after start",
                }]),
                (start, end) => Err(start.err().into_iter().chain(end.err()).collect()),
            }
        }
        (None, None, Some(recurring)) => {
            let recurrence = recurring.read().map_err(|message| vec![value("/recurring", "here")(message)])?;
            let mut found = recurrence.occurrences(from, until, most + 1);
            let capped = found.len() > most;
            found.truncate(most);
            Ok(Stretches { found, capped })
        }
        _ => Err(vec![Fault {
            field: "",
            code: codes::BAD_WINDOW_TIME,
            message: "it needs either start and end, or recurring".to_owned(),
            label: "here",
        }]),
    }
}

/// How much of `resource` a window holds.
///
/// # Errors
/// When the quantity is none, or is larger than can be counted.
pub fn quantity(window: &Window, resource: &ResourceName) -> Result<Amount, Fault> {
    let text = window.quantity.text();
    let read = Quantity::parse(&text)
        .and_then(|quantity| quantity.amount(resource).ok_or_else(|| format!("{text} is too large to count")));
    read.map_err(|message| Fault { field: "/quantity", code: codes::BAD_VALUE, message, label: "this quantity" })
}
