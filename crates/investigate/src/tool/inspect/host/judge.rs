//! What explains each complaint, what is odd beside it, and what was closed.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::asked::{Asked, HostComplaint, HostFlow, Target};
use super::kept::{Earlier, changes};
use super::layers::closed;
use super::object::{is_of, object, why};
use super::remedy::remedy;
use crate::complaint::Kind;
use crate::coverage::{OF_HOSTS, explains, is_felt};
use crate::event::ObservationId;
use crate::finding::Fault;
use crate::judged::{
    FlowVerdict, JudgedCause, JudgedComplaint, JudgedFlow, JudgedFlows, JudgedMachine, JudgedRemedy,
    NoticedObject, UnreadDocument,
};
use crate::suspect::{Layer, Suspect, plain};
use crate::symptom_text::Symptom;
use crate::tool::inspect::inspector::Inspection;
use crate::tool::inspect::path::sentence;
use ghost_cloud::operation::Issue;
use ghost_inspect::host::{
    AnswerKind, Certainty, Context, Expected, Fate, Fault as HostFault, Finding, Flow, Host, Judgement,
    Weight, judge,
};

/// So much of what was noticed is listed.
const MAX_NOTICED: usize = 24;
/// So many lines say what was closed on one machine.
const MAX_CLOSED: usize = 12;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) hosts: Vec<Host>,
    /// Machines that are reached exactly as one of these: the same one by another name, which shares everything with it.
    pub(super) same: Vec<Host>,
    /// Machines that were not, and why.
    pub(super) unread: Vec<(String, Issue)>,
    /// What shows a machine.
    pub(super) observed: BTreeMap<String, ObservationId>,
    pub(super) notes: Vec<String>,
    /// The second from which on lines of logs count.
    pub(super) since: Option<i64>,
    /// How machines were before, of which somebody asks what changed.
    pub(super) earlier: BTreeMap<String, Earlier>,
}

/// Judges what was read, and says so.
pub(super) fn document(asked: &Asked, read: &Read, seen: &mut Inspection) -> JudgedFlows {
    let mut document = JudgedFlows::default();
    let mut explaining: Vec<Finding> = Vec::new();
    for complaint in &asked.complaints {
        let (judged, causes) = complaint_of(complaint, read, &mut document.flows);
        document.complaints.push(judged);
        for cause in causes {
            if !explaining.iter().any(|known| is_same(known, &cause)) {
                explaining.push(cause);
            }
        }
    }
    seen.suspect(explaining.iter().filter_map(|finding| suspect(finding, read)).collect());
    document.remedies = explaining.iter().filter_map(remedy).collect::<Vec<JudgedRemedy>>();
    document.noticed = noticed(asked, read, &explaining);
    document.machines = machines(read, seen);
    document.unknown.clone_from(&asked.unknown);
    document.unjudged = asked.unjudged.iter().map(|what| sentence(what)).collect();
    document.unjudged.sort_unstable();
    document.unjudged.dedup();
    for host in &read.hosts {
        lines(host, seen);
    }
    seen.notes.extend(read.notes.iter().cloned());
    for warning in read.hosts.iter().flat_map(|host| host.warnings.iter().take(4).map(move |one| (host, one)))
    {
        let (host, warning) = warning;
        seen.notes.push(sentence(&format!("{}: {}: {}", host.name, warning.part, warning.what)));
    }
    document
}

fn is_same(one: &Finding, other: &Finding) -> bool {
    (one.fault, &one.object) == (other.fault, &other.object)
}

