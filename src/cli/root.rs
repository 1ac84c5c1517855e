//! The root of the command line.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand};

use super::print::{fail, line};
#[cfg(feature = "shell")]
use super::setup::Setup;

/// Investigates cloud network incidents behind a deterministic safety shell.
#[derive(Debug, Parser)]
#[command(name = "ghost", version, about, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  ghost demo\n  ghost investigate 'names resolve slowly' --script demo/first.jsonl\n  ghost sessions list\n  ghost shell demo\n  ghost shell classify 'az vm delete -n web-1 -g prod'\n  ghost audit verify ~/.local/state/ghost/audit/SESSION.jsonl\n\nExit codes: 0 done, 1 it failed, 2 wrong usage; with --exit-code also 3 bad news and 4 inconclusive."
)]
struct Root {
    #[command(subcommand)]
    command: Sub,
    #[command(flatten)]
    global: Global,
}

/// What every subcommand accepts.
#[derive(Debug, Args)]
pub(super) struct Global {
    /// The configuration file.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(super) config: Option<PathBuf>,
    /// The folder for everything that a run writes; else `$GHOST_DATA_DIR`, `$XDG_STATE_HOME/ghost`, `~/.local/state/ghost`.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(super) data_dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Investigates an incident in this terminal.
    #[cfg(feature = "session")]
    Investigate(super::investigate::Arguments),
    /// Shows an investigation in a local Slack, with nothing configured.
    #[cfg(all(feature = "bot", feature = "lab"))]
    Demo(super::demo::Arguments),
    /// Runs the Slack bot.
    #[cfg(feature = "bot")]
    Bot(super::bot::Arguments),
    /// Judges commands and runs them behind the safety gate.
    #[cfg(feature = "shell")]
    Shell(super::shell::Arguments),
    /// Verifies and shows audit files.
    #[cfg(feature = "shell")]
    Audit(super::audit::Arguments),
    /// Says which effective route carries a packet, and what is odd about a table.
    #[cfg(feature = "route")]
    Route(super::route::Arguments),
    /// Says which security rule decides over a packet, and who reaches what.
    #[cfg(feature = "nsg")]
    Nsg(super::nsg::Arguments),
    /// Takes snapshots of routes and rules, says what changed, and proves that nothing did.
    #[cfg(feature = "effective")]
    Effective(super::effective::Arguments),
    /// Lists, shows, moves and deletes sessions.
    #[cfg(feature = "session")]
    Sessions(super::sessions::Arguments),
    /// Decides a recorded session once more and says where it would go another way.
    #[cfg(feature = "session")]
    Replay(super::replay::Arguments),
    /// Reads packet filters, walks packets through them, judges what differs.
    #[cfg(feature = "netfilter")]
    Netfilter(super::netfilter::Arguments),
    /// Says what a capture shows, in one pass and bounded memory.
    #[cfg(feature = "pcap")]
    Pcap(super::pcap::Arguments),
    /// Says what traffic shaping does to packets.
    #[cfg(feature = "qdisc")]
    Qdisc(super::qdisc::Arguments),
    /// Starts what to run against where there is nothing real.
    #[cfg(feature = "lab")]
    Lab(super::lab::Arguments),
    /// Checks the configuration and what this machine offers.
    Config(super::config::Arguments),
    /// Prints completions for a shell.
    #[command(
        after_help = "Examples:\n  ghost completions bash > /etc/bash_completion.d/ghost\n  ghost completions zsh > ~/.zfunc/_ghost"
    )]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

/// Runs the program and returns its exit code.
#[must_use]
pub fn main() -> ExitCode {
    let root = Root::parse();
    match super::log::begin(&root.global).and_then(|()| run(root)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => fail(&error),
    }
}

fn run(root: Root) -> anyhow::Result<u8> {
    #[cfg(feature = "shell")]
    let setup = || Setup::new(&root.global);
    match root.command {
        #[cfg(feature = "session")]
        Sub::Investigate(arguments) => super::investigate::run(&arguments, setup()?),
        #[cfg(all(feature = "bot", feature = "lab"))]
        Sub::Demo(arguments) => super::demo::run(&arguments, &root.global),
        #[cfg(feature = "bot")]
        Sub::Bot(arguments) => super::bot::run(&arguments, setup()?),
        #[cfg(feature = "shell")]
        Sub::Shell(arguments) => super::shell::run(arguments, setup),
        #[cfg(feature = "shell")]
        Sub::Audit(arguments) => super::audit::run(&arguments, &root.global),
        #[cfg(feature = "route")]
        Sub::Route(arguments) => super::route::run(&arguments),
        #[cfg(feature = "nsg")]
        Sub::Nsg(arguments) => super::nsg::run(&arguments),
        #[cfg(feature = "effective")]
        Sub::Effective(arguments) => super::effective::run(&arguments, &root.global),
        #[cfg(feature = "session")]
        Sub::Sessions(arguments) => super::sessions::run(&arguments, &setup()?),
        #[cfg(feature = "session")]
        Sub::Replay(arguments) => super::replay::run(&arguments, &setup()?),
        #[cfg(feature = "netfilter")]
        Sub::Netfilter(arguments) => super::netfilter::run(&arguments, &root.global),
        #[cfg(feature = "pcap")]
        Sub::Pcap(arguments) => super::pcap::run(&arguments),
        #[cfg(feature = "qdisc")]
        Sub::Qdisc(arguments) => super::qdisc::run(&arguments),
        #[cfg(feature = "lab")]
        Sub::Lab(arguments) => super::lab::run(&arguments, &root.global),
        Sub::Config(arguments) => super::config::run(&arguments, &root.global),
        Sub::Completions { shell } => {
            // Through memory: the generator itself panics where its reader goes away.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Root::command(), "ghost", &mut script);
            line(String::from_utf8_lossy(&script).trim_end()).map(|()| 0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Root::command().debug_assert();
    }

    #[test]
    fn the_global_options_are_accepted_behind_any_subcommand() {
        let root =
            Root::try_parse_from(["ghost", "shell", "classify", "ls", "--data-dir", "/x", "--config", "/y"])
                .unwrap();
        assert_eq!(root.global.data_dir.as_deref(), Some(std::path::Path::new("/x")));
    }
}
