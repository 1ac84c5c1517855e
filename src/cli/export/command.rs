//! The subcommands of `ghost export`.

use clap::{Args, Subcommand};

use super::postmortem;
use ghost_tools::print::note;
use ghost_tools::setup::Setup;
use ghost_tools::wait::drive;

/// The arguments of `ghost export`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost export postmortem ghost-7k2f > postmortem.md\n  ghost export postmortem ghost-7k2f --to github --print\n  ghost export postmortem ghost-7k2f --to pagerduty --incident Q1K2J3"
)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Writes the post-mortem of a session, or sends it to where a team keeps them.
    #[command(
        after_help = "Examples:\n  ghost export postmortem ghost-7k2f > postmortem.md\n  ghost export postmortem ghost-7k2f --to json | jq '.actions[].text'\n  ghost export postmortem ghost-7k2f --to github --repository net/incidents --print\n  ghost export postmortem ghost-7k2f --to github --repository net/incidents\n  ghost export postmortem ghost-7k2f --to pagerduty --incident Q1K2J3"
    )]
    Postmortem(postmortem::Arguments),
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let Sub::Postmortem(postmortem) = &arguments.command;
    if let Some(what) = postmortem.wrong_usage() {
        note(&format!("error: {what}"));
        return Ok(2);
    }
    let work = async || match &arguments.command {
        Sub::Postmortem(arguments) => postmortem::run(arguments, setup).await,
    };
    drive(work)?.map(|()| 0)
}