/// Judges what one complaint is about.
fn complaint_of(
    complaint: &HostComplaint,
    read: &Read,
    flows: &mut Vec<JudgedFlow>,
) -> (JudgedComplaint, Vec<Finding>) {
    let hosts = &read.hosts;
    let known: Vec<(&HostFlow, Flow)> =
        complaint.flows.iter().filter_map(|flow| Some((flow, flow.judged(hosts)?))).collect();
    let expected = complaint.machines.iter().filter(|_| complaint.symptoms.contains(&Symptom::Names));
    let expected: Vec<Expected> = expected.map(|host| Expected::Resolver { host: host.clone() }).collect();
    let mut causes: Vec<Finding> = Vec::new();
    let mut places = Vec::new();
    let mut doubts = Vec::new();
    if complaint.is_elsewhere {
        doubts.push("it is about other machines than those that were read".to_owned());
    } else if complaint.kind == Kind::Drift {
        let mut context = Context { expected, whole: true, since: read.since, ..Context::default() };
        read.earlier.values().for_each(|earlier| context.expect(&earlier.host));
        let found = judge(hosts, &context).findings.into_iter();
        let hurts = |finding: &Finding| finding.weight != Weight::Noticed;
        causes.extend(found.filter(|one| hurts(one) && is_of(one, &complaint.machines)));
        doubts.extend(changes(&complaint.machines, read));
    } else if known.is_empty() {
        let context = Context { expected, whole: true, since: read.since, ..Context::default() };
        let found = judge(hosts, &context).findings;
        let works = names_work(complaint, hosts);
        causes.extend(found.into_iter().filter(|finding| is_of_machines(finding, complaint, works)));
    } else {
        for (own, flow) in &known {
            let by_name = own.is_by_name() || !expected.is_empty();
            let expected = expected.clone();
            let context =
                Context { flows: vec![flow.clone()], expected, by_name, whole: false, since: read.since };
            let judgement = judge(hosts, &context);
            let found: Vec<Finding> = judgement
                .findings
                .iter()
                .filter(|finding| is_of_flow(finding, complaint, own, &judgement, hosts))
                .cloned()
                .collect();
            let judged = flow_of(own, flow, &judgement, &found, hosts);
            doubts.extend(doubt(own, &judged, hosts));
            let refuted = judgement.contradictions.iter().map(|one| {
                let to = judged.destination_machine.clone().unwrap_or_else(|| judged.destination.to_string());
                sentence(&format!("{} → {to}: {one}", own.from))
            });
            doubts.extend(refuted);
            let at = flows.iter().position(|known| *known == judged).unwrap_or_else(|| {
                flows.push(judged);
                flows.len() - 1
            });
            places.push(at);
            causes.extend(found);
        }
    }
    let named = complaint.flows.iter().filter(|flow| !known.iter().any(|(own, _)| own == flow));
    doubts.extend(named.filter_map(|flow| match &flow.to {
        Target::Name(name) => Some(format!("{} finds no address for {}", plain(&flow.from), plain(name))),
        Target::Address(_) | Target::Internet => None,
    }));
    doubts.extend(unmeasured(complaint));
    doubts.sort_unstable();
    doubts.dedup();
    let mut unique: Vec<Finding> = Vec::new();
    for cause in causes {
        if !unique.iter().any(|known| is_same(known, &cause)) {
            unique.push(cause);
        }
    }
    let judged = JudgedComplaint {
        kind: complaint.kind,
        symptoms: complaint.symptoms.clone(),
        names_port: complaint.names_port,
        is_question: complaint.is_question,
        flows: places,
        unlisted: 0,
        machines: complaint.machines.iter().map(|name| plain(name)).collect(),
        unknown: Vec::new(),
        causes: unique.iter().map(cause).collect(),
        doubts,
    };
    (judged, unique)
}

/// What no reading of a moment tells.
fn unmeasured(complaint: &HostComplaint) -> Option<String> {
    let feels = |symptom: Symptom| complaint.symptoms.contains(&symptom);
    if feels(Symptom::Names) {
        None
    } else if feels(Symptom::Slow) {
        Some("how fast it really is was not measured".to_owned())
    } else {
        feels(Symptom::Lossy).then(|| "counters were watched for two seconds only".to_owned())
    }
}

