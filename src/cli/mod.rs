//! The command line: one file per subcommand.

#[cfg(feature = "shell")]
#[cfg_attr(not(test), expect(dead_code, reason = "the subcommand that calls it is not there yet"))]
mod audit;

use std::process::ExitCode;

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
