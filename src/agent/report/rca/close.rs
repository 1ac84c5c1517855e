//! What should be done, what is open, and what it took.

use crate::agent::event::Waived;
use crate::agent::report::amount::{cost, of, time};
use crate::agent::report::markdown::text;
use crate::agent::state::State;

/// Returns the section with what should be done; empty where nothing is recommended.
pub(super) fn actions(state: &State) -> String {
    let actions = state.concluded.iter().flat_map(|(_, concluded)| &concluded.actions);
    let lines = (1_u32..).zip(actions).map(|(number, action)| format!("{number}. {}", text(action)));
    let lines = lines.collect::<Vec<_>>();
    if lines.is_empty() {
        return String::new();
    }
    let intro = "Claims of the investigator. Review each before anything is changed; none was carried out by this report.";
    format!("## Recommended actions\n\n{intro}\n\n{}", lines.join("\n"))
}

/// Returns the section with what belongs to the symptom and was not looked at; empty where everything was.
pub(super) fn waived(state: &State) -> String {
    let waived = state.concluded.iter().flat_map(|(_, concluded)| &concluded.waived);
    let line = |waived: &Waived| {
        let of = match waived.what.subject.as_str() {
            "" => String::new(),
            subject => format!(" of {}", text(subject)),
        };
        format!("- {}{of}: {}", waived.what.layer.told(), text(&waived.why))
    };
    let lines = waived.map(line).collect::<Vec<_>>();
    if lines.is_empty() { String::new() } else { format!("## What was not checked\n\n{}", lines.join("\n")) }
}

/// Returns the section with what would settle what is open; empty where nothing is.
pub(super) fn questions(state: &State) -> String {
    let questions = state.concluded.iter().flat_map(|(_, concluded)| &concluded.open_questions);
    let lines = questions.map(|question| format!("- {}", text(question))).collect::<Vec<_>>();
    if lines.is_empty() { String::new() } else { format!("## Open questions\n\n{}", lines.join("\n")) }
}

/// Returns the section with what was used.
pub(in crate::agent::report) fn budget(state: &State) -> String {
    let (spent, limits) = (&state.spent, &state.limits);
    let ended = state.concluded.as_ref().map_or(state.last_at, |(at, _)| *at);
    let lines = [
        format!("- Turns: {}", of(spent.turns.into(), limits.turns.into())),
        format!("- Commands: {}", of(spent.commands.into(), limits.commands.into())),
        format!("- Approvals asked: {}", spent.approvals),
        format!("- Tokens: {}", of(spent.tokens, limits.tokens)),
        format!("- Cost: {}", cost(spent)),
        format!("- Captured bytes: {}", of(spent.captured_bytes, limits.captured_bytes)),
        format!("- Time at work: {} of {} min", time(spent.at_work(state.opened_at, ended)), limits.minutes),
        format!("- Time waited: {}", time(spent.waited)),
    ];
    format!("## Budget\n\n{}", lines.join("\n"))
}
