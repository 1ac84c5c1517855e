//! An alert that opened a session: the message that its thread hangs on, and what its sender said later. All of its words are data.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, labeled_lines, pre, rich, say, small};
use crate::bot::show::text::{escape, paragraph, prose};
use ghost_investigate::event::{AlertStatus, Alerted};
use ghost_investigate::recheck;
use ghost_investigate::state::State;

/// How much of the words stands there.
const TEXT: usize = 1_500;

/// How much of a title does.
const TITLE: usize = 200;

/// How many links do.
const LINKS: usize = 3;

/// How much of what the sender says later stands in the thread; the rest is counted above.
const MAX_NEWS: usize = 10;

/// Draws the message: what the alert says, since when, and where its sender sees it.
#[must_use]
pub fn alert(state: &State) -> Option<Message> {
    let alert = state.opened.alert.as_ref()?;
    let title = prose(&alert.title, TITLE);
    let mut blocks = vec![say(Line::new().bold("Alert").text(": ").text(&title))];
    let (text, left) = paragraph(alert.text.trim(), TEXT);
    let text = if left > 0 { format!("{text}… ({left} more characters)") } else { text };
    if !text.is_empty() {
        blocks.push(rich(vec![pre(&text)]));
    }
    let mut facts = vec![("From", format!("{} ({})", prose(&alert.source, 60), alert.sender))];
    facts.extend(alert.severity.as_ref().map(|severity| ("Severity", prose(severity, 60))));
    facts.extend(alert.started_at.as_ref().map(|since| ("Since", prose(since, 60))));
    let alerts = state.alerts.last().map_or(alert.alerts, |(_, last)| last.alerts);
    facts.extend((alerts > 1).then(|| ("Alerts", alerts.to_string())));
    facts.push(("Group", prose(&alert.group, 200)));
    blocks.push(say(labeled_lines(&facts)));
    let links = alert.links.iter().take(LINKS).enumerate();
    let links = links.fold(Line::new(), |line, (at, url)| {
        let line = if at > 0 { line.text(" · ") } else { line };
        line.link(Some(url), &format!("Source {}", at + 1))
    });
    if !links.is_empty() {
        blocks.push(say(links));
    }
    let status = state.alerts.last().map_or(AlertStatus::Firing, |(_, last)| last.status);
    blocks.push(say(standing(status)));
    blocks.push(small(&format!(
        "Session {} · begun by the alert; what could change something waits for a person",
        state.session
    )));
    let text = format!("Alert from {}: {}", escape(&prose(&alert.source, 60)), escape(&title));
    Some(Message { text, blocks })
}

fn standing(status: AlertStatus) -> Line {
    match status {
        AlertStatus::Firing => Line::new().text("▸ ").bold("firing"),
        AlertStatus::Resolved => Line::new().text("✔ ").bold("resolved").text(", says its sender"),
    }
}

/// Returns what the sender said later, each with its number.
#[must_use]
pub fn alert_news(state: &State) -> Vec<(usize, Message)> {
    let news = state.alerts.iter().enumerate().take(MAX_NEWS);
    news.map(|(at, (_, alerted))| (at + 1, message(state, alerted))).collect()
}

fn message(state: &State, alerted: &Alerted) -> Message {
    let what = prose(&alerted.text, 300);
    let (words, follows) = match alerted.status {
        AlertStatus::Firing => (format!("The sender says more: {} firing now.", count(alerted.alerts)), ""),
        AlertStatus::Resolved => ("The sender says that it is resolved.".to_owned(), follows(state)),
    };
    let mut blocks = vec![say(Line::new().text(&words).text(follows))];
    if !what.is_empty() {
        blocks.push(rich(vec![pre(&what)]));
    }
    Message { text: format!("{words}{follows}"), blocks }
}

fn count(alerts: u64) -> String {
    if alerts == 1 { "1 alert is".to_owned() } else { format!("{alerts} alerts are") }
}

/// Says what a resolved alert leads to.
fn follows(state: &State) -> &'static str {
    match recheck::possible(state) {
        Ok(()) | Err(recheck::Refused::Running) => " I look again at what was broken.",
        Err(recheck::Refused::AtWork) => " I am still at work here; then I look again at what was broken.",
        Err(recheck::Refused::NothingFound) => {
            " The report had found no fault, so there is nothing to look at again."
        }
    }
}
