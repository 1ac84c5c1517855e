//! The subcommands of `ghost lab`.

use clap::{Args, Subcommand};

use crate::cli::lab::slack;
use crate::cli::root::Global;

/// The arguments of `ghost lab`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Starts a local Slack for this bot or any other.
    Slack(slack::Arguments),
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Slack(arguments) => slack::run(arguments, global),
    }
}
