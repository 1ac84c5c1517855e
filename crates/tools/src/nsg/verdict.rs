//! `ghost nsg verdict`.

use std::net::IpAddr;

use anyhow::Context as _;
use clap::Args;

use super::command::{Known, RuleInput, row};
use crate::global::Global;
use crate::page::{Cell, Page, Tone, few, plain};
use crate::print::{Hinted, line};
use ghost_inspect::net::Family;
use ghost_inspect::nsg::{Field, GateReport, Packet, Peers, Ports, Protocols, Ruling, TriedRule, Verdict};

/// So many rules are shown to people where there may be thousands.
const SHOWN: usize = 20;

/// So many prefixes or ports of a rule are shown.
const MAX_LISTED: usize = 4;

/// The arguments of `ghost nsg verdict`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg verdict --rules nsg.json --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 5001 --trace\n  az network nic list-effective-nsg -n web-nic -g prod -o json | ghost nsg verdict --rules - --direction outbound --protocol any --src 10.0.1.4 --dst 8.8.8.8 --dst-port 443 --json\n  ghost nsg verdict --vm web-1 -g prod --direction inbound --protocol tcp --src 10.0.0.4 --dst-port 5001"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: RuleInput,
    /// The direction of the packet, seen from the network interface.
    #[arg(long, value_parser = ["inbound", "outbound"], ignore_case = true)]
    direction: String,
    /// The protocol; `any` asks about tcp, udp and icmp together.
    #[arg(long, value_parser = ["tcp", "udp", "icmp", "any"], ignore_case = true)]
    protocol: String,
    /// Where the packet comes from; live and outbound the interface's own address unless said.
    #[arg(long, value_name = "IP", required_unless_present_any = ["vm", "nic"], required_if_eq("direction", "inbound"))]
    src: Option<IpAddr>,
    /// The port that it comes from; unknown unless given.
    #[arg(long, value_name = "N")]
    src_port: Option<u16>,
    /// Where the packet goes; live and inbound the interface's own address unless said.
    #[arg(long, value_name = "IP", required_unless_present_any = ["vm", "nic"], required_if_eq("direction", "outbound"))]
    dst: Option<IpAddr>,
    /// The port that it goes to; ICMP has none.
    #[arg(long, value_name = "N", required_if_eq_any = [("protocol", "tcp"), ("protocol", "udp"), ("protocol", "any")])]
    dst_port: Option<u16>,
    /// Show every rule that was tried, and the field in which it failed.
    #[arg(long)]
    trace: bool,
    /// Exit with 3 where the answer is DENY, with 4 where it is INDETERMINATE.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    // What is wrong with the packet is reported before anything is read.
    if let (Some(src), Some(dst)) = (arguments.src, arguments.dst) {
        described_as(arguments, src, dst)?;
    }
    let Some(Known { rules, warnings, address }) = arguments.given.read(global)? else { return Ok(0) };
    let own = |said: Option<IpAddr>, name: &str| {
        let error = || anyhow::anyhow!("the interface's own address is not known");
        said.or(address).ok_or_else(|| Hinted::new(error(), format!("say it with --{name}")))
    };
    let packet = described_as(arguments, own(arguments.src, "src")?, own(arguments.dst, "dst")?)?;
    let mut ruling = rules.verdict(&packet);
    ruling.warnings.to_mut().extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&ruling)?)?;
    } else {
        page(&ruling, &packet, arguments.trace).print()?;
    }
    Ok(match ruling.verdict {
        Verdict::Deny if arguments.exit_code => 3,
        Verdict::Indeterminate if arguments.exit_code => 4,
        Verdict::Allow | Verdict::Deny | Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => 0,
    })
}

fn described_as(arguments: &Arguments, from: IpAddr, to: IpAddr) -> anyhow::Result<Packet> {
    let port = arguments.dst_port.unwrap_or_default();
    let packet = Packet::new(&arguments.direction, &arguments.protocol, from, arguments.src_port, to, port);
    packet
        .context("describing the packet")
        .map_err(|error| Hinted::new(error, "both addresses are IPv4, or both are IPv6").into())
}

