//! The next turn: what is done, and the words that say why.

use serde_json::{Map, Value, json};

use crate::HypothesisState;
use crate::brief::{self, Symptom};
use crate::complaint;
use crate::model::Ask;
use crate::playbook::agenda::{Desk, Step, hypothesis};
use crate::playbook::close;
use crate::playbook::flows;
use crate::playbook::ground::Ground;
use crate::playbook::pick;
use crate::playbook::story::Story;
use crate::playbook::talk;
use crate::playbook::tidy;
use crate::suspect::Layer;

/// A board holds no more.
const BOARD: usize = 20;

/// A turn.
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
    let story = Story::read(ask);
    let brief = brief::read(&story.said);
    let ground = Ground::read(&brief, &story);
    let tools = ask.tools.iter().map(|tool| tool.name.as_str()).collect();
    let judged = flows::judgement(&story);
    let desk = Desk {
        brief: &brief,
        ground: &ground,
        story: &story,
        tools,
        is_judged: judged.is_some(),
        judged: judged.unwrap_or_default(),
    };
    let topic = complaint::read(&story.said).topic;
    if brief.left_behind.is_none() && !topic.needs_estate() {
        return talk::end(&desk, topic);
    }
    match desk.next() {
        Some(step) => take(&desk, step),
        None => match &brief.left_behind {
            Some(left) => tidy::end(&desk, left),
            None => close::close(&desk),
        },
    }
}

fn take(desk: &Desk<'_>, step: Step) -> Turn {
    let text = words(desk, &step);
    let adds = adds(desk, &step);
    let stands = |id: &str| {
        let added = desk.story.added(id) && desk.story.state(id).is_some();
        added || adds.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id))
    };
    let mut calls = Vec::new();
    for (look, mut arguments) in step {
        arguments.insert("reasoning".to_owned(), Value::from(look.why.clone()));
        if let Some(id) = hypothesis(look.layer).filter(|id| stands(id)) {
            arguments.insert("hypothesis_id".to_owned(), Value::from(id));
        }
        calls.push((look.tool.to_owned(), Value::Object(arguments)));
    }
    if !adds.is_empty() {
        calls.insert(0, ("manage_hypotheses".to_owned(), json!({ "add": adds })));
    }
    Turn { text, calls }
}

/// Returns the hypotheses that have to go on the board before the step.
fn adds(desk: &Desk<'_>, step: &Step) -> Vec<Map<String, Value>> {
    let mut layers: Vec<Layer> = step.iter().map(|(look, _)| look.layer).collect();
    if desk.story.calls("manage_hypotheses").next().is_none() {
        layers.extend(desk.layers());
    }
    layers.sort_unstable();
    let tried = |id: &str| {
        desk.story.calls("manage_hypotheses").any(|done| {
            let list = done.arguments.get("add").and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id)))
        })
    };
    let mut adds: Vec<Map<String, Value>> = Vec::new();
    let mut board = desk.story.board.len();
    for layer in layers {
        let Some(id) = hypothesis(layer) else { continue };
        let known = desk.story.state(id).is_some();
        if tried(id)
            || adds.iter().any(|add| add.get("id").and_then(Value::as_str) == Some(id))
            || (!known && board >= BOARD)
        {
            continue;
        }
        board += usize::from(!known);
        let mut add = Map::new();
        add.insert("id".to_owned(), Value::from(id));
        add.insert("description".to_owned(), Value::from(supposed(desk, layer)));
        adds.push(add);
    }
    adds
}

/// Returns what is supposed of a layer.
fn supposed(desk: &Desk<'_>, layer: Layer) -> String {
    if let Some(left) = &desk.brief.left_behind {
        return tidy::supposed(left);
    }
    let ports: Vec<String> = desk.brief.ports.iter().take(6).map(ToString::to_string).collect();
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
        Layer::NetworkDrift | Layer::GuestDrift if desk.brief.symptoms.contains(&Symptom::NothingChanged) => {
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
        Layer::Measure => "The path is slower than machines of this size should have it.".to_owned(),
        Layer::Wire => "The packets themselves show what no setting shows.".to_owned(),
        Layer::Exposure => "A rule lets in more than the machine's purpose needs.".to_owned(),
    }
}

/// Says what is done and why.
fn words(desk: &Desk<'_>, step: &Step) -> String {
    let found = pick::faults(desk.brief, desk.ground, desk.story);
    let before = match found.as_slice() {
        [] => String::new(),
        [one] => format!(
            "Found so far: {} {}. It need not be the only one. ",
            one.suspect.code, one.suspect.object
        ),
        [.., last] => format!(
            "Found so far: {} faults, {} among them. There may be more. ",
            found.len(),
            last.suspect.object
        ),
    };
    if let [(look, _)] = step.as_slice() {
        return before + &look.why;
    }
    let names = desk.ground.names().join(" and ");
    let what = match step.first().map(|(look, _)| look.layer) {
        Some(Layer::Rules) => format!(
            "I read the effective security rules of {names}, both gates of each: they cost nothing to read and decide first."
        ),
        Some(Layer::Routes) => format!(
            "I read the routes of {names}, towards each other and out of the network: rules that allow help nothing where a route ends."
        ),
        Some(Layer::Storage) => "I compare what the storage account lets in with what the subnet sends.".to_owned(),
        Some(Layer::NetworkDrift | Layer::GuestDrift) => {
            "I compare with the baselines that you name: what changed since is a fact, whatever anybody remembers.".to_owned()
        }
        Some(Layer::Guest) => format!(
            "I read the packet filters inside {names}: the platform's rules cannot show what a guest drops by itself."
        ),
        Some(Layer::Shaping) => format!(
            "I read the traffic shaping of {names}: each shapes what it sends, so one end alone would tell half."
        ),
        Some(Layer::Exposure) => format!("I list what the rules of {names} let in, and from where."),
        Some(Layer::Topology | Layer::Measure | Layer::Wire) | None => {
            step.first().map(|(look, _)| look.why.clone()).unwrap_or_default()
        }
    };
    let denied = desk.story.state("H-guest") == Some(HypothesisState::Unverifiable);
    let behind = if denied { " What was denied is not asked again." } else { "" };
    format!("{before}{what}{behind}")
}
