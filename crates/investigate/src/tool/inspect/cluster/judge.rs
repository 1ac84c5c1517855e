//! What becomes of the flows that people speak of, and what is said of them.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use super::asked::{Asked, AskedFlow, Callee, Callers, ClusterComplaint, INTERNET};
use super::remedy::remedy;
use super::spoken::Inside;
use crate::coverage::is_felt;
use crate::event::ObservationId;
use crate::finding::{Fault, cluster_object, title};
use crate::judged::{
    FlowVerdict, JudgedCause, JudgedCluster, JudgedComplaint, JudgedFlow, JudgedFlows, NoticedObject,
    UnknownName, UnreadDocument,
};
use crate::suspect::{Layer, Suspect, plain};
use crate::symptom_text::Symptom;
use crate::tool::inspect::inspector::Inspection;
use crate::tool::inspect::path::sentence;
use ghost_base::Limit;
use ghost_cloud::operation::Issue;
use ghost_inspect::cluster::{AskError, Cause, Cluster, Name, Object, Question, Report, Verdict};

/// How many calls are judged for one question, from one pod to one target each: a second of work in a cluster of a thousand pods.
const CALLS: Limit = Limit::new("cluster.calls", 20_000);
/// So much of what was not read is listed of a flow.
const MAX_MISSING: usize = 6;
/// So much of what was noticed is listed.
const MAX_NOTICED: usize = 12;
/// So many pods are listed of a cluster, for whoever reads along.
const MAX_LINES: usize = 24;

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) clusters: Vec<Inside>,
    /// What shows each of them.
    pub(super) observed: Vec<Vec<ObservationId>>,
    /// Clusters that could not be read, and why.
    pub(super) unread: Vec<(String, Issue)>,
    pub(super) notes: Vec<String>,
    /// What a limit cut off.
    pub(super) unjudged: Vec<String>,
}

/// What came of one flow, of all its callers and targets.
#[derive(Debug)]
struct Passage {
    verdict: FlowVerdict,
    causes: Vec<Cause>,
    missing: Vec<String>,
    noticed: Vec<String>,
    /// Whether it is about an address that only stands for the called one.
    is_stand_in: bool,
}

/// Judges what was read, and says so.
pub(super) fn document(asked: &Asked, read: &Read, seen: &mut Inspection) -> JudgedFlows {
    let mut document = JudgedFlows::default();
    let mut calls = CALLS.most();
    for complaint in &asked.complaints {
        let judged = complaint_of(complaint, read, &mut calls, &mut document, seen);
        for end in &judged.unknown {
            if !document.unknown.contains(end) {
                document.unknown.push(end.clone());
            }
        }
        document.complaints.push(judged);
    }
    document.unjudged.extend(asked.unjudged.iter().chain(&read.unjudged).map(|what| sentence(what)));
    let more = document.noticed.len().saturating_sub(MAX_NOTICED);
    if more > 0 {
        seen.notes.push(format!("{more} more things were noticed that do not decide"));
    }
    document.noticed.truncate(MAX_NOTICED);
    for inside in &read.clusters {
        seen.looked(Layer::Cluster, &inside.name);
        document.clusters.push(JudgedCluster { name: plain(&inside.name), unread: None });
        lines(inside, seen);
    }
    let unread = read.unread.iter().map(|(name, issue)| JudgedCluster {
        name: plain(name),
        unread: Some(sentence(issue.text.lines().next().unwrap_or_default())),
    });
    document.clusters.extend(unread);
    document
}

fn complaint_of(
    complaint: &ClusterComplaint,
    read: &Read,
    calls: &mut usize,
    document: &mut JudgedFlows,
    seen: &mut Inspection,
) -> JudgedComplaint {
    let mut judged = JudgedComplaint {
        kind: complaint.kind,
        symptoms: complaint.symptoms.clone(),
        names_port: complaint.names_port,
        is_question: complaint.is_question,
        flows: Vec::new(),
        unlisted: 0,
        machines: Vec::new(),
        unknown: Vec::new(),
        causes: Vec::new(),
        doubts: complaint.doubts.clone(),
    };
    for (word, nearest) in &complaint.unknown {
        judged
            .unknown
            .push(UnknownName { word: plain(word), nearest: nearest.iter().map(|one| path(one)).collect() });
        judged.doubts.push(format!("there is no {} in what was read", plain(word)));
    }
    for flow in &complaint.flows {
        let Some(inside) = read.clusters.get(flow.cluster) else { continue };
        let passage = match judge(flow, inside, calls) {
            Ok((passage, 0)) => passage,
            Ok((passage, cut)) => {
                let name = judged_flow(flow, &passage, Vec::new(), inside).name();
                document.unjudged.push(sentence(&format!("{cut} more calls of {name}")));
                passage
            }
            Err(error) => {
                judged.doubts.push(sentence(&error.to_string()));
                continue;
            }
        };
        take(flow, &passage, inside, read, document, seen, &mut judged);
    }
    if judged.causes.is_empty() && !judged.flows.is_empty() {
        judged.doubts.extend(unmeasured(&complaint.symptoms).map(str::to_owned));
    }
    judged.doubts.sort_unstable();
    judged.doubts.dedup();
    judged
}

