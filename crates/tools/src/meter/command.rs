//! The subcommands.

use clap::{Args, Subcommand};

use super::figures;
use crate::global::Global;

/// The arguments of `ghost meter`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads the figure out of what qperf or iperf (version 2) printed.
    #[command(
        after_help = "Examples:\n  qperf 10.0.1.5 tcp_lat | ghost meter parse --tool qperf\n  ghost meter parse --tool iperf --json server.txt\n\nLatency in microseconds, throughput in gigabits a second. iperf's client over-reports a shaped link: give the server's text."
    )]
    Parse(figures::Parse),
    /// Judges the samples of a run: 90th percentile, extent, stability.
    #[command(
        after_help = "Example:\n  echo '{\"test_type\":\"latency\",\"latency_us\":[124,127,842]}' | ghost meter compute\n\nA sample of 0 is a CONNECTIVITY_DROP; more than half between the smallest and the largest is HIGH_VARIANCE. With --exit-code: 3 where the run is not stable. It prints JSON always."
    )]
    Compute(figures::Compute),
    /// Measures latency and throughput from one machine to another, and compares them with an earlier run.
    #[command(
        after_help = "Examples:\n  ghost meter run --source web-1 --dest db-1 -g prod --plan\n  ghost meter run --source web-1 --dest db-1 -g prod --is-baseline --approve ask\n  ghost meter run --source 10.0.1.4 --dest 10.0.1.5 -g prod --test-type latency --compare-baseline --exit-code\n  ghost meter run --config pipe.env --compare-baseline\n  ghost meter run --source 10.0.1.4 --dest 10.0.1.5 --provider ssh --ssh-user ops --source-key /home/ops/.ssh/id_ed25519\n\nIt checks security rules, tools and stale servers first, asks once for everything that it will change, starts servers that end by themselves, measures with qperf and iperf (version 2), and ends the servers; Ctrl-C ends them, too. Ports: 19765, 19766, 5001. The answer to that one question is yours at the terminal (--approve ask), or no (--approve deny): nothing starts unattended. FILE of --config is Ghost's configuration with [meter], or a file of KEY=VALUE lines (SOURCE_IP, DEST_IP, RESOURCE_GROUP, …). With --exit-code: 3 on an anomaly or a regression, 4 where it is open whether the run is stable."
    )]
    Run(Box<super::start::Arguments>),
    /// Lists the runs that are kept, the newest first.
    #[command(
        after_help = "Examples:\n  ghost meter history\n  ghost meter history --json | jq '.[] | select(.whole) | .document.results.latency_p90'"
    )]
    History(super::history::Arguments),
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Parse(arguments) => figures::parsed(arguments),
        Sub::Compute(arguments) => figures::computed(arguments),
        Sub::Run(arguments) => super::start::run(arguments, global),
        Sub::History(arguments) => super::history::run(arguments, global),
    }
}
