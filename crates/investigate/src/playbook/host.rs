//! The branch for machines that are read themselves: read them all, judge, answer.
//!
//! One call brings everything of every machine, so there is one thing to do and one to say. What is done about each cause stands in what
//! the call found, and whoever ends the session adds it with the class of its commands.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::complaint::{self, Topic};
use crate::coverage::{OF_HOSTS, missing_of_hosts};
use crate::finding::title;
use crate::judged::{HOSTS, JudgedCause, JudgedFlows};
use crate::playbook::agenda::hypothesis;
use crate::playbook::conversation::{CallEnding, Conversation, FinishedCall, plain};
use crate::playbook::turn::Turn;
use crate::suspect::{Layer, Looked, Suspect};

/// So often machines are read that could not be read.
const READS: usize = 2;
/// So often an end is tried.
const ENDS: usize = 3;

/// Tells whether words say nothing that could be looked at.
pub(super) fn is_chat(topic: Topic) -> bool {
    match topic {
        Topic::Greeting | Topic::Thanks | Topic::AboutBot | Topic::Knowledge | Topic::Empty => true,
        // Who names machines and says little means these machines.
        Topic::Incident | Topic::Unclear | Topic::Author | Topic::Other => false,
    }
}

/// Returns the next turn.
pub(super) fn next(conversation: &Conversation, tools: &[&str]) -> Turn {
    let recent = || conversation.finished.iter().skip(conversation.before_last_words);
    let reads = || recent().filter(|finished| finished.tool == HOSTS);
    let last = reads().next_back();
    let is_over =
        last.is_some_and(|finished| finished.ending != CallEnding::Failed) || reads().count() >= READS;
    if tools.contains(&HOSTS) && !is_over {
        return read(conversation);
    }
    let ends = recent().filter(|finished| finished.tool == "complete_investigation").count();
    if ends >= ENDS || !tools.contains(&"complete_investigation") {
        let text = "I cannot bring this to an end by myself: what I claim is not accepted. Please read the observations.";
        return Turn { text: text.to_owned(), calls: Vec::new() };
    }
    end(conversation, last)
}

/// Reads all machines.
fn read(conversation: &Conversation) -> Turn {
    let names = conversation.hosts.join(", ");
    let text = format!(
        "I read the network of {names} on the machines themselves, all of it at once: devices, routes, packet filters, name servers, sockets and counters."
    );
    let mut calls = Vec::new();
    let adds: Vec<Value> = OF_HOSTS
        .into_iter()
        .filter_map(|layer| Some((hypothesis(layer)?, layer)))
        .filter(|(id, _)| !conversation.added(id))
        .map(|(id, layer)| json!({"id": id, "description": supposed(layer)}))
        .collect();
    if !adds.is_empty() {
        calls.push(("manage_hypotheses".to_owned(), json!({ "add": adds })));
    }
    calls.push((HOSTS.to_owned(), json!({ "reasoning": text })));
    Turn { text, calls }
}

/// Says what is supposed of a layer.
fn supposed(layer: Layer) -> &'static str {
    match layer {
        Layer::Links => "A device, an address or a neighbor of one of the machines is not as it has to be.",
        Layer::Routes => "A route or a routing rule of one of the machines leads nowhere, or elsewhere.",
        Layer::Guest => "A packet filter of one of the machines drops, refuses or changes the traffic.",
        Layer::Shaping => "Traffic shaping on one of the machines slows down what it sends.",
        Layer::Names => "One of the machines gets no answers to names, late ones, or wrong ones.",
        Layer::Sockets => "A service, a limit or a full queue of one of the machines breaks the traffic.",
        Layer::Topology
        | Layer::Rules
        | Layer::Storage
        | Layer::NetworkDrift
        | Layer::GuestDrift
        | Layer::Measure
        | Layer::Wire
        | Layer::Exposure => "Something of one of the machines breaks the traffic.",
    }
}