/// Tells whether every name server of the machines answered just now: then something leads there and back.
fn names_work(complaint: &HostComplaint, hosts: &[Host]) -> bool {
    let own = hosts.iter().filter(|host| complaint.machines.contains(&host.name));
    let mut all = own.flat_map(|host| &host.answers).peekable();
    all.peek().is_some()
        && all.all(|answer| matches!(answer.kind, AnswerKind::Answered(_) | AnswerKind::Status(_)))
}

/// Tells whether a finding explains what is said of a flow: it stops it, or it hurts on its machines and is what people see.
fn is_of_flow(
    finding: &Finding,
    complaint: &HostComplaint,
    flow: &HostFlow,
    judgement: &Judgement,
    hosts: &[Host],
) -> bool {
    let fault = Fault::of_host(finding.fault);
    let layer = fault.layer();
    let own = match layer {
        // An address that was named needs no name server.
        Layer::Names => flow.is_by_name(),
        Layer::Sockets => true,
        Layer::Topology
        | Layer::Rules
        | Layer::Routes
        | Layer::Storage
        | Layer::NetworkDrift
        | Layer::GuestDrift
        | Layer::Guest
        | Layer::Shaping
        | Layer::Measure
        | Layer::Wire
        | Layer::Exposure
        | Layer::Links
        | Layer::Cluster => !flow.is_inbound,
    };
    let felt = is_felt(fault, &complaint.symptoms);
    own && match finding.weight {
        Weight::Noticed => false,
        // What stops the flow itself needs no word for it.
        Weight::Broken => felt || layer != Layer::Names,
        Weight::Degraded => {
            let passed: Vec<String> = judgement.passed.iter().flatten().cloned().collect();
            let drops_now =
                finding.fault == HostFault::RateLimit && finding.certainty == Certainty::Confirmed;
            let failed = flow.reached(hosts) == Some(false);
            let on_its_path = is_of(finding, &passed);
            (felt && (on_its_path || is_of(finding, &complaint.machines)))
                || (drops_now && failed && on_its_path)
        }
    }
}

/// Tells whether a finding explains what is said of machines: it hurts, it is one of them, and what it does is what people see. Where
/// names `work` now, what stops everything does not explain them; what hurts now and then may.
fn is_of_machines(finding: &Finding, complaint: &HostComplaint, works: bool) -> bool {
    if finding.weight == Weight::Noticed {
        return false;
    }
    // Another default route works: nothing shows that anybody uses the dead one.
    if finding.fault == HostFault::GatewayDead && finding.weight == Weight::Degraded {
        return false;
    }
    let fault = Fault::of_host(finding.fault);
    let fits = if complaint.symptoms.contains(&Symptom::Names) {
        let is_passing = fault.layer() == Layer::Names || !works || explains(fault.as_str(), Symptom::Slow);
        explains(fault.as_str(), Symptom::Names) && is_passing
    } else {
        is_felt(fault, &complaint.symptoms)
    };
    fits && is_of(finding, &complaint.machines)
}

fn cause(finding: &Finding) -> JudgedCause {
    let object = object(finding);
    JudgedCause {
        fault: finding.fault.to_string(),
        side: "forward".to_owned(),
        is_gap: false,
        catches_all: false,
        reason: why(finding, &object),
        is_likely: finding.certainty == Certainty::Likely,
        degrades: finding.weight == Weight::Degraded,
        object,
    }
}

fn suspect(finding: &Finding, read: &Read) -> Option<Suspect> {
    let (fault, object) = (Fault::of_host(finding.fault), object(finding));
    let mut observations: Vec<ObservationId> =
        finding.evidence.iter().filter_map(|one| read.observed.get(&one.host).copied()).collect();
    observations.sort_unstable();
    observations.dedup();
    fault.object_kind().matches(&object).then(|| Suspect {
        code: fault.into(),
        why: why(finding, &object),
        object,
        observations,
    })
}

