//! The few blocks that we use.
//!
//! They are JSON and not the types of `slack-morphism`: a message is compared with the one that stands by its bytes, half of
//! the elements here are ones that those types hold as unknown, and every message of every test goes through the judge of
//! blocks anyway.

use serde_json::{Value, json};

use crate::bot::show::Person;
use crate::bot::show::amount::clock;
use crate::bot::show::text::{head, short};
use ghost_base::Timestamp;

/// The limit of a button's text, and of a value.
const BUTTON: usize = 75;

/// Elements of rich text in a row. Their texts are not interpreted, whatever they hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Line(Vec<Value>);

impl Line {
    pub(super) fn new() -> Self {
        Self::default()
    }

    fn styled(mut self, text: &str, style: Value) -> Self {
        if !text.is_empty() {
            let mut element = json!({ "type": "text", "text": text });
            if let Some(object) = element.as_object_mut().filter(|_| !style.is_null()) {
                object.insert("style".to_owned(), style);
            }
            self.0.push(element);
        }
        self
    }

    pub(super) fn text(self, text: &str) -> Self {
        self.styled(text, Value::Null)
    }

    pub(super) fn bold(self, text: &str) -> Self {
        self.styled(text, json!({ "bold": true }))
    }

    pub(super) fn italic(self, text: &str) -> Self {
        self.styled(text, json!({ "italic": true }))
    }

    pub(super) fn strike(self, text: &str) -> Self {
        self.styled(text, json!({ "strike": true }))
    }

    pub(super) fn code(self, text: &str) -> Self {
        self.styled(text, json!({ "code": true }))
    }

    /// Adds a sentence in which commands stand between backticks.
    pub(super) fn sentence(self, text: &str) -> Self {
        if text.matches('`').count() % 2 == 1 {
            return self.text(text);
        }
        text.split('`').enumerate().fold(self, |line, (at, part)| match (part.is_empty(), at % 2) {
            (true, _) => line,
            (false, 0) => line.text(part),
            (false, _) => line.code(part),
        })
    }

    pub(super) fn person(mut self, person: &Person) -> Self {
        match person.member() {
            Some(id) => {
                self.0.push(json!({ "type": "user", "user_id": id }));
                self
            }
            None => self.text(&person.name()),
        }
    }

    /// Adds a group of people; what is no identifier of one is shown as it is.
    pub(super) fn group(mut self, id: &str) -> Self {
        let form = id.starts_with('S')
            && id.len() <= 40
            && id.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
        if !form {
            return self.text(&short(id, 60));
        }
        self.0.push(json!({ "type": "usergroup", "usergroup_id": id }));
        self
    }

    /// Adds a time of the day, in the zone of whoever reads it.
    pub(super) fn time(mut self, at: Timestamp, format: &str) -> Self {
        let seconds = at.as_millis().div_euclid(1000).max(0);
        let fallback = clock(at);
        self.0.push(json!({ "type": "date", "timestamp": seconds, "format": format, "fallback": fallback }));
        self
    }

    /// Adds a link; where the address is none, its text alone.
    pub(super) fn link(mut self, url: Option<&str>, text: &str) -> Self {
        match url.filter(|url| is_address(url)) {
            Some(url) => {
                self.0.push(json!({ "type": "link", "url": url, "text": text }));
                self
            }
            None => self.text(text),
        }
    }

    /// Adds another line below.
    pub(super) fn below(mut self, other: Self) -> Self {
        if !self.0.is_empty() && !other.0.is_empty() {
            self = self.text("\n");
        }
        self.0.extend(other.0);
        self
    }

    /// Adds what follows on the same line.
    pub(super) fn then(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Returns lines that each begin with a bold label.
pub(super) fn labeled_lines(facts: &[(&str, String)]) -> Line {
    lines(facts.iter().map(|(label, text)| Line::new().bold(label).text("  ").text(text)))
}

/// Puts lines below each other.
pub(super) fn lines(lines: impl IntoIterator<Item = Line>) -> Line {
    lines.into_iter().fold(Line::new(), Line::below)
}

/// Tells whether an address may stand in a link.
pub(super) fn is_address(url: &str) -> bool {
    let web = url.starts_with("https://") || url.starts_with("http://");
    web && url.len() <= 3000 && !url.contains(|char: char| char.is_whitespace() || char.is_control())
}

/// A part of rich text.
pub(super) fn section(line: Line) -> Value {
    json!({ "type": "rich_text_section", "elements": line.0 })
}

pub(super) fn quote(line: Line) -> Value {
    json!({ "type": "rich_text_quote", "elements": line.0 })
}

/// A code block. It is never empty.
pub(super) fn pre(text: &str) -> Value {
    let text = if text.is_empty() { " " } else { text };
    json!({ "type": "rich_text_preformatted", "elements": [{ "type": "text", "text": text }] })
}

/// A block of rich text.
pub(super) fn rich(parts: Vec<Value>) -> Value {
    json!({ "type": "rich_text", "elements": parts })
}

/// A block of one line of rich text.
pub(super) fn say(line: Line) -> Value {
    rich(vec![section(line)])
}

/// A line in small print.
pub(super) fn small(text: &str) -> Value {
    let (text, _) = head(text, 2000);
    let text = if text.is_empty() { " " } else { text };
    json!({ "type": "context", "elements": [{ "type": "plain_text", "text": text, "emoji": false }] })
}

/// What a plan says of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskStatus {
    InProgress,
    Complete,
    Failed,
}

impl TaskStatus {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Complete => "complete",
            Self::Failed => "error",
        }
    }
}

