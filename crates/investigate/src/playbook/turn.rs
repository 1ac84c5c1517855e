//! The next turn: what is done, and the words that say why.

use serde_json::{Map, Value, json};

use crate::HypothesisState;
use crate::complaint::{self, Topic};
use crate::finding::title;
use crate::model::Ask;
use crate::playbook::agenda::{PlannedCalls, PlaybookContext, hypothesis};
use crate::playbook::changes;
use crate::playbook::cleanup;
use crate::playbook::close;
use crate::playbook::cluster;
use crate::playbook::conversation::Conversation;
use crate::playbook::findings;
use crate::playbook::flows;
use crate::playbook::host;
use crate::playbook::incident::IncidentContext;
use crate::playbook::talk;
use crate::playbook::unknown;
use crate::suspect::Layer;
use crate::symptom_text::{self, Symptom};

/// A board holds no more.
const BOARD: usize = 20;

#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// What is done and why, in plain words.
    pub text: String,
    /// Tools and what they are called with, in order.
    pub calls: Vec<(String, Value)>,
}

/// Returns the next turn of a conversation: the same one for the same conversation.
#[must_use]
pub fn next(ask: &Ask) -> Turn {
    let conversation = Conversation::read(ask);
    let of_hosts = !conversation.hosts.is_empty();
    let is_chat = host::is_chat(host::topic(&conversation));
    let tools: Vec<&str> = ask.tools.iter().map(|tool| tool.name.as_str()).collect();
    let only_clusters = !conversation.clusters.is_empty() && !conversation.cloud_too && !of_hosts;
    let of_clusters = only_clusters || cluster::is_meant(&conversation);
    // Who changed something the log of the platform says, and nothing that is read of a cluster.
    let is_of_log = conversation.cloud_too && host::topic(&conversation) == Topic::Author;
    if of_clusters && !is_chat && !is_of_log && !cluster::is_beyond(&conversation) {
        return cluster::next(&conversation, &tools);
    }
    if of_hosts && !conversation.cloud_too && !is_chat {
        return host::next(&conversation, &tools);
    }
    let symptom_text = symptom_text::read(&conversation.user_text);
    let incident = IncidentContext::read(&symptom_text, &conversation);
    let judged = flows::judgement(&conversation);
    let context = PlaybookContext {
        symptom_text: &symptom_text,
        incident: &incident,
        conversation: &conversation,
        tools,
        is_judged: judged.is_some(),
        judged: judged.unwrap_or_default(),
    };
    if of_hosts && !is_chat && host::is_beyond_cloud(&context) {
        return host::next(&conversation, &context.tools);
    }
    let topic = complaint::read(&conversation.user_text).topic;
    if symptom_text.left_behind.is_none()
        && topic == Topic::Author
        && let Some(asked) = changes::question(&context)
    {
        return asked;
    }
    if symptom_text.left_behind.is_none() && !topic.needs_estate() {
        return talk::end(&context, topic);
    }
    if let Some(end) = unknown::in_cloud(&context) {
        return end;
    }
    match context.next() {
        Some(planned) => take(&context, planned),
        None => match &symptom_text.left_behind {
            Some(left) => cleanup::end(&context, left),
            None => match changes::of_causes(&context) {
                Some(planned) => take(&context, planned),
                None => close::close(&context),
            },
        },
    }
}

fn take(context: &PlaybookContext<'_>, planned: PlannedCalls) -> Turn {
    let text = words(context, &planned);
    let adds = adds(context, &planned);
    let stands = |id: &str| {
        let added = context.conversation.added(id) && context.conversation.state(id).is_some();
        added || adds.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id))
    };
    let mut calls = Vec::new();
    for (call, mut arguments) in planned {
        arguments.insert("reasoning".to_owned(), Value::from(call.why.clone()));
        if let Some(id) = hypothesis(call.layer).filter(|id| stands(id)) {
            arguments.insert("hypothesis_id".to_owned(), Value::from(id));
        }
        calls.push((call.tool.to_owned(), Value::Object(arguments)));
    }
    if !adds.is_empty() {
        calls.insert(0, ("manage_hypotheses".to_owned(), json!({ "add": adds })));
    }
    Turn { text, calls }
}

/// Returns the hypotheses that have to go on the board before the step.
fn adds(context: &PlaybookContext<'_>, planned: &PlannedCalls) -> Vec<Map<String, Value>> {
    let mut layers: Vec<Layer> = planned.iter().map(|(call, _)| call.layer).collect();
    if context.conversation.calls("manage_hypotheses").next().is_none() {
        layers.extend(context.layers());
    }
    layers.sort_unstable();
    let tried = |id: &str| {
        context.conversation.calls("manage_hypotheses").any(|finished| {
            let list = finished.arguments.get("add").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id)))
        })
    };
    let mut adds: Vec<Map<String, Value>> = Vec::new();
    let mut board = context.conversation.board.len();
    for layer in layers {
        let Some(id) = hypothesis(layer) else { continue };
        let known = context.conversation.state(id).is_some();
        if tried(id)
            || adds.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id))
            || (!known && board >= BOARD)
        {
            continue;
        }
        board += usize::from(!known);
        let mut add = Map::new();
        add.insert("id".to_owned(), Value::from(id));
        add.insert("description".to_owned(), Value::from(supposed(context, layer)));
        adds.push(add);
    }
    adds
}

