//! Offers with buttons: to join another session about the same, and to look at what a report does not answer.

use crate::bot::show::Message;
use crate::bot::show::block::{Line, Tone, actions, button, say};
use crate::bot::show::text::{escape, short};

/// Another session about the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What both are about.
    pub target: String,
    /// The other session.
    pub other: String,
    /// The session that was opened just now.
    pub own: String,
    /// Where the other one takes place.
    pub link: Option<String>,
}

#[must_use]
pub fn offer(offer: &Offer) -> Message {
    let (target, other) = (short(&offer.target, 80), short(&offer.other, 64));
    let line = Line::new().text("Session ").link(offer.link.as_deref(), &other).text(" is about ");
    let line = line.bold(&target).text(" as well, and still runs. This one has begun, too.");
    let value = format!("{} {}", offer.other, offer.own);
    let buttons = vec![
        button("join", "Join that one, end this one", &value, Tone::Primary, None),
        button("own", "Go on here", &value, Tone::Normal, None),
    ];
    let text = format!("Session {other} is about {} as well", escape(&target));
    Message { text, blocks: vec![say(line), actions(buttons)] }
}

/// The most bytes of words that a button carries.
const MAX_WORDS: usize = 1_800;

/// Says in one line that words behind a report began no work, and offers the look that they may mean.
#[must_use]
pub fn look_offer(session: &str, said: &str, question: &str) -> Message {
    let mut blocks = vec![say(Line::new().text(said))];
    let question = question.trim();
    if !question.is_empty() && question.len() <= MAX_WORDS {
        let value = format!("{session} {question}");
        blocks.push(actions(vec![button("look", "Look into it", &value, Tone::Primary, None)]));
    }
    Message { text: escape(said), blocks }
}

/// Says that somebody joined another session.
#[must_use]
pub fn joined(other: &str, link: Option<&str>) -> Message {
    let other = short(other, 64);
    let line = Line::new().text("Your words are in session ").link(link, &other).text("; this one ends.");
    Message { text: format!("Your words are in session {other}; this one ends."), blocks: vec![say(line)] }
}
