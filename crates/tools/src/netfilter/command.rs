//! The arguments, and what each subcommand does.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;

use super::text::WORDS;
use super::{keep, text, whole};
use crate::global::Global;
use crate::input;
use crate::print::{Hinted, line};
use crate::tone::tinted;
use ghost_inspect::netfilter::{
    CompareError, Document, MAX_TEXT_BYTES, Packet, ReadError, State, Status, Verdict, Warning, compare,
    explain, explain_change, open, read_sets, walk, walk_host,
};

const BAD_NEWS: u8 = 3;
const OPEN: u8 = 4;

/// The arguments of `ghost netfilter`.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Sub,
}

#[derive(Debug, Subcommand)]
enum Sub {
    /// Reads a ruleset or the bundle of a host: every option of every rule, and what is odd.
    #[command(
        after_help = "Examples:\n  iptables-save -c | ghost netfilter parse -\n  nft -j list ruleset | ghost netfilter parse - --json | jq .opaque_rules\n\nIt reads iptables-save, ip6tables-save and nft -j list ruleset, the bundle of a whole host and its snapshots, recognized by content. `ghost netfilter collect` prints a script that gathers a bundle."
    )]
    Parse {
        /// The file; `-` is standard input.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Print the ruleset again, as the program would that printed it.
        #[arg(long, conflicts_with = "json")]
        print: bool,
    },
    /// Says what differs between two rulesets or hosts, and what that does to traffic.
    #[command(
        after_help = "Examples:\n  ghost netfilter diff before.rules after.rules\n  ghost netfilter diff before.json after.json --json --exit-code\n\nCounters, handles and the order of what has no order are no difference. Critical means: some packet gets another verdict; the lines that begin with `traffic` say which ones. Noise is reported and is no drift where it comes and goes by itself: elements that end, chains of a workload. With --exit-code: 3 where anything differs, 4 where that is undecided."
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
        /// Exit with 3 where anything differs, with 4 where that is undecided.
        #[arg(long)]
        exit_code: bool,
    },
    /// Says what happens to a described packet, rule by rule.
    #[command(
        after_help = "Examples:\n  iptables-save | ghost netfilter walk - --hook input --protocol tcp --src 10.0.0.2 --dst 10.0.0.1 --dport 22 --in eth0 --state new --trace\n  ghost netfilter walk nft.json --hook forward --protocol udp --src 10.0.0.2 --dst 10.1.0.1 --dport 53\n\nThe packet is described as it enters the hook, after any translation before it. What is left out is unknown; the answer is INDETERMINATE only where that matters, and says so. Every backend of a bundle has to let it pass; single rulesets are single calls. With --exit-code: 3 for DROP and REJECT, 4 for INDETERMINATE."
    )]
    Walk(Box<Described>),
    /// Explains in words who reaches what, what is dropped, and what a change does to traffic.
    #[command(
        after_help = "Examples:\n  iptables-save -c | ghost netfilter explain -\n  ghost netfilter explain before.json after.json\n  ghost netfilter explain host.json --json | jq .hooks\n\nEvery line comes from walking packets through the rules; the same input gives the same words."
    )]
    Explain {
        /// The ruleset, bundle or snapshot.
        #[arg(value_name = "A")]
        before: PathBuf,
        /// A later one: what changed, and what that does to traffic.
        #[arg(value_name = "B")]
        after: Option<PathBuf>,
        /// Print one JSON document.
        #[arg(long)]
        json: bool,
        /// Exit with 3 where the two differ, with 4 where that is undecided or not all was read.
        #[arg(long)]
        exit_code: bool,
    },
    /// Prints a script that gathers the bundle of a host: both families, all backends, read-only.
    #[command(
        after_help = "Examples:\n  ghost netfilter collect > collect.sh\n  ghost netfilter collect | ssh vm-1 sudo sh > vm-1.json\n  ghost netfilter explain vm-1.json"
    )]
    Collect,
    /// Puts a bundle away with its digests, and compares it with an earlier one.
    #[command(
        after_help = "Examples:\n  ghost netfilter snapshot vm-1.json --session-id before_change --is-baseline --scope vm-1\n  ghost netfilter snapshot now.json --compare-baseline before_change --exit-code\n  ghost netfilter diff ~/.local/state/ghost/netfilter/before_change_snapshot.json now.json\n\nIt is written to the data directory, under `netfilter`. A snapshot that was changed since is refused."
    )]
    Snapshot(keep::StoredSnapshotArgs),
    /// Reads a running guest: all backends, both families; explains them, keeps them, compares them with an earlier snapshot.
    #[command(
        after_help = "Examples:\n  ghost netfilter inspect --vm-name web-1 -g prod\n  ghost netfilter inspect --vm-name web-1 -g prod --is-baseline --session-id before_change\n  ghost netfilter inspect --provider ssh --vm-name web-1 --target-vm-ip 10.0.0.4 --target-ssh-key ~/.ssh/id_ed25519 --bastion-public-ip 192.0.2.1 --compare-baseline before_change --exit-code\n\nIt reads only, by a script that the policy declares: nobody is asked. Snapshots lie where `ghost netfilter snapshot` keeps them."
    )]
    Inspect(Box<super::inspect::Inspected>),
}

