//! One session, to one person.

use std::collections::BTreeMap;

use crate::bot::show::amount::{count, number_of};
use crate::bot::show::block::{Line, lines, pre, rich, say, section};
use crate::bot::show::text::{escape, short};
use crate::bot::show::{Message, RenderContext, board};
use ghost_base::Timestamp;
use ghost_investigate::report::answer;
use ghost_investigate::state::State;

/// Returns where a session stands: its board without buttons, or its answer where it is over.
#[must_use]
pub fn status(state: &State, context: &RenderContext, now: Timestamp) -> Message {
    if state.concluded.is_some() {
        let answer = answer(state);
        let line = Line::new().text("Over. ").bold(&answer.title()).text(&format!(". {}", answer.action));
        return Message { text: escape(&answer.sentence()), blocks: vec![say(line)] };
    }
    let mut message = board(state, context, now);
    message.blocks.retain(|block| block.get("type").is_none_or(|kind| kind != "actions"));
    message
}

/// Says what was done with commands.
fn said_of(action: &str) -> String {
    match action {
        "auto_approved" => "ran without asking, because they only read".to_owned(),
        "user_approved" => "approved by a person".to_owned(),
        "user_denied" => "denied by a person".to_owned(),
        "user_modified" => "changed by a person".to_owned(),
        "user_abandoned" => "cut off and not run again".to_owned(),
        "expired" => "not answered in time".to_owned(),
        "open" => "not ended".to_owned(),
        other => short(other, 40).replace('_', " "),
    }
}

/// Returns what a check of the configuration came to.
#[must_use]
pub fn checks(all: &[String]) -> Message {
    let open = all.iter().filter(|line| !line.starts_with('✔')).count();
    let title = match open {
        0 => "Everything that is configured works.".to_owned(),
        _ => format!("{} to look at; the rest works.", count(open, "point")),
    };
    let shown = lines(all.iter().take(40).map(|line| Line::new().text(&short(line, 500))));
    Message { text: title.clone(), blocks: vec![say(Line::new().bold(&title).below(shown))] }
}

/// Returns what was recorded of a session, and how anybody verifies it.
#[must_use]
pub fn audit(state: &State) -> Message {
    let mut actions: BTreeMap<&str, usize> = BTreeMap::new();
    for step in &state.steps {
        let action = step.done.as_ref().map_or("open", |done| done.action.as_str());
        *actions.entry(action).or_default() += 1;
    }
    let actions_text =
        actions.iter().take(12).map(|(action, number)| format!("{} {}", number_of(*number), said_of(action)));
    let actions_text = actions_text.collect::<Vec<_>>().join(", ");
    let actions_text = if actions_text.is_empty() { actions_text } else { format!(": {actions_text}") };
    let commands = format!("{}{actions_text}", count(state.steps.len(), "command"));
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
