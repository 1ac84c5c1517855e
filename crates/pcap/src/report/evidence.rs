//! Findings: ranked in a table, each with what shows it, and what to do next.

use std::fmt::Write as _;

use super::escape::{filter, text};
use super::next::step;
use super::number::figure;
use super::overview::title;
use crate::findings::Finding;
use crate::flow::TcpStreamFacts;
use crate::summary::Summary;

/// How many findings are reported with their evidence; the table has the others.
const MAX_FINDINGS: usize = 6;
/// How many frames a cell of the table has.
const MAX_FRAMES: usize = 3;

/// Writes the table.
pub(super) fn table(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Findings\n")?;
    writeln!(out, "| # | severity | what | who and how much | frames |")?;
    writeln!(out, "|---|---|---|---|---|")?;
    for (at, finding) in summary.findings.iter().enumerate() {
        let frames = frames(finding, MAX_FRAMES);
        let (severity, code) = (finding.severity.name(), finding.code);
        writeln!(out, "| {} | {severity} | `{code}` | {} | {frames} |", at + 1, title(finding))?;
    }
    Ok(())
}

/// Writes the evidence of the first ones.
pub(super) fn evidence(out: &mut String, summary: &Summary) -> std::fmt::Result {
    if summary.findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Evidence")?;
    for (at, finding) in summary.findings.iter().take(MAX_FINDINGS).enumerate() {
        let numbers: Vec<String> = finding
            .evidence
            .numbers
            .iter()
            .map(|(name, number)| format!("{} {}", name.replace('_', " "), figure(*number)))
            .collect();
        writeln!(out, "\n**{}. `{}`**: {}", at + 1, finding.code, numbers.join(", "))?;
        if let Some(flow) = most_in(finding, summary) {
            let (a, b) = (flow.a, flow.b);
            writeln!(out, "- Most in one connection: {a} to {b} (`tcp.stream == {}`)", flow.stream)?;
        }
        writeln!(out, "- Filter: {}", filter(&finding.evidence.filter))?;
        writeln!(out, "- Frames: {}", frames(finding, usize::MAX))?;
        let listed = summary.findings.iter().take(at).position(|before| before.vantage == finding.vantage);
        match listed {
            Some(before) => writeln!(out, "- Vantage: as for {}", before + 1)?,
            None => writeln!(out, "- Vantage: {}", text(finding.vantage))?,
        }
    }
    if summary.findings.len() > MAX_FINDINGS {
        writeln!(out, "\nThe evidence of the others is in the JSON (`--json`).")?;
    }
    Ok(())
}

/// Writes the commands, and where to look then; once for each code.
pub(super) fn next(out: &mut String, summary: &Summary, file: &str) -> std::fmt::Result {
    let mut first: Vec<&Finding> = Vec::new();
    for finding in &summary.findings {
        if first.len() < MAX_FINDINGS && first.iter().all(|known| known.code != finding.code) {
            first.push(finding);
        }
    }
    if first.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n## Next\n\n```sh")?;
    let mut written: Vec<String> = Vec::new();
    for finding in &first {
        for command in step(finding.code).commands(finding, file) {
            if !written.contains(&command) {
                writeln!(out, "{command}")?;
                written.push(command);
            }
        }
    }
    writeln!(out, "```\n")?;
    let mut listed: Vec<&str> = Vec::new();
    for finding in &first {
        let then = step(finding.code).then();
        if !listed.contains(&then) {
            writeln!(out, "- `{}`: {then}", finding.code)?;
            listed.push(then);
        }
    }
    Ok(())
}

/// Returns the connection that has most of what a finding speaks of, unless its title names one already.
pub(super) fn most_in<'a>(finding: &Finding, summary: &'a Summary) -> Option<&'a TcpStreamFacts> {
    let (_, kind) = COUNT_NAMES.iter().find(|(code, _)| *code == finding.code)?;
    let count = |flow: &&TcpStreamFacts| {
        flow.trouble.iter().find(|trouble| trouble.kind == *kind).map_or(0, |trouble| trouble.count)
    };
    // Of equal ones the first, which is the worst.
    let most = summary.tcp.flows.iter().rev().max_by_key(count).filter(|flow| count(flow) > 0)?;
    let named = [most.a, most.b].iter().any(|end| finding.title.contains(&end.ip().to_string()));
    (!named).then_some(most)
}

/// Codes of findings over all connections, and the count that they speak of.
const COUNT_NAMES: [(&str, &str); 3] = [
    ("tcp_retransmission", "retransmission"),
    ("tcp_zero_window", "zero_window"),
    ("tcp_gaps", "lost_segment"),
];

fn frames(finding: &Finding, most: usize) -> String {
    let frames: Vec<String> = finding.evidence.frames.iter().take(most).map(ToString::to_string).collect();
    if frames.is_empty() { "none of its own".to_owned() } else { frames.join(", ") }
}
