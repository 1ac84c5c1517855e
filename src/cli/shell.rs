//! `ghost shell`.

use clap::{Args, Subcommand};

use super::classify;

/// The arguments of `ghost shell`.
#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says whether a command would run, ask or be blocked, and why.
    Classify(classify::Arguments),
}

/// Runs the subcommand.
pub(super) fn run(arguments: Arguments) -> anyhow::Result<u8> {
    match arguments.command {
        Sub::Classify(arguments) => classify::run(&arguments),
    }
}
