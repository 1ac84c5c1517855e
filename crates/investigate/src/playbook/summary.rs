//! The words of the report: what broke, which fault explains what, what is open.

use crate::HypothesisState;
use crate::coverage::explains;
use crate::finding::{Fault, title};
use crate::judged::{FlowVerdict, JudgedFlow};
use crate::playbook::agenda::{PlaybookContext, hypothesis};
use crate::playbook::conversation::{CallEnding, plain};
use crate::playbook::findings::CitedFault;
use crate::playbook::settle::Settled;
use crate::suspect::{Layer, Looked};
use crate::symptom_text::Symptom;

/// Returns what shows a fault, in one sentence.
pub(super) fn shown(fault: &CitedFault) -> String {
    plain(&fault.suspect.why, 400)
}

/// Returns the one question without whose answer nothing can be looked at.
pub(super) fn question(context: &PlaybookContext<'_>) -> String {
    let names = context.incident.listed.machines.iter().map(|machine| machine.name.as_str());
    let names: Vec<&str> = names.filter(|name| crate::playbook::incident::is_plain(name)).take(10).collect();
    if names.is_empty() {
        return "Which machine cannot reach which one, by name or address, and in which resource group are they? I found none of the names in your words there.".to_owned();
    }
    format!(
        "Which of these machines is it about, and which of them calls: {}? None of the names in your words is one of them.",
        names.join(", ")
    )
}

/// Writes the summary: what is broken, and what belongs together. Proofs, what was ruled out and what was not looked at have places
/// of their own in the report.
pub(super) fn summary(context: &PlaybookContext<'_>, faults: &[CitedFault], missing: &[Looked]) -> String {
    let mut lines = vec![headline(context, faults, missing)];
    lines.extend(not_causes(context, faults));
    lines.extend(baseline(context, faults));
    lines.join("\n")
}

fn headline(context: &PlaybookContext<'_>, faults: &[CitedFault], missing: &[Looked]) -> String {
    let incident = context.incident;
    let between = match (&incident.source, &incident.destination) {
        (Some(source), Some(destination)) => format!("between {} and {}", source.name, destination.name),
        (Some(only), None) | (None, Some(only)) => format!("at {}", only.name),
        (None, None) => "here".to_owned(),
    };
    let mut titles: Vec<String> =
        faults.iter().map(|fault| title(&fault.suspect.code, &fault.suspect.object)).collect();
    let exposed = faults.iter().filter(|fault| fault.suspect.fault() == Some(Fault::NsgExposure)).count();
    if exposed > 0 && exposed == faults.len() {
        let rules = if exposed == 1 { "One rule lets".to_owned() } else { format!("{exposed} rules let") };
        return format!("{rules} more in {between} than need be: {}.", titles.join("; "));
    }
    let gaps: Vec<String> = context
        .judged
        .flows
        .iter()
        .filter_map(|flow| {
            Some(format!("Nothing leads from {}: {}.", flow.name(), flow.gap()?.trim_end_matches('.')))
        })
        .collect();
    if titles.is_empty() && !gaps.is_empty() {
        return gaps.join(" ");
    }
    let flows = &context.judged.flows;
    if titles.is_empty() && !flows.is_empty() && flows.iter().all(|flow| flow.verdict == FlowVerdict::Passes)
    {
        let names: Vec<String> = flows.iter().map(JudgedFlow::name).collect();
        let rest = if missing.is_empty() { "" } else { " What only the packets tell was not seen." };
        return format!(
            "No fault found on {}: judged from end to end, in both directions.{rest} What is left lies in the applications, or was gone when I looked.",
            names.join(", ")
        );
    }
    match titles.len() {
        0 if missing.is_empty() => format!(
            "Nothing that was looked at {between} explains the symptom: every layer that could was read, and is clean. What is left lies in the applications, or was gone when I looked."
        ),
        0 => format!(
            "The symptom {between} is not explained: what I was able to read is clean, and what would settle it was not available."
        ),
        1 => format!("{}.", titles.remove(0)),
        some => {
            format!("{some} things are shown {between}, each with a proof of its own: {}.", titles.join("; "))
        }
    }
}

/// Says what seems to be an explanation and is none.
fn not_causes(context: &PlaybookContext<'_>, faults: &[CitedFault]) -> Vec<String> {
    let mut lines = Vec::new();
    let ping = |fault: &&CitedFault| fault.suspect.object.contains("/icmp/");
    let slow = |fault: &&CitedFault| explains(&fault.suspect.code, Symptom::Slow);
    let cut = |fault: &&CitedFault| explains(&fault.suspect.code, Symptom::Unreachable) && !slow(fault);
    if faults.iter().any(|fault| ping(&fault)) && faults.iter().any(|fault| slow(&fault)) {
        lines.push("The filtered ping and the slow transfers are two different things: a ping that is dropped says nothing about TCP.".to_owned());
    } else if faults.iter().any(|fault| slow(&fault)) && faults.iter().any(|fault| cut(&fault)) {
        lines.push(
            "What is blocked and what is slow are two different things: mending one leaves the other."
                .to_owned(),
        );
    }
    let works = context.symptom_text.symptoms.contains(&Symptom::OneProtocol);
    if works && faults.iter().any(|fault| cut(&fault)) {
        lines.push("That another protocol works shows that the route is there, and nothing more.".to_owned());
    }
    lines
}