/// Returns what no document of a cluster tells.
fn unmeasured(symptoms: &BTreeSet<Symptom>) -> Option<&'static str> {
    if symptoms.contains(&Symptom::Slow) {
        Some("how fast it really is was not measured")
    } else {
        symptoms.contains(&Symptom::Lossy).then_some("whether packets are lost was not measured")
    }
}

/// Why something that stops a flow is not the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// People see something else.
    NotFelt,
    /// Nothing that was read uses the service, and nobody names it.
    Unused,
}

impl Beside {
    /// Returns why a cause is noticed only; `None` where it explains what people complain about.
    fn of(cause: &Cause, flow: &AskedFlow, symptoms: &BTreeSet<Symptom>, inside: &Inside) -> Option<Self> {
        if !is_felt(Fault::Cluster(cause.fault), symptoms) {
            return Some(Self::NotFelt);
        }
        let is_unused = match &cause.object {
            Object::Service(name) => inside.cluster.use_of(name).is_none(),
            Object::Policy(_) | Object::Pod(_) => false,
        };
        (flow.is_of_namespace && is_unused).then_some(Self::Unused)
    }

    const fn why_not(self) -> &'static str {
        match self {
            Self::NotFelt => "it does not explain what people complain about",
            Self::Unused => "nothing that was read calls it",
        }
    }
}

/// Takes what came of a flow into the document.
fn take(
    flow: &AskedFlow,
    passage: &Passage,
    inside: &Inside,
    read: &Read,
    document: &mut JudgedFlows,
    seen: &mut Inspection,
    judged: &mut JudgedComplaint,
) {
    let causes: Vec<JudgedCause> =
        passage.causes.iter().map(|cause| cause_of(cause, inside, passage)).collect();
    let observations = read.observed.get(flow.cluster).cloned().unwrap_or_default();
    let mut besides: Vec<Beside> = Vec::new();
    for (cause, own) in passage.causes.iter().zip(&causes) {
        let fault = Fault::Cluster(cause.fault);
        if !fault.object_kind().matches(&own.object) {
            continue;
        }
        if let Some(beside) = Beside::of(cause, flow, &judged.symptoms, inside) {
            besides.push(beside);
            let noticed = NoticedObject {
                object: own.object.clone(),
                what: own.reason.clone(),
                why_not: beside.why_not().to_owned(),
            };
            if !document.noticed.contains(&noticed) {
                document.noticed.push(noticed);
            }
            let title = title(&own.fault, &own.object);
            match beside {
                Beside::Unused => judged.doubts.push(format!("{title}, and nothing that was read calls it")),
                Beside::NotFelt if !flow.is_of_namespace => {
                    judged.doubts.push(format!("{title}, which does not explain what people complain about"));
                }
                Beside::NotFelt => {}
            }
            continue;
        }
        seen.suspect(vec![Suspect {
            code: fault.into(),
            object: own.object.clone(),
            why: own.reason.clone(),
            observations: observations.clone(),
        }]);
        let remedy = remedy(cause, &own.object, inside);
        if !document.remedies.contains(&remedy) {
            document.remedies.push(remedy);
        }
        if !judged.causes.contains(own) {
            judged.causes.push(own.clone());
        }
    }
    for line in &passage.noticed {
        let noticed = NoticedObject {
            object: path(&format!("cluster/{}", inside.name)),
            what: sentence(line),
            why_not: "it does not decide about this flow".to_owned(),
        };
        if !document.noticed.contains(&noticed) {
            document.noticed.push(noticed);
        }
    }
    // A flow that nobody asked for, and that something stops which explains nothing, is none of the complaint.
    if flow.is_of_namespace && !causes.is_empty() && besides.len() == causes.len() {
        return;
    }
    let flow = judged_flow(flow, passage, causes, inside);
    if flow.verdict == FlowVerdict::Indeterminate {
        let why: Vec<&str> = flow.missing.iter().map(|one| one.what.as_str()).take(2).collect();
        judged.doubts.push(format!("{}: not known: {}", flow.name(), why.join("; ")));
    }
    let at = document.flows.iter().position(|known| *known == flow).unwrap_or_else(|| {
        document.flows.push(flow);
        document.flows.len() - 1
    });
    if !judged.flows.contains(&at) {
        judged.flows.push(at);
    }
}

