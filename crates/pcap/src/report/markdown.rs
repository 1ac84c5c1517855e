//! The report of one capture.

use std::fmt::Write as _;

use super::arp_icmp::{link, path};
use super::connections::connections;
use super::escape::{code, neutralize, text};
use super::evidence::{evidence, next, table};
use super::overview::{facts, sentences};
use super::protocols::dns;
use super::protocols::talk;
use crate::summary::Summary;

/// A message takes so many bytes at most: what is further down is shortened first.
const MAX_MARKDOWN_LEN: usize = 11_500;
/// A section of details has so many bytes at most.
const MAX_SECTION_LEN: usize = 1600;
/// How many limits are reported.
const MAX_WARNINGS: usize = 10;

/// A section of details.
type Section = fn(&mut String, &Summary) -> std::fmt::Result;

/// Details, in their order.
const DETAILS: [Section; 5] = [connections, dns, path, link, talk];

/// Writes the account for people: summary, findings, evidence, what to do next, details, limits.
#[must_use]
pub fn markdown(summary: &Summary, name: &str) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    let _ = write(&mut out, summary, name);
    neutralize(&out)
}

fn write(out: &mut String, summary: &Summary, name: &str) -> std::fmt::Result {
    writeln!(out, "# {}\n", code(name))?;
    writeln!(out, "{}\n", sentences(summary))?;
    writeln!(out, "{}", facts(summary))?;
    table(out, summary)?;
    evidence(out, summary)?;
    next(out, summary, name)?;
    let mut last = String::new();
    limits(&mut last, summary)?;
    for section in DETAILS {
        let mut part = String::new();
        section(&mut part, summary)?;
        let room = MAX_MARKDOWN_LEN.saturating_sub(out.len() + last.len()).min(MAX_SECTION_LEN);
        shortened(out, &part, room)?;
    }
    out.push_str(&last);
    Ok(())
}

/// Writes a section, or as many of its lines as there is room for, with a word about the others.
fn shortened(out: &mut String, part: &str, room: usize) -> std::fmt::Result {
    if part.len() <= room {
        out.push_str(part);
        return Ok(());
    }
    let mut written = 0;
    let mut left_out = 0;
    let mut lines = String::new();
    for line in part.lines() {
        if left_out == 0 && written + line.len() < room {
            writeln!(lines, "{line}")?;
            written += line.len() + 1;
        } else {
            left_out += usize::from(!line.is_empty());
        }
    }
    // A heading without a line below it says nothing.
    let heading = lines.lines().all(|line| line.is_empty() || line.starts_with('#') || line.starts_with("|"));
    if heading && lines.lines().filter(|line| line.starts_with('|')).count() < 3 {
        return Ok(());
    }
    out.push_str(&lines);
    writeln!(out, "\n{left_out} more lines: `--json --full` has all of it.")
}

fn limits(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.warnings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Limits\n")?;
    for warning in summary.warnings.iter().take(MAX_WARNINGS) {
        writeln!(out, "- {}", text(warning))?;
    }
    let others = summary.warnings.len().saturating_sub(MAX_WARNINGS);
    if others > 0 {
        writeln!(out, "- {others} more; `--json` has them")?;
    }
    Ok(())
}
