//! One session, to one person.

use std::collections::BTreeMap;

use crate::bot::show::amount::{count, number_of};
use crate::bot::show::kit::{Line, lines, pre, rich, say, section};
use crate::bot::show::text::short;
use crate::bot::show::{Looks, Message, board};
use ghost_base::Timestamp;
use ghost_investigate::state::State;

/// Returns where a session stands: its board without buttons.
#[must_use]
pub fn status(state: &State, looks: &Looks, now: Timestamp) -> Message {
    let mut message = board(state, looks, now);
    message.blocks.retain(|block| block.get("type").is_none_or(|kind| kind != "actions"));
    message
}

/// Returns what was recorded of a session, and how anybody verifies it.
#[must_use]
pub fn audit(state: &State) -> Message {
    let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
    for step in &state.steps {
        let action = step.done.as_ref().map_or("open", |done| done.action.as_str());
        *actions.entry(action).or_default() += 1;
    }
    let told = actions
        .iter()
        .take(12)
        .map(|(action, number)| format!("{} {}", number_of(*number), short(action, 40).replace('_', " ")));
    let told = told.collect::<Vec<_>>().join(", ");
    let told = if told.is_empty() { told } else { format!(": {told}") };
    let commands = format!("{}{told}", count(state.steps.len(), "command"));
    let events = usize::try_from(state.seq).unwrap_or(usize::MAX);
    let asked = count(state.approvals.len(), "question");
    let facts = lines([
        Line::new().bold(&format!("Audit of session {}", state.session)),
        Line::new().text(&format!("{}, head ", count(events, "event"))).code(&state.head.to_string()),
        Line::new().text(&commands),
        Line::new().text(&format!("{asked} to people")),
    ]);
    let verify = format!("ghost audit verify DATA/audit/{}.jsonl", state.session);
    let verify = match state.audit_head() {
        Some(head) => format!("{verify} --head {}", short(head, 100)),
        None => verify,
    };
    let how = rich(vec![
        section(Line::new().text("To verify, with DATA as the data folder of Ghost:")),
        pre(&verify),
    ]);
    let text = format!("Audit of session {}: {}", state.session, count(events, "event"));
    Message { text, blocks: vec![say(facts), how] }
}
