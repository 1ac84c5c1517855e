//! `ghost shell`: the gate, from the command line.

mod classify;
mod demo;
mod policy;
mod redact;
mod run;

use clap::{Args, Subcommand};

use super::setup::Setup;

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
    /// Judges a command, asks if it must, runs it if it may.
    Run(run::Arguments),
    /// Takes secrets out of a text.
    Redact(redact::Arguments),
    /// Prints the policy.
    Policy(policy::Arguments),
    /// Lets an over-eager engineer propose a dozen commands, to show the gate at work.
    Demo(demo::Arguments),
}

/// Runs the subcommand.
pub(super) fn run(arguments: Arguments, setup: impl Fn() -> anyhow::Result<Setup>) -> anyhow::Result<u8> {
    match arguments.command {
        Sub::Classify(arguments) => classify::run(&arguments, &setup()?),
        Sub::Run(arguments) => run::run(&arguments, &setup()?),
        Sub::Redact(arguments) => redact::run(&arguments),
        Sub::Policy(arguments) => policy::run(&arguments, &setup()?),
        Sub::Demo(arguments) => demo::run(&arguments, &setup()?),
    }
}
