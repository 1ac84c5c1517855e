//! The card after the end of its question: no buttons, who, when, and what happened next.

use crate::bot::show::amount::{clock, count};
use crate::bot::show::block::{Line, lines, pre, quote, rich, say, section, small};
use crate::bot::show::card::subject::Subject;
use crate::bot::show::card::{open, outcome};
use crate::bot::show::text::{command, escape, paragraph, prose, short};
use crate::bot::show::{Deciding, Message, Person, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::event::Reply;
use ghost_investigate::state::{Ending, Phase};

/// How much of a command stands on a card that asks nothing any more.
const COMMAND: usize = 500;

/// How much of a reason does.
const REASON: usize = 1_000;

/// How a question ended, in words.
pub(super) struct Settled {
    title: Line,
    /// The same for the fallback, escaped.
    text: String,
    /// What a human said about it.
    reason: Option<String>,
    /// What happened next.
    next: String,
}

/// Tells how a question ended; `None` where it is open.
pub(super) fn settled(subject: &Subject<'_>, context: &RenderContext, now: Timestamp) -> Option<Settled> {
    let nothing = || outcome::refused(subject).to_owned();
    match &subject.approval.ending {
        Some(Ending::Decided { answer, who, at }) => {
            Some(decided(subject, answer, &context.people.find(who), *at))
        }
        Some(Ending::Expired { .. }) if outcome::is_doubted(subject) => {
            let next = "Whether the command ran is not known; asked again.".to_owned();
            Some(without("Closed", ", the store lost its last writes", next))
        }
        Some(Ending::Expired { .. }) => Some(expired(subject)),
        None if subject.state.concluded.is_some() && !subject.state.is_behind_result(subject.step) => {
            Some(without("Withdrawn", ", the session is over", nothing()))
        }
        None if subject.step.phase != (Phase::AwaitingApproval { approval: subject.name.to_owned() }) => {
            Some(without("Replaced", ", the session went on without an answer", nothing()))
        }
        None => match &context.deciding {
            Some(deciding) => Some(being_decided(deciding, context)),
            None if subject.approval.requested.expires_at <= now => Some(expired(subject)),
            None => None,
        },
    }
}

fn without(title: &str, rest: &str, next: String) -> Settled {
    Settled { title: Line::new().bold(title).text(rest), text: format!("{title}{rest}"), reason: None, next }
}

fn expired(subject: &Subject<'_>) -> Settled {
    let until = subject.approval.requested.expires_at;
    Settled {
        title: Line::new().bold("Expired").text(", nobody answered by ").time(until, "{time}"),
        text: format!("Expired, nobody answered by {}", clock(until)),
        reason: None,
        next: outcome::refused(subject).to_owned(),
    }
}

fn decided(subject: &Subject<'_>, answer: &Reply, who: &Person, at: Timestamp) -> Settled {
    let (word, reason, next) = match answer {
        Reply::Approve => ("Approved", None, sentence(&outcome::approved(subject))),
        Reply::Deny { .. } if outcome::is_withdrawal(answer) => {
            ("Session stopped", None, outcome::refused(subject).to_owned())
        }
        Reply::Deny { reason } => ("Denied", Some(reason.clone()), outcome::refused(subject).to_owned()),
        Reply::Modify { .. } => ("Changed", None, sentence(&outcome::modified(subject))),
    };
    Settled {
        title: Line::new().bold(word).text(" by ").person(who).text(" at ").time(at, "{time_secs}"),
        text: format!("{word} by {} at {}", who.fallback(), clock(at)),
        reason: reason.filter(|reason| !reason.trim().is_empty()),
        next,
    }
}

fn being_decided(deciding: &Deciding, context: &RenderContext) -> Settled {
    let said = match deciding.answer {
        Reply::Approve => "approved",
        Reply::Deny { .. } => "denied",
        Reply::Modify { .. } => "changed it",
    };
    let who = context.people.find(&deciding.who);
    Settled {
        title: Line::new().bold("Being decided…").text(" ").person(&who).text(&format!(" {said}")),
        text: format!("Being decided… {} {said}", who.fallback()),
        reason: None,
        next: String::new(),
    }
}

/// Makes a sentence of words.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first = chars.next().map(|char| char.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

/// Draws the card.
pub(super) fn draw(subject: &Subject<'_>, settled: Settled) -> Message {
    let asked = subject.action().what;
    let mut parts = vec![section(settled.title.text(&format!(": {asked}")))];
    let mut text = format!("{}: {}", settled.text, escape(&asked));
    if let Some(reason) = &settled.reason {
        let (shown, left) = paragraph(reason.trim(), REASON);
        let more = match left {
            0 => String::new(),
            left => format!(" … and {} in the audit", count(left, "more character")),
        };
        parts.push(quote(Line::new().text(&shown).text(&more)));
        text += &format!(". Reason: {}", escape(prose(reason, 200).trim_end_matches('.')));
    }
    if !settled.next.is_empty() {
        parts.push(section(Line::new().text(&settled.next)));
        text += &format!(". {}", escape(&prose(&settled.next, 200)));
    }
    if let Some((title, words, flows)) = outcome::checked(subject) {
        parts.push(section(Line::new().bold(title).text(&format!(": {words}."))));
        text = format!("{}. {title}: {}", text.trim_end_matches('.'), escape(&words));
        let flow = |flow: &String| Line::new().text(&format!("• {flow}"));
        parts.extend((!flows.is_empty()).then(|| section(lines(flows.iter().map(flow)))));
    }
    if let Some(back) = outcome::undo(subject) {
        parts.push(section(Line::new().bold("To undo it:").text(" ").code(&short(back, COMMAND))));
    }
    let (shown, left) = command(&subject.shown(), COMMAND);
    let mut blocks = vec![rich(parts), rich(vec![pre(&shown)])];
    if left > 0 {
        let all = if open::is_cut(subject) {
            format!("the file {} holds the whole command", open::file_name(subject))
        } else {
            "the audit holds the whole command".to_owned()
        };
        blocks.push(say(Line::new().text(&format!("continues: {}; {all}.", count(left, "more character")))));
    }
    blocks.push(small(&about(subject)));
    Message { text, blocks }
}

fn about(subject: &Subject<'_>) -> String {
    let impact = subject.approval.requested.impact;
    format!("{} ({}) · session {}", impact.as_str(), impact.meaning(), subject.state.session)
}
