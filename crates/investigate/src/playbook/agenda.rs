//! What to look at next: by layer, and by what it costs. What only reads is read at both ends, whole; what asks humans comes last.

use serde_json::{Map, Value, json};

use crate::complaint::Kind;
use crate::coverage;
use crate::judged::JudgedFlows;
use crate::playbook::conversation::{CallEnding, Conversation};
use crate::playbook::flows;
use crate::playbook::incident::{IncidentContext, Machine};
use crate::playbook::planned_call::{CallProgress, PlannedCall};
use crate::suspect::Layer;
use crate::symptom_text::{Protocol, Symptom, SymptomText};

/// Stands for any address outside.
const OUTSIDE: &str = "8.8.8.8";
/// So many calls go into one turn.
const MAX_CALLS_PER_TURN: usize = 8;
/// So many ports are asked about one by one.
const MAX_PORTS: usize = 6;

/// Everything that the next step depends on.
#[derive(Debug)]
pub(super) struct PlaybookContext<'a> {
    /// What people said.
    pub(super) symptom_text: &'a SymptomText,
    /// What they mean.
    pub(super) incident: &'a IncidentContext,
    /// What was done.
    pub(super) conversation: &'a Conversation,
    /// Which tools there are.
    pub(super) tools: Vec<&'a str>,
    /// The flows in question, as they were judged.
    pub(super) judged: JudgedFlows,
    /// Whether they were judged.
    pub(super) is_judged: bool,
}

/// Calls of one stage, each with the arguments of the current attempt.
pub(super) type PlannedCalls = Vec<(PlannedCall, Map<String, Value>)>;

