//! The subcommands of `ghost shell`.

use clap::{Args, Subcommand};

use super::{classify, corpora, demo, policy, redact, run as runs};
use crate::setup::Setup;

/// The arguments of `ghost shell`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says whether a command would run, ask or be blocked, and why.
    Classify(classify::Arguments),
    /// Judges a command, asks if it must, runs it if it may.
    Run(runs::Arguments),
    /// Takes secrets out of a text.
    Redact(redact::Arguments),
    /// Prints the policy.
    Policy(policy::Arguments),
    /// Judges public collections of commands, beside the rules of others.
    #[command(name = "bench")]
    Corpora(corpora::Arguments),
    /// Lets an over-eager engineer propose a dozen commands, to show the gate at work.
    Demo(demo::Arguments),
}

/// Runs the subcommand.
pub fn run(arguments: Arguments, setup: impl Fn() -> anyhow::Result<Setup>) -> anyhow::Result<u8> {
    match arguments.command {
        Sub::Classify(arguments) => classify::run(&arguments, &setup()?),
        Sub::Run(arguments) => runs::run(&arguments, &setup()?),
        Sub::Redact(arguments) => redact::run(&arguments),
        Sub::Policy(arguments) => policy::run(&arguments, &setup()?),
        Sub::Corpora(arguments) => corpora::run(&arguments, &setup()?),
        Sub::Demo(arguments) => demo::run(&arguments, &setup()?),
    }
}