fn page(ruling: &Ruling<'_>, packet: &Packet, trace: bool) -> Page {
    let mut page = Page::for_output();
    let tone = tone(ruling.verdict);
    page.add(tone, ruling.verdict.as_str()).add(Tone::Plain, &format!("  {}", described(packet))).end();
    page.remark(ruling.remark);
    if let Some(decisive) = &ruling.decisive {
        let group = decisive.nsg.map(|name| format!(" ({name})")).unwrap_or_default();
        let rule = match (decisive.rule, decisive.priority) {
            (Some(rule), Some(priority)) => format!(" by {rule}, priority {priority}"),
            (Some(rule), None) => format!(" by {rule}"),
            (None, _) => ": no single rule decides, and none that can allows it".to_owned(),
        };
        page.add(Tone::Plain, &format!("  dropped at the gate {}{group}{rule}", decisive.gate.as_str()))
            .end();
    }
    if !ruling.unresolved.is_empty() {
        page.add(Tone::Plain, &format!("  it depends on {}", few(&ruling.unresolved, 5))).end();
        page.add(Tone::Faint, "  --tags resolves service tags, --inventory application security groups")
            .end();
    }
    page.title("The gates in the order in which the packet meets them");
    page.rows(&ruling.gates.iter().map(gate).collect::<Vec<_>>());
    for gate in ruling.gates.iter().filter(|_| trace) {
        let rows: Vec<Vec<Cell>> = gate.trace.iter().map(|tried| step(&tried, packet)).collect();
        if rows.is_empty() {
            continue;
        }
        let group = gate.nsg.map(|name| format!(" ({name})")).unwrap_or_default();
        page.title(&format!("Tried at the gate {}{group}, in order", gate.gate.as_str()));
        page.rows(&rows);
    }
    if !trace {
        page.add(Tone::Faint, "  --trace shows every rule that was tried, and in which field it failed")
            .end();
    }
    if !ruling.shadowed.is_empty() {
        page.title("These match too, and come too late");
        page.first(&ruling.shadowed, SHOWN, |behind| {
            row(behind.gate.as_str(), behind.priority, behind.access, behind.rule)
        });
    }
    page.unread(&ruling.warnings);
    page
}

const fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Allow => Tone::Good,
        Verdict::Deny => Tone::Bad,
        Verdict::Indeterminate => Tone::Odd,
        Verdict::Skipped | Verdict::Absent => Tone::Faint,
    }
}

fn described(packet: &Packet) -> String {
    let protocols: Vec<&str> = packet.protocols.iter().flat_map(|protocol| protocol.names()).collect();
    let from = packet.source_port.map(|port| format!(" port {port}")).unwrap_or_default();
    let has_ports = packet.protocols.iter().any(|protocol| !protocol.and(Protocols::WITH_PORTS).is_empty());
    let to = if has_ports { format!(" port {}", packet.destination_port) } else { String::new() };
    let direction = format!("{:?}", packet.direction).to_lowercase();
    format!("{direction} {} {}{from} → {}{to}", protocols.join("/"), packet.source, packet.destination)
}

fn gate(gate: &GateReport<'_>) -> Vec<Cell> {
    let decided = match (gate.rule, gate.priority) {
        (Some(rule), Some(priority)) => format!("by {rule}, priority {priority}"),
        (Some(rule), None) => format!("by {rule}"),
        (None, _) if gate.verdict == Verdict::Absent => "no network security group is known here".to_owned(),
        (None, _) if gate.verdict == Verdict::Skipped => "an earlier gate always allows it".to_owned(),
        (None, _) if !gate.candidates.is_empty() => {
            format!("by one of {}", few(&gate.candidates, MAX_LISTED))
        }
        (None, _) => "no rule matches".to_owned(),
    };
    vec![
        plain(gate.gate.as_str()),
        plain(gate.nsg.unwrap_or_default()),
        (tone(gate.verdict), gate.verdict.as_str().to_owned()),
        plain(decided),
    ]
}

/// Explains what became of one rule: where it misses, what it would have taken.
fn step(tried: &TriedRule<'_>, packet: &Packet) -> Vec<Cell> {
    let priority = tried.priority.map_or_else(|| "?".to_owned(), |priority| priority.to_string());
    let access = tried.access.map_or_else(|| "?".to_owned(), |access| format!("{access:?}"));
    let (rule, family) = (tried.of, Family::of(packet.source));
    let addresses = |peers: &Peers| {
        let prefixes: Vec<String> =
            family.prefixes(peers.known.family(family)).iter().map(ToString::to_string).collect();
        if prefixes.is_empty() { "nothing of this family".to_owned() } else { few(&prefixes, MAX_LISTED) }
    };
    let ports = |ports: &Ports| {
        let ranges = ports.known.iter().map(|(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
        few(&ranges.collect::<Vec<_>>(), MAX_LISTED)
    };
    let takes = tried.missed.map(|field| match field {
        Field::Direction => "the other direction".to_owned(),
        Field::Protocol => rule.protocols.map_or_else(String::new, |protocols| protocols.names().join("/")),
        Field::Source => addresses(&rule.source),
        Field::Destination => addresses(&rule.destination),
        Field::SourcePort => ports(&rule.source_ports),
        Field::DestinationPort => ports(&rule.destination_ports),
    });
    let what = match takes {
        Some(takes) => (Tone::Faint, format!("{}; it takes {takes}", tried.what)),
        None if tried.what.starts_with("may") => (Tone::Odd, tried.what.clone().into_owned()),
        None => (Tone::Strong, tried.what.clone().into_owned()),
    };
    vec![plain(format!("{priority:>5}")), plain(access), plain(tried.rule), what]
}