/// Judges a flow: of each caller, to each target, as long as `calls` lasts. Returns how many calls were not judged, too.
fn judge(flow: &AskedFlow, inside: &Inside, calls: &mut usize) -> Result<(Passage, usize), AskError> {
    let target = |name: String| format!("{name}:{}", flow.port);
    let targets: Vec<String> = match &flow.callee {
        Callee::Service(name) => vec![target(format!("{}/service/{}", name.namespace, name.name))],
        Callee::Pods { pods, .. } => {
            pods.iter().map(|name| target(format!("{}/pod/{}", name.namespace, name.name))).collect()
        }
        Callee::Address(_) | Callee::Outside(_) => {
            flow.callee.address().map(|own| written(own, flow.port)).into_iter().collect()
        }
    };
    let pod = |name: &Name| (format!("{}/pod/{}", name.namespace, name.name), inside.seen_by(name));
    let callers: Vec<(String, &Cluster)> = match &flow.callers {
        Callers::Pods { pods, .. } => pods.iter().map(pod).collect(),
        Callers::Address(address) => vec![(address.to_string(), &inside.cluster)],
        // Whoever calls from outside of the cluster is some address of the Internet.
        Callers::Anybody(pods) if pods.is_empty() => vec![(INTERNET.to_string(), &inside.cluster)],
        Callers::Anybody(pods) => pods.iter().map(pod).collect(),
    };
    let mut reports: Vec<Report> = Vec::new();
    let is_anybody = matches!(flow.callers, Callers::Anybody(_));
    let all = callers.iter().flat_map(|caller| targets.iter().map(move |to| (caller, to)));
    let mut is_settled = false;
    for ((from, cluster), to) in all.take(*calls) {
        let report = cluster.judge(&Question::parse(from, to, flow.protocol)?)?;
        // What stops everybody is at fault, and nothing else: once one caller gets through, the others decide nothing.
        is_settled =
            is_anybody && targets.len() == 1 && report.verdict == Verdict::Passes && report.causes.is_empty();
        reports.push(report);
        if is_settled {
            break;
        }
    }
    *calls -= reports.len();
    let cut = if is_settled { 0 } else { callers.len() * targets.len() - reports.len() };
    Ok((together(&reports, is_anybody, matches!(flow.callee, Callee::Outside(_))), cut))
}

fn written(address: IpAddr, port: u16) -> String {
    std::net::SocketAddr::new(address, port).to_string()
}

/// Puts together what came of all callers and targets.
fn together(reports: &[Report], is_anybody: bool, is_stand_in: bool) -> Passage {
    let has = |verdict: Verdict| reports.iter().any(|report| report.verdict == verdict);
    let all = |verdict: Verdict| reports.iter().all(|report| report.verdict == verdict);
    let mut causes: Vec<Cause> = Vec::new();
    for cause in reports.iter().flat_map(|report| &report.causes) {
        if !causes.iter().any(|known| (known.fault, &known.object) == (cause.fault, &cause.object)) {
            causes.push(cause.clone());
        }
    }
    let mut missing: Vec<String> = Vec::new();
    for line in reports.iter().flat_map(|report| &report.missing) {
        if !missing.contains(line) {
            missing.push(line.clone());
        }
    }
    let noticed: Vec<String> = reports.iter().flat_map(|report| report.noticed.clone()).collect();
    let mut verdict = match () {
        () if reports.is_empty() => FlowVerdict::Indeterminate,
        () if all(Verdict::Passes) => FlowVerdict::Passes,
        () if all(Verdict::Blocked) => FlowVerdict::Blocked,
        () if has(Verdict::Blocked) || has(Verdict::Degraded) => FlowVerdict::Degraded,
        () => FlowVerdict::Indeterminate,
    };
    if is_anybody && reports.len() > 1 {
        // Of those who may call some are kept out on purpose: what stops every one of them is at fault, and nothing else.
        let stops_all = |cause: &Cause| {
            reports.iter().all(|report| {
                report.causes.iter().any(|own| (own.fault, &own.object) == (cause.fault, &cause.object))
            })
        };
        causes.retain(stops_all);
        if causes.is_empty() {
            verdict = match () {
                () if has(Verdict::Passes) => FlowVerdict::Passes,
                () => FlowVerdict::Indeterminate,
            };
            if verdict == FlowVerdict::Indeterminate && missing.is_empty() {
                missing
                    .push("who calls: each of those who may is stopped by something of its own".to_owned());
            }
        }
    }
    missing.truncate(MAX_MISSING);
    Passage { verdict, causes, missing, noticed, is_stand_in }
}

