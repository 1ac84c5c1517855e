//! The subcommands.

use clap::{Args, Subcommand};

use super::{orphans, running, start};
use ghost_tools::consent::Consent;
use ghost_tools::list::ListOutput;
use ghost_tools::setup::Setup;

/// The answer is bad news.
pub(super) const BAD_NEWS: u8 = 3;

/// The arguments of `ghost capture`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Captures the packets of a machine, or of both ends of a path, and says what they show.
    #[command(
        after_help = "Examples:\n  ghost capture start --target web-1 -g prod --plan\n  ghost capture start --target web-1,db-1 -g prod --duration 60 --filter protocol=tcp,remote-port=5432\n  ghost capture start --target web-1 -g prod --duration 3600 --detach --approve ask\n\nTwo machines are a source and a destination, captured together and compared. Filters are as seen from the first machine: protocol=, local-ip=, local-port=, remote-ip=, remote-port=, several values with ; between them. Files are written to the storage account of [capture] in the configuration, fetched into the captures folder, and removed from the cloud again. Every change asks first: you at the terminal (--approve ask), or nobody, and then it does not run (--approve deny).\n\nCtrl-C leaves a capture to itself: `ghost capture wait ID` goes on, `ghost capture stop ID` ends it."
    )]
    Start(start::Arguments),
    /// Says how far a capture is.
    #[command(after_help = "Example:\n  ghost capture status capture-0a1b2c3d4e-1 --json")]
    Status(One),
    /// Goes on with a capture, to its end and the removal of what it left.
    #[command(after_help = "Example:\n  ghost capture wait capture-0a1b2c3d4e-1")]
    Wait(One),
    /// Ends a capture early; what was recorded until then is kept.
    #[command(
        after_help = "Example:\n  ghost capture stop capture-0a1b2c3d4e-1\n\nWhere another process waits for it, that one ends it, and asks there."
    )]
    Stop(One),
    /// Removes what a capture left in the cloud, fetched or not.
    #[command(
        after_help = "Example:\n  ghost capture cleanup capture-0a1b2c3d4e-1\n\nA running one is canceled."
    )]
    Cleanup(One),
    /// Lists captures, the newest first.
    #[command(
        after_help = "Examples:\n  ghost capture list\n  ghost capture list -o markdown\n  ghost capture list --json | jq '.[] | select(.state == \"needs_cleanup\")'"
    )]
    List(ListOutput),
    /// Finds captures of ours in the cloud that no session owns any more.
    #[command(
        after_help = "Examples:\n  ghost capture orphans\n  ghost capture orphans --clean\n\nOnly what carries the name of a session of this installation that is over is ours; all else is left alone."
    )]
    Orphans(orphans::Arguments),
}

/// A capture, and the form of the output.
#[derive(Debug, Args)]
pub(super) struct One {
    /// The capture's id.
    #[arg(value_name = "ID")]
    pub(super) id: String,
    #[command(flatten)]
    pub(super) common: Common,
}

/// What subcommands that may change something share.
#[derive(Debug, Args)]
pub(super) struct Common {
    /// What to do when a human has to be asked.
    #[arg(long, value_enum, default_value_t = Consent::Ask)]
    pub(super) approve: Consent,
    /// Print one JSON document.
    #[arg(long)]
    pub(super) json: bool,
    /// Exit with 3 where something is left in the cloud, or a finding is critical.
    #[arg(long)]
    pub(super) exit_code: bool,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Start(arguments) => start::run(arguments, setup),
        Sub::Status(one) => running::status(one, setup),
        Sub::Wait(one) => running::wait(one, setup),
        Sub::Stop(one) => running::stop(one, setup),
        Sub::Cleanup(one) => running::clean_up(one, setup),
        Sub::List(output) => running::list(output.form(), setup),
        Sub::Orphans(arguments) => orphans::run(arguments, setup),
    }
}
