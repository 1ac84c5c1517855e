//! The root of the command line.

use std::process::ExitCode;

use clap::{Arg, ArgAction, CommandFactory as _, Parser, Subcommand};

use ghost_tools::global::{EVERYWHERE, Global};
use ghost_tools::print::{Misconfigured, fail, line};
use ghost_tools::setup::Setup;

/// Investigates cloud network incidents behind a deterministic safety shell.
#[derive(Debug, Parser)]
#[command(name = "ghost", version, about, max_term_width = 100)]
#[command(
    after_help = "Examples:\n  ghost host\n  ghost demo\n  ghost investigate 'names resolve slowly' --script demo/first.jsonl\n  ghost sessions list\n  ghost shell demo\n  ghost shell classify 'az vm delete -n web-1 -g prod'\n  ghost audit verify ~/.local/state/ghost/audit/SESSION.jsonl\n\nExit codes: 0 done, 1 it failed, 2 wrong usage; with --exit-code also 3 bad news and 4 inconclusive. Without it, too, 3 where `audit verify`, `effective verify` or `replay` finds that something does not hold, and where `shell run` ran nothing."
)]
#[command(arg = exit_code())]
struct Root {
    #[command(subcommand)]
    command: Sub,
    #[command(flatten)]
    global: Global,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Investigates an incident in this terminal.
    Investigate(super::investigate::Arguments),
    /// Shows an investigation in a local Slack, with nothing configured.
    #[cfg(feature = "lab")]
    Demo(super::demo::Arguments),
    /// Asks five questions and writes a configuration.
    Init(super::init::Arguments),
    /// Runs the Slack bot.
    Bot(super::bot::Arguments),
    /// Judges commands and runs them behind the safety gate.
    Shell(ghost_tools::shell::Arguments),
    /// Answers coding agents that ask before they act, and installs itself there.
    Hook(ghost_tools::hook::Arguments),
    /// Serves an agent that speaks the Model Context Protocol, on standard input and output.
    Mcp(super::mcp::Arguments),
    /// Verifies and shows audit files.
    Audit(super::audit::Arguments),
    /// Says which effective route carries a packet, and what is odd about a table.
    Route(ghost_tools::route::Arguments),
    /// Says which security rule decides over a packet, and who reaches what.
    Nsg(ghost_tools::nsg::Arguments),
    /// Takes snapshots of routes and rules, says what changed, and proves that nothing did.
    Effective(ghost_tools::effective::Arguments),
    /// Says whether a flow can pass, hop by hop and in both directions, and what decides it.
    Path(ghost_tools::path::Arguments),
    /// Says what a plan or a command does to flows before anybody carries it out.
    Change(ghost_tools::change::Arguments),
    /// Says what is odd about the network of this machine, or of others, and what changed since it worked.
    Host(ghost_tools::host::Arguments),
    /// Writes what a session leaves behind, and sends it to where a team keeps it.
    Export(super::export::Arguments),
    /// Lists, shows, moves and deletes sessions.
    Sessions(ghost_tools::sessions::Arguments),
    /// Answers a question about a session from what it recorded.
    Ask(super::ask::Arguments),
    /// Decides a recorded session once more and says where it would differ.
    Replay(super::replay::Arguments),
    /// Shows what the built-in investigator goes by.
    Playbook(ghost_tools::playbook::Arguments),
    /// Measures between two machines, and says whether measurements are stable.
    Meter(ghost_tools::meter::Arguments),
    /// Reads packet filters, walks packets through them, judges what differs.
    Netfilter(ghost_tools::netfilter::Arguments),
    /// Says what a capture shows, in one pass and bounded memory.
    Pcap(super::pcap::Arguments),
    /// Captures packets of machines in the cloud, says what they show, and cleans up.
    Capture(super::capture::Arguments),
    /// Says what traffic shaping does to packets.
    Qdisc(ghost_tools::qdisc::Arguments),
    /// Says what was changed in a resource group, when and by whom, and which change made what is at fault.
    Changes(ghost_tools::changes::Arguments),
    /// Says what flow logs of networks show of a flow: seen, let through, denied, by which rule and when.
    Flows(ghost_tools::flows::Arguments),
    /// Says whether a Kubernetes cluster lets a flow through, and which policy or service stops it.
    Cluster(ghost_tools::cluster::Arguments),
    /// Says what a resource group consists of, and who owns which address.
    Topology(ghost_tools::topology::Arguments),
    /// Lists the subscriptions and management groups that whoever reads sees, and finds where a machine or an address is.
    Subscriptions(ghost_tools::subscriptions::Arguments),
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
    /// Writes the manual pages.
    Man(super::man::Arguments),
}

