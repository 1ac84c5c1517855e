//! The end of a session whose words speak of nothing that is known here: it is said before anything else is read, and nobody is asked.
//!
//! Goes in: the conversation, and the flows as they were judged, where they were. Comes out: the turn that ends the session, or nothing.
//! Never: a command, a question for consent, health.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::complaint::{self, Inventory, Kind, Machine, UnknownEnd};
use crate::coverage::{self, OF_HOSTS};
use crate::judged::UnknownName;
use crate::playbook::agenda::PlaybookContext;
use crate::playbook::close::nothing_found;
use crate::playbook::conversation::{Conversation, plain};
use crate::playbook::turn::Turn;
use crate::suspect::Looked;
use crate::unlooked::{MAKE_KNOWN, unknown_ends};

/// What is put on the board: nothing ends on an empty one.
const HYPOTHESIS: &str = "H-path";
/// So often an end is tried.
const TRIES: usize = 2;

/// Ends a session about the cloud in which no end of any complaint could be found.
pub(super) fn in_cloud(context: &PlaybookContext<'_>) -> Option<Turn> {
    let judged = &context.judged;
    let is_unknown =
        |one: &crate::judged::JudgedComplaint| one.kind == Kind::Trouble && !one.unknown.is_empty();
    let is_all = context.is_judged
        && judged.flows.is_empty()
        && !judged.complaints.is_empty()
        && judged.complaints.iter().all(is_unknown)
        && context.incident.accounts.is_empty()
        && context.symptom_text.baselines.is_empty()
        && context.symptom_text.left_behind.is_none();
    let said = unknown_ends(&judged.unknown).filter(|_| is_all)?;
    let looked = context.conversation.looked();
    let missing = coverage::missing(context.symptom_text, &[], &looked, &[]);
    end(context.conversation, &context.tools, &said, &missing)
}

/// Ends a session about machines that are read themselves, before they are: whoever calls is named, and is none of them.
pub(super) fn on_hosts(conversation: &Conversation, tools: &[&str]) -> Option<Turn> {
    let machine = |name: &String| Machine { name: name.clone(), ..Machine::default() };
    let inventory =
        Inventory { machines: conversation.hosts.iter().map(machine).collect(), ..Inventory::default() };
    let message = complaint::read(&conversation.user_text);
    let found = complaint::resolve(&message, &inventory);
    let is_elsewhere = |one: &complaint::Complaint| {
        one.kind == Kind::Trouble && one.is_from_stranger && one.machines.is_empty()
    };
    if found.is_empty() || !found.iter().all(is_elsewhere) {
        return None;
    }
    let mut ends: Vec<UnknownName> = Vec::new();
    let strangers = complaint::strangers(&message, &inventory);
    for end in found.iter().flat_map(|one| &one.unknown).chain(&strangers) {
        let UnknownEnd::Name { name, nearest, is_public } = end else {
            // Whose address it is only the machines say.
            return None;
        };
        if !is_public && !ends.iter().any(|known| known.word == *name) {
            ends.push(UnknownName { word: plain(name, 80), nearest: nearest.clone() });
        }
    }
    let said = unknown_ends(&ends)?;
    let layers = |host: &String| {
        let subject = host.clone();
        OF_HOSTS.into_iter().map(move |layer| Looked { layer, subject: subject.clone() })
    };
    let missing: Vec<Looked> = conversation.hosts.iter().flat_map(layers).collect();
    let read = match conversation.hosts.as_slice() {
        [only] => only.clone(),
        all => format!("the {} machines of this session", all.len()),
    };
    let said = format!("{said}, and the words do not speak of {read}");
    end(conversation, tools, &said, &missing)
}

/// Ends the session. `said` is why, as a clause; `missing` is what belongs to the symptom and is not looked at.
fn end(conversation: &Conversation, tools: &[&str], said: &str, missing: &[Looked]) -> Option<Turn> {
    let tried = conversation.calls("complete_investigation").count();
    if tried >= TRIES || !tools.contains(&"complete_investigation") {
        return None;
    }
    let mut calls = Vec::new();
    let mut open: Vec<String> = conversation
        .board
        .iter()
        .filter(|(_, state)| *state == HypothesisState::Active)
        .map(|(id, _)| id.clone())
        .collect();
    if conversation.board.is_empty() && !conversation.added(HYPOTHESIS) {
        let supposed = "Something on the path between the machines in question breaks the traffic.";
        let add = json!({"add": [{"id": HYPOTHESIS, "description": supposed}]});
        calls.push(("manage_hypotheses".to_owned(), add));
        open.push(HYPOTHESIS.to_owned());
    }
    let why = format!("{}.", plain(said, 400));
    if !open.is_empty() {
        let update: Vec<Value> = open
            .iter()
            .map(|id| json!({"id": id, "state": HypothesisState::Unverifiable, "why": why}))
            .collect();
        calls.push(("manage_hypotheses".to_owned(), json!({ "update": update })));
    }
    let mut unverifiable = open;
    unverifiable.extend(
        conversation
            .board
            .iter()
            .filter(|(_, state)| *state == HypothesisState::Unverifiable)
            .map(|(id, _)| id.clone()),
    );
    let waived: Vec<Value> = missing
        .iter()
        .map(|gap| json!({"layer": gap.layer, "subject": gap.subject, "why": plain(said, 300)}))
        .collect();
    let text = format!("{why} {MAKE_KNOWN}");
    calls.push(nothing_found(&text, &unverifiable, &[&text], &waived));
    Some(Turn { text, calls })
}