fn cause_of(cause: &Cause, inside: &Inside, passage: &Passage) -> JudgedCause {
    JudgedCause {
        fault: cause.fault.to_string(),
        object: cluster_object(&inside.name, cause),
        side: "forward".to_owned(),
        is_gap: false,
        catches_all: false,
        reason: sentence(&cause.why),
        is_likely: !cause.is_proven || passage.is_stand_in,
        degrades: passage.verdict == FlowVerdict::Degraded,
    }
}

fn judged_flow(flow: &AskedFlow, passage: &Passage, causes: Vec<JudgedCause>, inside: &Inside) -> JudgedFlow {
    let nobody = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let pod = |name: &Name| {
        inside.pods.iter().find(|pod| pod.name == *name).and_then(|pod| pod.address).unwrap_or(nobody)
    };
    let (source, caller) = match &flow.callers {
        Callers::Pods { called, pods } => (pods.first().map_or(nobody, pod), Some(path(called))),
        Callers::Address(address) => (*address, None),
        Callers::Anybody(_) => (nobody, Some("anybody".to_owned())),
    };
    let (destination, called) = match &flow.callee {
        Callee::Service(name) => {
            let service = inside.services.iter().find(|service| service.name == *name);
            (service.and_then(|service| service.address).unwrap_or(nobody), Some(path(&name.to_string())))
        }
        Callee::Pods { called, pods } => (pods.first().map_or(nobody, pod), Some(path(called))),
        Callee::Address(address) => (*address, None),
        Callee::Outside(name) => (nobody, Some(path(name))),
    };
    let outcome = match passage.verdict {
        FlowVerdict::Passes => "the cluster lets it through",
        FlowVerdict::Degraded => "the cluster lets a part of it through",
        FlowVerdict::Blocked => "the cluster does not let it through",
        FlowVerdict::Indeterminate => "what decides was not read",
    };
    let open = passage
        .missing
        .iter()
        .map(|what| UnreadDocument { what: sentence(what), why: "it was not read".to_owned() });
    JudgedFlow {
        source,
        source_machine: caller,
        source_service: None,
        cluster: Some(plain(&inside.name)),
        destination,
        destination_machine: called,
        destination_name: None,
        protocol: flow.protocol.to_string(),
        port: Some(flow.port),
        verdict: passage.verdict,
        outcome: outcome.to_owned(),
        causes,
        behind: Vec::new(),
        missing: if passage.verdict == FlowVerdict::Indeterminate { open.collect() } else { Vec::new() },
    }
}

/// Returns a name with its namespace, each part harmless.
fn path(name: &str) -> String {
    name.split('/')
        .map(|part| part.split(' ').map(plain).collect::<Vec<_>>().join(" "))
        .collect::<Vec<_>>()
        .join("/")
}

/// Says of a cluster what matters most, in short lines.
fn lines(inside: &Inside, seen: &mut Inspection) {
    seen.line(&format!("{}: {} pods, {} services", inside.name, inside.pods.len(), inside.services.len()));
    let more = inside.services.len().max(inside.pods.len()).saturating_sub(MAX_LINES);
    if more > 0 {
        seen.line(&format!("  the first {MAX_LINES} of each are listed; all were judged"));
    }
    for service in inside.services.iter().take(MAX_LINES) {
        let ports: Vec<String> = service.ports.iter().map(|(own, port)| format!("{own}/{port}")).collect();
        let address = service.address.map_or_else(|| "headless".to_owned(), |address| address.to_string());
        seen.line(&format!("  service {} {address} {}", service.name, ports.join(" ")));
    }
    for pod in inside.pods.iter().take(MAX_LINES) {
        let address =
            pod.address.map_or_else(|| "without an address".to_owned(), |address| address.to_string());
        seen.line(&format!("  pod {} {address}", pod.name));
    }
}
