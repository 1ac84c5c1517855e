//! `ghost route audit`.

use clap::Args;

use super::command::{Known, RouteInput};
use super::select::{SHOWN, cells};
use crate::global::Global;
use crate::page::{Page, Tone, plain};
use crate::print::line;
use ghost_inspect::route::{Anomaly, Audit, Entry};

/// The arguments of `ghost route audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost route audit --table routes.json\n  ghost route audit --table routes.json --inventory nics.json --json\n  ghost route audit --vm web-1 -g prod"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: RouteInput,
    /// Exit with 3 where there is a finding, with 4 where there is none and not all was read or resolved.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let Some(Known { tags, inventory, routes }) = arguments.given.read(global)? else { return Ok(0) };
    let mut audit = routes.audit(inventory.as_ref());
    audit.warnings.to_mut().extend(tags.iter().flat_map(|tags| tags.warnings().to_vec()));
    audit.warnings.to_mut().extend(inventory.iter().flat_map(|inventory| inventory.warnings().to_vec()));
    if arguments.given.json {
        line(&serde_json::to_string(&audit)?)?;
    } else {
        page(&audit).print()?;
    }
    Ok(match arguments.exit_code {
        true if !audit.findings.is_empty() => 3,
        true if !(audit.warnings.is_empty() && audit.unresolved.is_empty()) => 4,
        true | false => 0,
    })
}

fn page(audit: &Audit<'_>) -> Page {
    let mut page = Page::for_output();
    page.add(Tone::Strong, &format!("{} prefixes", audit.route_count));
    match &audit.default_route.route {
        Some(route) => page.add(Tone::Plain, &format!(", by default {route}")).end(),
        None => page.add(Tone::Odd, ", no default route").end(),
    };
    if !audit.findings.is_empty() {
        page.title("What to look at first");
        let row = |found: &Anomaly| {
            vec![
                (Tone::Bad, found.code.as_str().to_owned()),
                (Tone::Faint, format!("row {}", found.row)),
                plain(found.detail.clone()),
            ]
        };
        page.first(&audit.findings, 2 * SHOWN, row);
    }
    if !audit.unresolved.is_empty() {
        page.title("Service tags that --tags would resolve");
        page.first(&audit.unresolved, SHOWN, |name| vec![(Tone::Odd, (*name).to_owned())]);
    }
    let parts: [(&str, &[Entry<'_>]); 7] = [
        ("User routes that drop", &audit.blackhole),
        ("Invalid routes", &audit.invalid),
        ("Routes through an appliance", &audit.nva),
        ("Routes from the gateway", &audit.bgp),
        ("Of these never used, because the platform prefers its own", &audit.unused_bgp),
        ("Routes that share the load", &audit.ecmp),
        ("Other routes that drop", &audit.system_drop),
    ];
    for (title, entries) in parts.iter().filter(|(_, entries)| !entries.is_empty()) {
        page.title(&format!("{title} ({})", entries.len()));
        page.first(entries, SHOWN, cells);
    }
    page.unread(&audit.warnings);
    page
}
