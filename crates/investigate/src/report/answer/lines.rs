//! What stands below the answer: which flow is stopped by what, what is clear, what was not looked at, how sure it is.

use std::collections::BTreeMap;

use crate::changed::{self, LogReading, log_reading};
use crate::event::{ForecastVerdict, Waived};
use crate::judged::{FlowVerdict, JudgedFlow, JudgedFlows};
use crate::platform_answer::{is_contradicted, platform_answers};
use crate::report::answer::cause::{carried, decider, ends};
use crate::report::step_outcome::{StepOutcome, command, step_outcome};
use crate::state::{CallState, State, Step};
use crate::suspect::Layer;
use crate::tool::AFTER_REPORT;
use crate::{HypothesisState, Outcome};

/// So many flows stand in a line; the report lists all.
const MAX_FLOWS: usize = 6;

/// Of so many causes it is said which change made them; the report says it of all.
const MAX_ORIGINS: usize = 2;

/// A hypothesis of a model is cut behind so many characters.
const MAX_HYPOTHESIS_CHARS: usize = 60;

/// So many hypotheses of a model that are clear are named; the playbook has nine subjects, and all of them are short.
const MAX_CLEAR: usize = 4;

/// Returns what becomes of each flow, and by what; `None` where one flow is all there is and its cause is the answer.
pub(super) fn flows(judged: &JudgedFlows) -> Option<String> {
    let explained = |flow: &JudgedFlow| flow.verdict == FlowVerdict::Blocked && !flow.causes.is_empty();
    match judged.flows.as_slice() {
        [] => return None,
        [only] if explained(only) => return None,
        _ => {}
    }
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for flow in judged.flows.iter().take(MAX_FLOWS) {
        let (ends, fate) = (ends(flow), format!("{} {}", carried(flow), fate(flow)));
        match groups.iter_mut().find(|(name, _)| *name == ends) {
            Some((_, fates)) => fates.push(fate),
            None => groups.push((ends, vec![fate])),
        }
    }
    let mut text: Vec<String> =
        groups.into_iter().map(|(ends, fates)| format!("{ends}: {}", fates.join(", "))).collect();
    let more = judged.flows.len().saturating_sub(MAX_FLOWS);
    text.extend((more > 0).then(|| format!("{more} more in the report")));
    Some(text.join("; "))
}

/// Says what becomes of a flow, and by what.
pub(in crate::report) fn fate(flow: &JudgedFlow) -> String {
    let mut by: Vec<String> = Vec::new();
    for name in flow.causes.iter().map(decider) {
        if !by.contains(&name) {
            by.push(name);
        }
    }
    let by =
        if by.is_empty() || flow.gap().is_some() { String::new() } else { format!(" ({})", by.join(", ")) };
    match flow.verdict {
        FlowVerdict::Passes => flow.passing(),
        FlowVerdict::Degraded => format!("is degraded{by}"),
        FlowVerdict::Blocked if flow.gap().is_some() => "has no path".to_owned(),
        FlowVerdict::Blocked => format!("is blocked{by}"),
        FlowVerdict::Indeterminate => "could not be judged".to_owned(),
    }
}

/// Returns which change made each cause, as far as the log of the platform says so.
pub(super) fn origins(state: &State) -> Option<String> {
    let sentences: Vec<String> = changed::origins(state)
        .into_iter()
        .filter(|(origin, _)| origin.result != "none")
        .take(MAX_ORIGINS)
        .map(|(origin, _)| origin.sentence)
        .collect();
    (!sentences.is_empty()).then(|| sentences.join("; "))
}

/// Returns what may have taken effect, and what did not run.
pub(super) fn attention(state: &State) -> Option<(&'static str, String)> {
    let count =
        |wanted: StepOutcome| state.steps.iter().filter(|step| step_outcome(state, step) == wanted).count();
    let unknown = state.unknown_steps().count().max(count(StepOutcome::Unknown));
    let refused = count(StepOutcome::Refused);
    let commands =
        |number: usize| if number == 1 { "1 command".to_owned() } else { format!("{number} commands") };
    match (unknown, refused) {
        (0, 0) => None,
        (0, refused) => {
            Some(("Not run", format!("{}: denied, or nobody answered in time", commands(refused))))
        }
        (unknown, 0) => Some((
            "Outcome unknown",
            format!("{} may have taken effect. Check before you rely on it", commands(unknown)),
        )),
        (unknown, refused) => Some((
            "Outcome unknown",
            format!(
                "{} may have taken effect. Check before you rely on it. {} did not run: denied, or nobody answered in time",
                commands(unknown),
                commands(refused)
            ),
        )),
    }
}

