//! What to look at next: by layer, and by what it costs. What only reads is read at both ends, whole; what asks humans comes last.

use serde_json::{Map, Value, json};

use crate::brief::{Brief, Protocol, Symptom};
use crate::complaint::Kind;
use crate::coverage;
use crate::judged::JudgedFlows;
use crate::playbook::flows;
use crate::playbook::ground::{Ground, Machine};
use crate::playbook::look::{Look, Standing};
use crate::playbook::story::{Ending, Story};
use crate::suspect::Layer;

/// Stands for any address outside.
const OUTSIDE: &str = "8.8.8.8";
/// So many calls go into one turn.
const MOST: usize = 8;
/// So many ports are asked about one by one.
const PORTS: usize = 6;

/// Everything that the next step depends on.
#[derive(Debug)]
pub(super) struct Desk<'a> {
    /// What people said.
    pub(super) brief: &'a Brief,
    /// What they mean.
    pub(super) ground: &'a Ground,
    /// What was done.
    pub(super) story: &'a Story,
    /// Which tools there are.
    pub(super) tools: Vec<&'a str>,
    /// The flows in question, as they were judged.
    pub(super) judged: JudgedFlows,
    /// Whether they were judged.
    pub(super) is_judged: bool,
}

/// Looks of one stage, each with the arguments of the way that is tried now.
pub(super) type Step = Vec<(Look, Map<String, Value>)>;

