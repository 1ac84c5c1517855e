//! Which passages of a thread are the complaint.

use crate::bot::complaint::message::{ThreadMessage, unread};
use ghost_investigate::complaint::{Outline, corrected, outline};
use ghost_investigate::event::{Gathered, Passage, PassagePlace, Quote, Unread};
use ghost_session::alert::{PostedStatus, posted};

/// A complaint of more bytes is none of a person; what comes later is left as quotes.
const MAX_COMPLAINT_BYTES: usize = 6_000;

/// Of one passage this much is taken, so that a long log leaves room for words.
const MAX_PASSAGE_BYTES: usize = 2_500;

/// At most this many passages make a complaint.
const MAX_PASSAGES: usize = 12;

/// A complaint, and where it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::bot) struct ThreadComplaint {
    /// What is investigated.
    pub(in crate::bot) symptom: String,
    pub(in crate::bot) gathered: Gathered,
    /// What else was said, oldest first.
    pub(in crate::bot) quotes: Vec<Quote>,
    /// What the complaint names, so far.
    pub(in crate::bot) outline: Outline,
}

impl ThreadComplaint {
    /// True if there is something to look at: a flow, or at least something that may name one.
    #[must_use]
    pub(in crate::bot) fn is_complaint(&self) -> bool {
        self.outline.is_whole()
            || self.outline.adds()
            || (self.outline.topic.needs_estate() && !self.outline.is_bare)
    }
}

/// What is chosen so far.
struct Choice {
    passages: Vec<Passage>,
    bytes: usize,
}

impl Choice {
    fn push(&mut self, passage: &Passage) -> bool {
        let left = MAX_COMPLAINT_BYTES.saturating_sub(self.bytes).min(MAX_PASSAGE_BYTES);
        let text = cut(&passage.text, left);
        if text.is_empty() || self.passages.len() >= MAX_PASSAGES {
            return false;
        }
        if self.passages.iter().any(|known| known.text == text) {
            return true;
        }
        self.bytes += text.len();
        self.passages.push(Passage { text: text.to_owned(), ..passage.clone() });
        true
    }

    fn outline(&self) -> Outline {
        outline(&text_of(&self.passages))
    }

    fn is_whole(&self) -> bool {
        self.outline().is_whole()
    }
}

/// Puts a complaint together: from the mention, and as far as that says too little from `around` it, oldest first. `left_out` counts
/// messages that were not read; `has_scope` says whether files may be fetched.
#[must_use]
pub(in crate::bot) fn compose(
    mention: &ThreadMessage,
    around: &[ThreadMessage],
    left_out: u64,
    has_scope: bool,
) -> ThreadComplaint {
    let mut choice = Choice { passages: Vec::new(), bytes: 0 };
    for text in mention.texts.iter().filter(|text| !text.is_preview) {
        choice.push(&text.passage);
    }
    let from_mention = choice.passages.len();
    // "It works from web-2" in a mention is no complaint; the thread has one.
    if !choice.is_whole() {
        let own = choice.outline();
        take(&mut choice, &own, around, false);
        if !choice.is_whole() {
            take(&mut choice, &own, around, true);
        }
    }
    let is_thread = choice.passages.len() > from_mention;
    let brought = choice.passages.iter().any(|passage| passage.place != PassagePlace::Mention);
    let mut not_read: Vec<Unread> = mention.unread.iter().map(|part| unread(part, has_scope)).collect();
    if is_thread {
        let messages = around.iter().filter(|message| message.texts.is_empty() || uses(&choice, message));
        not_read.extend(messages.flat_map(|message| &message.unread).map(|part| unread(part, has_scope)));
    } else if !choice.is_whole() {
        not_read
            .extend(around.iter().flat_map(|message| &message.unread).map(|part| unread(part, has_scope)));
    }
    not_read.dedup();
    if left_out > 0 && (from_mention == 0 || is_thread) {
        not_read.push(Unread::Older { messages: left_out });
    }
    let quotes = around
        .iter()
        .filter(|message| !message.texts.is_empty() && !uses(&choice, message))
        .map(|message| Quote { who: message.who.clone(), text: message.text() })
        .collect();
    let symptom = text_of(&choice.passages);
    let outline = choice.outline();
    let passages = if brought { choice.passages } else { Vec::new() };
    ThreadComplaint { symptom, gathered: Gathered { passages, unread: not_read }, quotes, outline }
}

fn uses(choice: &Choice, message: &ThreadMessage) -> bool {
    message.texts.iter().any(|text| {
        choice.passages.iter().any(|passage| passage.at == text.passage.at && passage.who == text.passage.who)
    })
}

/// Words that only ask somebody to look say nothing beside a complaint.
fn text_of(passages: &[Passage]) -> String {
    let says = |passage: &&Passage| passages.len() == 1 || !outline(&passage.text).is_bare;
    passages.iter().filter(says).map(|passage| passage.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Takes from the messages of people, or of programs, newest first, until somebody has said who fails to reach whom.
fn take(choice: &mut Choice, own: &Outline, around: &[ThreadMessage], by_program: bool) {
    let of_kind = |message: &&ThreadMessage| message.by_program == by_program;
    // What is over counts only if nothing else is there.
    for is_over in [false, true] {
        let mut later: Vec<&str> = Vec::new();
        for message in around.iter().rev().filter(of_kind) {
            let text = message.text();
            if by_program && is_resolved(message, &text) != is_over || !by_program && is_over {
                continue;
            }
            let mut whole = false;
            for part in message.texts.iter().filter(|part| !part.is_preview) {
                let read = outline(&part.passage.text);
                let is_brought = part.passage.place == PassagePlace::Forwarded;
                if !(read.is_whole() || read.adds() || is_brought && !read.is_bare) {
                    continue;
                }
                let passage = Passage {
                    text: amended(&part.passage.text, own, choice, &later),
                    ..part.passage.clone()
                };
                choice.push(&passage);
                whole |= read.is_whole();
            }
            if whole || choice.is_whole() {
                return;
            }
            if let Some(part) = message.texts.first() {
                later.push(&part.passage.text);
            }
        }
        if choice.is_whole() || !by_program {
            return;
        }
    }
}

/// Applies what was said later to an earlier complaint: "sorry, I meant port 8080", or a mention that names another port.
fn amended(text: &str, own: &Outline, choice: &mut Choice, later: &[&str]) -> String {
    let mut text = text.to_owned();
    for correction in later.iter().rev() {
        if let Some(better) = corrected(&text, correction) {
            choice.passages.retain(|passage| passage.text != **correction);
            text = better;
        }
    }
    if let ([port], true) = (own.ports.as_slice(), own.ends.is_empty())
        && let Some(better) = corrected(&text, &format!("I meant port {port}"))
    {
        text = better;
    }
    text
}

fn is_resolved(message: &ThreadMessage, text: &str) -> bool {
    posted(&message.who, text, &[]).is_some_and(|posted| posted.status == PostedStatus::Resolved)
}

/// Cuts a text at the end of a line, or where a character ends.
fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let kept = text.get(..end).unwrap_or_default();
    kept.rfind('\n').filter(|at| *at > most / 2).and_then(|at| kept.get(..at)).unwrap_or(kept)
}
