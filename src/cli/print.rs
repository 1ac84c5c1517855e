//! What reaches the terminal.

use std::io::{self, Write as _};
use std::process::ExitCode;

/// Prints an error with its causes and returns the exit code for "it failed".
pub(super) fn fail(error: &anyhow::Error) -> ExitCode {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        text.push_str(": ");
        text.push_str(&cause.to_string());
    }
    // Nobody is left to tell when standard error is gone.
    drop(writeln!(io::stderr(), "error: {text}"));
    ExitCode::from(1)
}

/// Prints a line on standard output.
///
/// # Errors
/// Fails where standard output is closed.
pub(super) fn line(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}
