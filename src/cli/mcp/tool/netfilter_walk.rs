//! `netfilter_walk`: a described packet through the packet filter of a host.

use std::net::IpAddr;

use anyhow::Context as _;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::definition::{Definition, Work, arguments, soon};
use crate::cli::mcp::answer::Found;
use crate::cli::mcp::hint::Runs;
use crate::cli::mcp::schema::{self, any, list, maybe, object, words};
use crate::cli::mcp::source::Source;
use crate::cli::mcp::workplace::Workplace;
use ghost_inspect::netfilter::{Document, MAX_TEXT_BYTES, Packet, State, open, read_sets, walk, walk_host};
use ghost_tools::print::Hinted;

/// The tool.
pub(super) const TOOL: Definition = Definition {
    name: "netfilter_walk",
    title: "Walk a packet through a packet filter",
    description: "Says what iptables or nftables rules do with a described packet, and which rule decides. The rules are what `iptables-save`, `ip6tables-save` or `nft -j list ruleset` printed, or the bundle of a whole host. What the description leaves out is unknown; INDETERMINATE says that it matters.",
    runs: Runs::Nothing,
    lasts: soon,
    input: schema::input::<Input>,
    output,
    work: Work::Thread(run),
};

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Hook {
    Prerouting,
    Input,
    Forward,
    Output,
    Postrouting,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The ruleset, or the bundle of a host.
    rules: Source,
    /// What `ipset save` printed, for rules that ask sets.
    sets: Option<Source>,
    /// Where the packet is judged.
    hook: Hook,
    /// tcp, udp, icmp (of either family) or a number.
    protocol: String,
    /// Where it comes from.
    src: IpAddr,
    /// Where it goes.
    dst: IpAddr,
    /// Its source port.
    sport: Option<u16>,
    /// Its destination port.
    dport: Option<u16>,
    /// The device by which it came.
    r#in: Option<String>,
    /// The device by which it leaves.
    out: Option<String>,
    /// What the connection table knows: new, established, related, invalid or untracked.
    state: Option<String>,
    /// Its type of ICMP.
    icmp_type: Option<u8>,
    /// Its TCP flags, as in `syn,ack`.
    tcp_flags: Option<String>,
    /// The mark with which it enters the hook; what nobody marked has 0.
    mark: Option<String>,
}

fn run(place: &Workplace, given: Value) -> anyhow::Result<Found> {
    let input: Input = arguments(given)?;
    let packet = described(&input)?;
    let text = input.rules.read(place, MAX_TEXT_BYTES)?;
    let unreadable = |error| -> anyhow::Error {
        let error = anyhow::Error::new(error).context(format!("reading {}", input.rules.name()));
        let hint = "give what iptables-save, ip6tables-save or `nft -j list ruleset` prints, whole";
        Hinted::new(error, hint).into()
    };
    let family = "iptables-save and ip6tables-save print one family each";
    let document = match open(&text).map_err(unreadable)? {
        Document::Ruleset(ruleset) => {
            let mut ruleset = ruleset.whole().map_err(unreadable)?;
            if let Some(source) = &input.sets {
                let (sets, warnings) = read_sets(&source.read(place, MAX_TEXT_BYTES)?);
                ruleset.ipsets = sets;
                ruleset.warnings.extend(warnings);
            }
            let answer = walk(&ruleset, &packet).map_err(|error| Hinted::new(error, family))?;
            with(serde_json::to_value(&answer)?, "warnings", json!(ruleset.warnings))
        }
        Document::Host(host) => {
            let answer = walk_host(&host, &packet).map_err(|error| Hinted::new(error, family))?;
            let document = with(serde_json::to_value(&answer)?, "warnings", json!(host.warnings));
            with(document, "unread", json!(host.unread))
        }
    };
    Ok(document.into())
}

fn with(mut document: Value, name: &str, value: Value) -> Value {
    if let Some(fields) = document.as_object_mut() {
        fields.insert(name.to_owned(), value);
    }
    document
}

fn described(input: &Input) -> anyhow::Result<Packet> {
    let hook = match input.hook {
        Hook::Prerouting => "prerouting",
        Hook::Input => "input",
        Hook::Forward => "forward",
        Hook::Output => "output",
        Hook::Postrouting => "postrouting",
    };
    let mut packet = Packet::parse(hook, &input.protocol, &input.src.to_string(), &input.dst.to_string())
        .context("describing the packet")?;
    packet.sport = input.sport;
    packet.dport = input.dport;
    packet.input.clone_from(&input.r#in);
    packet.output.clone_from(&input.out);
    packet.state =
        input.state.as_deref().map(str::parse::<State>).transpose().context("describing the packet")?;
    packet.icmp_type = input.icmp_type;
    if let Some(flags) = &input.tcp_flags {
        packet = packet.tcp_flags(flags).context("describing the packet")?;
    }
    if let Some(mark) = &input.mark {
        packet = packet.mark(mark).context("describing the packet")?;
    }
    Ok(packet)
}

fn output() -> Value {
    object(&[
        ("verdict", words(&["ACCEPT", "DROP", "REJECT", "INDETERMINATE"])),
        ("rule", maybe(any())),
        ("trace", list(any())),
        ("undecided", json!({ "type": "array" })),
        ("warnings", list(any())),
    ])
}
