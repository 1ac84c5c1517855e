//! A command line, run.

use serde_json::Value;

use super::failure::Failure;
use super::network::network;
use super::session::{Session, Wire};
use super::words::Words;

/// What a command says.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// The document on standard output; nothing where it prints nothing.
    pub told: Option<Value>,
}

/// Runs a command line without its first word.
///
/// # Errors
/// Fails as the real one does: with what it prints, and its exit code.
pub fn run(wire: &mut Wire<'_>, base: &str, subscription: &str, line: &[String]) -> Result<Printed, Failure> {
    let words = Words::read(line);
    let command = words.command.clone();
    let mut session = Session { wire, base, subscription, command: &command };
    let told = match network(&mut session, &words) {
        Some(told) => told?,
        None => return Err(Failure::unknown(command.rsplit(' ').next().unwrap_or_default())),
    };
    Ok(Printed { told: told.filter(|_| words.one(&["-o", "--output"]) != Some("none")) })
}