/// A task of a plan, and what came of it.
pub(super) fn task(id: &str, title: &str, status: TaskStatus, output: Line) -> Value {
    let mut card =
        json!({ "type": "task_card", "task_id": id, "title": short(title, 200), "status": status.word() });
    if let Some(object) = card.as_object_mut().filter(|_| !output.is_empty()) {
        object.insert("output".to_owned(), say(output));
    }
    card
}

/// A plan: tasks below a title.
pub(super) fn plan(title: &str, tasks: Vec<Value>) -> Value {
    json!({ "type": "plan", "title": short(title, 200), "tasks": tasks })
}

/// A heading.
pub(super) fn header(text: &str) -> Value {
    json!({ "type": "header", "text": plain_text(&short(text, 150)) })
}

/// A line between parts.
pub(super) fn divider() -> Value {
    json!({ "type": "divider" })
}

/// A block of Markdown.
pub(super) fn markdown(text: &str) -> Value {
    json!({ "type": "markdown", "text": text })
}

/// A text without any format.
pub(super) fn plain_text(text: &str) -> Value {
    let text = if text.is_empty() { " " } else { text };
    json!({ "type": "plain_text", "text": text, "emoji": false })
}

/// The style of a button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// As all others.
    Normal,
    /// As the one that is meant.
    Primary,
    /// As one that ends something.
    Danger,
}

/// A button; `value` is an identifier of ours. A screen reader reads its text.
pub(super) fn button(action: &str, text: &str, value: &str, tone: Tone, confirm: Option<Value>) -> Value {
    labeled(action, text, text.trim_end_matches('…'), value, tone, confirm)
}

/// A button whose label says to a screen reader what the button is about.
pub(super) fn labeled(
    action: &str,
    text: &str,
    label: &str,
    value: &str,
    tone: Tone,
    confirm: Option<Value>,
) -> Value {
    let (text, value) = (head(text, BUTTON).0, head(value, 2000).0);
    let mut button = json!({
        "type": "button", "action_id": action, "text": plain_text(text),
        "accessibility_label": short(label, BUTTON), "value": value,
    });
    if let Some(object) = button.as_object_mut() {
        match tone {
            Tone::Normal => {}
            Tone::Primary => drop(object.insert("style".to_owned(), "primary".into())),
            Tone::Danger => drop(object.insert("style".to_owned(), "danger".into())),
        }
        if let Some(confirm) = confirm {
            object.insert("confirm".to_owned(), confirm);
        }
    }
    button
}

/// A row of buttons.
pub(super) fn actions(buttons: Vec<Value>) -> Value {
    json!({ "type": "actions", "elements": buttons })
}

/// A row of buttons of a message that is drawn anew: it keeps its name, so that a press that crosses that arrives.
pub(super) fn named_actions(name: &str, buttons: Vec<Value>) -> Value {
    json!({ "type": "actions", "block_id": name, "elements": buttons })
}

/// A question before a button acts.
pub(super) fn confirm(title: &str, text: &str, yes: &str, no: &str, tone: Tone) -> Value {
    let mut confirm = json!({
        "title": plain_text(head(title, 100).0),
        "text": plain_text(head(text, 300).0),
        "confirm": plain_text(head(yes, 30).0),
        "deny": plain_text(head(no, 30).0),
    });
    let style = match tone {
        Tone::Normal => None,
        Tone::Primary => Some("primary"),
        Tone::Danger => Some("danger"),
    };
    if let (Some(object), Some(style)) = (confirm.as_object_mut(), style) {
        object.insert("style".to_owned(), style.into());
    }
    confirm
}
