//! The arguments, and what each subcommand does.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::told;
use crate::cli::input::{self, harmless};
use crate::cli::print::{Hinted, line};
use crate::netfilter::{LARGEST, Packet, Ruleset, State, Verdict, diff, read, walk};

const BAD_NEWS: u8 = 3;
const OPEN: u8 = 4;

/// The arguments of `ghost netfilter`.
#[derive(Debug, Args)]
pub(in crate::cli) struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads a ruleset: every option of every rule, and what is odd.
    #[command(
        after_help = "Examples:\n  iptables-save -c | ghost netfilter parse -\n  nft -j list ruleset | ghost netfilter parse - --json | jq .opaque_rules\n\nIt reads iptables-save, ip6tables-save and nft -j list ruleset, told apart by content."
    )]
    Parse {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
    },
    /// Says what differs between two rulesets, and what that does to traffic.
    #[command(
        after_help = "Examples:\n  ghost netfilter diff before.rules after.rules\n  ghost netfilter diff before.json after.json --json --exit-code\n\nCounters, handles and the order of what has no order are no difference. Critical means: some packet meets another fate.\nWith --exit-code: 3 where anything differs, 4 where that cannot be told."
    )]
    Diff {
        /// The ruleset before.
        #[arg(value_name = "A")]
        before: PathBuf,
        /// The ruleset after.
        #[arg(value_name = "B")]
        after: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where anything differs, with 4 where that cannot be told.
        #[arg(long)]
        exit_code: bool,
    },
    /// Says what happens to a described packet, rule by rule.
    #[command(
        after_help = "Examples:\n  iptables-save | ghost netfilter walk - --hook input --protocol tcp --src 10.0.0.2 --dst 10.0.0.1 --dport 22 --in eth0 --state new --trace\n  ghost netfilter walk nft.json --hook forward --protocol udp --src 10.0.0.2 --dst 10.1.0.1 --dport 53\n\nThe packet is described as it enters the hook, after any translation before it. What is left out is unknown; the answer is\nINDETERMINATE only where that matters, and says so. Several rulesets of one host are several calls.\nWith --exit-code: 3 for DROP and REJECT, 4 for INDETERMINATE."
    )]
    Walk(Box<Described>),
}

/// A packet, and where it is judged.
#[derive(Debug, Args)]
struct Described {
    /// The ruleset; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// prerouting, input, forward, output or postrouting.
    #[arg(long)]
    hook: String,
    /// tcp, udp, icmp (of either family) or a number.
    #[arg(long)]
    protocol: String,
    /// Where it comes from.
    #[arg(long, value_name = "IP")]
    src: IpAddr,
    /// Where it goes.
    #[arg(long, value_name = "IP")]
    dst: IpAddr,
    /// Its source port.
    #[arg(long, value_name = "N")]
    sport: Option<u16>,
    /// Its destination port.
    #[arg(long, value_name = "N")]
    dport: Option<u16>,
    /// The device by which it came.
    #[arg(long = "in", value_name = "IF")]
    input: Option<String>,
    /// The device by which it leaves.
    #[arg(long = "out", value_name = "IF")]
    output: Option<String>,
    /// What the connection table knows: new, established, related, invalid or untracked.
    #[arg(long)]
    state: Option<State>,
    /// Its type of ICMP.
    #[arg(long, value_name = "N")]
    icmp_type: Option<u8>,
    /// Print every rule that was tried, and the part that did not hold.
    #[arg(long)]
    trace: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where it does not pass, with 4 where that cannot be told.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(in crate::cli) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Parse { file, json } => {
            let ruleset = ruleset(file)?;
            line(&if *json { serde_json::to_string(&ruleset)? } else { harmless(&told::ruleset(&ruleset)) })?;
            Ok(0)
        }
        Sub::Diff { before, after, json, exit_code } => {
            let (a, b) = (ruleset(before)?, ruleset(after)?);
            let found = diff(&a, &b)
                .map_err(|error| Hinted::new(error, "compare what one program printed, at two times"))?;
            line(&if *json { serde_json::to_string(&found)? } else { harmless(&told::diff(&found)) })?;
            Ok(match (*exit_code, found.drift) {
                (true, Some(true)) => BAD_NEWS,
                (true, None) => OPEN,
                _ => 0,
            })
        }
        Sub::Walk(described) => walked(described),
    }
}

fn walked(described: &Described) -> anyhow::Result<u8> {
    let (src, dst) = (described.src.to_string(), described.dst.to_string());
    let mut packet = Packet::parse(&described.hook, &described.protocol, &src, &dst)
        .map_err(|error| Hinted::new(error, "see `ghost netfilter walk --help`"))?;
    packet.sport = described.sport;
    packet.dport = described.dport;
    packet.input.clone_from(&described.input);
    packet.output.clone_from(&described.output);
    packet.state = described.state;
    packet.icmp_type = described.icmp_type;
    let ruleset = ruleset(&described.file)?;
    let answer = walk(&ruleset, &packet)
        .map_err(|error| Hinted::new(error, "iptables-save and ip6tables-save print one family each"))?;
    line(&if described.json {
        serde_json::to_string(&answer)?
    } else {
        harmless(&told::answer(&answer, &ruleset, described.trace))
    })?;
    Ok(match (described.exit_code, answer.verdict) {
        (true, Verdict::Drop | Verdict::Reject) => BAD_NEWS,
        (true, Verdict::Indeterminate) => OPEN,
        (true, Verdict::Accept) | (false, _) => 0,
    })
}

fn ruleset(path: &Path) -> anyhow::Result<Ruleset> {
    let text = input::text(path, LARGEST)?;
    let hint = "give what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed, whole";
    Ok(read(&text).map_err(|error| {
        Hinted::new(anyhow::Error::new(error).context(format!("reading {}", path.display())), hint)
    })?)
}
