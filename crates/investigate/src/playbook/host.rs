//! The branch for machines that are read themselves: read them all, judge, answer.
//!
//! One call brings everything of every machine, so there is one thing to do and one to say. What is done about each cause stands in what
//! the call found, and whoever ends the session adds it with the class of its commands.

use serde_json::{Value, json};

use crate::HypothesisState;
use crate::complaint::{self, Kind, Topic};
use crate::coverage::{OF_HOSTS, missing_of_hosts};
use crate::finding::title;
use crate::judged::{FlowVerdict, HOSTS, JudgedCause, JudgedFlows, TOOL};
use crate::listed::ListedResources;
use crate::playbook::agenda::{PlaybookContext, hypothesis};
use crate::playbook::conversation::{CallEnding, Conversation, FinishedCall, plain};
use crate::playbook::turn::Turn;
use crate::playbook::unknown;
use crate::suspect::{Layer, Looked, Suspect};
use crate::symptom_text;
use crate::unlooked::{MAKE_KNOWN, unknown_ends};

/// So often machines are read that could not be read.
const READS: usize = 2;
/// The tool that records packets, and for how long it does.
const CAPTURE: &str = "capture_traffic";
const CAPTURE_SECONDS: u32 = 10;
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

/// Tells whether the machines themselves are to be read, where the cloud may know them, too: it does not, or what it shows explains
/// nothing.
pub(super) fn is_beyond_cloud(context: &PlaybookContext<'_>) -> bool {
    let conversation = context.conversation;
    if conversation.calls(HOSTS).next().is_some() {
        return true;
    }
    if context.still_open(vec![context.topology()]).is_some() {
        return false;
    }
    let listed = conversation.calls("topology").filter(|call| call.ending == CallEnding::Completed);
    let listed: Vec<ListedResources> =
        listed.filter_map(|call| ListedResources::of_result(&call.result)).collect();
    let is_known = |host: &String| listed.iter().any(|listed| listed.machine(host).is_some());
    if !conversation.hosts.iter().any(is_known) {
        return true;
    }
    let is_over = context.still_open(context.path()).is_none();
    let mut judged = conversation.calls(TOOL).filter(|call| call.ending == CallEnding::Completed);
    is_over && !judged.any(|call| !call.suspects().is_empty())
}

