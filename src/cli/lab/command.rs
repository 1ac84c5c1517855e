//! The subcommands of `ghost lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::lab::{az, order, slack, up};
use crate::cli::root::Global;

/// The arguments of `ghost lab`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    /// The file of a lab, as `ghost lab up` writes it; `lab.json` in the data folder, if none is named.
    #[arg(long, global = true, value_name = "FILE")]
    lab: Option<PathBuf>,
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Starts a cloud on this machine, on which the real `az` works.
    Up(up::Arguments),
    /// Sets how the cloud behaves and what goes wrong in it.
    Set(order::Set),
    /// Tells how the lab is.
    State(order::State),
    /// Makes everything in the lab as it was.
    Reset(order::Reset),
    /// Takes the lab down.
    Down(order::Down),
    /// Runs a command of the built-in `az` on the lab.
    Az(az::Arguments),
    /// Starts a local Slack for this bot or any other.
    Slack(slack::Arguments),
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let lab = arguments.lab.as_deref();
    match &arguments.command {
        Sub::Up(arguments) => up::run(arguments, lab, global),
        Sub::Set(arguments) => order::set(arguments, lab, global),
        Sub::State(arguments) => order::state(arguments, lab, global),
        Sub::Reset(arguments) => order::reset(arguments, lab, global),
        Sub::Down(arguments) => order::down(arguments, lab, global),
        Sub::Az(arguments) => az::run(arguments, lab, global),
        Sub::Slack(arguments) => slack::run(arguments, global),
    }
}
