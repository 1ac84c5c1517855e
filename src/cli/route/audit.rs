//! `ghost route audit`.

use std::path::PathBuf;

use clap::Args;

use super::command::table;
use crate::cli::input::harmless;
use crate::cli::knowledge::Knowledge;
use crate::cli::print::line;
use crate::route::{Audit, Entry};

/// The arguments of `ghost route audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost route audit --table routes.json\n  ghost route audit --table routes.json --inventory nics.json --json"
)]
pub(super) struct Arguments {
    /// The effective route table as `az` prints it; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    table: PathBuf,
    #[command(flatten)]
    knowledge: Knowledge,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Exit with 3 where there is a finding.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (tags, inventory) = (arguments.knowledge.tags()?, arguments.knowledge.inventory()?);
    let routes = table(&arguments.table, tags.as_ref())?;
    let mut audit = routes.audit(inventory.as_ref());
    audit.warnings.to_mut().extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    audit.warnings.to_mut().extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    if arguments.json {
        line(&serde_json::to_string(&audit)?)?;
    } else {
        line(&harmless(&told(&audit)))?;
    }
    Ok(if arguments.exit_code && !audit.findings.is_empty() { 3 } else { 0 })
}

fn told(audit: &Audit<'_>) -> String {
    let default = audit.default_route.route.as_ref();
    let mut lines = vec![
        format!("{} prefixes", audit.route_count),
        default.map_or_else(|| "no default route".to_owned(), |route| format!("default: {route}")),
    ];
    let parts: [(&str, &[Entry<'_>]); 7] = [
        ("user routes that drop", &audit.blackhole),
        ("Invalid routes", &audit.invalid),
        ("routes through an appliance", &audit.nva),
        ("routes from the gateway", &audit.bgp),
        ("of these, never used: the platform prefers its own", &audit.unused_bgp),
        ("routes that share the load", &audit.ecmp),
        ("other routes that drop", &audit.system_drop),
    ];
    for (title, entries) in parts.iter().filter(|(_, entries)| !entries.is_empty()) {
        lines.push(format!("\n{title} ({})", entries.len()));
        lines.extend(entries.iter().map(|entry| format!("  {entry}")));
    }
    if !audit.unresolved.is_empty() {
        lines.push(format!("\nservice tags that --tags would resolve: {}", audit.unresolved.join(", ")));
    }
    if !audit.findings.is_empty() {
        lines.push("\nWhat to look at first:".to_owned());
        lines.extend(
            audit.findings.iter().map(|found| format!("  ! {}  {}", found.code.as_str(), found.detail)),
        );
    }
    if !audit.warnings.is_empty() {
        lines.push("\nNot read:".to_owned());
        lines.extend(audit.warnings.iter().map(|warning| format!("  {warning}")));
    }
    lines.join("\n")
}