/// Says what becomes of a flow: what the machines themselves decide, and what came of trying it.
fn flow_of(
    own: &HostFlow,
    flow: &Flow,
    judgement: &Judgement,
    found: &[Finding],
    hosts: &[Host],
) -> JudgedFlow {
    let machine =
        |address: IpAddr| hosts.iter().find(|host| host.owns(address).is_yes()).map(|host| plain(&host.name));
    let caller = hosts.iter().find(|host| host.name == flow.from);
    let source = caller.and_then(|host| {
        let fitting = host.global().map(ghost_inspect::host::Address::ip);
        fitting.into_iter().find(|ip| ip.is_ipv4() == flow.to.is_ipv4())
    });
    let reached = own.reached(hosts);
    let stops = found.iter().any(|finding| finding.weight == Weight::Broken);
    let open = |what: &str, why: &str| vec![UnreadDocument { what: what.to_owned(), why: sentence(why) }];
    let fate = judgement.fates.first();
    let (verdict, outcome, missing) = match (own.is_inbound, stops, fate, reached) {
        (_, true, _, _) => (FlowVerdict::Blocked, "something on these machines stops it", Vec::new()),
        (true, false, _, _) => (
            FlowVerdict::Indeterminate,
            "what the called machine decides lets it in",
            open("the caller", "it is none of the machines"),
        ),
        (false, false, _, Some(true)) if found.is_empty() => {
            (FlowVerdict::Passes, "it was tried, and passes", Vec::new())
        }
        (false, false, Some(Fate::Passes), None) if found.is_empty() => {
            (FlowVerdict::Passes, "it passes, by everything that was read", Vec::new())
        }
        (false, false, _, Some(true) | None) if !found.is_empty() => {
            (FlowVerdict::Degraded, "it passes, and badly", Vec::new())
        }
        (false, false, _, Some(false)) if !found.is_empty() => {
            (FlowVerdict::Degraded, "it was tried and got nothing through just now", Vec::new())
        }
        (false, false, _, Some(false)) => (
            FlowVerdict::Indeterminate,
            "it was tried and does not pass, and nothing that was read stops it",
            open("what lies beyond these machines", "it is none of the machines"),
        ),
        (false, false, Some(Fate::NotKnown(why)), _) => (
            FlowVerdict::Indeterminate,
            "it leaves what was read",
            open("what lies beyond these machines", why),
        ),
        (false, false, Some(Fate::Passes | Fate::Stopped) | None, _) => {
            (FlowVerdict::Indeterminate, "what decides was not read", open("what decides", "it was not read"))
        }
    };
    JudgedFlow {
        destination_name: None,
        source: source.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        source_service: None,
        cluster: None,
        source_machine: if own.is_inbound { None } else { Some(plain(&flow.from)) },
        destination: flow.to,
        destination_machine: machine(flow.to),
        protocol: flow.protocol.to_string(),
        port: flow.port,
        verdict,
        outcome: outcome.to_owned(),
        causes: found.iter().map(cause).collect(),
        behind: Vec::new(),
        missing,
    }
}

/// Says what is not settled about a flow that nothing explains.
fn doubt(own: &HostFlow, judged: &JudgedFlow, hosts: &[Host]) -> Option<String> {
    if judged.verdict != FlowVerdict::Indeterminate {
        return None;
    }
    let from = plain(&own.from);
    let port = own.port.map(|port| format!(" on port {port}")).unwrap_or_default();
    Some(match (&own.to, own.reached(hosts)) {
        _ if own.is_inbound => format!("who calls {from}{port} was not read"),
        (Target::Internet, _) => format!("what lies beyond the gateway of {from} was not read"),
        (_, Some(false)) => {
            let to = judged.destination_machine.clone().unwrap_or_else(|| judged.destination.to_string());
            format!("{from} does not reach {to}{port}, and nothing that was read explains it")
        }
        (_, _) => format!("what lies between {from} and {} was not read", judged.destination),
    })
}

