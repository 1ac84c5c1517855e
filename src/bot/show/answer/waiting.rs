//! Answers while a session waits for a person, and when it is stopped.

use crate::bot::show::Message;
use crate::bot::show::activity::{Activity, activity};
use crate::bot::show::amount::clock;
use crate::bot::show::block::{Line, say};
use crate::bot::show::card::asked;
use crate::bot::show::text::escape;
use ghost_base::Timestamp;
use ghost_investigate::state::State;

/// A question that a session waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// What it asks, as an order: `Record packets on web-1 for 30 s`.
    pub what: String,
    /// From then on the answer is no.
    pub until: Timestamp,
    /// Where its card stands.
    pub link: Option<String>,
}

impl Waiting {
    /// Describes the question that a session waits for.
    #[must_use]
    pub fn of(state: &State, approval: &str, link: Option<String>) -> Option<Self> {
        let until = state.approvals.get(approval)?.requested.expires_at;
        Some(Self { what: asked(state, approval)?.what, until, link })
    }

    fn line(&self, line: Line) -> Line {
        let line = line.bold(&format!("\"{}\"", self.what)).text(" until ").time(self.until, "{time}");
        line.text(". ").link(self.link.as_deref(), "The card")
    }
}

/// Says that words were noted while it waits.
#[must_use]
pub fn noted(waiting: &Waiting) -> Message {
    let line = waiting.line(Line::new().text("Noted. I am waiting for a decision on "));
    let text =
        format!("Noted. I am waiting for a decision on \"{}\" until {}.", waiting.what, clock(waiting.until));
    Message { text: escape(&text), blocks: vec![say(line.text(" has the buttons."))] }
}

/// Says why what was typed is no consent, and where the card is.
#[must_use]
pub fn typing_is_no_consent(waiting: &Waiting) -> Message {
    let why = "Typing is no consent. Only the buttons on the card decide: the card shows exactly what would run, and Slack says who pressed. ";
    let line = waiting.line(Line::new().text(why).text("I am waiting for a decision on "));
    let text =
        format!("{why}I am waiting for a decision on \"{}\" until {}.", waiting.what, clock(waiting.until));
    Message { text: escape(&text), blocks: vec![say(line.text(" is in this thread."))] }
}

/// Says what a stop ends, and what it leaves.
#[must_use]
pub fn stopping(state: &State, waiting: Option<&Waiting>) -> Message {
    let doing = match (waiting, activity(state)) {
        (Some(waiting), _) => format!(
            "I was waiting for a decision on \"{}\". That question is withdrawn, and nothing of it runs.",
            waiting.what
        ),
        (None, Activity::Doing(doing)) => {
            format!("I was {doing}. A command that runs now still ends by itself.")
        }
        (None, Activity::Waiting | Activity::Stuck | Activity::Over) => "Nothing was running.".to_owned(),
    };
    let text = format!("Stopping. {doing} My answer will say what I found so far and what is left behind.");
    Message { text: escape(&text), blocks: vec![say(Line::new().text(&text))] }
}
