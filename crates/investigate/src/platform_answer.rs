//! What Azure itself said about one flow when Network Watcher was asked, held against what was judged.
//!
//! Goes in: the commands of a session with what they printed, and the judged flows. Comes out: each answer of Network Watcher, the flow that
//! it is about, and whether both say the same. Never: a finding, as Azure does not see into machines and answers for one interface and one
//! moment.

use std::net::IpAddr;

use crate::event::ObservationId;
use crate::judged::{FlowVerdict, JudgedFlow, judged_flows};
use crate::state::State;
use ghost_inspect::path::{FirstRoute, FlowFacts, PlatformVerdict, Protocol};

/// An answer of Network Watcher about one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlatformAnswer {
    /// What it printed, as it was recorded.
    pub observation: Option<ObservationId>,
    /// The flow, as the report names it.
    pub flow: String,
    /// What Azure says, and whether the judgement says the same.
    pub verdict: PlatformVerdict,
    /// The judgement of that flow; `None` if it was not judged.
    pub judged: Option<FlowVerdict>,
}

impl PlatformAnswer {
    /// True if the judgement says something else.
    #[must_use]
    pub fn is_contradiction(&self) -> bool {
        self.verdict.agrees == Some(false)
    }
}

/// Returns what Network Watcher answered in a session, in the order in which it was asked.
#[must_use]
pub fn platform_answers(state: &State) -> Vec<PlatformAnswer> {
    let flows = judged_flows(state);
    let mut found = Vec::new();
    for step in state.steps.iter().filter(|step| step.is_completed()) {
        let Some(done) = step.done.as_ref().filter(|done| done.exit_code == Some(0)) else { continue };
        let seen = state.observations.iter().find(|seen| seen.observed.step == Some(step.id));
        let observation = seen.map(|seen| seen.observed.id);
        found.extend(answers(step.current(), &done.output, &flows, observation));
    }
    found
}

/// True if Azure says something else about a judged flow than was judged.
#[must_use]
pub fn is_contradicted(state: &State) -> bool {
    platform_answers(state).iter().any(PlatformAnswer::is_contradiction)
}

/// One end of a question: an address, or the machine that a command names.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Address(IpAddr),
    Machine(String),
}

impl End {
    fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Machine(machine_of(text).to_owned()), Self::Address)
    }

    fn is(&self, address: IpAddr, machine: Option<&str>) -> bool {
        match self {
            Self::Address(own) => *own == address,
            Self::Machine(own) => machine.is_some_and(|name| name.eq_ignore_ascii_case(own)),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Address(own) => own.to_string(),
            Self::Machine(own) => own.clone(),
        }
    }
}

/// Returns the name of the machine that an option means: it takes a name or a whole id.
fn machine_of(text: &str) -> &str {
    text.rsplit_once('/').map_or(text, |(_, name)| name)
}

/// A question to Network Watcher.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Question {
    source: End,
    destination: End,
    /// Any where the command names none: a route is asked for all of them.
    protocol: Option<String>,
    port: Option<u16>,
}

