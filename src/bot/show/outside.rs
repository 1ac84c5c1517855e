//! A request of an agent that no session of the bot drives: the message that its thread hangs on.

use crate::bot::show::block::{
    Line, Tone, actions, button, labeled_lines, pre, quote, rich, say, section, small,
};
use crate::bot::show::text::{command, escape, paragraph, prose, short_command};
use crate::bot::show::{Message, RenderContext};
use ghost_base::Timestamp;
use ghost_investigate::event::Outside;
use ghost_investigate::outside::{Standing, standing};
use ghost_investigate::state::State;

/// How much of the text stands there; the card in the thread shows more.
const TEXT: usize = 900;

/// How much of the reason does.
const REASON: usize = 1_000;

/// Draws the message: who asks, from where, what exactly, why, what it risks, and where it stands.
pub(super) fn draw(state: &State, asked: &Outside, context: &RenderContext) -> Message {
    let Outside { caller, request, .. } = asked;
    let (agent, machine) = (prose(&request.agent, 80), prose(&request.machine, 120));
    let who = format!("{agent} on {machine}");
    let mut blocks = vec![say(Line::new().bold(&who).text(" asks for consent"))];
    let (shown, left) = command(&request.text, TEXT);
    blocks.push(rich(vec![pre(&shown)]));
    if left > 0 {
        blocks.push(say(Line::new().text("The card in the thread shows more of it, and a file all of it.")));
    }
    let (reasoning, _) = paragraph(request.reasoning.trim(), REASON);
    let reasoning = if reasoning.is_empty() { "No reason was given.".to_owned() } else { reasoning };
    blocks.push(rich(vec![section(Line::new().bold("Why")), quote(Line::new().text(&reasoning))]));
    let judged = state.steps.first().and_then(|step| step.rounds.first()).map(|round| &round.classified);
    let impact = judged.and_then(|judged| judged.impact).unwrap_or(request.impact);
    let reason = judged.map_or(request.reason.as_str(), |judged| judged.reason.as_str());
    let conversation = Some(request.conversation.as_str()).filter(|name| !name.is_empty());
    let mut facts = vec![
        ("Folder", prose(&request.folder, 300)),
        ("Risk", format!("{}: {}", impact.as_str(), prose(reason, 300))),
        ("Asks as", prose(caller, 80)),
    ];
    facts.extend(conversation.map(|name| ("Conversation", prose(name, 80))));
    blocks.push(say(labeled_lines(&facts)));
    blocks.push(say(word(state, context)));
    blocks.push(small(&format!(
        "Request {} · Ghost decides whether, and runs nothing: the agent does, where it is",
        state.session
    )));
    blocks.push(actions(vec![button("audit", "Audit", state.session.as_str(), Tone::Normal, None)]));
    let text = format!("{} asks: {}", escape(&who), escape(&short_command(&request.text, 300)));
    Message { text, blocks }
}

/// Says where it stands.
fn word(state: &State, context: &RenderContext) -> Line {
    let decider = || {
        let last = state.approvals.values().filter_map(|approval| match approval.ending.as_ref()? {
            ghost_investigate::state::Ending::Decided { who, at, .. } => Some((*at, who)),
            ghost_investigate::state::Ending::Expired { .. } => None,
        });
        last.max_by_key(|(at, _)| *at)
            .map_or_else(|| context.people.find("nobody"), |(_, who)| context.people.find(who))
    };
    let time = |line: Line, text: &str| match text.parse::<Timestamp>() {
        Ok(at) => line.time(at, "{time}"),
        Err(_) => line,
    };
    match standing(state) {
        Standing::Queued => Line::new().text("▸ being judged …"),
        Standing::Waiting { until, .. } => {
            let line =
                Line::new().text("▸ ").bold("waiting for an approval").text(": decide in the thread, until ");
            let line = time(line, &until);
            match state.attended {
                true => line,
                false => line.text(
                    ". The agent waits no longer; a yes counts once, when it asks for exactly this again",
                ),
            }
        }
        Standing::Granted { until, .. } => {
            let line = Line::new().text("✔ ").bold("Approved").text(" by ").person(&decider());
            time(line.text(": the agent can use it once, until "), &until)
        }
        Standing::Taken { .. } => Line::new()
            .text("✔ ")
            .bold("Approved")
            .text(" by ")
            .person(&decider())
            .text(", and handed over to the agent"),
        Standing::Denied { reason, .. } => {
            let line = Line::new().text("✘ ").bold("Denied").text(" by ").person(&decider());
            if reason.trim().is_empty() { line } else { line.text(&format!(": {}", prose(&reason, 300))) }
        }
        Standing::Expired { reason } => {
            Line::new().text("✘ ").bold("Expired").text(&format!(": {}", prose(&reason, 300)))
        }
        Standing::Refused { reason } => {
            Line::new().text("✘ ").bold("Refused").text(&format!(": {}", prose(&reason, 300)))
        }
    }
}
