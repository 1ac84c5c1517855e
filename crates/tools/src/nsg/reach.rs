//! `ghost nsg reach`.

use std::net::IpAddr;

use clap::Args;

use super::command::{Known, RuleInput};
use crate::global::Global;
use crate::page::{Cell, Page, Tone, few, plain};
use crate::print::line;
use ghost_inspect::net::Family;
use ghost_inspect::nsg::{Direction, Reach, Region};

/// So many prefixes of a region are printed for people.
const SHOWN: usize = 6;

/// So many regions are.
const REGIONS: usize = 100;

/// The arguments of `ghost nsg reach`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg reach --rules nsg.json --to 10.0.1.4\n  ghost nsg reach --rules nsg.json --direction outbound --json\n  ghost nsg reach --vm web-1 -g prod"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: RuleInput,
    /// Only what goes to this address.
    #[arg(long, value_name = "IP")]
    to: Option<IpAddr>,
    /// The direction of the packets, seen from the network interface.
    #[arg(long, value_parser = ["inbound", "outbound"], ignore_case = true, default_value = "inbound")]
    direction: String,
    /// Exit with 4 where something unresolved decides over a region.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let direction = Direction::parse(&arguments.direction).unwrap_or(Direction::Inbound);
    let Some(Known { rules, warnings, .. }) = arguments.given.read(global)? else { return Ok(0) };
    let mut reach = rules.reach(direction, arguments.to);
    reach.warnings.extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&reach)?)?;
    } else {
        page(&reach).print()?;
    }
    Ok(if arguments.exit_code && !(reach.undecided.is_empty() && reach.unresolved.is_empty()) {
        4
    } else {
        0
    })
}

fn page(reach: &Reach) -> Page {
    let mut page = Page::for_output();
    if reach.regions.is_empty() && reach.undecided.is_empty() && !reach.unresolved.is_empty() {
        page.add(Tone::Odd, &format!("No answer: {}", reach.unresolved.join("; "))).end();
        page.unread(&reach.warnings);
        return page;
    }
    let tone = if reach.regions.is_empty() { Tone::Bad } else { Tone::Strong };
    let count = match reach.regions.len() {
        1 => "1 region gets".to_owned(),
        count => format!("{count} regions get"),
    };
    page.add(tone, &format!("{count} through for certain")).end();
    page.remark(reach.remark);
    page.first(&reach.regions, REGIONS, said);
    if !reach.undecided.is_empty() || !reach.unresolved.is_empty() {
        page.title(&format!("Not decided, it depends on {}", few(&reach.unresolved, SHOWN)));
        page.first(&reach.undecided, REGIONS, said);
    }
    page.unread(&reach.warnings);
    page
}

fn said(region: &Region) -> Vec<Cell> {
    let side = |addresses: &[String], ports: &[String]| {
        if ports == ["any"] {
            few(addresses, SHOWN)
        } else {
            format!("{} port {}", few(addresses, SHOWN), few(ports, SHOWN))
        }
    };
    let family = match region.family {
        Family::Ipv4 => "IPv4",
        Family::Ipv6 => "IPv6",
    };
    vec![
        plain(family),
        plain(region.protocols.join("/")),
        plain(side(&region.source, &region.source_ports)),
        plain(format!("→ {}", side(&region.destination, &region.destination_ports))),
    ]
}
