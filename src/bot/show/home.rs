//! The Home tab: what waits for me, what runs, what came out.

use serde_json::{Value, json};

use crate::bot::Leftover;
use crate::bot::show::amount::{minutes, number_of};
use crate::bot::show::answer::{pending_line, session_line};
use crate::bot::show::block::{Line, Tone, actions, button, confirm, divider, header, lines, say, small};
use crate::bot::show::board::notice;
use crate::bot::show::text::{prose, short};
use crate::bot::show::{Frozen, Pending, People, RenderContext, SessionLine};
use ghost_base::Timestamp;

/// So many entries of a list are shown.
const SHOWN: usize = 10;

/// What the Home tab of one person shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Home {
    /// Questions that this person may answer.
    pub approvals: Vec<Pending>,
    /// Sessions that run.
    pub sessions: Vec<SessionLine>,
    /// Sessions that ended lately.
    pub reports: Vec<SessionLine>,
    /// What an operator should know, in our own words: one identity for reading and acting, for instance.
    pub warnings: Vec<String>,
    /// Captures that dead sessions left behind.
    pub captures: Vec<Leftover>,
    /// Whether every new command is held back.
    pub frozen: Option<Frozen>,
    /// Whether this person may freeze and thaw.
    pub may_freeze: bool,
    pub people: People,
}

/// Returns the view of the Home tab.
#[must_use]
pub fn home(home: &Home, now: Timestamp) -> Value {
    let mut blocks = Vec::new();
    if let Some(frozen) = &home.frozen {
        let context = RenderContext { people: home.people.clone(), ..RenderContext::default() };
        blocks.push(say(notice(frozen, &context)));
    }
    if home.may_freeze {
        let toggle = match home.frozen {
            Some(_) => button("thaw", "Thaw", "all", Tone::Normal, None),
            None => button("freeze", "Freeze…", "all", Tone::Danger, Some(sure())),
        };
        blocks.push(actions(vec![toggle]));
    }
    if !home.warnings.is_empty() {
        let shown_lines =
            home.warnings.iter().map(|warning| Line::new().text(&format!("▲ {}", prose(warning, 300))));
        blocks.push(list("Warnings", shown_lines, home.warnings.len()));
    }
    let pending = home.approvals.iter().map(|pending| pending_line(pending, now));
    blocks.push(header("Waiting for you"));
    blocks.push(body(pending, home.approvals.len(), "Nothing waits for your answer."));
    blocks.push(header("Running"));
    let running = home.sessions.iter().map(session_line);
    blocks.push(body(
        running,
        home.sessions.len(),
        "No session runs. Mention me in a channel with what is wrong.",
    ));
    blocks.push(header("Recent reports"));
    blocks.push(body(home.reports.iter().map(session_line), home.reports.len(), "No report yet."));
    if !home.captures.is_empty() {
        blocks.push(divider());
        blocks.push(header("Captures left behind"));
        for capture in home.captures.iter().take(SHOWN) {
            blocks.push(say(left_behind(capture, now)));
            blocks.push(actions(vec![button("clean_up", "Clean up…", &capture.name, Tone::Normal, None)]));
        }
        if let Some(more) = home.captures.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            blocks.push(say(Line::new().italic(&format!("… and {} more", number_of(more)))));
        }
        blocks.push(small("They belong to sessions that ended. Nothing is removed without an approval."));
    }
    json!({ "type": "home", "callback_id": "home", "blocks": blocks })
}

/// Says what is left behind, whose it is and how old.
fn left_behind(capture: &Leftover, now: Timestamp) -> Line {
    let of = format!(" of {}", short(&capture.machine, 80));
    let line = Line::new().bold(&short(&capture.name, 120)).text(&of).text(" · session ");
    let line = line.code(&short(capture.session.as_str(), 80)).text(" · began ");
    let line = line.time(capture.began, "{date_short_pretty} {time}");
    line.text(&format!(" ({} ago)", minutes(now.since(capture.began))))
}

fn list(title: &str, entries: impl Iterator<Item = Line>, all: usize) -> Value {
    say(Line::new().bold(title).below(shown_lines(entries, all)))
}

fn body(entries: impl Iterator<Item = Line>, all: usize, none: &str) -> Value {
    if all == 0 { say(Line::new().text(none)) } else { say(shown_lines(entries, all)) }
}

fn shown_lines(entries: impl Iterator<Item = Line>, all: usize) -> Line {
    let shown_lines = lines(entries.take(SHOWN));
    match all.saturating_sub(SHOWN) {
        0 => shown_lines,
        more => shown_lines.below(Line::new().italic(&format!("… and {} more", number_of(more)))),
    }
}

/// The question before everything is held back.
fn sure() -> serde_json::Value {
    confirm(
        "Freeze everything?",
        "No new command runs in any session until somebody thaws. What runs now goes on to its end.",
        "Freeze",
        "Cancel",
        Tone::Danger,
    )
}
