//! The report of a session.

use serde_json::{Value, json};

use crate::bot::show::amount::{count, minutes};
use crate::bot::show::block::{Line, Tone, actions, button, lines, markdown, plain_text, say};
use crate::bot::show::report::split::split;
use crate::bot::show::text::{escape, length, prose};
use crate::bot::show::{File, Message, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::recheck::{Verdict, verdict};
use ghost_investigate::report::{headline, measurement_charts, path, rca};
use ghost_investigate::state::State;

/// How much Markdown one message holds; Slack takes 12,000.
const PART: usize = 11_500;

/// So many messages tell a report; what is behind stands in the file.
const MESSAGES: usize = 5;

/// So many findings stand in the line for the channel.
const FINDINGS: usize = 3;

/// A report, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What the thread gets, in order. The text of the first begins with `Root cause`, `No fault found` or `Inconclusive`.
    pub messages: Vec<Message>,
    /// What goes with them: `rca.md`. The audit is the caller's.
    pub files: Vec<File>,
    /// What the channel may get.
    pub broadcast: Message,
}

/// Returns the report of a session.
#[must_use]
pub fn report(state: &State, context: &RenderContext, now: Timestamp) -> Report {
    let whole = rca(state);
    let headline = headline(state);
    let parts = split(&whole, PART);
    let total = parts.len();
    let sent = total.min(MESSAGES);
    let mut messages = Vec::new();
    for (number, part) in (1..).zip(parts.iter().take(MESSAGES)) {
        let text = if number == 1 {
            format!("{headline} · session {}", state.session)
        } else {
            format!("Report of session {}, part {number} of {sent}", state.session)
        };
        let mut blocks = vec![markdown(part)];
        if number == sent {
            let left: usize = parts.iter().skip(MESSAGES).map(|part| length(part)).sum();
            blocks.extend((left > 0).then(|| {
                let more = format!("The report goes on in rca.md: {}.", count(left, "more character"));
                say(Line::new().bold(&more))
            }));
            blocks.extend(check_again(state));
            blocks.push(feedback(state));
        }
        messages.push(Message { text, blocks });
    }
    let title = format!("Report of session {}", state.session);
    let mut files = vec![File { name: "rca.md".to_owned(), title, alt: None, bytes: whole.into_bytes() }];
    files.extend(path::picture(state).map(|bytes| File {
        name: "path.png".to_owned(),
        title: format!("The way between the machines, session {}", state.session),
        alt: Some(path::description(state)),
        bytes,
    }));
    files.extend(measurement_charts(state).into_iter().map(|picture| File {
        name: picture.file,
        title: picture.title,
        alt: Some(picture.alt),
        bytes: picture.bytes,
    }));
    Report { messages, files, broadcast: broadcast(state, context, &headline, now) }
}

/// Returns the button that has the findings checked again; nothing where there is none to be gone.
fn check_again(state: &State) -> Option<Value> {
    let faults = state.accepted.iter().any(|found| found.finding.code != "no_drift");
    let fixed = state
        .concluded
        .iter()
        .any(|(_, concluded)| !concluded.recheck.is_empty() && verdict(&concluded.recheck) == Verdict::Fixed);
    let again = button("recheck", "Fixed, check again", state.session.as_str(), Tone::Normal, None);
    (faults && !fixed && state.concluded.is_some()).then(|| actions(vec![again]))
}

/// Returns the buttons that ask whether it helped.
fn feedback(state: &State) -> Value {
    let button = |text: &str, word: &str| json!({ "text": plain_text(text), "value": format!("{word}:{}", state.session) });
    json!({ "type": "context_actions", "elements": [{
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": button("Helped", "yes"),
        "negative_button": button("Did not help", "no"),
    }] })
}

fn broadcast(state: &State, context: &RenderContext, headline: &str, now: Timestamp) -> Message {
    let symptom = prose(&state.opened.symptom, 200);
    let title = Line::new().bold(headline).text(&format!(" · {symptom}"));
    let findings = state.accepted.iter().take(FINDINGS).map(|found| {
        let statement = prose(&found.finding.statement, 300);
        Line::new().text(&format!("• {statement}"))
    });
    let more = state.accepted.len().saturating_sub(FINDINGS);
    let more = (more > 0).then(|| Line::new().italic(&format!("… and {}", count(more, "more finding"))));
    let ended = state.concluded.as_ref().map_or(now, |(at, _)| *at);
    let took = format!("Session {} · {} · ", state.session, minutes(ended.since(state.opened_at)));
    let place = Line::new().text(&took).link(context.thread.as_deref(), "report in the thread");
    let shown_lines = lines([title].into_iter().chain(findings).chain(more).chain([place]));
    Message { text: format!("{headline} · {}", escape(&symptom)), blocks: vec![say(shown_lines)] }
}
