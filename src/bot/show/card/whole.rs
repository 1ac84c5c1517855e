//! Which card a question has, and the file beside it.

use crate::bot::show::card::subject::Subject;
use crate::bot::show::card::{closed, open};
use crate::bot::show::{File, Message, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::report::AskedAction;
use ghost_investigate::state::State;

/// Returns the card of a question; `None` where the session asked no such question.
///
/// A question that was decided, ran out, was replaced or outlived its session has a card without buttons.
#[must_use]
pub fn card(state: &State, approval: &str, context: &RenderContext, now: Timestamp) -> Option<Message> {
    let subject = Subject::find(state, approval)?;
    Some(match closed::settled(&subject, context, now) {
        Some(settled) => closed::draw(&subject, settled),
        None => open::draw(&subject, context, now),
    })
}

/// Returns what a question asks, in words; `None` where there is no such question.
pub(in crate::bot::show) fn asked(state: &State, approval: &str) -> Option<AskedAction> {
    Subject::find(state, approval).map(|subject| subject.action())
}

/// Returns everything that a question is about as text, and why it is wanted; `None` where there is no such question.
#[must_use]
pub fn asked_text(state: &State, approval: &str) -> Option<(String, String)> {
    let subject = Subject::find(state, approval)?;
    Some((subject.shown().into_owned(), subject.reasoning().to_owned()))
}

/// Returns the file that has to go with the card of a question, because the card cannot show everything; `None` where it
/// can.
#[must_use]
pub fn command_file(state: &State, approval: &str) -> Option<File> {
    let subject = Subject::find(state, approval)?;
    open::is_cut(&subject).then(|| {
        let (command, reasoning) = (subject.shown(), subject.reasoning());
        File {
            name: open::file_name(&subject),
            title: format!("The whole commands: {}", subject.action().what),
            alt: Some("The exact commands of the card below, and why they are wanted".to_owned()),
            bytes: format!("{command}\n\n--- why ---\n{reasoning}\n").into_bytes(),
        }
    })
}