/// A packet, and where it is judged.
#[derive(Debug, Args)]
struct Described {
    /// The ruleset, or the bundle of a host; `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// What `ipset save` printed, for rules that ask sets.
    #[arg(long, value_name = "FILE")]
    sets: Option<PathBuf>,
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
    /// Its TCP flags, as in `syn,ack`.
    #[arg(long, value_name = "LIST")]
    tcp_flags: Option<String>,
    /// The mark with which it enters the hook; what nobody marked has 0.
    #[arg(long, value_name = "N")]
    mark: Option<String>,
    /// Print every rule that was tried, and the part that did not hold.
    #[arg(long)]
    trace: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where it does not pass, with 4 where that is undecided.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    match &arguments.command {
        Sub::Parse { file, json, print } => {
            let text = match read_document(file)? {
                Document::Ruleset(ruleset) if *print => {
                    ghost_inspect::netfilter::print(&ruleset).trim_end().to_owned()
                }
                Document::Host(_) if *print => anyhow::bail!("only a single ruleset can be printed again"),
                Document::Ruleset(ruleset) if *json => serde_json::to_string(&ruleset)?,
                Document::Ruleset(ruleset) => tinted(&text::ruleset(&ruleset), WORDS),
                Document::Host(host) if *json => serde_json::to_string(&host)?,
                Document::Host(host) => tinted(&whole::host(&host), WORDS),
            };
            line(&text)?;
            Ok(0)
        }
        Sub::Diff { before, after, json, exit_code } => {
            let (a, b) = both(before, after)?;
            let found = compare(&a, &b).map_err(|error| match error {
                CompareError::Rulesets(error) => {
                    Hinted::new(error, "compare what one program printed, at two times").into()
                }
                CompareError::Unlike => unlike(),
            })?;
            let output = match json {
                true => serde_json::to_string(&found)?,
                false => tinted(&text::comparison(&found), WORDS),
            };
            // The program ends: to free a million small allocations one by one would only take time.
            std::mem::forget((a, b));
            line(&output)?;
            Ok(code(*exit_code, found.found.status()))
        }
        Sub::Walk(described) => walked(described),
        Sub::Explain { before, after, json, exit_code } => {
            let found = match after {
                None => explain(&document(before)?),
                Some(after) => {
                    let (a, b) = both(before, after)?;
                    explain_change(&a, &b).ok_or_else(unlike)?
                }
            };
            line(&if *json { serde_json::to_string(&found)? } else { tinted(&found.to_string(), WORDS) })?;
            let unread = if found.unread.is_empty() { Status::Clean } else { Status::Inconclusive };
            Ok(match found.change.map(|change| change.status) {
                Some(Status::Drift) => code(*exit_code, Status::Drift),
                Some(status @ Status::Inconclusive) => code(*exit_code, status),
                Some(Status::Clean) | None => code(*exit_code, unread),
            })
        }
        Sub::Collect => {
            line(include_str!("collect.sh").trim_end())?;
            Ok(0)
        }
        Sub::Snapshot(kept) => keep::run(kept, global),
        Sub::Inspect(inspected) => super::inspect::run(inspected, global),
    }
}