/// Returns the option that every subcommand takes; one that may have bad news has its own, which says what is bad news there.
fn exit_code() -> Arg {
    Arg::new("exit_code")
        .long("exit-code")
        .global(true)
        .action(ArgAction::SetTrue)
        .help_heading(EVERYWHERE)
        .help("Exit with 3 where the answer is bad news, with 4 where it is inconclusive; no effect where it can be neither")
}

/// Returns the whole command line, for completions, pages of the manual and whoever checks examples of it.
pub(super) fn command() -> clap::Command {
    Root::command()
}

/// Runs the program and returns its exit code.
#[must_use]
pub(crate) fn main() -> ExitCode {
    let root = Root::parse();
    let answers = matches!(&root.command, Sub::Hook(arguments) if ghost_tools::hook::answers(arguments));
    let is_service = matches!(root.command, Sub::Bot(_));
    match ghost_tools::log::begin(&root.global, is_service).and_then(|()| run(root)) {
        Ok(code) => ExitCode::from(code),
        // The usual exit code is consent to whoever asks before it acts.
        Err(error) if answers => ExitCode::from(ghost_tools::hook::refuse_to_start(&error)),
        Err(error) => fail(&error),
    }
}

fn run(root: Root) -> anyhow::Result<u8> {
    let setup = || Setup::new(&root.global);
    match root.command {
        Sub::Investigate(arguments) => super::investigate::run(&arguments, setup()?),
        #[cfg(feature = "lab")]
        Sub::Demo(arguments) => super::demo::run(&arguments, &root.global),
        Sub::Ask(arguments) => super::ask::run(&arguments, &setup()?),
        Sub::Init(arguments) => super::init::run(&arguments, &root.global),
        Sub::Bot(arguments) => super::bot::run(&arguments, setup().map_err(Misconfigured)?),
        Sub::Shell(arguments) => ghost_tools::shell::run(arguments, setup),
        Sub::Hook(arguments) => ghost_tools::hook::run(&arguments, &root.global),
        Sub::Mcp(arguments) => super::mcp::run(&arguments, &root.global),
        Sub::Audit(arguments) => super::audit::run(&arguments, &root.global),
        Sub::Route(arguments) => ghost_tools::route::run(&arguments, &root.global),
        Sub::Nsg(arguments) => ghost_tools::nsg::run(&arguments, &root.global),
        Sub::Effective(arguments) => ghost_tools::effective::run(&arguments, &root.global),
        Sub::Path(arguments) => ghost_tools::path::run(&arguments, &root.global),
        Sub::Change(arguments) => ghost_tools::change::run(&arguments, &root.global),
        Sub::Host(arguments) => ghost_tools::host::run(&arguments, &root.global),
        Sub::Export(arguments) => super::export::run(&arguments, &setup()?),
        Sub::Sessions(arguments) => ghost_tools::sessions::run(&arguments, &setup()?),
        Sub::Replay(arguments) => super::replay::run(&arguments, &setup()?),
        Sub::Playbook(arguments) => ghost_tools::playbook::run(&arguments),
        Sub::Meter(arguments) => ghost_tools::meter::run(&arguments, &root.global),
        Sub::Netfilter(arguments) => ghost_tools::netfilter::run(&arguments, &root.global),
        Sub::Pcap(arguments) => super::pcap::run(&arguments),
        Sub::Capture(arguments) => super::capture::run(&arguments, &setup()?),
        Sub::Qdisc(arguments) => ghost_tools::qdisc::run(&arguments, &root.global),
        Sub::Changes(arguments) => ghost_tools::changes::run(&arguments, &root.global),
        Sub::Flows(arguments) => ghost_tools::flows::run(&arguments),
        Sub::Cluster(arguments) => ghost_tools::cluster::run(&arguments),
        Sub::Topology(arguments) => ghost_tools::topology::run(&arguments, &setup()?),
        Sub::Subscriptions(arguments) => ghost_tools::subscriptions::run(&arguments, &setup()?),
        #[cfg(feature = "lab")]
        Sub::Lab(arguments) => super::lab::run(&arguments, &root.global),
        Sub::Config(arguments) => super::config::run(&arguments, &root.global),
        Sub::Completions { shell } => {
            // Through memory: the generator itself panics where its reader goes away.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "ghost", &mut script);
            line(String::from_utf8_lossy(&script).trim_end()).map(|()| 0)
        }
        Sub::Man(arguments) => super::man::run(&arguments, command()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Root::command().debug_assert();
    }

    fn all(command: &clap::Command) -> Vec<&clap::Command> {
        command.get_subcommands().flat_map(all).chain([command]).collect()
    }

    #[test]
    fn what_helps_breaks_no_line_that_the_terminal_breaks() {
        for command in all(&Root::command()) {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                let &[line, next] = pair else { continue };
                let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
                let is_broken =
                    is_prose(line) && is_prose(next) && line.len() >= 70 && !line.ends_with(['.', ':']);
                assert!(!is_broken, "{}: {line}", command.get_name());
            }
        }
    }

    /// Subcommands whose answer is never bad news: with `--exit-code` they exit as without.
    const NO_BAD_NEWS: [&str; 51] = [
        "init",
        "playbook show",
        "topology",
        "demo",
        "bot",
        "shell redact",
        "shell policy",
        "shell policy import",
        "shell bench",
        "shell demo",
        "audit show",
        "export postmortem",
        "sessions list",
        "sessions search",
        "sessions show",
        "sessions usage",
        "sessions export",
        "sessions import",
        "sessions delete",
        "sessions sweep",
        // What does not hold, and what did not run, is 3 whether asked for or not.
        "replay",
        "audit verify",
        "shell run",
        "hook claude",
        "hook codex",
        "hook generic",
        "hook install",
        "hook doctor",
        "mcp",
        "meter parse",
        "meter history",
        "netfilter parse",
        "netfilter collect",
        "pcap rules",
        "lab up",
        "lab az",
        "lab net up",
        "lab net inject",
        "lab net reset",
        "lab net down",
        "lab net faults",
        "lab set",
        "lab cases",
        "lab inject",
        "lab state",
        "lab reset",
        "lab down",
        "capture list",
        "lab slack",
        "completions",
        "man",
    ];

    /// Subcommands that print no answer, or lines of JSON anyway.
    const NO_DOCUMENT: [&str; 17] = [
        "init",
        "demo",
        "bot",
        "shell demo",
        "hook claude",
        "hook codex",
        "hook generic",
        "hook install",
        "mcp",
        "sessions export",
        "netfilter collect",
        "lab up",
        "lab az",
        "lab net up",
        "lab slack",
        "completions",
        "man",
    ];

    /// Calls a closure with every subcommand that runs something, and its name.
    fn each_leaf(command: &clap::Command, name: &str, visit: &mut dyn FnMut(&str, &clap::Command)) {
        let mut any = false;
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            any = true;
            each_leaf(inner, format!("{name} {}", inner.get_name()).trim(), visit);
        }
        if !any {
            visit(name, command);
        }
    }

    fn leaves(visit: &mut dyn FnMut(&str, &clap::Command)) {
        let mut root = Root::command();
        // Global options come to the subcommands as the tree is built.
        root.build();
        each_leaf(&root, "", visit);
    }

    #[test]
    fn every_subcommand_takes_the_common_options() {
        let (mut seen, mut problems) = (0, Vec::new());
        leaves(&mut |name, command| {
            seen += 1;
            let has = |long: &str| command.get_arguments().any(|arg| arg.get_long() == Some(long));
            for option in ["config", "data-dir", "exit-code"] {
                problems.extend((!has(option)).then(|| format!("{name}: no --{option}")));
            }
            if has("json") == NO_DOCUMENT.contains(&name) {
                problems.push(format!("{name}: --json, or its place among those without"));
            }
        });
        assert!(seen > 2 && problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn a_subcommand_says_what_is_bad_news_or_that_it_knows_none() {
        let mut problems = Vec::new();
        leaves(&mut |name, command| {
            let own = command.get_arguments().find(|arg| arg.get_long() == Some("exit-code"));
            let own = own.is_some_and(|arg| arg.get_help_heading() != Some(EVERYWHERE));
            if own == NO_BAD_NEWS.contains(&name) {
                problems
                    .push(format!("{name}: its own --exit-code, or a place among those without bad news"));
            }
            let help = command.clone().render_long_help().to_string();
            if !help.contains("--exit-code") {
                problems.push(format!("{name}: --help does not tell --exit-code"));
            }
        });
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn an_exit_code_may_be_asked_for_before_the_subcommand() {
        let root = Root::command().try_get_matches_from(["ghost", "--exit-code", "config", "check"]).unwrap();
        let check = root.subcommand().and_then(|(_, config)| config.subcommand()).unwrap().1;
        assert!(check.get_flag("exit_code"));
    }

    #[test]
    fn the_global_options_are_accepted_behind_any_subcommand() {
        let root =
            Root::try_parse_from(["ghost", "config", "check", "--data-dir", "/x", "--config", "/y"]).unwrap();
        assert_eq!(root.global.data_dir.as_deref(), Some(std::path::Path::new("/x")));
    }
}
