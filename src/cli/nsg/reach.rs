//! `ghost nsg reach`.

use std::net::IpAddr;

use clap::Args;

use super::command::{Given, unread};
use crate::cli::input::harmless;
use crate::cli::print::line;
use crate::nsg::{Direction, Reach, Region};

/// So many prefixes of a region are printed for people.
const SHOWN: usize = 6;

/// The arguments of `ghost nsg reach`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg reach --rules nsg.json --to 10.0.1.4\n  ghost nsg reach --rules nsg.json --direction outbound --json"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// Only what goes to this address.
    #[arg(long, value_name = "IP")]
    to: Option<IpAddr>,
    /// Which way the packets go, seen from the network interface.
    #[arg(long, value_parser = ["inbound", "outbound"], ignore_case = true, default_value = "inbound")]
    direction: String,
    /// Exit with 4 where something unresolved decides over a region.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let direction = Direction::parse(&arguments.direction).unwrap_or(Direction::Inbound);
    let (rules, warnings) = arguments.given.read()?;
    let mut reach = rules.reach(direction, arguments.to);
    reach.warnings.extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&reach)?)?;
    } else {
        line(&harmless(&told(&reach)))?;
    }
    Ok(if arguments.exit_code && !reach.unresolved.is_empty() { 4 } else { 0 })
}

fn told(reach: &Reach) -> String {
    let mut lines = vec![format!("{} regions get through", reach.regions.len())];
    lines.extend(reach.regions.iter().map(said));
    if !reach.unresolved.is_empty() {
        lines.push(format!("\nNot decided, it depends on {}:", reach.unresolved.join("; ")));
        lines.extend(reach.undecided.iter().map(said));
    }
    unread(&mut lines, &reach.warnings);
    lines.join("\n")
}

fn said(region: &Region) -> String {
    let few = |texts: &[String]| match texts.get(..SHOWN) {
        Some(first) if texts.len() > SHOWN => {
            format!("{} and {} more", first.join(", "), texts.len() - SHOWN)
        }
        Some(_) | None => texts.join(", "),
    };
    let from = |ports: &[String]| {
        if ports == ["any"] { String::new() } else { format!(" from port {}", few(ports)) }
    };
    format!(
        "  {} {:?}: {}{} → {} port {}",
        region.protocols.join("/"),
        region.family,
        few(&region.source),
        from(&region.source_ports),
        few(&region.destination),
        few(&region.destination_ports)
    )
}
