//! Which suspects count: what explains something that was asked about, each once, with what shows it.

use serde::Deserialize;

use crate::finding::Fault;
use crate::judged::{FlowVerdict, JudgedFlow, JudgedFlows};
use crate::playbook::conversation::{Conversation, FinishedCall};
use crate::playbook::flows;
use crate::playbook::incident::IncidentContext;
use crate::suspect::{Layer, Suspect, is_judged_by_flow};
use crate::symptom_text::{Symptom, SymptomText};

/// So many observations are cited for one fault.
const CITED: usize = 4;

/// A suspect that counts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CitedFault {
    /// What and where.
    pub(super) suspect: Suspect,
    /// What shows it.
    pub(super) observations: Vec<String>,
    /// The call that showed it: two faults of one call may be one cause.
    call: usize,
    /// Whether a call showed it that asked about a flow that people speak of.
    asked: bool,
    /// Whether no flow that was judged shows it.
    is_aside: bool,
}

/// The facts of a machine that was compared with a baseline.
#[derive(Deserialize)]
struct ComparedFacts {
    compared: Compared,
}

#[derive(Deserialize)]
struct Compared {
    /// The objects of what came since.
    new_suspects: Vec<String>,
}

/// Returns the faults so far, first what stands in front of everything else.
pub(super) fn faults(
    symptom_text: &SymptomText,
    incident: &IncidentContext,
    conversation: &Conversation,
) -> Vec<CitedFault> {
    let mut all: Vec<CitedFault> = Vec::new();
    let judged = flows::judgement(conversation);
    let is_judged = judged.is_some();
    let covered = judged.unwrap_or_default();
    let by_itself = covered.is_beside_flows();
    let flows = &covered.flows;
    for (call, finished) in conversation.completed().enumerate() {
        let observations: Vec<String> = finished.observations().into_iter().take(CITED).collect();
        // Nothing is claimed that cannot be cited.
        if observations.is_empty() {
            continue;
        }
        let asked = finished.text("dst_ip").is_none_or(|to| to != "8.8.8.8")
            || symptom_text.symptoms.contains(&Symptom::InternetLost);
        let compared = finished.facts::<ComparedFacts>().map(|facts| facts.compared.new_suspects);
        let beside = !is_judged
            || finished.tool == flows::TOOL
            || finished.arguments.contains_key("compare_session_id");
        for suspect in finished.suspects() {
            let is_new = compared.as_ref().is_none_or(|new| new.contains(&suspect.object));
            let shown = (is_new && beside) || passes_on_wire(&suspect, finished, &covered);
            let is_aside = is_judged_by_flow(&suspect.code) && !shown;
            if is_aside && !(is_new && by_itself) {
                continue;
            }
            if suspect.object.starts_with("flow/")
                && !flows.is_empty()
                && !by_itself
                && !covered.covers(&suspect.object)
            {
                continue;
            }
            let same = |fault: &&mut CitedFault| {
                fault.suspect.code == suspect.code && fault.suspect.object == suspect.object
            };
            match all.iter_mut().find(same) {
                Some(known) => {
                    known.asked |= asked;
                    known.is_aside &= is_aside;
                }
                None => {
                    let own: Vec<String> = suspect.observations.iter().map(ToString::to_string).collect();
                    let observations = if own.is_empty() { observations.clone() } else { own };
                    all.push(CitedFault { suspect, observations, call, asked, is_aside });
                }
            }
        }
    }
    // What an account's own rules explain needs nothing that no flow shows.
    let is_of_account = |fault: &CitedFault| layer(&fault.suspect.code) == Layer::Storage;
    if covered.is_of_accounts() && all.iter().any(is_of_account) {
        all.retain(|fault| !fault.is_aside);
    }
    let whole = all.clone();
    all.retain(|fault| counts(fault, &whole, symptom_text, (incident, flows)));
    // That nobody answers is what a flow that is stopped comes to, wherever on its path that is.
    let is_stopped =
        |object: &str| flows.iter().any(|flow| flow.is(object) && flow.verdict == FlowVerdict::Blocked);
    all.retain(|fault| {
        fault.suspect.fault() != Some(Fault::SynUnanswered) || !is_stopped(&fault.suspect.object)
    });
    all.sort_by_key(|fault| layer(&fault.suspect.code));
    all
}

/// Tells whether the wire shows of a flow in question what nothing that was read explains.
fn passes_on_wire(suspect: &Suspect, finished: &FinishedCall, judged: &JudgedFlows) -> bool {
    let is_explained = judged.flows.iter().any(|flow| flow.is(&suspect.object) && flow.is_explained());
    finished.tool == "capture_traffic" && judged.covers(&suspect.object) && !is_explained
}

