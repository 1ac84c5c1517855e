//! `ghost nsg audit`.

use clap::Args;

use super::command::{Known, RuleInput, row};
use crate::global::Global;
use crate::page::{Cell, Page, Tone, few, plain};
use crate::print::line;
use ghost_inspect::nsg::{Audit, RuleRef};

/// So many rules of a gate are shown to people.
const SHOWN: usize = 50;

/// So many rules are named as causes.
const MAX_LISTED: usize = 4;

/// The arguments of `ghost nsg audit`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ghost nsg audit --rules nsg.json\n  ghost nsg audit --rules nsg.json --tags tags.json --json\n  ghost nsg audit --vm web-1 -g prod"
)]
pub(super) struct Arguments {
    #[command(flatten)]
    given: RuleInput,
    /// Exit with 3 where a rule is shadowed, permissive, exposed or contradicted, with 4 where none is and not all was read or judged.
    #[arg(long)]
    exit_code: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &Arguments, global: &Global) -> anyhow::Result<u8> {
    let Some(Known { rules, warnings, .. }) = arguments.given.read(global)? else { return Ok(0) };
    let mut audit = rules.audit();
    audit.warnings.extend(warnings);
    if arguments.given.json {
        line(&serde_json::to_string(&audit)?)?;
    } else {
        page(&audit).print()?;
    }
    let found =
        audit.shadowed.len() + audit.permissive.len() + audit.exposed.len() + audit.contradictory.len();
    Ok(match found {
        _ if !arguments.exit_code => 0,
        0 if is_whole(&audit) => 0,
        0 => 4,
        _ => 3,
    })
}

/// Tells whether nothing was found because nothing is there.
fn is_whole(audit: &Audit) -> bool {
    audit.unjudged == 0 && audit.warnings.is_empty()
}

fn page(audit: &Audit) -> Page {
    let mut page = Page::for_output();
    let found = [
        (audit.exposed.len(), "open to anybody"),
        (audit.permissive.len(), "allow everything"),
        (audit.shadowed.len(), "never match"),
        (audit.contradictory.len(), "void at another gate"),
    ];
    let findings: Vec<String> =
        found.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    if findings.is_empty() && is_whole(audit) {
        page.add(Tone::Good, "Nothing found").end();
    } else if findings.is_empty() {
        page.add(Tone::Odd, "Nothing found in what was read and judged, and that is not all").end();
    } else {
        page.add(Tone::Bad, &findings.join(", ")).end();
    }
    page.remark(audit.remark);
    if audit.unjudged > 0 {
        let what = format!("{} rules are not judged: there are too many different ones", audit.unjudged);
        page.add(Tone::Odd, &what).end();
    }
    let exposed = audit.exposed.iter().map(|found| {
        let ports: Vec<String> = found.ports.iter().map(ToString::to_string).collect();
        let through =
            if found.through { String::new() } else { format!(", but {}", dropped(&found.dropped_by)) };
        said(&found.rule, format!("lets anybody reach {}{through}", ports.join(" and ")))
    });
    part(&mut page, "Management ports that are open to anybody", exposed.collect());
    let permissive =
        audit.permissive.iter().map(|found| said(found, "on every port, from anybody to anybody"));
    part(&mut page, "Allows everything", permissive.collect());
    let shadowed = audit.shadowed.iter().map(|found| {
        let why = if found.redundant { "is redundant behind" } else { "is hidden by" };
        said(&found.rule, format!("{why} {}", few(&found.by, MAX_LISTED)))
    });
    part(&mut page, "Never matches", shadowed.collect());
    let contradictory = audit.contradictory.iter().map(|found| said(&found.rule, dropped(&found.dropped_by)));
    part(&mut page, "Allowed here, dropped at another gate", contradictory.collect());
    for order in &audit.order {
        let nsg = order.nsg.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
        let direction = format!("{:?}", order.direction);
        page.title(&format!(
            "{direction} at the gate {}{nsg}, in the order in which they are tried",
            order.gate.as_str()
        ));
        if order.rules.is_empty() {
            let what = "  no rules: every group has the platform's own, so these were not read";
            page.add(Tone::Odd, what).end();
        }
        page.first(&order.rules, SHOWN, |rule| said(rule, ""));
    }
    page.unread(&audit.warnings);
    page
}

fn part(page: &mut Page, title: &str, rows: Vec<Vec<Cell>>) {
    if !rows.is_empty() {
        page.title(&format!("{title} ({})", rows.len()));
        page.first(&rows, SHOWN, Clone::clone);
    }
}

fn said(rule: &RuleRef, what: impl Into<String>) -> Vec<Cell> {
    let mut cells = row(rule.gate.as_str(), rule.priority, rule.access, &rule.rule);
    cells.push(plain(what));
    cells
}

fn dropped(by: &[RuleRef]) -> String {
    match by.first() {
        Some(first) => {
            let names: Vec<&str> = by.iter().map(|rule| rule.rule.as_str()).collect();
            format!("the gate {} drops it by {}", first.gate.as_str(), few(&names, MAX_LISTED))
        }
        None => "no rule of another gate allows it".to_owned(),
    }
}