/// Returns what changes did that their forecasts had not said.
pub(super) fn contradicted(state: &State) -> Option<String> {
    let wrong = state.forecasts_checked.iter().filter(|one| one.verdict == ForecastVerdict::Contradicted);
    let worded: Vec<String> = wrong
        .map(|one| match one.flows.first() {
            Some(first) => format!("{}, first {first}", one.words),
            None => one.words.clone(),
        })
        .collect();
    (!worded.is_empty()).then(|| worded.join("; "))
}

/// Tells whether the session asks below its report whether it may remove what it left in the cloud.
fn asks_below(state: &State) -> bool {
    let mark = format!("\"cleanup_status\":\"{AFTER_REPORT}\"");
    let is_put_off =
        |call: &CallState| call.returned.as_ref().is_some_and(|returned| returned.content.contains(&mark));
    let is_asked = |step: &Step| state.is_behind_result(step);
    state.end_request.is_none() && state.calls().any(is_put_off) && !state.steps.iter().any(is_asked)
}

/// Says what a person is asked about below the report.
pub(super) fn clean_up(state: &State) -> Option<String> {
    asks_below(state).then(|| {
        "the recordings are still in the storage account; I ask below this answer before I delete them"
            .to_owned()
    })
}

/// Returns the recordings that the session began and did not delete, where it is over and asks nobody any more.
pub(in crate::report) fn left_behind(state: &State) -> Option<String> {
    if asks_below(state) {
        return None;
    }
    let name = |command: &str| {
        let words: Vec<&str> = command.split_whitespace().collect();
        let at = words.iter().position(|word| matches!(*word, "--name" | "-n"))?;
        words.get(at + 1).map(|name| (*name).to_owned())
    };
    let ran = |verb: &str| -> Vec<String> {
        let begins = format!("az network watcher packet-capture {verb} ");
        let steps = state
            .steps
            .iter()
            .filter(|step| matches!(step_outcome(state, step), StepOutcome::Ran | StepOutcome::Unknown));
        steps.map(command).filter(|line| line.starts_with(&begins)).filter_map(name).collect()
    };
    let deleted = ran("delete");
    let left: Vec<String> = ran("create").into_iter().filter(|name| !deleted.contains(name)).collect();
    match left.len() {
        0 => None,
        1 => Some(
            "1 recording of packets and its file in the storage account; ghost capture orphans and the Home tab in Slack delete it"
                .to_owned(),
        ),
        some => Some(format!(
            "{some} recordings of packets and their files in the storage account; ghost capture orphans and the Home tab in Slack delete them"
        )),
    }
}

/// Returns what was checked and is clear.
pub(super) fn clear(state: &State, judged: &JudgedFlows) -> Option<String> {
    let refuted = state.hypotheses.iter().filter(|one| one.state == HypothesisState::Refuted);
    let (mut names, mut most): (Vec<String>, usize) = (Vec::new(), 9);
    for one in refuted {
        if subject(&one.id).is_none() {
            most = MAX_CLEAR;
        }
        let name = subject(&one.id).map_or_else(|| claim(&one.description, &one.id), str::to_owned);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let more = names.len().saturating_sub(most);
    names.truncate(most);
    names.extend((more > 0).then(|| format!("{more} more")));
    let machines = judged.machines();
    let place = match machines.as_slice() {
        [] => String::new(),
        [only] => format!(" at {only}"),
        [first, second] => format!(" at {first} and {second}"),
        [_, _, ..] => format!(" at {} machines", machines.len()),
    };
    Some(format!("{}{place}", names.join(", ")))
}

/// Returns a hypothesis of a model as something that is not so.
fn claim(description: &str, id: &str) -> String {
    format!("not \"{}\"", shortened(description, id))
}

/// Returns a hypothesis of a model in a few words.
fn shortened(description: &str, id: &str) -> String {
    let words = if description.trim().is_empty() { id } else { description.trim().trim_end_matches('.') };
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = words.chars().take(MAX_HYPOTHESIS_CHARS).collect();
    let dots = if cut.len() < words.len() { "…" } else { "" };
    format!("{cut}{dots}")
}

/// Returns what a hypothesis of the playbook is about; `None` for one of a model.
#[must_use]
pub fn subject(id: &str) -> Option<&'static str> {
    Some(match id {
        "H-rules" => "security rules",
        "H-routes" => "routes",
        "H-storage" => "storage account and endpoints",
        "H-changed" => "changes since the baseline",
        "H-guest" => "packet filters",
        "H-shaping" => "traffic shaping",
        "H-path" => "latency and throughput",
        "H-wire" => "packets on the wire",
        "H-exposure" => "what the rules let in",
        "H-links" => "devices, addresses and neighbors",
        "H-names" => "name servers",
        "H-sockets" => "sockets, limits and counters",
        "H-cluster" => "policies, services and endpoints",
        _ => return None,
    })
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Topology => "which machines there are",
        Layer::Rules => "security rules",
        Layer::Routes => "routes",
        Layer::Storage => "storage account and endpoints",
        Layer::NetworkDrift | Layer::GuestDrift => "changes since the baseline",
        Layer::Guest => "packet filters",
        Layer::Shaping => "traffic shaping",
        Layer::Measure => "latency and throughput",
        Layer::Wire => "packets on the wire",
        Layer::Exposure => "what the rules let in",
        Layer::Links => "devices, addresses and neighbors",
        Layer::Names => "name servers",
        Layer::Sockets => "sockets, limits and counters",
        Layer::Cluster => "policies, services and endpoints",
    }
}

