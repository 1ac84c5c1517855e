//! The root of the command line.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use super::print::fail;
use super::shell;

/// Investigates cloud network incidents behind a deterministic safety shell.
#[derive(Debug, Parser)]
#[command(name = "ghost", version, about, max_term_width = 100)]
pub(super) struct Root {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Judges and runs commands behind the safety gate.
    Shell(shell::Arguments),
}

/// Runs the program and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let root = Root::parse();
    let done = match root.command {
        Sub::Shell(arguments) => shell::run(arguments),
    };
    match done {
        Ok(code) => ExitCode::from(code),
        Err(error) => fail(&error),
    }
}
