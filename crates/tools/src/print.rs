//! What reaches the terminal.

use std::fmt;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// An error together with what the user can do about it.
#[derive(Debug)]
pub struct Hinted {
    error: anyhow::Error,
    hint: String,
}

impl Hinted {
    /// Adds a hint to an error.
    pub fn new(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self { error: error.into(), hint: hint.into() }
    }

    /// Returns what the user can do about it.
    pub fn advice(&self) -> &str {
        &self.hint
    }

    /// Returns the error below a hint, or the error itself where it has none.
    pub fn below(error: &anyhow::Error) -> &anyhow::Error {
        error.downcast_ref::<Self>().map_or(error, |hinted| &hinted.error)
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(out)
    }
}

impl std::error::Error for Hinted {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// The exit code of a service that cannot start until a person changes its configuration: `EX_CONFIG` of `sysexits.h`. A supervisor
/// does not restart it.
pub const MISCONFIGURED: u8 = 78;

/// An error that stays until a person changes the configuration.
#[derive(Debug)]
pub struct Misconfigured(pub anyhow::Error);

impl fmt::Display for Misconfigured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl std::error::Error for Misconfigured {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// Prints an error with its causes and its hint; returns the exit code.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    if let Some(Misconfigured(error)) = error.downcast_ref() {
        fail(error);
        return ExitCode::from(MISCONFIGURED);
    }
    // A reader that went away (`ghost … | head`) is no failure worth a word.
    let gone = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe);
    if !gone {
        let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
        let mut text = format!("error: {}\n", causes.join(": "));
        if let Some(hinted) = error.downcast_ref::<Hinted>() {
            text.push_str(&format!("hint: {}\n", hinted.hint));
        }
        // Nobody is left to tell when standard error is gone.
        drop(io::stderr().write_all(text.as_bytes()));
    }
    ExitCode::from(1)
}

/// Prints a line on standard output.
///
/// # Errors
/// Fails where standard output is closed.
pub fn line(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Prints a line on standard error, for people.
pub fn note(text: &str) {
    drop(writeln!(io::stderr(), "{text}"));
}

/// Returns a text without what would steer a terminal: a document may be anybody's.
pub fn harmless(text: &str) -> String {
    let steers = |char: char| {
        (char.is_control() && char != '\n')
            || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars().map(|char| if steers(char) { '\u{fffd}' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_does_not_steer_the_terminal() {
        assert_eq!(harmless("a\x1b[2Jb\u{202e}c\nd"), "a\u{fffd}[2Jb\u{fffd}c\nd");
    }
}