/// Returns the next turn.
pub(super) fn next(conversation: &Conversation, tools: &[&str]) -> Turn {
    let recent = || conversation.finished.iter().skip(conversation.before_last_words);
    let reads = || recent().filter(|finished| finished.tool == HOSTS);
    let last = reads().next_back();
    let is_over =
        last.is_some_and(|finished| finished.ending != CallEnding::Failed) || reads().count() >= READS;
    if tools.contains(&HOSTS) && !is_over {
        // In a cloud the names were looked for already.
        let elsewhere = (!conversation.cloud_too).then(|| unknown::on_hosts(conversation, tools)).flatten();
        return elsewhere.unwrap_or_else(|| read(conversation));
    }
    if let Some(capture) = capture(conversation, last).filter(|_| tools.contains(&CAPTURE)) {
        return capture;
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

/// Records packets, where somebody asks for that: at both ends of the first flow between machines, else at the first machine.
fn capture(conversation: &Conversation, last: Option<&FinishedCall>) -> Option<Turn> {
    let is_wanted = symptom_text::read(&conversation.user_text).wants_capture;
    if !is_wanted || conversation.calls(CAPTURE).next().is_some() {
        return None;
    }
    let judged = last.and_then(|finished| JudgedFlows::of_result(&finished.result)).unwrap_or_default();
    let is_own = |name: &&String| conversation.hosts.contains(name);
    let ends = judged.flows.iter().find_map(|flow| {
        let from = flow.source_machine.as_ref().filter(is_own)?;
        let to = flow.destination_machine.as_ref().filter(is_own)?;
        (from != to).then(|| format!("{from} to {to}"))
    });
    let named = judged.complained_of().into_iter().filter(|name| conversation.hosts.contains(name));
    let target = match (ends, named.collect::<Vec<_>>().as_slice()) {
        (Some(ends), _) => ends,
        (None, [one, two]) => format!("{one} to {two}"),
        (None, [one, ..]) => one.clone(),
        // Where the machines could not be read, whoever named two of them still means both.
        (None, []) => match conversation.hosts.as_slice() {
            [one, two] => format!("{one} to {two}"),
            hosts => hosts.first()?.clone(),
        },
    };
    let text =
        format!("You asked for packets, so I record their headers on {target}, and leave nothing there.");
    let arguments = json!({ "target": target, "duration_seconds": CAPTURE_SECONDS, "reasoning": text });
    Some(Turn { text, calls: vec![(CAPTURE.to_owned(), arguments)] })
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
        | Layer::Exposure
        | Layer::Cluster => "Something of one of the machines breaks the traffic.",
    }
}

/// Ends the session with what the machines show.
fn end(conversation: &Conversation, last: Option<&FinishedCall>) -> Turn {
    let completed = last.filter(|finished| finished.ending == CallEnding::Completed);
    let judged = completed.and_then(|finished| JudgedFlows::of_result(&finished.result)).unwrap_or_default();
    let mut suspects = completed.map(FinishedCall::suspects).unwrap_or_default();
    // Of what was recorded counts what is of a flow in question, and is explained by nothing else.
    let is_open = |suspect: &Suspect| {
        let is_explained = judged.flows.iter().any(|flow| flow.is(&suspect.object) && flow.is_explained());
        judged.covers(&suspect.object) && !is_explained
    };
    let captures = conversation.calls(CAPTURE).filter(|call| call.ending == CallEnding::Completed);
    let recorded: Vec<(Suspect, &FinishedCall)> =
        captures.flat_map(|call| call.suspects().into_iter().map(move |one| (one, call))).collect();
    suspects.extend(recorded.iter().map(|(one, _)| one.clone()).filter(|one| is_open(one)));
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
    let settled: Vec<(&str, HypothesisState, String)> =
        settled.into_iter().chain(of_cloud(conversation)).collect();
    let with = |wanted: HypothesisState| -> Vec<&str> {
        settled.iter().filter(|(_, state, _)| *state == wanted).map(|(id, _, _)| *id).collect()
    };
    let update: Vec<Value> =
        settled.iter().map(|(id, state, why)| json!({"id": id, "state": state, "why": why})).collect();
    let shows = |suspect: &Suspect| {
        let own = recorded.iter().find(|(one, _)| one.code == suspect.code && one.object == suspect.object);
        own.map(|(_, call)| *call).or(completed)
    };
    let findings: Vec<Value> = suspects.iter().map(|suspect| finding(suspect, shows(suspect))).collect();
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

/// Settles what was supposed of the cloud before: what is not of these machines, and still open.
fn of_cloud(conversation: &Conversation) -> Vec<(&str, HypothesisState, String)> {
    let own: Vec<&str> = OF_HOSTS.into_iter().filter_map(hypothesis).collect();
    let mut judged = conversation.calls(TOOL).filter(|call| call.ending == CallEnding::Completed);
    let (state, why) = match judged.next_back().and_then(|call| JudgedFlows::of_result(&call.result)) {
        Some(judged)
            if !judged.flows.is_empty()
                && judged.flows.iter().all(|flow| flow.verdict == FlowVerdict::Passes) =>
        {
            (HypothesisState::Refuted, "The cloud lets the traffic pass, judged from end to end.")
        }
        Some(_) | None => {
            (HypothesisState::Unverifiable, "What the cloud shows does not decide it; see the machines.")
        }
    };
    let open = conversation
        .board
        .iter()
        .filter(|(id, known)| *known == HypothesisState::Active && !own.contains(&id.as_str()));
    open.map(|(id, _)| (id.as_str(), state, why.to_owned())).collect()
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
    let asks_changes = judged.complaints.iter().any(|complaint| complaint.kind == Kind::Drift);
    let said = judged.complaints.iter().flat_map(|complaint| &complaint.doubts);
    let changed: Vec<&str> = said.map(String::as_str).filter(|_| asks_changes).take(6).collect();
    if let ([], Some(unknown)) = (titles.as_slice(), unknown_ends(&judged.unknown)) {
        return format!("{unknown}. {MAKE_KNOWN}");
    }
    match titles.as_slice() {
        [] if !changed.is_empty() => format!("{}.", changed.join("; ").trim_end_matches('.')),
        [] if asks_changes => format!("Nothing changed on {place} since the state that was kept."),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(words: &str, hosts: &[&str]) -> Value {
        let conversation = Conversation {
            user_text: words.to_owned(),
            hosts: hosts.iter().map(|name| (*name).to_owned()).collect(),
            ..Conversation::default()
        };
        let turn = capture(&conversation, None);
        turn.map_or(Value::Null, |turn| turn.calls[0].1["target"].clone())
    }

    #[test]
    fn packets_of_two_machines_that_could_not_be_read_are_recorded_at_both() {
        let words = "box-a cannot reach box-b, please capture packets at both ends";
        assert_eq!(recorded(words, &["box-a", "box-b"]), "box-a to box-b");
        assert_eq!(recorded(words, &["box-a", "box-b", "box-c"]), "box-a");
        assert_eq!(recorded("box-a is slow, please capture packets", &["box-a"]), "box-a");
        assert_eq!(recorded("box-a is slow", &["box-a"]), Value::Null);
    }
}
