//! The subcommands.

use clap::{Args, Subcommand};

use super::{analyze, compare};
use ghost_pcap::{Rule, rules};
use ghost_tools::print::line;

/// The arguments of `ghost pcap`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Says what a capture shows: counts, connections, names, complaints, findings.
    #[command(
        after_help = "Examples:\n  ghost pcap analyze trouble.pcap\n  ghost pcap analyze trouble.pcapng.gz --json | jq .findings\n  tcpdump -w - -c 1000 | ghost pcap analyze -\n  tcpdump -U -w - | ghost pcap analyze - --follow --for 60\n  ghost pcap analyze trouble.pcap --frames retransmission\n  ghost pcap analyze trouble.pcap --focus 10.0.0.9:443 --out reports\n\nReads pcap (microseconds or nanoseconds, either byte order) and pcapng, packed with gzip or not. What is cut off is read up to there, what is damaged is skipped and reported with its position. With --exit-code: 3 where a finding is critical, or a warning that more than a handful of packets show."
    )]
    Analyze(analyze::Arguments),
    /// Compares two captures: two times, or the two ends of a path.
    #[command(
        after_help = "Examples:\n  ghost pcap compare before.pcap now.pcap\n  ghost pcap compare source.pcap destination.pcap --mode endpoints --json\n\nAs two times (the usual mode): shares and times that changed beyond chance, in all, by service and by host; findings that came and went. Less than 10 % is stable, up to 50 noteworthy, up to 200 significant, more is critical.\n\nAs two ends (A the source side, B the destination side, captured at the same time): the clocks need not agree. A packet is the same at both when all is the same that routers leave alone; what a translator of addresses, a clamp or a card rewrote is found and reported. Only the time that both captured is judged, and each conversation gets a verdict: lost there, answer lost, no answer, refused, reset between, partial loss, other path, delayed, clean."
    )]
    Compare(compare::Arguments),
    /// Prints the rules that findings come from: codes, severities, limits.
    #[command(after_help = "Examples:\n  ghost pcap rules\n  ghost pcap rules --json | jq '.[].code'")]
    Rules {
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Analyze(arguments) => analyze::run(arguments),
        Sub::Compare(arguments) => compare::run(arguments),
        Sub::Rules { json } => {
            line(&if *json { serde_json::to_string(&rules().collect::<Vec<_>>())? } else { table() })?;
            Ok(0)
        }
    }
}

/// The rules as a table for people.
fn table() -> String {
    let row = |rule: &Rule| {
        let limit = if rule.percent > 0.0 {
            format!("{} and {} %", rule.at_least, rule.percent)
        } else {
            rule.at_least.to_string()
        };
        format!("{:<20} {:<9} {limit:<12} {}", rule.code, rule.severity.name(), rule.when)
    };
    rules().map(row).collect::<Vec<_>>().join("\n")
}
