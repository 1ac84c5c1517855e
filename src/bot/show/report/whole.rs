//! The report of a session.

use serde_json::{Value, json};

use crate::bot::show::amount::{count, minutes};
use crate::bot::show::block::{Line, Tone, actions, button, lines, markdown, plain_text, say};
use crate::bot::show::report::split::split;
use crate::bot::show::text::{escape, length, prose};
use crate::bot::show::{File, Message, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::recheck::{Verdict, verdict};
use ghost_investigate::report::{self, Answer, answer, measurement_charts, path, rca};
use ghost_investigate::state::State;

/// How much Markdown one message holds; Slack takes 12,000.
const PART: usize = 11_500;

/// So many messages a button shows; what is behind stands in the file.
const MESSAGES: usize = 5;

/// How long the answer may be in a notification.
const FALLBACK: usize = 600;

/// A report, ready to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The answer. Its text begins with `Root cause`, `No fault found` or `Inconclusive`; everything else is in the files and behind
    /// its buttons.
    pub answer: Message,
    /// What goes with it: `rca.md`. The audit is the caller's.
    pub files: Vec<File>,
    /// What the channel may get.
    pub broadcast: Message,
}

/// Returns the report of a session.
#[must_use]
pub fn report(state: &State, context: &RenderContext, now: Timestamp) -> Report {
    let answer = answer(state);
    let mut files = vec![File {
        name: "rca.md".to_owned(),
        title: "The whole report".to_owned(),
        alt: Some(format!("Report: {}", answer.title())),
        bytes: rca(state).into_bytes(),
    }];
    files.extend(path::picture(state).map(|bytes| File {
        name: "path.png".to_owned(),
        title: "The path between the machines".to_owned(),
        alt: Some(path::description(state)),
        bytes,
    }));
    files.extend(measurement_charts(state).into_iter().map(|picture| File {
        name: picture.file,
        title: picture.title,
        alt: Some(picture.alt),
        bytes: picture.bytes,
    }));
    Report { answer: message(state, &answer), files, broadcast: broadcast(state, context, &answer, now) }
}

/// Returns the one message behind a later look that left the report as it was; nothing where there is a report of its own.
#[must_use]
pub fn stands(state: &State) -> Option<Message> {
    let why = state.stands()?;
    let title = ended(&format!("The answer above stands: {}", answer(state).title()));
    let line = Line::new().bold(&title).text(&format!(" {}", ended(&prose(why, FALLBACK))));
    let mut blocks = vec![say(line)];
    blocks.extend(buttons(state));
    Some(Message { text: escape(&prose(&title, FALLBACK)), blocks })
}

fn message(state: &State, answer: &Answer) -> Message {
    let mut blocks = vec![say(spoken(answer))];
    let below = answer
        .lines
        .iter()
        .map(|line| Line::new().bold(&format!("{}:", line.label)).text(&format!(" {}", line.text)));
    let below = lines(below);
    blocks.extend((!below.is_empty()).then(|| say(below)));
    blocks.extend(buttons(state));
    blocks.push(feedback(state));
    Message { text: fallback(answer), blocks }
}

/// Returns the answer as it is said: what is wrong stands out.
fn spoken(answer: &Answer) -> Line {
    let line = Line::new().bold(&ended(&answer.title()));
    if answer.action.is_empty() { line } else { line.text(&format!(" {}", answer.action)) }
}

fn ended(text: &str) -> String {
    if text.ends_with(['.', '?', '!']) { text.to_owned() } else { format!("{text}.") }
}

fn fallback(answer: &Answer) -> String {
    let whole = format!("{} {}", ended(&answer.title()), answer.action);
    escape(&prose(whole.trim(), FALLBACK))
}

/// Returns the buttons below an answer; none while the session runs.
fn buttons(state: &State) -> Option<Value> {
    let (_, concluded) = state.concluded.as_ref()?;
    let id = state.session.as_str();
    let mut row = Vec::new();
    row.extend(
        (!concluded.actions.is_empty()).then(|| button("steps", "How to fix it", id, Tone::Normal, None)),
    );
    row.extend(
        (!state.observations.is_empty()).then(|| button("evidence", "Evidence", id, Tone::Normal, None)),
    );
    row.extend(check_again(state));
    row.push(button("audit", "Audit", id, Tone::Normal, None));
    row.push(button("postmortem", "Post-mortem", id, Tone::Normal, None));
    Some(actions(row))
}

/// Returns what is to be done, in steps, for one person; several messages where it is long.
#[must_use]
pub fn steps(state: &State) -> Vec<Message> {
    parts("How to fix it", &report::steps(state))
}

/// Returns what shows each fault, and what was read, for one person.
#[must_use]
pub fn evidence(state: &State) -> Vec<Message> {
    parts("Evidence", &report::evidence(state))
}

fn parts(title: &str, text: &str) -> Vec<Message> {
    let part = |part: &String| Message { text: title.to_owned(), blocks: vec![markdown(part)] };
    let parts = split(text, PART);
    let mut shown: Vec<Message> = parts.iter().take(MESSAGES).map(part).collect();
    let left: usize = parts.iter().skip(MESSAGES).map(|part| length(part)).sum();
    if let Some(last) = shown.last_mut().filter(|_| left > 0) {
        let more = format!("This goes on in rca.md: {}.", count(left, "more character"));
        last.blocks.push(say(Line::new().bold(&more)));
    }
    shown
}

/// Returns the button that has the findings checked again; nothing where there is none to be gone.
fn check_again(state: &State) -> Option<Value> {
    let faults = state.accepted.iter().any(|found| found.finding.code != "no_drift");
    let fixed = state
        .concluded
        .iter()
        .any(|(_, concluded)| !concluded.recheck.is_empty() && verdict(&concluded.recheck) == Verdict::Fixed);
    let again = button("recheck", "Fixed, check again", state.session.as_str(), Tone::Normal, None);
    (faults && !fixed && state.concluded.is_some()).then_some(again)
}

/// Returns the buttons that ask whether it helped.
fn feedback(state: &State) -> Value {
    let button = |text: &str, label: &str, word: &str| json!({ "text": plain_text(text), "accessibility_label": label, "value": format!("{word}:{}", state.session) });
    json!({ "type": "context_actions", "elements": [{
        "type": "feedback_buttons",
        "action_id": "feedback",
        "positive_button": button("Helped", "This answer helped", "yes"),
        "negative_button": button("Did not help", "This answer did not help", "no"),
    }] })
}

fn broadcast(state: &State, context: &RenderContext, answer: &Answer, now: Timestamp) -> Message {
    let ended = state.concluded.as_ref().map_or(now, |(at, _)| *at);
    let took = format!("{} · ", minutes(ended.since(state.opened_at)));
    let place = Line::new().text(&took).link(context.thread.as_deref(), "the answer in its thread");
    Message { text: fallback(answer), blocks: vec![say(spoken(answer).below(place))] }
}