/// Returns what is supposed of a layer.
fn supposed(context: &PlaybookContext<'_>, layer: Layer) -> String {
    if let Some(left) = &context.symptom_text.left_behind {
        return cleanup::supposed(left);
    }
    let ports: Vec<String> = context.symptom_text.ports.iter().take(6).map(ToString::to_string).collect();
    let ports = if ports.is_empty() { String::new() } else { format!(" to port {}", ports.join(", ")) };
    match layer {
        Layer::Topology => String::new(),
        Layer::Rules => format!("A security rule at the subnet or the interface denies the traffic{ports}."),
        Layer::Routes => {
            "A route sends the traffic to nowhere, or to an appliance that is not there.".to_owned()
        }
        Layer::Storage => {
            "The storage account and the subnet do not agree: one lets in what the other does not send."
                .to_owned()
        }
        Layer::NetworkDrift | Layer::GuestDrift
            if context.symptom_text.symptoms.contains(&Symptom::NothingChanged) =>
        {
            "Nothing changed since the baseline was taken.".to_owned()
        }
        Layer::NetworkDrift | Layer::GuestDrift => {
            "Something changed since the baseline was taken, and it breaks the traffic.".to_owned()
        }
        Layer::Guest => {
            format!("A packet filter inside one of the machines drops or refuses the traffic{ports}.")
        }
        Layer::Shaping => {
            "Traffic shaping on one of the machines delays, loses or slows down what it sends.".to_owned()
        }
        Layer::Measure => "The network between the machines is slower than it should be.".to_owned(),
        Layer::Wire => {
            "Packets are lost, refused or damaged in between, though every setting is right.".to_owned()
        }
        Layer::Exposure => "A rule lets in more than the machine's purpose needs.".to_owned(),
        Layer::Links => {
            "A device, an address or a neighbor of one of the machines is not as it has to be.".to_owned()
        }
        Layer::Names => "One of the machines gets no answers to names, late ones, or wrong ones.".to_owned(),
        Layer::Sockets => {
            "A service, a limit or a full queue of one of the machines breaks the traffic.".to_owned()
        }
        Layer::Cluster => cluster::SUPPOSED.to_owned(),
    }
}

/// Says what is done and why.
fn words(context: &PlaybookContext<'_>, planned: &PlannedCalls) -> String {
    let found = findings::faults(context.symptom_text, context.incident, context.conversation);
    let before = match found.as_slice() {
        [] => String::new(),
        [one] => format!(
            "Found so far: {}. It need not be the only fault. ",
            title(&one.suspect.code, &one.suspect.object)
        ),
        [.., last] => format!(
            "Found so far: {} faults, among them: {}. There may be more. ",
            found.len(),
            title(&last.suspect.code, &last.suspect.object)
        ),
    };
    if let [(call, _)] = planned.as_slice() {
        return before + &call.why;
    }
    let names = context.incident.names().join(" and ");
    let what = match planned.first().map(|(call, _)| call.layer) {
        Some(Layer::Rules) => format!(
            "I read the effective security rules of {names}, both gates of each: they cost nothing to read and decide first."
        ),
        Some(Layer::Routes) => format!(
            "I read the routes of {names}, towards each other and out of the network: rules that allow help nothing where a route ends."
        ),
        Some(Layer::Storage) => {
            "I compare what the storage account lets in with what the subnet sends.".to_owned()
        }
        Some(Layer::NetworkDrift | Layer::GuestDrift) => {
            "I compare with the baselines that you named, and see what changed since.".to_owned()
        }
        Some(Layer::Guest) => format!(
            "I read the packet filters inside {names}: the platform's rules cannot show what a guest drops by itself."
        ),
        Some(Layer::Shaping) => format!(
            "I read the traffic shaping of {names}: each shapes what it sends, so one end alone would tell half."
        ),
        Some(Layer::Exposure) => format!("I list what the rules of {names} let in, and from where."),
        Some(
            Layer::Topology
            | Layer::Measure
            | Layer::Wire
            | Layer::Links
            | Layer::Names
            | Layer::Sockets
            | Layer::Cluster,
        )
        | None => planned.first().map(|(call, _)| call.why.clone()).unwrap_or_default(),
    };
    let denied = context.conversation.state("H-guest") == Some(HypothesisState::Unverifiable);
    let behind = if denied { " What was denied is not asked again." } else { "" };
    format!("{before}{what}{behind}")
}
