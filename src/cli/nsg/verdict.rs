//! `ghost nsg verdict`.

use std::net::IpAddr;

use anyhow::Context as _;
use clap::Args;

use super::command::{Given, unread};
use crate::cli::input::harmless;
use crate::cli::print::{Hinted, line};
use crate::nsg::{Packet, Ruling, Verdict};

/// The arguments of `ghost nsg verdict`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg verdict --rules nsg.json --direction inbound --protocol tcp --src 10.0.0.4 --dst 10.0.1.4 --dst-port 5001\n  az network nic list-effective-nsg -n web-nic -g prod -o json | ghost nsg verdict --rules - --direction outbound --protocol any --src 10.0.1.4 --dst 8.8.8.8 --dst-port 443 --json"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// Which way the packet goes, seen from the network interface.
    #[arg(long, value_parser = ["inbound", "outbound"], ignore_case = true)]
    direction: String,
    /// The protocol; `any` asks about tcp, udp and icmp together.
    #[arg(long, value_parser = ["tcp", "udp", "icmp", "any"], ignore_case = true)]
    protocol: String,
    /// Where the packet comes from.
    #[arg(long, value_name = "IP")]
    src: IpAddr,
    /// The port that it comes from; unknown unless given.
    #[arg(long, value_name = "N")]
    src_port: Option<u16>,
    /// Where the packet goes.
    #[arg(long, value_name = "IP")]
    dst: IpAddr,
    /// The port that it goes to; ICMP has none.
    #[arg(long, value_name = "N", required_if_eq_any = [("protocol", "tcp"), ("protocol", "udp"), ("protocol", "any")])]
    dst_port: Option<u16>,
    /// Exit with 3 where the answer is DENY, with 4 where it is INDETERMINATE.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let port = arguments.dst_port.unwrap_or_default();
    let (from, to) = (arguments.src, arguments.dst);
    let packet = Packet::new(&arguments.direction, &arguments.protocol, from, arguments.src_port, to, port)
        .context("describing the packet")
        .map_err(|error| Hinted::new(error, "both addresses are IPv4, or both are IPv6"))?;
    let (rules, warnings) = arguments.given.read()?;
    let mut ruling = rules.verdict(&packet);
    ruling.warnings.to_mut().extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&ruling)?)?;
    } else {
        line(&harmless(&told(&ruling)))?;
    }
    Ok(match ruling.verdict {
        Verdict::Deny if arguments.exit_code => 3,
        Verdict::Indeterminate if arguments.exit_code => 4,
        Verdict::Allow | Verdict::Deny | Verdict::Indeterminate | Verdict::Skipped | Verdict::Absent => 0,
    })
}

fn told(ruling: &Ruling<'_>) -> String {
    let mut lines = vec![match &ruling.decisive {
        Some(decisive) => {
            let rule = decisive.rule.unwrap_or("no single rule: every one that can decide denies");
            let priority = decisive.priority.map(|priority| format!(" ({priority})")).unwrap_or_default();
            format!("{}  at the gate {}: {rule}{priority}", ruling.verdict.as_str(), decisive.gate.as_str())
        }
        None if ruling.unresolved.is_empty() => ruling.verdict.as_str().to_owned(),
        None => format!("{}  it depends on {}", ruling.verdict.as_str(), ruling.unresolved.join("; ")),
    }];
    for gate in &ruling.gates {
        let nsg = gate.nsg.map(|name| format!(" ({name})")).unwrap_or_default();
        lines.push(format!("\n{}{nsg}: {}", gate.gate.as_str(), gate.verdict.as_str()));
        for tried in gate.trace.iter() {
            let priority = tried.priority.map_or_else(|| "?".to_owned(), |priority| priority.to_string());
            let access = tried.access.map_or_else(|| "?".to_owned(), |access| format!("{access:?}"));
            lines.push(format!("  {priority:>5}  {access:<5}  {}: {}", tried.rule, tried.what));
        }
    }
    if !ruling.shadowed.is_empty() {
        let names: Vec<String> = ruling
            .shadowed
            .iter()
            .map(|behind| format!("{} ({})", behind.rule, behind.gate.as_str()))
            .collect();
        lines.push(format!("\nThese match too, and come too late: {}", names.join(", ")));
    }
    unread(&mut lines, &ruling.warnings);
    lines.join("\n")
}
