//! What was changed: asked of the log once something is found, or because somebody wants to know.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::changed::{ChangedObjects, TOOL};
use crate::listed::last_part;
use crate::playbook::agenda::{PlannedCalls, PlaybookContext};
use crate::playbook::close::nothing_found;
use crate::playbook::conversation::{CallEnding, plain};
use crate::playbook::findings;
use crate::playbook::planned_call::PlannedCall;
use crate::playbook::turn::Turn;
use crate::suspect::Layer;
use ghost_inspect::changes::Subject;

/// What is put on the board: nothing ends on an empty one.
const HYPOTHESIS: &str = "H-path";

/// So many faults are asked about.
const MAX_CAUSES: usize = 20;

/// So many names of a question are looked for.
const MAX_NAMES: usize = 12;

/// Returns the call that asks the log about what was found; `None` where nothing was found that a log would hold.
pub(super) fn of_causes(context: &PlaybookContext<'_>) -> Option<PlannedCalls> {
    let faults = findings::faults(context.symptom_text, context.incident, context.conversation);
    let named = faults.iter().map(|fault| (fault.suspect.code.as_str(), fault.suspect.object.as_str()));
    let is_logged = named.clone().any(|(code, object)| Subject::of_fault(code, object).is_logged());
    if !is_logged || context.conversation.calls(TOOL).next().is_some() {
        return None;
    }
    let causes: Vec<Value> =
        named.take(MAX_CAUSES).map(|(code, object)| json!({"fault": code, "object": object})).collect();
    let why = "I read the activity log: who changed what I found, and when.";
    let arguments = context.with(json!({ "causes": causes }));
    context.still_open(vec![PlannedCall::once(TOOL, Layer::Topology, arguments, why.to_owned())])
}

/// Answers a question about changes; `None` where the log cannot be asked here.
pub(super) fn question(context: &PlaybookContext<'_>) -> Option<Turn> {
    if !context.tools.contains(&TOOL) || is_not_all(context) {
        return None;
    }
    let names = names(context);
    if !names.is_empty()
        && let Some(planned) = context.still_open(vec![context.topology()])
    {
        return Some(ask(context, planned));
    }
    let around = around(context, &names);
    let arguments = match around.is_empty() {
        true => context.with(json!({})),
        false => context.with(json!({ "around": around })),
    };
    let why = "I read the activity log: who changed something, and when.";
    let call = PlannedCall::once(TOOL, Layer::Topology, arguments, why.to_owned());
    let call = PlannedCall { since: context.conversation.before_last_words, ..call };
    if let Some(planned) = context.still_open(vec![call]) {
        return Some(ask(context, planned));
    }
    let last = context.conversation.calls(TOOL).next_back()?;
    let text = match (last.ending, ChangedObjects::of_result(&last.result)) {
        (CallEnding::Completed, Some(found)) => listed(&found, &around),
        (CallEnding::Denied, _) => "The activity log was not read: nobody consented to it.".to_owned(),
        (CallEnding::Refused, _) => return None,
        (CallEnding::Completed | CallEnding::Failed, _) => {
            format!("The activity log could not be read: {}", plain(&last.reason(), 200))
        }
    };
    Some(end(context, text))
}

/// Tells whether the answer was refused as an end since people said something last: then more is asked than what was changed.
fn is_not_all(context: &PlaybookContext<'_>) -> bool {
    let since = context.conversation.finished.iter().skip(context.conversation.before_last_words);
    let mut ends = since.filter(|call| call.tool == "complete_investigation");
    ends.any(|call| call.ending != CallEnding::Completed)
}

/// Makes the calls, on a board that is not empty: without a hypothesis nothing is read.
fn ask(context: &PlaybookContext<'_>, planned: PlannedCalls) -> Turn {
    let text = planned.first().map(|(call, _)| call.why.clone()).unwrap_or_default();
    let mut calls: Vec<(String, Value)> = add(context).into_iter().collect();
    for (call, mut arguments) in planned {
        arguments.insert("reasoning".to_owned(), Value::from(call.why));
        calls.push((call.tool.to_owned(), Value::Object(arguments)));
    }
    Turn { text, calls }
}