impl Question {
    /// Reads a command line; nothing where it is none of these questions, or about no single flow.
    fn of(command: &str) -> Option<Self> {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['\'', '"'])).collect();
        let ["az", "network", "watcher", verb, options @ ..] = words.as_slice() else { return None };
        let option = |names: &[&str]| {
            options.iter().enumerate().find_map(|(at, word)| match word.split_once('=') {
                Some((name, value)) if names.contains(&name) => Some(value),
                Some(_) | None => names.contains(word).then(|| options.get(at + 1).copied()).flatten(),
            })
        };
        let protocol = option(&["--protocol"]).map(str::to_ascii_lowercase);
        let protocol = protocol.filter(|word| !matches!(word.as_str(), "http" | "https" | "any" | "*"));
        match *verb {
            "test-ip-flow" => {
                let is_inbound = option(&["--direction"])?.eq_ignore_ascii_case("inbound");
                let (local, remote) = (socket(option(&["--local"])?)?, socket(option(&["--remote"])?)?);
                let (source, destination) = if is_inbound { (remote, local) } else { (local, remote) };
                let (port, ends) = (destination.1, (source.0, destination.0));
                Some(Self { source: End::Address(ends.0), destination: End::Address(ends.1), protocol, port })
            }
            "show-next-hop" => Some(Self {
                source: End::of(option(&["--source-ip"])?),
                destination: End::of(option(&["--dest-ip"])?),
                protocol: None,
                port: None,
            }),
            "test-connectivity" => Some(Self {
                source: End::of(option(&["--source-resource"])?),
                destination: End::of(option(&["--dest-address", "--dest-resource"])?),
                protocol: protocol.or_else(|| Some("tcp".to_owned())),
                port: option(&["--dest-port"])?.parse().ok(),
            }),
            "run-configuration-diagnostic" => Some(Self {
                source: End::of(option(&["--source"])?),
                destination: End::of(option(&["--destination"])?),
                protocol,
                port: option(&["--port", "--destination-port"])?.parse().ok(),
            }),
            _ => None,
        }
    }

    fn is(&self, flow: &JudgedFlow) -> bool {
        let is_protocol = self.protocol.as_ref().is_none_or(|own| *own == flow.protocol);
        let is_port = self.port.is_none() || self.port == flow.port;
        is_protocol
            && is_port
            && self.source.is(flow.source, flow.source_machine.as_deref())
            && self.destination.is(flow.destination, flow.destination_machine.as_deref())
    }

    fn name(&self) -> String {
        let ends = format!("{} → {}", self.source.shown(), self.destination.shown());
        match (&self.protocol, self.port) {
            (Some(protocol), Some(port)) => format!("{ends} {protocol}/{port}"),
            (Some(protocol), None) => format!("{ends} {protocol}"),
            (None, Some(port)) => format!("{ends} port {port}"),
            (None, None) => ends,
        }
    }
}

/// Reads `10.0.0.4:22`; the port may be `*`.
fn socket(text: &str) -> Option<(IpAddr, Option<u16>)> {
    let (address, port) = text.rsplit_once(':')?;
    Some((address.trim_matches(['[', ']']).parse().ok()?, port.parse().ok()))
}

fn answers(
    command: &str,
    printed: &str,
    flows: &[JudgedFlow],
    observation: Option<ObservationId>,
) -> Vec<PlatformAnswer> {
    let Some(question) = Question::of(command) else { return Vec::new() };
    let flow = flows.iter().find(|flow| flow.cluster.is_none() && question.is(flow));
    let Ok(compared) = flow.map_or_else(unjudged, facts).compared(printed) else { return Vec::new() };
    let answer = |verdict: PlatformVerdict| match flow {
        Some(flow) => PlatformAnswer { observation, flow: flow.name(), verdict, judged: Some(flow.verdict) },
        None => {
            let why = "this flow was not judged".to_owned();
            let verdict = PlatformVerdict { agrees: None, why, ..verdict };
            PlatformAnswer { observation, flow: question.name(), verdict, judged: None }
        }
    };
    compared.into_iter().map(answer).collect()
}

/// What is known of a flow that was not judged.
const fn unjudged() -> FlowFacts {
    FlowFacts {
        src: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
        dst: IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED),
        dst_port: None,
        protocol: Protocol::Tcp,
        verdict: String::new(),
        faults: Vec::new(),
        denied_by: Vec::new(),
        allowed_by: Vec::new(),
        first_route: FirstRoute::NotKnown,
    }
}

