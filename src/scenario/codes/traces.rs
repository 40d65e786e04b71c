//! `SG060`–`SG079`: traces.

use super::Code;

pub const CODES: &[Code] = &[];