/// Returns what is odd and explains nothing that people complain about.
fn noticed(asked: &Asked, read: &Read, explaining: &[Finding]) -> Vec<NoticedObject> {
    let flows = asked.complaints.iter().flat_map(|complaint| &complaint.flows);
    let flows: Vec<Flow> =
        flows.filter(|flow| !flow.is_inbound).filter_map(|flow| flow.judged(&read.hosts)).collect();
    let found =
        judge(&read.hosts, &Context { flows, whole: true, since: read.since, ..Context::default() }).findings;
    let others = found.iter().filter(|finding| !explaining.iter().any(|known| is_same(known, finding)));
    let say = |finding: &Finding| {
        let object = object(finding);
        let why_not = match finding.weight {
            Weight::Noticed => "nothing shows that it hurts",
            Weight::Broken | Weight::Degraded => "it does not explain what people complain about",
        };
        NoticedObject { what: why(finding, &object), object, why_not: why_not.to_owned() }
    };
    others.map(say).take(MAX_NOTICED).collect()
}

/// Says what was closed, and which layers were looked at, whole.
fn machines(read: &Read, seen: &mut Inspection) -> Vec<JudgedMachine> {
    let mut found = Vec::new();
    for host in read.hosts.iter().chain(&read.same) {
        let closed = closed(host);
        for layer in OF_HOSTS {
            if !closed.iter().any(|(own, _, _)| *own == layer) {
                seen.looked(layer, &host.name);
            }
        }
        let closed = closed.iter().take(MAX_CLOSED);
        found.push(JudgedMachine {
            name: plain(&host.name),
            unread: None,
            is_root: match host.is_root {
                ghost_inspect::host::Answer::Yes => Some(true),
                ghost_inspect::host::Answer::No => Some(false),
                ghost_inspect::host::Answer::NotKnown(_) => None,
            },
            closed: closed
                .map(|(_, part, why)| UnreadDocument { what: plain(part), why: first_line(why) })
                .collect(),
        });
    }
    found.extend(read.unread.iter().map(|(name, issue)| JudgedMachine {
        name: plain(name),
        unread: Some(first_line(&issue.text)),
        is_root: None,
        closed: Vec::new(),
    }));
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

fn first_line(text: &str) -> String {
    sentence(text.lines().next().unwrap_or_default())
}

/// Says of a machine what matters most, in short lines.
fn lines(host: &Host, seen: &mut Inspection) {
    seen.line(&format!("{}:", host.name));
    let addresses: Vec<String> =
        host.global().map(|own| format!("{} {}", own.device, own.net)).take(12).collect();
    seen.line(&format!("  addresses: {}", addresses.join(", ")));
    for route in host.routes.rows().iter().filter(|route| route.is_default()).take(4) {
        seen.line(&format!("  {}", route.line()));
    }
    if let Some(resolver) = host.resolver.read() {
        let servers: Vec<String> = resolver.servers.iter().map(ToString::to_string).collect();
        seen.line(&format!("  name servers: {}", servers.join(", ")));
    }
    for answer in host.answers.iter().take(8) {
        let said = match &answer.kind {
            AnswerKind::Answered(_) => "answered".to_owned(),
            AnswerKind::Status(status) => status.clone(),
            AnswerKind::Refused => "refused".to_owned(),
            AnswerKind::Silent => "no answer".to_owned(),
            AnswerKind::Unreachable => "unreachable".to_owned(),
        };
        let time = answer.milliseconds.map(|time| format!(" after {time} ms")).unwrap_or_default();
        seen.line(&format!("  {} {}: {said}{time}", answer.server, answer.name));
    }
    for probe in host.probes.iter().take(8) {
        let port = probe.port.map(|port| format!(":{port}")).unwrap_or_default();
        let said = match probe.is_reached() {
            Some(true) => "reached",
            Some(false) => "not reached",
            None => "not known",
        };
        seen.line(&format!("  {}{port}: {said}", probe.host));
    }
}
