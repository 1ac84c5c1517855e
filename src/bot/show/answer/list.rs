//! Lists of sessions and of what waits for an answer.

use crate::bot::show::Message;
use crate::bot::show::amount::{count, minutes, number_of};
use crate::bot::show::block::{Line, lines, say};
use crate::bot::show::text::{prose, short};
use ghost_base::Timestamp;
use ghost_investigate::event::Impact;
use ghost_investigate::report::Summary;

/// So many entries are shown; the others are counted.
const SHOWN: usize = 20;

/// A question that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Pending {
    pub session: String,
    pub command: String,
    /// What it does.
    pub impact: Impact,
    /// From then on the answer is no.
    pub until: Timestamp,
    /// Where its card stands.
    pub link: Option<String>,
}

/// A session in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLine {
    /// The session.
    pub summary: Summary,
    /// Where its thread is.
    pub link: Option<String>,
}

/// Returns the list of sessions.
#[must_use]
pub fn sessions(list: &[SessionLine]) -> Message {
    let shown_lines = list.iter().take(SHOWN).map(session_line);
    shown("session", "No session yet. Mention me with what is wrong.", list.len(), lines(shown_lines))
}

/// Returns the list of what waits for an answer.
#[must_use]
pub fn approvals(list: &[Pending], now: Timestamp) -> Message {
    let shown_lines = list.iter().take(SHOWN).map(|pending| pending_line(pending, now));
    shown("open approval", "Nothing waits for an answer.", list.len(), lines(shown_lines))
}

fn shown(noun: &str, none: &str, all: usize, shown_lines: Line) -> Message {
    if all == 0 {
        return Message { text: none.to_owned(), blocks: vec![say(Line::new().text(none))] };
    }
    let title = Line::new().bold(&count(all, noun));
    let more = match all.saturating_sub(SHOWN) {
        0 => Line::new(),
        more => Line::new().italic(&format!("… and {} more", number_of(more))),
    };
    Message { text: count(all, noun), blocks: vec![say(title.below(shown_lines).below(more))] }
}

pub(in crate::bot::show) fn session_line(line: &SessionLine) -> Line {
    let summary = &line.summary;
    let standing =
        summary.outcome.map_or_else(|| short(&summary.state, 20), |outcome| word(outcome.as_str()));
    let symptom = summary.symptom.as_deref().map_or_else(|| "(erased)".to_owned(), |text| prose(text, 120));
    let shown_lines = Line::new().link(line.link.as_deref(), &short(&summary.id, 64));
    shown_lines.text(&format!(" · {standing} · {symptom}"))
}

/// Returns a word of the contracts as people write it.
fn word(name: &str) -> String {
    name.replace('_', " ").to_lowercase()
}

/// Returns a question in a line.
pub(in crate::bot::show) fn pending_line(pending: &Pending, now: Timestamp) -> Line {
    let risk = pending.impact.as_str();
    let left = minutes(pending.until.since(now));
    let shown_lines = Line::new().link(pending.link.as_deref(), &short(&pending.session, 64));
    let shown_lines = shown_lines.text(&format!(" · {risk} · until ")).time(pending.until, "{time}");
    shown_lines.text(&format!(" (in {left}) · ")).code(&short(&pending.command, 120))
}