/// Returns the exit code of a comparison.
pub(super) fn code(asked: bool, status: Status) -> u8 {
    match (asked, status) {
        (true, Status::Drift) => BAD_NEWS,
        (true, Status::Inconclusive) => OPEN,
        (true, Status::Clean) | (false, _) => 0,
    }
}

fn unlike() -> anyhow::Error {
    let error = anyhow::anyhow!(
        "one is a single ruleset, the other the bundle of a host, or of another form or family"
    );
    Hinted::new(error, "compare like with like: two rulesets that one program printed, or two bundles").into()
}

/// An answer, with what was odd about what it was read from.
#[derive(Serialize)]
struct WithWarnings<'a, T: Serialize> {
    #[serde(flatten)]
    answer: &'a T,
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    unread: &'a [Warning],
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
    let hint = "see `ghost netfilter walk --help`";
    if let Some(flags) = &described.tcp_flags {
        packet = packet.tcp_flags(flags).map_err(|error| Hinted::new(error, hint))?;
    }
    if let Some(mark) = &described.mark {
        packet = packet.mark(mark).map_err(|error| Hinted::new(error, hint))?;
    }
    let hint = "iptables-save and ip6tables-save print one family each";
    let (text, verdict) = match document(&described.file)? {
        Document::Ruleset(mut ruleset) => {
            if let Some(path) = &described.sets {
                let (sets, warnings) = read_sets(&input::text(path, MAX_TEXT_BYTES)?);
                ruleset.ipsets = sets;
                ruleset.warnings.extend(warnings);
            }
            let answer = walk(&ruleset, &packet).map_err(|error| Hinted::new(error, hint))?;
            let text = if described.json {
                serde_json::to_string(&WithWarnings {
                    answer: &answer,
                    warnings: &ruleset.warnings,
                    unread: &[],
                })?
            } else {
                tinted(&text::answer(&answer, &ruleset, described.trace), WORDS)
            };
            (text, answer.verdict)
        }
        Document::Host(host) => {
            let answer = walk_host(&host, &packet).map_err(|error| Hinted::new(error, hint))?;
            let text = if described.json {
                serde_json::to_string(&WithWarnings {
                    answer: &answer,
                    warnings: &host.warnings,
                    unread: &host.unread,
                })?
            } else {
                tinted(&whole::answer(&answer, &host, described.trace), WORDS)
            };
            (text, answer.verdict)
        }
    };
    line(&text)?;
    Ok(match (described.exit_code, verdict) {
        (true, Verdict::Drop | Verdict::Reject) => BAD_NEWS,
        (true, Verdict::Indeterminate) => OPEN,
        (true, Verdict::Accept) | (false, _) => 0,
    })
}

fn both(before: &Path, after: &Path) -> anyhow::Result<(Document, Document)> {
    std::thread::scope(|scope| {
        let later = scope.spawn(|| document(after));
        let first = document(before);
        let later = later.join().map_err(|_| anyhow::anyhow!("reading {} failed", after.display()));
        Ok((first?, later??))
    })
}

/// Reads a ruleset, a bundle or a snapshot, and refuses one whose end is missing: what it does not hold may decide.
pub(super) fn document(path: &Path) -> anyhow::Result<Document> {
    match read_document(path)? {
        Document::Ruleset(ruleset) => {
            Ok(Document::Ruleset(ruleset.whole().map_err(|error| unreadable(error, path))?))
        }
        Document::Host(host) => Ok(Document::Host(host)),
    }
}

/// Reads a ruleset, a bundle or a snapshot, as far as it goes.
fn read_document(path: &Path) -> anyhow::Result<Document> {
    let text = input::text(path, MAX_TEXT_BYTES)?;
    Ok(open(&text).map_err(|error| unreadable(error, path))?)
}

fn unreadable(error: ReadError, path: &Path) -> Hinted {
    let hint = "give what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed, whole, or what the script of \
                `ghost netfilter collect` printed";
    Hinted::new(anyhow::Error::new(error).context(format!("reading {}", path.display())), hint)
}
