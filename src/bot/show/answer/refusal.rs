//! Why something was not done, to the person who wanted it.

use crate::bot::show::amount::clock;
use crate::bot::show::block::{Line, say};
use crate::bot::show::text::{escape, prose};
use crate::bot::show::{Frozen, Message, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::event::Reply;

/// Why a click or a word was not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody else has to decide; in words why.
    NotYours { why: String },
    /// Guests and people of other organizations decide nothing.
    Outsider,
    /// It was decided before.
    Decided {
        /// Who, as it was recorded.
        who: String,
        answer: Reply,
        /// When.
        at: Timestamp,
    },
    /// The same person voted before.
    Voted,
    /// It ran out.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// There is no such question any more.
    Gone,
    /// What is recorded of the session cannot be read: a later version wrote it, for instance.
    Unreadable {
        /// Where and why.
        why: String,
    },
    /// Everything is frozen.
    Frozen(Frozen),
    /// The channel may not look there.
    OutOfScope {
        /// What was asked about.
        what: String,
    },
    /// Who may do so could not be found out.
    Unverified,
    /// It could not be made durable.
    NotStored,
}

/// Returns the answer that only the person sees.
#[must_use]
pub fn refusal(refusal: &Refusal, context: &RenderContext) -> Message {
    let plain = |text: &str| (Line::new().text(text), escape(text));
    let (line, text) = match refusal {
        Refusal::NotYours { why } => plain(&format!("not yours to approve: {}", prose(why, 300))),
        Refusal::Outsider => {
            plain("not yours to approve: guests and people of other organizations decide nothing here")
        }
        Refusal::Decided { who, answer, at } => {
            let word = match answer {
                Reply::Approve => "approved",
                Reply::Deny { .. } => "denied",
                Reply::Modify { .. } => "changed",
            };
            let who = context.people.find(who);
            let line = Line::new().text("already decided by ").person(&who).text(&format!(": {word} at "));
            let text = format!("already decided by {}: {word} at {}", who.fallback(), clock(*at));
            (line.time(*at, "{time_secs}"), text)
        }
        Refusal::Voted => plain("your vote counted already; somebody else has to vote as well"),
        Refusal::Expired { at } => {
            let line = Line::new().text("expired at ").time(*at, "{time}").text("; nothing ran");
            (line, format!("expired at {}; nothing ran", clock(*at)))
        }
        Refusal::Gone => plain("this question is closed; nothing was done"),
        Refusal::Unreadable { why } => plain(&format!(
            "what is recorded of this session cannot be read here, and nothing was done: {}",
            prose(why, 300)
        )),
        Refusal::Frozen(frozen) => {
            let who = context.people.find(&frozen.by);
            let reason = prose(&frozen.reason, 300);
            let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
            let line = Line::new().text("frozen by ").person(&who).text(" at ").time(frozen.at, "{time}");
            let text = format!("frozen by {} at {}{}", who.fallback(), clock(frozen.at), escape(&reason));
            (line.text(&reason), text)
        }
        Refusal::OutOfScope { what } => {
            plain(&format!("outside this channel's scope: {}; nothing was asked", prose(what, 200)))
        }
        Refusal::Unverified => {
            plain("whether you may could not be found out, so the answer is no; try again")
        }
        Refusal::NotStored => plain("it could not be stored, so it does not count; try again"),
    };
    Message { text, blocks: vec![say(line)] }
}