/// Ends the session with what the machines show.
fn end(conversation: &Conversation, last: Option<&FinishedCall>) -> Turn {
    let completed = last.filter(|finished| finished.ending == CallEnding::Completed);
    let judged = completed.and_then(|finished| JudgedFlows::of_result(&finished.result)).unwrap_or_default();
    let suspects = completed.map(FinishedCall::suspects).unwrap_or_default();
    let looked = completed.map(FinishedCall::looked).unwrap_or_default();
    let complained =
        if judged.is_of_machines() { judged.complained_of() } else { conversation.hosts.clone() };
    let missing = missing_of_hosts(&complained, &looked);
    let failed = last.filter(|_| completed.is_none()).map(FinishedCall::reason);
    let settled: Vec<(&str, HypothesisState, String)> = OF_HOSTS
        .into_iter()
        .filter_map(|layer| Some((hypothesis(layer)?, layer)))
        .map(|(id, layer)| {
            let (state, why) = settle(layer, &suspects, &missing, &judged, failed.as_deref());
            (id, state, plain(&why, 900))
        })
        .collect();
    let with = |wanted: HypothesisState| -> Vec<&str> {
        settled.iter().filter(|(_, state, _)| *state == wanted).map(|(id, _, _)| *id).collect()
    };
    let update: Vec<Value> =
        settled.iter().map(|(id, state, why)| json!({"id": id, "state": state, "why": why})).collect();
    let findings: Vec<Value> = suspects.iter().map(|suspect| finding(suspect, completed)).collect();
    let waived: Vec<Value> = missing
        .iter()
        .map(|gap| json!({"layer": gap.layer, "subject": gap.subject, "why": unread(gap, &judged, failed.as_deref())}))
        .collect();
    let causes = || judged.complaints.iter().flat_map(|complaint| &complaint.causes);
    let is_sure = causes().any(|cause| !cause.is_likely)
        || causes().next().is_none() && judged.complaints.iter().all(|complaint| complaint.doubts.is_empty());
    let confidence = match (suspects.is_empty(), missing.is_empty() && is_sure) {
        (_, true) => "high",
        (false, false) => "medium",
        (true, false) => "low",
    };
    let summary = summary(&suspects, &judged, &complained, failed.as_deref());
    let calls = vec![
        ("manage_hypotheses".to_owned(), json!({ "update": update })),
        (
            "complete_investigation".to_owned(),
            json!({
                "confidence": confidence,
                "root_cause_summary": summary,
                "confirmed_hypotheses": with(HypothesisState::Confirmed),
                "refuted_hypotheses": with(HypothesisState::Refuted),
                "unverifiable_hypotheses": with(HypothesisState::Unverifiable),
                "contradicted_hypotheses": [],
                "recommended_actions": [],
                "findings": findings,
                "open_questions": questions(&judged, &missing, failed.as_deref()),
                "waived": waived,
            }),
        ),
    ];
    let text = match suspects.len() {
        0 => "What was read on the machines does not explain it. I say what is open and end.",
        1 => "One fault is shown by the machines themselves. I settle the board and end.",
        _ => "Several faults are shown by the machines themselves. I settle the board and end.",
    };
    Turn { text: text.to_owned(), calls }
}

fn settle(
    layer: Layer,
    suspects: &[Suspect],
    missing: &[Looked],
    judged: &JudgedFlows,
    failed: Option<&str>,
) -> (HypothesisState, String) {
    let own =
        suspects.iter().filter(|one| one.fault().is_some_and(|fault| fault.layer_of_machines() == layer));
    let shown: Vec<String> = own.map(|one| title(&one.code, &one.object)).collect();
    if !shown.is_empty() {
        return (HypothesisState::Confirmed, format!("{}.", shown.join("; ")));
    }
    match missing.iter().find(|gap| gap.layer == layer) {
        Some(gap) => (HypothesisState::Unverifiable, format!("{}.", unread(gap, judged, failed))),
        None => {
            (HypothesisState::Refuted, format!("Read whole, and nothing in {} explains it.", words(layer)))
        }
    }
}

/// Names a layer, whose machine is named beside it.
fn words(layer: Layer) -> &'static str {
    let described = layer.describe();
    let own = ["the machine's ", "the guest's ", "the effective "];
    own.iter().find_map(|whose| described.strip_prefix(whose)).unwrap_or(described)
}