fn counts(
    fault: &CitedFault,
    all: &[CitedFault],
    symptom_text: &SymptomText,
    (incident, flows): (&IncidentContext, &[JudgedFlow]),
) -> bool {
    let asks = |symptom: Symptom| symptom_text.symptoms.contains(&symptom);
    let exposure_alone = symptom_text.symptoms.len() == 1 && asks(Symptom::Exposure);
    let Some(kind) = fault.suspect.fault() else { return !exposure_alone };
    if exposure_alone && kind != Fault::NsgExposure {
        return false;
    }
    match kind {
        Fault::NsgExposure => asks(Symptom::Exposure),
        // Something did change where another comparison says so.
        Fault::NoDrift => {
            !symptom_text.baselines.is_empty() && (asks(Symptom::NothingChanged) || asks(Symptom::RolledBack))
        }
        Fault::TcpRefused | Fault::SynUnanswered => {
            // Rules and routes that let a flow pass, judged end to end, do not explain that nobody answers it.
            let passes = flows
                .iter()
                .any(|flow| flow.is(&fault.suspect.object) && flow.verdict == FlowVerdict::Passes);
            let of_cloud =
                |other: &&CitedFault| matches!(layer(&other.suspect.code), Layer::Rules | Layer::Routes);
            let mut others = all.iter().filter(|other| !(passes && of_cloud(other)));
            !others.any(|other| explains(&other.suspect, &fault.suspect, symptom_text, incident))
        }
        // The account is closed to the subnet because the endpoint is missing: one fault.
        Fault::StorageFirewallDeny => !all.iter().any(|other| {
            other.suspect.fault() == Some(Fault::ServiceEndpointMissing) && other.call == fault.call
        }),
        // A path through an appliance that is there is no fault of a flow that nobody asked about.
        Fault::RouteDetour => fault.asked,
        Fault::NsgDeny
        | Fault::RouteBlackhole
        | Fault::RouteDeadNva
        | Fault::ServiceEndpointMissing
        | Fault::GuestFirewallDrop
        | Fault::GuestFirewallReject
        | Fault::GuestFirewallPolicyDrop
        | Fault::Fail2banBan
        | Fault::ContainerFirewallChange
        | Fault::NetemLoss
        | Fault::NetemDelay
        | Fault::NetemCorrupt
        | Fault::NetemDuplicate
        | Fault::NetemReorder
        | Fault::RateLimit
        | Fault::PmtuBlackhole
        | Fault::DnsFailure
        | Fault::ArpConflict
        | Fault::AsymmetricPath
        | Fault::PeeringDisconnected
        | Fault::PeeringMissing
        | Fault::PeeringAccessOff
        | Fault::PeeringForwardingOff
        | Fault::PeeringTransitOff
        | Fault::PeeringNotSynced
        | Fault::VmStopped
        | Fault::LbProbeMismatch
        | Fault::LbProbeStatus
        | Fault::LbBackendEmpty
        | Fault::LbRuleMissing
        | Fault::LbFloatingIp
        | Fault::LbAdminDown
        | Fault::NotListening
        | Fault::FirewallDeny
        | Fault::FirewallDefaultDeny
        | Fault::FirewallDnsProxyOff
        | Fault::PeNotApproved
        | Fault::PrivateDnsUnlinked
        | Fault::PrivateDnsShadow
        | Fault::PrivateDnsRecordMissing
        | Fault::PrivateDnsRecordStale
        | Fault::DnsServerWrong
        | Fault::DnsForwarderMissing
        | Fault::OutboundAbsent
        | Fault::VpnDown
        | Fault::VpnKeyMismatch
        | Fault::VpnIkeMismatch
        | Fault::VpnPeerUnreachable
        | Fault::VpnPrefixMissing
        | Fault::VpnPrefixOverlap
        | Fault::BgpPeerDown
        | Fault::BgpRouteMissing
        | Fault::RoutePropagationOff
        | Fault::ErCircuitDown
        | Fault::ErPeeringDown
        | Fault::AppgwProbeMismatch
        | Fault::AppgwBackendTls
        | Fault::AppgwCertExpired
        | Fault::AppgwPoolEmpty
        | Fault::AppgwStopped
        | Fault::AppgwBackendDown
        | Fault::AksStopped
        | Fault::AksApiRestricted
        | Fault::BastionUnconfigured
        | Fault::PlatformEvent
        | Fault::NatUnconfigured
        | Fault::SnatExhausted
        | Fault::Host(_)
        | Fault::Cluster(_) => true,
    }
}

