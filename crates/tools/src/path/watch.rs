//! `--watch`: the same judgement again and again; it speaks where something changed.

use std::time::Duration;

use super::command::JudgedFlow;
use crate::page::{Page, Tone};
use crate::print::{harmless, note};
use crate::wait::is_over;
use ghost_base::{Clock as _, SystemClock};

/// Judges until Ctrl-C, and shows the first judgement and each that differs from the one before. Returns the last verdict.
pub(super) fn watch(
    every: Duration,
    judged: impl Fn() -> anyhow::Result<JudgedFlow>,
    show: impl Fn(&JudgedFlow, Option<Page>) -> anyhow::Result<()>,
) -> anyhow::Result<&'static str> {
    let mut last = judged()?;
    show(&last, None)?;
    while !is_over(every)? {
        match judged() {
            Ok(next) if next.report == last.report => {}
            Ok(next) => {
                show(&next, Some(heading(&last, &next)))?;
                last = next;
            }
            // What is read now may be written at this moment.
            Err(error) => note(&harmless(&format!("warning: {error:#}; it is tried again"))),
        }
    }
    Ok(last.report.verdict)
}

fn heading(last: &JudgedFlow, next: &JudgedFlow) -> Page {
    let (before, after) = (last.report.verdict, next.report.verdict);
    let text = if before == after {
        format!("still {after}, and not as before")
    } else {
        format!("{before} before")
    };
    let mut page = Page::for_output();
    page.end().add(Tone::Strong, &SystemClock.now().to_string()).add(Tone::Plain, &format!("  {text}")).end();
    page
}
