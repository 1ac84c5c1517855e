//! `--watch`: the same question again and again.

use std::io::IsTerminal as _;
use std::time::Duration;

use super::report::Report;
use super::show::page;
use crate::print::{harmless, line, note};
use crate::wait::{is_over, listen_for_end};

/// News that somebody ended it may arrive this much later.
const MOMENT: Duration = Duration::from_millis(200);

/// Puts the cursor into the corner and empties the screen.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// Reads until Ctrl-C: at a terminal the page stays and changes; elsewhere it speaks where something changed. Returns the last exit code.
pub(super) fn watch(
    every: Duration,
    json: bool,
    look: impl Fn() -> anyhow::Result<Report>,
) -> anyhow::Result<u8> {
    let screen = !json && std::io::stdout().is_terminal();
    let mut last: Option<Report> = None;
    listen_for_end()?;
    loop {
        match look() {
            Ok(next) => {
                let is_new = last.as_ref().is_none_or(|last| !last.is_as(&next));
                if screen || is_new {
                    show(&next, last.as_ref(), json, screen)?;
                }
                last = Some(next);
            }
            // What was interrupted is no failure of the machine.
            Err(_) if is_over(MOMENT)? => return Ok(last.map_or(0, |last| last.code())),
            Err(error) if last.is_none() => return Err(error),
            Err(error) => note(&harmless(&format!("warning: {error:#}; it is tried again"))),
        }
        if is_over(every)? {
            return Ok(last.map_or(0, |last| last.code()));
        }
    }
}

fn show(next: &Report, last: Option<&Report>, json: bool, screen: bool) -> anyhow::Result<()> {
    if json {
        return line(&serde_json::to_string(next)?);
    }
    if screen {
        line(&format!("{CLEAR}{}  Ctrl-C ends it", next.taken))?;
    } else {
        line(&next.taken)?;
    }
    let cause = |found: &super::report::ReportedFinding| format!("{} {}", found.fault, found.object);
    let known = |report: &Report| -> Vec<String> { report.findings.iter().map(cause).collect() };
    if let Some(last) = last {
        let (before, now) = (known(last), known(next));
        for one in now.iter().filter(|one| !before.contains(one)) {
            line(&harmless(&format!("new: {one}")))?;
        }
        for one in before.iter().filter(|one| !now.contains(one)) {
            line(&harmless(&format!("over: {one}")))?;
        }
    }
    page(next).print()
}