/// Tells whether a fault explains what the wire shows of a flow.
fn explains(
    fault: &Suspect,
    symptom: &Suspect,
    symptom_text: &SymptomText,
    incident: &IncidentContext,
) -> bool {
    let flow: Vec<&str> = symptom.object.split('/').collect();
    let [_, from, to, protocol, port] = flow.as_slice() else { return false };
    let object: Vec<&str> = fault.object.split('/').collect();
    let at = |index: usize| object.get(index).copied().unwrap_or_default();
    let owns = |name: &str, address: &str| {
        incident.machines().iter().any(|machine| {
            machine.name.eq_ignore_ascii_case(name) && machine.addresses.iter().any(|own| own == address)
        })
    };
    let concerns = owns(at(1), from) || owns(at(1), to);
    let same_port = (at(4).eq_ignore_ascii_case(protocol) || matches!(at(4), "any" | "all"))
        && at(5).split(',').any(|part| part == *port || part == "any" || within(part, port));
    let silent = symptom.fault() == Some(Fault::SynUnanswered);
    let Some(kind) = fault.fault() else { return false };
    let is = |known: Fault| kind == known;
    let guest = if is(Fault::GuestFirewallReject) {
        same_port
    } else if is(Fault::GuestFirewallDrop) {
        silent && same_port
    } else if is(Fault::Fail2banBan) {
        at(3) == *from
    } else if is(Fault::ContainerFirewallChange) {
        // Containers answer for the ports that people speak of together with them, and for those of which nobody speaks.
        silent && !is_separate_complaint(port, symptom_text)
    } else {
        silent
    };
    // Which flow a rule denies stands in no name: the words that show it name the port.
    (kind.layer() == Layer::Rules && silent && names_port(&fault.why, port))
        || (kind.layer() == Layer::Routes && silent && !is(Fault::RouteDetour))
        || (kind.layer() == Layer::Guest && concerns && guest)
        || ((is(Fault::AsymmetricPath) || is(Fault::VmStopped) || is(Fault::PlatformEvent)) && silent)
        || (is(Fault::PmtuBlackhole) && fault.object == symptom.object)
}

/// Tells whether people complain of a port apart from containers.
fn is_separate_complaint(port: &str, symptom_text: &SymptomText) -> bool {
    symptom_text.complaints.iter().any(|complaint| {
        !complaint.symptoms.contains(&Symptom::Containers)
            && complaint.ports.iter().any(|named| named.to_string() == port)
    })
}

fn within(range: &str, port: &str) -> bool {
    let (Some((low, high)), Ok(port)) = (range.split_once(['-', ':']), port.parse::<u16>()) else {
        return false;
    };
    low.parse::<u16>().is_ok_and(|low| low <= port) && high.parse::<u16>().is_ok_and(|high| port <= high)
}

/// Tells whether a fault may keep a port from being reached.
pub(super) fn blocks_port(fault: &Suspect, port: u16) -> bool {
    let port = port.to_string();
    let object: Vec<&str> = fault.object.split('/').collect();
    let at = |index: usize| object.get(index).copied().unwrap_or_default();
    let Some(kind) = fault.fault() else { return false };
    let is_filter = [Fault::GuestFirewallDrop, Fault::GuestFirewallReject].contains(&kind);
    let names = || at(5).split(',').any(|part| part == port || part == "any" || within(part, &port));
    let by_flow = [Fault::PmtuBlackhole, Fault::TcpRefused, Fault::SynUnanswered, Fault::AsymmetricPath]
        .contains(&kind);
    kind.layer() == Layer::Routes
        || kind == Fault::GuestFirewallPolicyDrop
        || (kind == Fault::NsgDeny && names_port(&fault.why, &port))
        || (is_filter && at(4) != "icmp" && names())
        || (kind == Fault::Fail2banBan && port == "22")
        || (kind == Fault::DnsFailure && port == "53")
        || (by_flow && at(4) == port)
}

/// Tells whether the words that show a rule name a port, or none at all: then the rule is about every port.
fn names_port(why: &str, port: &str) -> bool {
    let Some((_, behind)) = why.split_once(" port ") else { return true };
    let parts = behind.split(|char: char| !(char.is_ascii_digit() || char == '-'));
    parts.into_iter().any(|part| part == port || within(part, port))
}

/// Returns the layer that a fault lies in. One of a later version is looked for on the wire.
pub(super) fn layer(code: &str) -> Layer {
    code.parse::<Fault>().map_or(Layer::Wire, Fault::layer)
}