/// Returns what was not looked at, and why not: each reason once.
pub(in crate::report) fn unchecked(state: &State) -> String {
    let mut by_reason: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let waived: &[Waived] = state.concluded.as_ref().map_or(&[], |(_, concluded)| &concluded.waived);
    for one in waived {
        let name = match one.what.subject.as_str() {
            "" => layer(one.what.layer).to_owned(),
            subject => format!("{} of {subject}", layer(one.what.layer)),
        };
        by_reason.entry(one.why.trim().trim_end_matches('.')).or_default().push(name);
    }
    for one in state.hypotheses.iter().filter(|one| one.state == HypothesisState::Unverifiable) {
        let name = subject(&one.id).map_or_else(|| shortened(&one.description, &one.id), str::to_owned);
        if by_reason.values().flatten().any(|known| known.starts_with(&name)) {
            continue;
        }
        let why = one.why.as_deref().unwrap_or_default().trim().trim_end_matches('.');
        by_reason.entry(why).or_default().push(name);
    }
    let mut parts: Vec<String> = by_reason
        .into_iter()
        .map(
            |(why, names)| {
                if why.is_empty() { names.join(", ") } else { format!("{} ({why})", names.join(", ")) }
            },
        )
        .collect();
    match log_reading(state) {
        Some(LogReading::Unread(why)) => parts.push(format!("the activity log ({why})")),
        Some(LogReading::Read(log, _)) => {
            parts.extend(log.unread.iter().map(|one| format!("the activity log of {one}")));
        }
        None => {}
    }
    let closed = crate::judged::judged(state).map(|(_, judged)| judged.closed).unwrap_or_default();
    parts.extend(closed.into_iter().map(|one| format!("{} (closed to whoever reads)", one.what)));
    if parts.is_empty() {
        parts.push("the applications themselves".to_owned());
    }
    parts.join("; ")
}

/// Returns what Azure itself says otherwise than was judged; `None` where it does not.
pub(in crate::report) fn platform_disagrees(state: &State) -> Option<String> {
    let answers = platform_answers(state);
    let against = answers.iter().filter(|answer| answer.is_contradiction()).map(|answer| {
        let verdict = &answer.verdict;
        format!("{} on {}: {}; {}", verdict.command, answer.flow, verdict.said, verdict.why)
    });
    let against: Vec<String> = against.collect();
    (!against.is_empty()).then(|| against.join(". "))
}

/// Returns how sure it is, and why.
pub(in crate::report) fn confidence(state: &State) -> Option<String> {
    let (_, concluded) = state.concluded.as_ref()?;
    let why = match concluded.outcome {
        Outcome::Confirmed => "Each cause was checked once more against the recorded output.",
        Outcome::Likely if is_contradicted(state) => {
            "Each cause was checked once more against the recorded output, but Azure says otherwise about a flow."
        }
        Outcome::Likely => {
            "Each cause was checked once more against the recorded output, but there may be others."
        }
        Outcome::Inconclusive if is_contradicted(state) => {
            "Nothing recorded shows a fault, but Azure says otherwise about a flow."
        }
        Outcome::Inconclusive => "Nothing recorded shows a fault, and not everything could be read.",
        Outcome::NoFaultFound => "This holds for now. A fault that comes and goes may not have been there.",
    };
    Some(format!("{}. {why}", concluded.confidence))
}
