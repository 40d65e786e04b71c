//! `SG020`–`SG059`: how objects fit together.

use super::Code;

pub const CODES: &[Code] = &[];
