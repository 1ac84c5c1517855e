//! `ghost topology`: what a resource group consists of.

use std::net::IpAddr;

use clap::Args;

use super::guest::place;
use super::live::{Live, or_fail, plan};
use super::print::harmless;
use super::print::{Hinted, line, note};
use super::setup::Setup;
use ghost_cloud::probe::topology::{Nic, Topology, TopologyOperation};

/// The arguments of `ghost topology`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost topology -g prod\n  ghost topology -g prod --owner 10.0.0.4\n  ghost topology -g prod --json | jq '.interfaces[] | select(.forwards)'"
)]
pub struct Arguments {
    /// The resource group.
    #[arg(long, short = 'g', value_name = "GROUP")]
    resource_group: String,
    /// The subscription, by its id; the one that is signed in to unless said.
    #[arg(long, alias = "subscription-id", value_name = "ID")]
    subscription: Option<String>,
    /// Say who owns this address.
    #[arg(long, value_name = "IP")]
    owner: Option<IpAddr>,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let place = place(&arguments.resource_group, arguments.subscription.as_deref())?;
    if arguments.plan {
        return plan(setup, None, &TopologyOperation::foreseen(&place), arguments.json).map(|()| 0);
    }
    let found = or_fail(Live::open(setup, "topology", None, None)?.drive(TopologyOperation::new(&place))?)?;
    for unread in &found.unread {
        note(&format!("warning: {}", harmless(&unread.why)));
    }
    let Some(ip) = arguments.owner else {
        line(&if arguments.json { serde_json::to_string(&found)? } else { harmless(&whole(&found)) })?;
        return Ok(0);
    };
    let Some(nic) = found.owner(ip) else {
        let error = anyhow::anyhow!("nothing in {} owns {ip}", found.group);
        return Err(Hinted::new(error, "it may be in another group, or be of no machine at all").into());
    };
    line(&if arguments.json { serde_json::to_string(nic)? } else { harmless(&interface(nic)) })?;
    Ok(0)
}

fn whole(found: &Topology) -> String {
    let mut lines = vec![format!("resource group {}", found.group)];
    for machine in &found.machines {
        lines.push(format!("  machine {} ({})", machine.name, machine.region));
        lines.extend(found.of(&machine.name).map(|nic| format!("    {}", interface(nic))));
    }
    for nic in found.interfaces.iter().filter(|nic| nic.machine.is_none()) {
        lines.push(format!("  without a machine: {}", interface(nic)));
    }
    for network in &found.networks {
        lines.push(format!("  network {} {}", network.name, network.prefixes.join(", ")));
        for subnet in &network.subnets {
            let guarded = [("rules", &subnet.security_group), ("routes", &subnet.route_table)];
            let by = guarded.iter().filter_map(|(what, name)| Some(format!(", {what} {}", name.as_ref()?)));
            let services = subnet.service_endpoints.join(", ");
            let services = if services.is_empty() { services } else { format!(", direct to {services}") };
            lines.push(format!(
                "    subnet {} {}{}{services}",
                subnet.name,
                subnet.prefixes.join(", "),
                by.collect::<String>()
            ));
        }
        for peering in &network.peerings {
            lines.push(format!("    peered with {} ({})", peering.remote, peering.state));
        }
    }
    for group in &found.security_groups {
        lines.push(format!("  security group {}", group.name));
        lines.extend(group.rules.iter().map(|rule| {
            format!(
                "    {:<8} {:>4} {:<5} {} {} → {} port {}  {}",
                rule.direction.to_lowercase(),
                rule.priority,
                rule.access,
                rule.protocol,
                rule.sources.join(", "),
                rule.destinations.join(", "),
                rule.ports.join(", "),
                rule.name
            )
        }));
    }
    for table in &found.route_tables {
        lines.push(format!("  route table {}", table.name));
        lines.extend(table.routes.iter().map(|route| {
            let hop = route.next_hop_ip.as_deref().map(|ip| format!(" {ip}")).unwrap_or_default();
            format!("    {} by {}{hop}  {}", route.prefix, route.next_hop_type, route.name)
        }));
    }
    lines.join("\n")
}

fn interface(nic: &Nic) -> String {
    let addresses = nic.addresses.iter().map(|address| {
        let ip = address.ip.map_or_else(|| "no address".to_owned(), |ip| ip.to_string());
        let subnet = address.subnet.as_deref().map(|subnet| format!(" in {subnet}")).unwrap_or_default();
        let public =
            address.public.as_deref().map(|public| format!(", public as {public}")).unwrap_or_default();
        format!("{ip}{subnet}{public}")
    });
    let machine = nic.machine.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
    let rules = nic.security_group.as_deref().map(|name| format!(", rules {name}")).unwrap_or_default();
    let forwards = if nic.forwards { ", forwards" } else { "" };
    format!("{}{machine}: {}{rules}{forwards}", nic.name, addresses.collect::<Vec<_>>().join("; "))
}
