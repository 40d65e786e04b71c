//! The registry of every `SG` code: what it means, an example, and what to do.
//!
//! Codes are promises: one is never given another meaning, and a retired one is not used again.
//! `SG001`–`SG019` reading and shape, `SG020`–`SG059` meaning, `SG060`–`SG079` traces, `SG080`–`SG099` limits,
//! `SG120`–`SG149` outcomes, runs and prices.
//! `docs/reference/errors.md` is generated from here. The texts are data, so `stagger lint --explain` shows the same.

mod limits;
mod meaning;
mod money;
mod reading;
pub mod traces;

/// The text is not valid YAML or JSON.
pub const SYNTAX: &str = "SG001";
/// A file or folder cannot be read, or holds nothing.
pub const UNREADABLE: &str = "SG002";
/// A value has the wrong shape, or a field that is needed is not there. Also used by `Manifest::decode`.
pub const SHAPE: &str = "SG003";
/// It cannot be told what the object is.
pub const NO_IDENTITY: &str = "SG004";
/// A name, namespace, label or annotation that Kubernetes refuses.
pub const METADATA: &str = "SG005";
/// A key stands twice in one map.
pub const DUPLICATE_KEY: &str = "SG006";
/// An object is defined twice.
pub const DUPLICATE_OBJECT: &str = "SG007";
/// A kind that is not planned, or not known.
pub const UNKNOWN_KIND: &str = "SG008";
/// A field that our kind does not have.
pub const UNKNOWN_FIELD: &str = "SG009";
/// A word that is not one of those expected.
pub const NOT_ONE_OF: &str = "SG010";
/// Too small, too large, too short, too long, too many.
pub const OUT_OF_BOUNDS: &str = "SG011";
/// An instant, duration, time of day or time zone that cannot be read.
pub const TIME: &str = "SG012";
/// A decimal, percentage or quantity that cannot be read.
pub const NUMBER: &str = "SG013";
/// A word that YAML 1.1 reads as a boolean.
pub const OLD_BOOLEAN: &str = "SG014";
/// An alias, merge key or tag that cannot be followed.
pub const ALIAS: &str = "SG015";
/// Bytes that are not text.
pub const ENCODING: &str = "SG016";
/// Fields that contradict each other.
pub const CONTRADICTION: &str = "SG017";
/// Something was filled in.
pub const FILLED_IN: &str = "SG018";
/// A version of our API that is not known.
pub const VERSION: &str = "SG019";

/// Two items of a list have one name.
pub const REPEATED: &str = "SG039";

/// Too many bytes.
pub const TOO_LARGE: &str = "SG080";
/// Too many files or objects.
pub const TOO_MANY: &str = "SG081";
/// Nested too deeply.
pub const TOO_DEEP: &str = "SG082";
/// Aliases repeat too much.
pub const EXPANSION: &str = "SG083";
/// More findings than are listed.
pub const MORE: &str = "SG084";

/// One code and everything that is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code {
    /// `SG012`.
    pub code: &'static str,
    /// A few words, lower case, no full stop.
    pub title: &'static str,
    /// Why it is said; one or more sentences.
    pub explanation: &'static str,
    /// Input that brings it about.
    pub example: &'static str,
    /// What to do; one or more sentences.
    pub fix: &'static str,
}

/// Every code, ascending.
pub fn all() -> impl Iterator<Item = &'static Code> {
    [reading::CODES, meaning::CODES, traces::CODES, limits::CODES, money::CODES].into_iter().flatten()
}

/// The code, whatever its case.
#[must_use]
pub fn find(code: &str) -> Option<&'static Code> {
    all().find(|known| known.code.eq_ignore_ascii_case(code))
}

/// What `stagger lint --explain CODE` prints.
#[must_use]
pub fn explain(code: &Code) -> String {
    let indented: String = code.example.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "{}: {}\n\n{}\n\nExample:\n\n{indented}\nWhat to do: {}\n",
        code.code, code.title, code.explanation, code.fix
    )
}

/// `docs/reference/errors.md`.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(INTRODUCTION);
    for code in all() {
        page.push_str(&format!(
            "\n## {}: {}\n\n{}\n\n```\n{}\n```\n\n{}\n",
            code.code,
            code.title,
            code.explanation,
            code.example.trim_end(),
            code.fix
        ));
    }
    page
}

const INTRODUCTION: &str = "\
<!-- Generated from src/scenario/codes.rs. Edit there, then run: UPDATE_EXPECT=1 cargo test --test it codes -->

# What stagger says about its input

Every finding has a code that keeps its meaning.
`stagger lint --explain SG012` prints the same text as this page.
An error means that the input is refused, a warning that something is left out or assumed, a note that something is worth knowing.
";