/// Says why a layer of a machine was not read.
fn unread(gap: &Looked, judged: &JudgedFlows, failed: Option<&str>) -> String {
    if let Some(why) = failed {
        return format!("it could not be read: {}", plain(why, 200));
    }
    let machine = judged.machines.iter().find(|machine| machine.name.eq_ignore_ascii_case(&gap.subject));
    match machine {
        Some(machine) => match (&machine.unread, machine.is_root) {
            (Some(why), _) => format!("the machine could not be read: {}", plain(why, 200)),
            (None, Some(false)) => "it is closed without root rights, or its program is missing".to_owned(),
            (None, Some(true) | None) => {
                let why = machine.closed.first().map(|one| format!("{}: {}", one.what, one.why));
                why.unwrap_or_else(|| "a part of it could not be read".to_owned())
            }
        },
        None => "the machine was not read".to_owned(),
    }
}

fn finding(suspect: &Suspect, completed: Option<&FinishedCall>) -> Value {
    let own: Vec<String> = suspect.observations.iter().map(ToString::to_string).collect();
    let cited =
        if own.is_empty() { completed.map(FinishedCall::observations).unwrap_or_default() } else { own };
    let evidence: Vec<Value> = cited.iter().take(4).map(|id| json!({ "observation": id })).collect();
    json!({
        "code": suspect.code,
        "object": suspect.object,
        "statement": plain(&suspect.why, 400),
        "evidence": evidence,
    })
}

fn summary(
    suspects: &[Suspect],
    judged: &JudgedFlows,
    complained: &[String],
    failed: Option<&str>,
) -> String {
    let place = complained.join(", ");
    if let Some(why) = failed {
        return format!("{place} could not be read: {}.", plain(why, 300).trim_end_matches('.'));
    }
    let titles: Vec<String> = suspects.iter().map(|one| title(&one.code, &one.object)).collect();
    let likely = |cause: &JudgedCause| cause.is_likely;
    let causes = judged.complaints.iter().flat_map(|complaint| &complaint.causes);
    let unsure = if causes.clone().count() > 0 && causes.clone().all(likely) {
        " What would prove it lies outside of the machines that were read."
    } else {
        ""
    };
    match titles.as_slice() {
        [] => {
            let noticed = match judged.noticed.len() {
                0 => "Nothing odd was seen beside it.".to_owned(),
                1 => "One thing was noticed that does not explain it.".to_owned(),
                some => format!("{some} things were noticed that do not explain it."),
            };
            format!("Nothing that was read on {place} explains it. {noticed}")
        }
        [one] => format!("{one}.{unsure}"),
        some => format!("{} things explain it: {}.{unsure}", some.len(), some.join("; ")),
    }
}

/// Says what is open, and what would settle it.
fn questions(judged: &JudgedFlows, missing: &[Looked], failed: Option<&str>) -> Vec<String> {
    if failed.is_some() {
        return vec!["Can the machine be reached, and by this program? Then ask again.".to_owned()];
    }
    let mut open: Vec<String> = Vec::new();
    for machine in &judged.machines {
        if let Some(why) = &machine.unread {
            open.push(format!("What does {} show? It could not be read: {}.", machine.name, plain(why, 200)));
        }
    }
    let closed = missing.iter().filter(|gap| {
        !judged.machines.iter().any(|machine| machine.unread.is_some() && machine.name == gap.subject)
    });
    open.extend(closed.map(|gap| {
        format!(
            "What do {} of {} hold? As root, or with the sudo rules of `ghost host`, they can be read.",
            words(gap.layer),
            gap.subject
        )
    }));
    let doubts = judged.complaints.iter().filter(|complaint| complaint.causes.is_empty());
    let doubts = doubts.flat_map(|complaint| &complaint.doubts);
    open.extend(doubts.map(|doubt| format!("Open: {}.", doubt.trim_end_matches('.'))));
    open.truncate(20);
    open
}

/// Tells what the words of a conversation are about.
pub(super) fn topic(conversation: &Conversation) -> Topic {
    complaint::read(&conversation.user_text).topic
}