fn facts(flow: &JudgedFlow) -> FlowFacts {
    let all = || flow.causes.iter().chain(&flow.behind);
    let denies = all().filter(|cause| cause.fault == "nsg_deny");
    let denied_by = denies.filter_map(|cause| cause.object.rsplit_once('/'));
    let leads_nowhere = ["route_blackhole", "route_dead_nva", "no_path"];
    let first_route = match flow.verdict {
        FlowVerdict::Passes | FlowVerdict::Degraded => FirstRoute::Onward,
        FlowVerdict::Blocked
            if flow
                .causes
                .iter()
                .any(|cause| cause.side == "forward" && leads_nowhere.contains(&cause.fault.as_str())) =>
        {
            FirstRoute::Nowhere
        }
        FlowVerdict::Blocked | FlowVerdict::Indeterminate => FirstRoute::NotKnown,
    };
    let verdict = match flow.verdict {
        FlowVerdict::Passes => "PASSES",
        FlowVerdict::Degraded => "DEGRADED",
        FlowVerdict::Blocked => "BLOCKED",
        FlowVerdict::Indeterminate => "INDETERMINATE",
    };
    FlowFacts {
        src: flow.source,
        dst: flow.destination,
        dst_port: flow.port,
        protocol: Protocol::parse(&flow.protocol).unwrap_or(Protocol::Tcp),
        verdict: verdict.to_owned(),
        faults: flow.causes.iter().map(|cause| cause.fault.clone()).collect(),
        denied_by: denied_by.map(|(_, rule)| rule.to_owned()).collect(),
        allowed_by: Vec::new(),
        first_route,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::judged::JudgedCause;

    /// A flow from web-1 to db-1 that the rule `no` denies, or that passes.
    fn flow(is_denied: bool) -> JudgedFlow {
        let cause = JudgedCause {
            fault: "nsg_deny".to_owned(),
            object: "nsg/db-nsg/no".to_owned(),
            side: "forward".to_owned(),
            is_gap: false,
            catches_all: false,
            reason: String::new(),
            is_likely: false,
            degrades: false,
        };
        JudgedFlow {
            source: [10, 0, 1, 4].into(),
            source_machine: Some("web-1".to_owned()),
            source_service: None,
            cluster: None,
            destination: [10, 0, 2, 4].into(),
            destination_machine: Some("db-1".to_owned()),
            destination_name: None,
            protocol: "tcp".to_owned(),
            port: Some(5432),
            verdict: if is_denied { FlowVerdict::Blocked } else { FlowVerdict::Passes },
            outcome: String::new(),
            causes: if is_denied { vec![cause] } else { Vec::new() },
            behind: Vec::new(),
            missing: Vec::new(),
        }
    }

    const IP_FLOW: &str = "az network watcher test-ip-flow -g prod --vm db-1 --direction Inbound --protocol TCP --local 10.0.2.4:5432 --remote 10.0.1.4:60000 -o json";

    #[track_caller]
    fn check(command: &str, printed: &serde_json::Value, is_denied: bool, agrees: Option<bool>) {
        let found = answers(command, &printed.to_string(), &[flow(is_denied)], None);
        assert_eq!(
            found.iter().map(|one| (one.flow.as_str(), one.verdict.agrees)).collect::<Vec<_>>(),
            [("web-1 → db-1 tcp/5432", agrees)],
            "{found:?}"
        );
    }

    #[test]
    fn an_answer_stands_beside_the_flow_that_it_is_about() {
        let deny = json!({"access": "Deny", "ruleName": "UserRule_no"});
        check(IP_FLOW, &deny, true, Some(true));
        check(IP_FLOW, &deny, false, Some(false));
        let try_it = "az network watcher test-connectivity --resource-group prod --source-resource web-1 --dest-address 10.0.2.4 --dest-port 5432 --output json";
        let unreachable = json!({"connectionStatus": "Unreachable", "hops": [{"issues": [{"type": "NetworkSecurityRule"}]}]});
        check(try_it, &unreachable, true, Some(true));
        check(try_it, &json!({"connectionStatus": "Reachable", "hops": []}), true, Some(false));
        let whole = try_it.replace(
            "web-1",
            "/subscriptions/s/resourceGroups/prod/providers/Microsoft.Compute/virtualMachines/WEB-1",
        );
        check(&whole, &unreachable, true, Some(true));
        let hop =
            "az network watcher show-next-hop -g prod --vm web-1 --source-ip 10.0.1.4 --dest-ip=10.0.2.4";
        check(hop, &json!({"nextHopType": "None", "routeTableId": "System Route"}), false, Some(false));
        check(hop, &json!({"nextHopType": "VnetLocal"}), false, Some(true));
    }

    #[test]
    fn an_answer_about_a_flow_that_was_not_judged_contradicts_nothing() {
        let command = IP_FLOW.replace("10.0.2.4:5432", "10.0.2.4:22");
        let printed = json!({"access": "Deny", "ruleName": "UserRule_no"}).to_string();
        let found = answers(&command, &printed, &[flow(false)], None);
        assert_eq!(found.first().map(|one| one.flow.as_str()), Some("10.0.1.4 → 10.0.2.4 tcp/22"));
        assert!(found.iter().all(|one| !one.is_contradiction() && one.judged.is_none()));
    }

    #[test]
    fn other_commands_and_other_texts_say_nothing() {
        let printed = json!({"access": "Deny", "ruleName": "UserRule_no"}).to_string();
        for (command, printed) in [
            ("az network nsg list -g prod -o json", printed.as_str()),
            ("az network watcher test-ip-flow --vm db-1", printed.as_str()),
            (IP_FLOW, "ERROR: no watcher in this region"),
            (IP_FLOW, ""),
        ] {
            assert_eq!(answers(command, printed, &[flow(true)], None), [], "{command} {printed}");
        }
    }
}
