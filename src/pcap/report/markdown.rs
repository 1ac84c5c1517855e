//! The account as Markdown, for a thread.

use std::fmt::Write as _;

use super::connections::connections;
use super::link::link;
use super::names::names;
use super::path::path;
use super::talk::talk;
use crate::pcap::summary::Summary;

/// Writes the account for people.
#[must_use]
pub fn markdown(summary: &Summary, name: &str) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, summary, name);
    out
}

fn write(out: &mut String, summary: &Summary, name: &str) -> std::fmt::Result {
    let file = &summary.file;
    writeln!(out, "# {name}")?;
    writeln!(out)?;
    writeln!(
        out,
        "{} packets, {} bytes in {:.3} s ({}){}.",
        file.packets,
        file.bytes,
        file.duration_s,
        file.format,
        if file.cut_off { "; the file is cut off" } else { "" }
    )?;
    let counted: Vec<String> = summary
        .counts
        .iter()
        .filter(|(_, count)| **count > 0)
        .map(|(label, count)| format!("{label} {count}"))
        .collect();
    writeln!(out, "Frames: {}.", if counted.is_empty() { "none".to_owned() } else { counted.join(", ") })?;
    findings(out, summary)?;
    connections(out, summary)?;
    names(out, summary)?;
    path(out, summary)?;
    link(out, summary)?;
    talk(out, summary)?;
    for warning in &summary.warnings {
        writeln!(out, "\nWarning: {warning}.")?;
    }
    Ok(())
}

fn findings(out: &mut String, summary: &Summary) -> std::fmt::Result {
    writeln!(out, "\n## Findings\n")?;
    if summary.findings.is_empty() {
        return writeln!(out, "None.");
    }
    for finding in &summary.findings {
        let frames: Vec<String> = finding.evidence.frames.iter().map(ToString::to_string).collect();
        writeln!(
            out,
            "- **{}** `{}`: {} (frames {}; filter `{}`). {}",
            finding.severity.name(),
            finding.code,
            finding.title,
            frames.join(", "),
            finding.evidence.filter,
            finding.vantage
        )?;
    }
    Ok(())
}
