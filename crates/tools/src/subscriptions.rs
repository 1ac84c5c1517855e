//! `ghost subscriptions`: the subscriptions that whoever reads sees, and in which of them something is.

use std::net::IpAddr;

use anyhow::Context as _;
use clap::Args;

use super::live::{Live, or_fail, plan};
use super::print::{harmless, line, note};
use super::setup::Setup;
use ghost_cloud::Name;
use ghost_cloud::probe::{FoundBy, Sought, Subscriptions, SubscriptionsOperation};

/// The exit code for what could not be looked at.
const UNDECIDED: u8 = 4;

/// The arguments of `ghost subscriptions`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost subscriptions\n  ghost subscriptions --find db-1\n  ghost subscriptions --find 10.50.1.4 --json | jq -r '.found[].subscription'\n\nWhere Resource Graph may be asked one question finds it (`az graph query`, an extension of az); else each subscription is listed. A subscription that is closed is named and says nothing about what is in it: with --exit-code it is 4 where nothing was found and something could not be looked at."
)]
pub struct Arguments {
    /// Find this machine, or whoever has this private address.
    #[arg(long, value_name = "MACHINE|IP")]
    find: Option<String>,
    /// Print every command that it would run, with its verdict, and run none.
    #[arg(long)]
    plan: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 4 where nothing was found and something could not be looked at.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub fn run(arguments: &Arguments, setup: &Setup) -> anyhow::Result<u8> {
    let sought = arguments.find.as_deref().map(sought).transpose()?;
    if arguments.plan {
        let orders = SubscriptionsOperation::foreseen(sought.as_ref());
        return plan(setup, None, &orders, arguments.json).map(|()| 0);
    }
    let live = Live::open(setup, "subscriptions", None, None)?;
    let read = or_fail(live.drive(SubscriptionsOperation::new(sought))?)?;
    for unread in &read.unread {
        note(&format!("warning: {}", harmless(unread)));
    }
    line(&if arguments.json { serde_json::to_string(&read)? } else { harmless(&whole(&read)) })?;
    let is_open = read.found_by.is_some() && read.found.is_empty() && !read.unread.is_empty();
    Ok(if arguments.exit_code && is_open { UNDECIDED } else { 0 })
}

fn sought(text: &str) -> anyhow::Result<Sought> {
    Ok(match text.parse::<IpAddr>() {
        Ok(address) => Sought::Address(address),
        Err(_) => Sought::Machine(Name::parse(text).context("checking --find")?),
    })
}

fn whole(read: &Subscriptions) -> String {
    let mut lines = Vec::new();
    for own in &read.subscriptions {
        let default = if own.is_default { ", in use" } else { "" };
        lines.push(format!("subscription {} {} ({}{default})", own.id, own.name, own.state));
    }
    for own in &read.management_groups {
        lines.push(format!("management group {} ({})", own.name, own.display_name));
    }
    let how = match read.found_by {
        Some(FoundBy::ResourceGraph) => "by Resource Graph, which may be some minutes old",
        Some(FoundBy::Listing) => "by listing each subscription",
        None => return lines.join("\n"),
    };
    if read.found.is_empty() {
        lines.push(format!("not found {how}"));
    }
    for own in &read.found {
        let machine = own.machine.as_deref().map(|name| format!("{name}: ")).unwrap_or_default();
        lines.push(format!(
            "{machine}{} in the resource group {} of the subscription {}, {how}",
            own.id, own.resource_group, own.subscription
        ));
        lines.push(format!("  ghost topology -g {} --subscription {}", own.resource_group, own.subscription));
    }
    lines.join("\n")
}