/// Puts something on the board, where nothing of it is there.
fn add(context: &PlaybookContext<'_>) -> Option<(String, Value)> {
    let description = "There is a network incident.";
    (!context.conversation.added(HYPOTHESIS) && context.conversation.state(HYPOTHESIS).is_none()).then(|| {
        ("manage_hypotheses".to_owned(), json!({"add": [{"id": HYPOTHESIS, "description": description}]}))
    })
}

/// Says what was changed.
fn listed(found: &ChangedObjects, around: &[String]) -> String {
    let what = match around {
        [] => String::new(),
        some => format!(" of {}", some.join(", ")),
    };
    let span = format!("between {} and {}", found.since, found.until);
    let mut text = match found.changes.len() {
        0 => format!("The activity log shows no change{what} {span}."),
        1 => format!("1 change{what} {span}: {}.", found.changes.join("")),
        some => format!("{} changes{what} {span}: {}.", some + found.unlisted, found.changes.join("; ")),
    };
    if found.unlisted > 0 {
        text.push_str(&format!(" {} older ones are not listed.", found.unlisted));
    }
    if !found.complete {
        text.push_str(" The log was not read to its end.");
    }
    text.push_str(" It does not record what happens inside machines.");
    text
}

/// Returns the words of a question that may be names.
fn names(context: &PlaybookContext<'_>) -> Vec<String> {
    let groups: Vec<String> = context
        .conversation
        .groups
        .iter()
        .chain(&context.incident.group)
        .map(|name| name.to_lowercase())
        .collect();
    let mut names: Vec<String> = Vec::new();
    for word in context.conversation.user_text.split_whitespace() {
        let word = word.trim_matches(|char: char| !char.is_alphanumeric());
        let word = word.strip_suffix("'s").unwrap_or(word);
        let is_name = word.len() > 3
            && word.chars().any(char::is_alphabetic)
            && word.contains(['-', '_', '/'])
            && word.chars().all(|char| char.is_ascii_alphanumeric() || "-_./".contains(char));
        if is_name && !groups.contains(&word.to_lowercase()) && names.len() < MAX_NAMES {
            names.push(word.to_owned());
        }
    }
    names
}

/// Returns what the log is asked for: a machine stands for what decides over its traffic.
fn around(context: &PlaybookContext<'_>, names: &[String]) -> Vec<String> {
    let text = context.conversation.user_text.to_lowercase();
    let only_rules = ["nsg", "security group", "rule", "firewall"].iter().any(|word| text.contains(word));
    let only_routes = ["route", "udr"].iter().any(|word| text.contains(word));
    let mut around: Vec<String> = Vec::new();
    for name in names {
        let Some(machine) = context.incident.listed.machine(name) else {
            around.push(name.clone());
            continue;
        };
        let last = |name: &str| last_part(name).to_owned();
        let rules = machine.security_groups().map(last);
        let tables = machine.route_table.as_deref().map(last);
        match (only_rules, only_routes) {
            (true, false) => around.extend(rules),
            (false, true) => around.extend(tables),
            (true, true) => around.extend(rules.chain(tables)),
            (false, false) => {
                let subnet = machine.vnet.as_deref().zip(machine.subnet.as_deref());
                let subnet =
                    subnet.map(|(network, subnet)| format!("subnet/{}/{subnet}", last_part(network)));
                around.push(name.clone());
                around.extend(machine.nic.clone().into_iter().chain(rules).chain(tables).chain(subnet));
            }
        }
    }
    around.dedup();
    around.truncate(MAX_CAUSES);
    around
}

/// Ends the session with an answer.
fn end(context: &PlaybookContext<'_>, text: String) -> Turn {
    let mut calls: Vec<(String, Value)> = add(context).into_iter().collect();
    let why = "Somebody asked what was changed, and nothing is said to fail.";
    let board = context.conversation.board.iter();
    let open = board.filter(|(_, state)| *state == HypothesisState::Active).map(|(id, _)| id.clone());
    let mut ids: Vec<String> = open.collect();
    if !ids.iter().any(|id| id == HYPOTHESIS) {
        ids.push(HYPOTHESIS.to_owned());
    }
    let update: Vec<Value> =
        ids.iter().map(|id| json!({"id": id, "state": HypothesisState::Unverifiable, "why": why})).collect();
    calls.push(("manage_hypotheses".to_owned(), json!({ "update": update })));
    calls.push(nothing_found(&text, &ids, &[], &[]));
    Turn { text, calls }
}