impl Desk<'_> {
    /// Returns the next looks; nothing where all of them are over.
    pub(super) fn next(&self) -> Option<Step> {
        let topology = self.topology();
        let first = self.open(vec![topology]);
        if first.is_some() {
            return first;
        }
        if let Some(left) = &self.brief.left_behind {
            return self.open(self.tidying(left).into_iter().collect());
        }
        let judged = self.open(self.path());
        if judged.is_some() {
            return judged;
        }
        if self.ground.machines().is_empty() && self.ground.accounts.is_empty() {
            return None;
        }
        let stages: [fn(&Self) -> Vec<Look>; 9] = [
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
        stages.iter().find_map(|stage| self.open(stage(self)))
    }

    /// Returns the layers that the board begins with.
    pub(super) fn layers(&self) -> Vec<Layer> {
        if self.brief.left_behind.is_some() {
            return vec![Layer::Wire];
        }
        let mut layers: Vec<Layer> = coverage::layers(&self.brief.symptoms);
        layers.retain(|layer| *layer != Layer::Topology);
        if !self.ground.accounts.is_empty() {
            layers.push(Layer::Storage);
        }
        let measured = |name: &String| name.to_lowercase().starts_with('p');
        layers
            .extend(self.brief.baselines.iter().filter(|name| !measured(name)).map(|_| Layer::NetworkDrift));
        if self.brief.wants_capture {
            layers.push(Layer::Wire);
        }
        layers.sort_unstable();
        layers.dedup_by_key(|layer| hypothesis(*layer));
        layers
    }

    /// Keeps what can still be done.
    fn open(&self, looks: Vec<Look>) -> Option<Step> {
        let mut step: Step = Vec::new();
        for look in looks {
            let there = self.tools.contains(&look.tool);
            if there
                && !self.given_up(look.layer)
                && let Standing::Open(way) = look.standing(self.story)
                && !step.iter().any(|(other, _)| other.tool == look.tool && other.ways == look.ways)
            {
                step.push((look, way));
            }
        }
        step.truncate(MOST);
        (!step.is_empty()).then_some(step)
    }

    /// Tells whether humans denied so much of a hypothesis that nothing of it is asked any more.
    fn given_up(&self, layer: Layer) -> bool {
        hypothesis(layer).is_some_and(|id| {
            self.story.added(id) && self.story.state(id) == Some(crate::HypothesisState::Unverifiable)
        })
    }

    /// Adds the group to what a tool is called with.
    pub(super) fn with(&self, arguments: Value) -> Map<String, Value> {
        let Value::Object(mut arguments) = arguments else { return Map::new() };
        if let Some(group) = &self.ground.group {
            arguments.insert("resource_group".to_owned(), Value::from(group.clone()));
        }
        arguments
    }

    fn topology(&self) -> Look {
        let named = self.story.calls("topology").next().map(|done| done.arguments.clone());
        // The group may be known better once the topology told it; the question stays the one that was asked.
        let mut arguments = named.unwrap_or_else(|| self.with(json!({})));
        arguments.retain(|key, _| key == "resource_group");
        let why = "I look up which machines, interfaces and subnets there are, so that names and addresses become objects.";
        Look::at_platform("topology", Layer::Topology, arguments, why.to_owned())
    }

    /// Tells whether a layer is looked at for itself: not where the flows in question were judged through it.
    fn wants(&self, layer: Layer) -> bool {
        let through = matches!(layer, Layer::Rules | Layer::Routes | Layer::Guest | Layer::Shaping);
        let judged = through && self.is_judged && !self.judged.is_beside_flows();
        coverage::layers(&self.brief.symptoms).contains(&layer) && !judged
    }

    /// The flows that people speak of, end to end: it reads whatever decides over them.
    fn path(&self) -> Vec<Look> {
        let why = "I judge the flows in question from end to end and in both directions: security groups, routes, appliances, packet filters, shaping, and who listens.";
        vec![Look::at_platform(flows::TOOL, Layer::Topology, self.with(json!({})), why.to_owned())]
    }

    fn exposure(&self) -> Vec<Look> {
        let is_answered =
            self.judged.complaints.iter().any(|one| one.kind == Kind::Exposure && !one.machines.is_empty());
        if !self.wants(Layer::Exposure) || is_answered {
            return Vec::new();
        }
        let look = |machine: &Machine| {
            let arguments = self.with(json!({"vm_name": machine.name, "audit": true}));
            let why = format!(
                "I list every rule that lets somebody in to {}: what is open to whom is the question.",
                machine.name
            );
            Look::at_platform("inspect_nsg", Layer::Exposure, arguments, why)
        };
        self.ground.machines().into_iter().map(look).collect()
    }

    /// All rules that decide, on every machine; then the verdict for each flow that people speak of.
    fn rules(&self) -> Vec<Look> {
        if !self.wants(Layer::Rules) {
            return Vec::new();
        }
        let mut looks = Vec::new();
        for machine in self.ground.machines() {
            let why = format!(
                "I read the effective security rules of {} at both gates, subnet and interface: they decide before the machine sees a packet.",
                machine.name
            );
            looks.push(Look::at_platform(
                "inspect_nsg",
                Layer::Rules,
                self.with(json!({"vm_name": machine.name})),
                why,
            ));
        }
        looks.extend(self.verdicts());
        looks
    }

    fn verdicts(&self) -> Vec<Look> {
        let ground = self.ground;
        let of =
            |machine: &Option<Machine>| machine.as_ref().and_then(|found| found.addresses.first().cloned());
        let partner = ground.partner.map(|address| address.to_string());
        let outside = self.brief.symptoms.contains(&Symptom::InternetLost).then(|| OUTSIDE.to_owned());
        let from = of(&ground.source).or_else(|| ground.destination.as_ref().and(partner.clone()));
        let to = of(&ground.destination).or_else(|| ground.source.as_ref().and(partner).or(outside));
        let (Some(from), Some(to)) = (from, to) else { return Vec::new() };
        let protocol = if self.brief.protocols == [Protocol::Udp] { "udp" } else { "tcp" };
        let mut looks = Vec::new();
        for port in self.brief.ports.iter().take(PORTS) {
            for (machine, direction) in [(&ground.destination, "inbound"), (&ground.source, "outbound")] {
                let Some(machine) = machine else { continue };
                let why = format!(
                    "I ask for the verdict on {protocol}/{port} from {from} to {to}, {direction} at {}: one rule decides, and I want its name.",
                    machine.name
                );
                let arguments = self.with(json!({"vm_name": machine.name, "src_ip": from, "dst_ip": to,
                    "dst_port": port, "proto": protocol, "direction": direction}));
                looks.push(Look::at_platform("inspect_nsg", Layer::Rules, arguments, why));
            }
        }
        looks
    }

    /// Both ways between the two, and the way out of each.
    fn routes(&self) -> Vec<Look> {
        if !self.wants(Layer::Routes) {
            return Vec::new();
        }
        let mut looks = Vec::new();
        for machine in self.ground.machines() {
            let peer = self.ground.peer(machine);
            for to in peer.iter().map(String::as_str).chain([OUTSIDE]) {
                let why = if to == OUTSIDE {
                    format!(
                        "I check how {} leaves its network: whether its default route ends at somebody who is there.",
                        machine.name
                    )
                } else {
                    format!(
                        "I check which route of {} wins for {to}, and who owns the next hop: routes are needed both ways.",
                        machine.name
                    )
                };
                let arguments = self.with(json!({"vm_name": machine.name, "dst_ip": to}));
                looks.push(Look::at_platform("effective_route_inspector", Layer::Routes, arguments, why));
            }
        }
        looks
    }

    fn storage(&self) -> Vec<Look> {
        let machine = self.ground.source.as_ref().or(self.ground.destination.as_ref());
        let look = |account: &String| {
            let mut arguments = self.with(json!({"account": account}));
            if let Some(machine) = machine {
                arguments.insert("vm_name".to_owned(), Value::from(machine.name.clone()));
            }
            let why = format!(
                "I compare both sides of the relationship: whom the storage account {account} lets in, and whether the subnet has the endpoint that this needs."
            );
            Look::at_platform("inspect_storage", Layer::Storage, arguments, why)
        };
        self.ground.accounts.iter().map(look).collect()
    }

    /// Named baselines: of the network with the machine that has one, of a guest as well.
    fn drift(&self) -> Vec<Look> {
        let machines = self.ground.destination.iter().chain(&self.ground.source).chain(&self.ground.others);
        let machines: Vec<&Machine> = machines.collect();
        let mut looks = Vec::new();
        for baseline in &self.brief.baselines {
            let lower = baseline.to_lowercase();
            let (tool, layer) = if lower.starts_with("fw") {
                ("detect_config_drift", Layer::GuestDrift)
            } else if lower.starts_with('p') {
                continue;
            } else {
                ("detect_effective_network_drift", Layer::NetworkDrift)
            };
            // A baseline may cover one machine alone: the next one is tried where it does not cover the first.
            let compared = self.story.calls(tool).any(|done| {
                done.ending == Ending::Completed && done.text("compare_session_id") == Some(baseline)
            });
            if compared {
                continue;
            }
            for machine in &machines {
                let why = format!(
                    "I compare {} with the baseline {baseline}: what changed since is a fact, whatever anybody remembers.",
                    machine.name
                );
                let arguments = self.with(json!({"vm_name": machine.name, "compare_session_id": baseline}));
                let look = if layer == Layer::GuestDrift {
                    Look::in_guest(tool, layer, arguments, why)
                } else {
                    Look::once(tool, layer, arguments, why)
                };
                if matches!(look.standing(self.story), Standing::Open(_)) {
                    looks.push(look);
                    break;
                }
            }
        }
        looks
    }

    fn guests(&self) -> Vec<Look> {
        if !self.wants(Layer::Guest) {
            return Vec::new();
        }
        let look = |machine: &Machine| {
            let why = format!(
                "I read the packet filter inside {}: behind the platform's rules the guest has its own, which no portal shows.",
                machine.name
            );
            Look::in_guest(
                "detect_config_drift",
                Layer::Guest,
                self.with(json!({"vm_name": machine.name})),
                why,
            )
        };
        self.ground.machines().into_iter().map(look).collect()
    }

    fn shaping(&self) -> Vec<Look> {
        if !self.wants(Layer::Shaping) {
            return Vec::new();
        }
        let look = |machine: &Machine| {
            let why = format!(
                "I read the traffic shaping of {}: each machine delays, drops or slows down what it sends, and both ends count.",
                machine.name
            );
            Look::in_guest("inspect_qdisc", Layer::Shaping, self.with(json!({"vm_name": machine.name})), why)
        };
        self.ground.machines().into_iter().map(look).collect()
    }
}

/// Returns the hypothesis that belongs to a layer.
pub(super) fn hypothesis(layer: Layer) -> Option<&'static str> {
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
    })
}