/// Says what a comparison with a baseline means for the rest.
fn baseline(context: &PlaybookContext<'_>, faults: &[CitedFault]) -> Option<String> {
    let unchanged = faults.iter().any(|fault| fault.suspect.fault() == Some(Fault::NoDrift));
    if unchanged && faults.len() > 1 {
        return Some("The effective network is as the baseline holds it; the other finding lies where the baseline does not reach, and is listed apart from it.".to_owned());
    }
    let asked = context.symptom_text.symptoms.contains(&Symptom::NothingChanged)
        || context.symptom_text.symptoms.contains(&Symptom::RolledBack);
    (asked && context.symptom_text.baselines.is_empty())
        .then(|| "Whether anything changed cannot be said without a baseline from before.".to_owned())
}

/// Returns what a hypothesis is about, in words.
fn hypothesis_subject(id: &str) -> Option<&'static str> {
    Some(match id {
        "H-rules" => "security rules at both gates",
        "H-routes" => "routes and their next hops",
        "H-storage" => "the storage account and the subnet's endpoints",
        "H-changed" => "the comparison with the baseline",
        "H-guest" => "the packet filters inside the machines",
        "H-shaping" => "traffic shaping inside the machines",
        "H-path" => "measured latency and throughput",
        "H-wire" => "packets on the wire",
        "H-exposure" => "what the rules let in",
        _ => return None,
    })
}

/// Returns what is open, and what would settle it.
pub(super) fn open(context: &PlaybookContext<'_>, settled: &[Settled], missing: &[Looked]) -> Vec<String> {
    let is_missing = |id: &str| missing.iter().any(|gap| hypothesis(gap.layer) == Some(id));
    let mut open: Vec<String> = settled
        .iter()
        .filter(|known| known.state == HypothesisState::Unverifiable && !is_missing(&known.id))
        .map(|known| match hypothesis_subject(&known.id) {
            Some(what) => format!("{}: {}", capital(what), known.why),
            None => format!("{}: {}", known.id, known.why),
        })
        .collect();
    for gap in missing {
        let on = if gap.subject.is_empty() { String::new() } else { format!(" of {}", gap.subject) };
        open.push(match gap.layer {
            Layer::Topology => "Which machines are there? With the right to read the resource group I can tell.".to_owned(),
            Layer::Rules => format!("Do the effective security rules{on} let the traffic through? Reading them settles it."),
            Layer::Routes => format!("Do the effective routes{on} lead anywhere? Reading them settles it."),
            Layer::Storage => "Which storage account is it? With its name both sides can be compared.".to_owned(),
            Layer::NetworkDrift | Layer::GuestDrift => {
                "What changed since the baseline? A baseline that covers one of these machines settles it.".to_owned()
            }
            Layer::Guest => format!("Does the packet filter{on} drop the traffic? Reading it, through the platform or by ssh, settles it."),
            Layer::Shaping => format!("Does traffic shaping{on} slow it down or lose it? Reading it settles it."),
            Layer::Measure if was_measured(context) => "How fast is the path really? A measurement did not get through; its own ports may be closed. Time the calls of the application, or let these ports through meanwhile.".to_owned(),
            Layer::Measure => "How fast is the path really? Measure it, with consent, and it is settled.".to_owned(),
            Layer::Wire if context.conversation.last_look(gap) == Some(CallEnding::Completed) => format!("What do the packets{on} show? The recordings hold too little of this connection. Ask again while somebody uses it."),
            Layer::Wire => format!("What do the packets{on} show? A capture would settle it, if somebody approves it. If the first packet gets no answer, it is dropped. If it gets a reset, nobody listens."),
            Layer::Exposure => format!("What do the rules{on} let in? Reading them settles it."),
            Layer::Links | Layer::Names | Layer::Sockets | Layer::Cluster => {
                format!("What is {}{on}? Reading it settles it.", gap.layer.describe())
            }
        });
    }
    if context.symptom_text.symptoms.contains(&Symptom::StorageUnreachable)
        && context.incident.accounts.is_empty()
        && !open.iter().any(|item| item.starts_with("Which storage"))
    {
        open.push("Which storage account is it? With its name both sides can be compared.".to_owned());
    }
    open.truncate(40);
    open
}

/// Tells whether a measurement ran, and came to nothing.
fn was_measured(context: &PlaybookContext<'_>) -> bool {
    context.conversation.calls("run_pipe_meter").any(|call| call.ending == CallEnding::Failed)
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().collect::<String>() + chars.as_str()).unwrap_or_default()
}
