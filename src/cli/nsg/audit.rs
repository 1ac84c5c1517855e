//! `ghost nsg audit`.

use clap::Args;

use super::command::{Given, unread};
use crate::cli::input::harmless;
use crate::cli::print::line;
use crate::nsg::{Audit, RuleRef};

/// The arguments of `ghost nsg audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg audit --rules nsg.json\n  ghost nsg audit --rules nsg.json --tags tags.json --json"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: Given,
    /// Exit with 3 where a rule is shadowed, permissive, exposed or contradicted.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let (rules, warnings) = arguments.given.read()?;
    let mut audit = rules.audit();
    audit.warnings.extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&audit)?)?;
    } else {
        line(&harmless(&told(&audit)))?;
    }
    let found =
        audit.shadowed.len() + audit.permissive.len() + audit.exposed.len() + audit.contradictory.len();
    Ok(if arguments.exit_code && found > 0 { 3 } else { 0 })
}

fn told(audit: &Audit) -> String {
    let mut lines = Vec::new();
    let part = |lines: &mut Vec<String>, title: &str, entries: Vec<String>| {
        if !entries.is_empty() {
            lines.push(format!("\n{title} ({})", entries.len()));
            lines.extend(entries.iter().map(|entry| format!("  ! {entry}")));
        }
    };
    for order in &audit.order {
        let nsg = order.nsg.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        lines.push(format!(
            "{:?} at the gate {}{nsg}: {} rules",
            order.direction,
            order.gate.as_str(),
            order.rules.len()
        ));
        lines.extend(order.rules.iter().map(|rule| format!("  {}", said(rule))));
    }
    let exposed = audit.exposed.iter().map(|found| {
        let ports: Vec<String> = found.ports.iter().map(ToString::to_string).collect();
        let through = if found.through { "" } else { ", but another gate drops it" };
        format!("{} lets anybody reach {}{through}", said(&found.rule), ports.join(" and "))
    });
    part(&mut lines, "Open to anybody", exposed.collect());
    part(&mut lines, "Allows everything", audit.permissive.iter().map(said).collect());
    let shadowed = audit.shadowed.iter().map(|found| {
        let why = if found.redundant { "is redundant behind" } else { "is hidden by" };
        format!("{} {why} {}", said(&found.rule), found.by.join(", "))
    });
    part(&mut lines, "Never matches", shadowed.collect());
    part(&mut lines, "Allowed here, dropped at another gate", audit.contradictory.iter().map(said).collect());
    unread(&mut lines, &audit.warnings);
    lines.join("\n")
}

fn said(rule: &RuleRef) -> String {
    let priority = rule.priority.map_or_else(|| "?".to_owned(), |priority| priority.to_string());
    let access = rule.access.map_or_else(|| "?".to_owned(), |access| format!("{access:?}"));
    format!("{priority:>5}  {access:<5}  {} ({})", rule.rule, rule.gate.as_str())
}