impl PlaybookContext<'_> {
    /// Returns the next calls; nothing where all of them are over.
    pub(super) fn next(&self) -> Option<PlannedCalls> {
        let topology = self.topology();
        let first = self.still_open(vec![topology]);
        if first.is_some() {
            return first;
        }
        if let Some(left) = &self.symptom_text.left_behind {
            return self.still_open(self.cleanup_call(left).into_iter().collect());
        }
        let judged = self.still_open(self.path());
        if judged.is_some() {
            return judged;
        }
        if self.incident.machines().is_empty() && self.incident.accounts.is_empty() {
            return None;
        }
        let stages: [fn(&Self) -> Vec<PlannedCall>; 9] = [
            Self::exposure,
            Self::path,
            Self::rules,
            Self::routes,
            Self::storage,
            Self::drift,
            Self::guests,
            Self::shaping,
            Self::settling,
        ];
        stages.iter().find_map(|stage| self.still_open(stage(self)))
    }

    /// Returns the layers that the board begins with.
    pub(super) fn layers(&self) -> Vec<Layer> {
        if self.symptom_text.left_behind.is_some() {
            return vec![Layer::Wire];
        }
        let mut layers: Vec<Layer> = coverage::layers(&self.symptom_text.symptoms);
        layers.retain(|layer| *layer != Layer::Topology);
        if !self.incident.accounts.is_empty() {
            layers.push(Layer::Storage);
        }
        let kept = self.symptom_text.baselines.iter().filter(|name| !is_measured(name));
        layers.extend(kept.map(|_| Layer::NetworkDrift));
        if self.symptom_text.wants_capture {
            layers.push(Layer::Wire);
        }
        layers.sort_unstable();
        layers.dedup_by_key(|layer| hypothesis(*layer));
        layers
    }

    /// Keeps what can still be done.
    pub(super) fn still_open(&self, calls: Vec<PlannedCall>) -> Option<PlannedCalls> {
        let mut planned: PlannedCalls = Vec::new();
        for call in calls {
            let there = self.tools.contains(&call.tool);
            if there
                && !self.given_up(call.layer)
                && let CallProgress::Open(arguments) = call.progress(self.conversation)
                && !planned
                    .iter()
                    .any(|(other, _)| other.tool == call.tool && other.attempts == call.attempts)
            {
                planned.push((call, arguments));
            }
        }
        planned.truncate(MAX_CALLS_PER_TURN);
        (!planned.is_empty()).then_some(planned)
    }

    /// Tells whether humans denied so much of a hypothesis that nothing of it is asked any more.
    fn given_up(&self, layer: Layer) -> bool {
        hypothesis(layer).is_some_and(|id| {
            self.conversation.added(id)
                && self.conversation.state(id) == Some(crate::HypothesisState::Unverifiable)
        })
    }

    /// Adds the group to what a tool is called with.
    pub(super) fn with(&self, arguments: Value) -> Map<String, Value> {
        let Value::Object(mut arguments) = arguments else { return Map::new() };
        if let Some(group) = &self.incident.group {
            arguments.insert("resource_group".to_owned(), Value::from(group.clone()));
        }
        arguments
    }

    pub(super) fn topology(&self) -> PlannedCall {
        let named = self.conversation.calls("topology").next().map(|finished| finished.arguments.clone());
        // The group may be known better once the topology said it; the question stays the one that was asked.
        let mut arguments = named.unwrap_or_else(|| self.with(json!({})));
        arguments.retain(|key, _| key == "resource_group");
        let why = "I look up which machines, interfaces and subnets there are, so that names and addresses become objects.";
        PlannedCall::at_platform("topology", Layer::Topology, arguments, why.to_owned())
    }

    /// Tells whether a layer is looked at for itself: not where the flows in question were judged through it.
    fn wants(&self, layer: Layer) -> bool {
        let through = matches!(layer, Layer::Rules | Layer::Routes | Layer::Guest | Layer::Shaping);
        let judged = through && self.is_judged && !self.judged.is_beside_flows();
        coverage::layers(&self.symptom_text.symptoms).contains(&layer) && !judged
    }

    /// The flows that people speak of, end to end: it reads whatever decides over them.
    pub(super) fn path(&self) -> Vec<PlannedCall> {
        let why = "I follow the traffic from end to end, in both directions: rules, routes, appliances, packet filters, shaping, and who listens.";
        let call =
            PlannedCall::at_platform(flows::TOOL, Layer::Topology, self.with(json!({})), why.to_owned());
        // Whoever said more since may complain of more.
        vec![PlannedCall { since: self.conversation.before_last_words, ..call }]
    }

    fn exposure(&self) -> Vec<PlannedCall> {
        let is_answered =
            self.judged.complaints.iter().any(|one| one.kind == Kind::Exposure && !one.machines.is_empty());
        if !self.wants(Layer::Exposure) || is_answered {
            return Vec::new();
        }
        let call = |machine: &Machine| {
            let arguments = self.with(json!({"vm_name": machine.name, "audit": true}));
            let why = format!(
                "I list every rule that lets somebody in to {}: what is open to whom is the question.",
                machine.name
            );
            PlannedCall::at_platform("inspect_nsg", Layer::Exposure, arguments, why)
        };
        self.incident.machines().into_iter().map(call).collect()
    }

    /// All rules that decide, on every machine; then the verdict for each flow that people speak of.
    fn rules(&self) -> Vec<PlannedCall> {
        if !self.wants(Layer::Rules) {
            return Vec::new();
        }
        let mut calls = Vec::new();
        for machine in self.incident.machines() {
            let why = format!(
                "I read the security rules in effect at {}, at the subnet and at the interface. They decide before the machine sees a packet.",
                machine.name
            );
            calls.push(PlannedCall::at_platform(
                "inspect_nsg",
                Layer::Rules,
                self.with(json!({"vm_name": machine.name})),
                why,
            ));
        }
        calls.extend(self.verdicts());
        calls
    }

    fn verdicts(&self) -> Vec<PlannedCall> {
        let incident = self.incident;
        let of =
            |machine: &Option<Machine>| machine.as_ref().and_then(|found| found.addresses.first().cloned());
        let partner = incident.partner.map(|address| address.to_string());
        let outside = self.symptom_text.symptoms.contains(&Symptom::InternetLost).then(|| OUTSIDE.to_owned());
        let from = of(&incident.source).or_else(|| incident.destination.as_ref().and(partner.clone()));
        let to = of(&incident.destination).or_else(|| incident.source.as_ref().and(partner).or(outside));
        let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
        let protocol = if self.symptom_text.protocols == [Protocol::Udp] { "udp" } else { "tcp" };
        let mut calls = Vec::new();
        for port in self.symptom_text.ports.iter().take(MAX_PORTS) {
            for (machine, direction) in [(&incident.destination, "inbound"), (&incident.source, "outbound")] {
                let Some(machine) = machine else { continue };
                let why = format!(
                    "I ask for the verdict on {protocol}/{port} from {from} to {to}, {direction} at {}: one rule decides, and I want its name.",
                    machine.name
                );
                let arguments = self.with(json!({"vm_name": machine.name, "src_ip": from, "dst_ip": to,
                    "dst_port": port, "proto": protocol, "direction": direction}));
                calls.push(PlannedCall::at_platform("inspect_nsg", Layer::Rules, arguments, why));
            }
        }
        calls
    }

    /// Both directions between the two, and what each sends outwards.
    fn routes(&self) -> Vec<PlannedCall> {
        if !self.wants(Layer::Routes) {
            return Vec::new();
        }
        let mut calls = Vec::new();
        for machine in self.incident.machines() {
            let peer = self.incident.peer(machine);
            for to in peer.iter().map(String::as_str).chain([OUTSIDE]) {
                let why = if to == OUTSIDE {
                    format!(
                        "I check how {} leaves its network: whether its default route ends at somebody who is there.",
                        machine.name
                    )
                } else {
                    format!(
                        "I check which route of {} wins for {to}, and who owns the next hop: routes are needed in both directions.",
                        machine.name
                    )
                };
                let arguments = self.with(json!({"vm_name": machine.name, "dst_ip": to}));
                calls.push(PlannedCall::at_platform(
                    "effective_route_inspector",
                    Layer::Routes,
                    arguments,
                    why,
                ));
            }
        }
        calls
    }

    fn storage(&self) -> Vec<PlannedCall> {
        let machine = self.incident.source.as_ref().or(self.incident.destination.as_ref());
        let call = |account: &String| {
            let mut arguments = self.with(json!({"account": account}));
            if let Some(machine) = machine {
                arguments.insert("vm_name".to_owned(), Value::from(machine.name.clone()));
            }
            let why = format!(
                "I compare both sides of the relationship: whom the storage account {account} lets in, and whether the subnet has the endpoint that this needs."
            );
            PlannedCall::at_platform("inspect_storage", Layer::Storage, arguments, why)
        };
        self.incident.accounts.iter().map(call).collect()
    }

    /// Named baselines: of the network with the machine that has one, of a guest as well.
    fn drift(&self) -> Vec<PlannedCall> {
        let machines =
            self.incident.destination.iter().chain(&self.incident.source).chain(&self.incident.others);
        let machines: Vec<&Machine> = machines.collect();
        let mut calls = Vec::new();
        for baseline in &self.symptom_text.baselines {
            if is_measured(baseline) {
                continue;
            }
            let network = ("detect_effective_network_drift", Layer::NetworkDrift);
            let guest = ("detect_config_drift", Layer::GuestDrift);
            // What a name stands for is found by looking it up; its begin says where first.
            let order =
                if baseline.to_lowercase().starts_with("fw") { [guest, network] } else { [network, guest] };
            let is_compared = |tool: &str| {
                self.conversation.calls(tool).any(|finished| {
                    finished.ending == CallEnding::Completed
                        && finished.text("compare_session_id") == Some(baseline)
                })
            };
            if order.iter().any(|(tool, _)| is_compared(tool)) {
                continue;
            }
            // A baseline may cover one machine alone: the next one is tried where it does not cover the first.
            let tries =
                order.iter().flat_map(|(tool, layer)| machines.iter().map(move |own| (*tool, *layer, own)));
            for (tool, layer, machine) in tries {
                let why = format!(
                    "I compare {} with the baseline {baseline}, to see what changed since.",
                    machine.name
                );
                let arguments = self.with(json!({"vm_name": machine.name, "compare_session_id": baseline}));
                let call = if layer == Layer::GuestDrift {
                    PlannedCall::in_guest(tool, layer, arguments, why)
                } else {
                    PlannedCall::once(tool, layer, arguments, why)
                };
                if matches!(call.progress(self.conversation), CallProgress::Open(_)) {
                    calls.push(call);
                    break;
                }
            }
        }
        calls
    }

    fn guests(&self) -> Vec<PlannedCall> {
        if !self.wants(Layer::Guest) {
            return Vec::new();
        }
        let call = |machine: &Machine| {
            let why = format!(
                "I read the packet filter inside {}: behind the platform's rules the guest has its own, which no portal shows.",
                machine.name
            );
            PlannedCall::in_guest(
                "detect_config_drift",
                Layer::Guest,
                self.with(json!({"vm_name": machine.name})),
                why,
            )
        };
        self.incident.machines().into_iter().map(call).collect()
    }

    fn shaping(&self) -> Vec<PlannedCall> {
        if !self.wants(Layer::Shaping) {
            return Vec::new();
        }
        let call = |machine: &Machine| {
            let why = format!(
                "I read the traffic shaping of {}: each machine delays, drops or slows down what it sends, and both ends count.",
                machine.name
            );
            PlannedCall::in_guest(
                "inspect_qdisc",
                Layer::Shaping,
                self.with(json!({"vm_name": machine.name})),
                why,
            )
        };
        self.incident.machines().into_iter().map(call).collect()
    }
}

/// Returns the hypothesis that belongs to a layer.
pub(crate) fn hypothesis(layer: Layer) -> Option<&'static str> {
    Some(match layer {
        Layer::Topology => return None,
        Layer::Rules => "H-rules",
        Layer::Routes => "H-routes",
        Layer::Storage => "H-storage",
        Layer::NetworkDrift | Layer::GuestDrift => "H-changed",
        Layer::Guest => "H-guest",
        Layer::Shaping => "H-shaping",
        Layer::Measure => "H-path",
        Layer::Wire => "H-wire",
        Layer::Exposure => "H-exposure",
        Layer::Links => "H-links",
        Layer::Names => "H-names",
        Layer::Sockets => "H-sockets",
        Layer::Cluster => "H-cluster",
    })
}

/// Tells whether a baseline is one of measurements, by the names that `ghost meter` gives.
pub(super) fn is_measured(baseline: &str) -> bool {
    let lower = baseline.to_lowercase();
    ["pm", "pipe"].iter().any(|start| lower.starts_with(start))
}
