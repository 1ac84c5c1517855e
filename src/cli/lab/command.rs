//! The subcommands of `ghost lab`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::lab::{az, cases, inject, net, order, slack, up};
use ghost_tools::global::Global;

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
    /// Lists and shows the cases that can be injected.
    Cases(cases::Cases),
    /// Injects a case: makes things go wrong in the lab.
    Inject(inject::Inject),
    /// Checks whether the injected case can be seen.
    Check(inject::Check),
    /// Investigates cases whose causes are known, and tells how good that was.
    Eval(super::eval::Arguments),
    /// Builds small networks of real machines of this kernel, and puts faults into them.
    Net(net::Arguments),
    /// Tells how the lab is.
    State(order::State),
    /// Makes everything in the lab as it was.
    Reset(order::Reset),
    /// Runs a command of `az` on the lab, for machines that have none.
    Az(az::Arguments),
    /// Takes the lab down.
    Down(order::Down),
    /// Starts a local Slack for this bot or any other.
    Slack(slack::Arguments),
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let lab = arguments.lab.as_deref();
    match &arguments.command {
        Sub::Up(arguments) => up::run(arguments, lab, global),
        Sub::Set(arguments) => order::set(arguments, lab, global),
        Sub::Cases(arguments) => cases::run(arguments),
        Sub::Inject(arguments) => inject::run(arguments, lab, global),
        Sub::Check(arguments) => inject::check(arguments, lab, global),
        Sub::Eval(arguments) => super::eval::run(arguments, global),
        Sub::Net(arguments) => net::run(arguments, global),
        Sub::State(arguments) => order::state(arguments, lab, global),
        Sub::Reset(arguments) => order::reset(arguments, lab, global),
        Sub::Az(arguments) => az::run(arguments, lab, global),
        Sub::Down(arguments) => order::down(arguments, lab, global),
        Sub::Slack(arguments) => slack::run(arguments, global),
    }
}
