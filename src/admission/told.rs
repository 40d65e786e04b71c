//! What is said for the log while the webhook runs. Names and reasons only, never what a Secret holds.

/// One line of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told<'a> {
    /// Something was done, or is well again.
    Done(&'a str),
    /// Something failed and is tried again, or was left alone.
    Trouble(&'a str),
}
