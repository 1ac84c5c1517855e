//! Which machines and which group a call is about where it names none: those of the incident, as they were known when the call was made.

use crate::conversation;
use crate::event::{Refusal, Wish};
use crate::model::Ask;
use crate::playbook::{self, Ends};
use crate::state::{Entry, State};
use crate::tool::{Bench, Outcome, Site};

/// Returns what the incident is about. What was learned after the call was made does not count: the record of a call is read again
/// later, and has to mean the same.
pub(super) fn ends(bench: &Bench<'_>) -> Ends {
    let own = &bench.call.call.id;
    let made = |entry: &Entry| match entry {
        Entry::Turn(turn) => turn.calls.iter().any(|call| call.call.id == *own),
        Entry::Said { .. } | Entry::Noted { .. } => false,
    };
    let mut before = bench.state.clone();
    if let Some(at) = before.entries.iter().position(made) {
        before.entries.truncate(at);
    }
    playbook::ends(&question(&before, bench))
}

/// Returns what people said before a call was made: the record of a call is read again later, and has to mean the same.
pub(super) fn asked(bench: &Bench<'_>) -> String {
    let own = &bench.call.call.id;
    let mut text = bench.state.opened.symptom.clone();
    for entry in &bench.state.entries {
        match entry {
            Entry::Turn(turn) if turn.calls.iter().any(|call| call.call.id == *own) => break,
            Entry::Said { text: said, wish: Wish::Steer, .. } => {
                text.push('\n');
                text.push_str(said);
            }
            Entry::Turn(_) | Entry::Said { .. } | Entry::Noted { .. } => {}
        }
    }
    text
}

/// Returns the resource group of the incident, where the configuration names none.
pub(super) fn group(site: &Site, bench: &Bench<'_>) -> Option<String> {
    if site.group.is_some() { None } else { ends(bench).group }
}

/// Returns the machine of the incident: the one that is called, or the one that calls for what it sends.
///
/// # Errors
/// Says what to do where it cannot be told.
pub(super) fn machine(bench: &Bench<'_>, outbound: bool) -> Result<String, Box<Outcome>> {
    let Ends { source, destination, .. } = ends(bench);
    let (first, other) = if outbound { (source, destination) } else { (destination, source) };
    first.or(other).ok_or_else(|| {
        let reason = "vm_name is missing, and the incident names no machine that is known; name it, or call topology first";
        Box::new(Outcome::refuse(Refusal::Malformed, reason))
    })
}

/// Returns the question that the playbook would be asked.
pub(super) fn question(state: &State, bench: &Bench<'_>) -> Ask {
    Ask {
        turn: state.spent.turns,
        system: String::new(),
        tools: bench.tools.specs().to_vec(),
        messages: conversation::messages(state),
        max_output_tokens: 1,
        fruitless: 0,
    }
}
