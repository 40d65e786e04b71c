//! One file per subcommand.

pub mod diagnostics;
