//! What `check_path` found out about the flows in question: one document, written by the tool, and read by the playbook, the gates and
//! the reports.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::complaint::Kind;
use crate::state::{CallState, State};
use crate::symptom_text::Symptom;
use ghost_inspect::measured::Computed;

/// The tool that writes it of flows in the cloud.
pub(crate) const TOOL: &str = "check_path";
/// The tool that writes it of machines that are read themselves.
pub(crate) const HOSTS: &str = "inspect_hosts";
/// The tool that writes it of what is inside of clusters.
pub(crate) const CLUSTERS: &str = "inspect_cluster";

/// What came of the flows of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct JudgedFlows {
    /// What people complain about; empty where one flow was asked about by its ends.
    pub complaints: Vec<JudgedComplaint>,
    /// The flows, each once.
    pub flows: Vec<JudgedFlow>,
    /// What seems alarming on their path and does not touch them.
    pub noticed: Vec<NoticedObject>,
    /// What takes the causes away, in the order in which a packet meets them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<JudgedRemedy>,
    /// Resource groups into which flows lead and that are closed to whoever reads, with what would open them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<UnreadDocument>,
    /// How commands name the resource groups of objects that are in others than the session's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub elsewhere: BTreeMap<String, OtherGroup>,
    /// The machines that were read themselves; none in the cloud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<JudgedMachine>,
    /// The clusters whose inside was read; none where flows of the cloud or of machines were judged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<JudgedCluster>,
    /// Machines, addresses and names that the words speak of and that are not known here. While there is one, nothing is healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<UnknownName>,
    /// What a limit cut off, each in a few words: it was not judged. While there is something, nothing is healthy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unjudged: Vec<String>,
}

/// A cluster whose inside was to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCluster {
    pub name: String,
    /// Why it was not read; nothing where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// A resource group that is another one than the session's own, written as commands name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct OtherGroup {
    pub group: String,
    /// The subscription, where that is another one, too.
    pub subscription: Option<String>,
}

/// What stands between the two.
const WITHIN: &str = " --subscription ";

impl From<String> for OtherGroup {
    fn from(text: String) -> Self {
        match text.split_once(WITHIN) {
            Some((group, own)) => Self { group: group.to_owned(), subscription: Some(own.to_owned()) },
            None => Self { group: text, subscription: None },
        }
    }
}

impl From<OtherGroup> for String {
    fn from(from: OtherGroup) -> Self {
        match from.subscription {
            Some(subscription) => format!("{}{WITHIN}{subscription}", from.group),
            None => from.group,
        }
    }
}

/// A machine that was to be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedMachine {
    pub name: String,
    /// Why it was not read at all; nothing where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// Whether it was read with all rights; nothing where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_root: Option<bool>,
    /// What was closed: nothing that depends on it was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closed: Vec<UnreadDocument>,
}

/// What takes a cause away: it was tried on the documents, and the flows were judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedRemedy {
    /// The fault code.
    pub fault: String,
    /// What is at fault.
    pub object: String,
    /// What is done, in a sentence.
    pub what: String,
    /// What is looked at before.
    pub look: String,
    /// The commands, in order.
    pub commands: Vec<String>,
    /// What becomes of the flows with it, and of others.
    pub effect: String,
    /// What it risks, and how it is undone.
    pub risk: String,
}

/// A complaint, with the flows that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedComplaint {
    /// What kind of answer it wants.
    pub kind: Kind,
    /// What somebody sees.
    pub symptoms: BTreeSet<Symptom>,
    /// Whether its words name a port.
    pub names_port: bool,
    /// Whether it asks if the flows pass, and complains of nothing.
    #[serde(default)]
    pub is_question: bool,
    /// Which of the flows, by their place in the list.
    pub flows: Vec<usize>,
    /// So many more were judged, and are not listed: each shows nothing that none of the others shows.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unlisted: usize,
    /// The machines that it is about.
    pub machines: Vec<String>,
    /// Ends that are not in the estate.
    pub unknown: Vec<UnknownName>,
    /// What explains it, where it is about machines that were read themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<JudgedCause>,
    /// What is in doubt of it, where it is about such machines: a destination that is not reached and nobody knows why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
}

/// Tells whether a count counts nothing.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A name that nobody in the estate has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownName {
    /// As it was written.
    pub word: String,
    /// Names that are close to it.
    pub nearest: Vec<String>,
}

/// A flow that was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedFlow {
    /// Who calls.
    pub source: IpAddr,
    /// Its machine, where it is one of the estate.
    pub source_machine: Option<String>,
    /// The service of the platform that calls from a subnet of its own, where it is one: the address stands for any of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_service: Option<JudgedService>,
    /// The cluster that it is judged in, where it is one inside of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// Who is called.
    pub destination: IpAddr,
    /// Its machine, where it is one of the estate.
    pub destination_machine: Option<String>,
    /// The name by which it is called, where that is part of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_name: Option<String>,
    pub protocol: String,
    /// The port that is called.
    pub port: Option<u16>,
    /// What becomes of it.
    pub verdict: FlowVerdict,
    /// The same in words.
    pub outcome: String,
    /// What decides now.
    pub causes: Vec<JudgedCause>,
    /// What would still stop or degrade it once the causes are gone.
    pub behind: Vec<JudgedCause>,
    /// What was not read.
    pub missing: Vec<UnreadDocument>,
}

/// A service of the platform that makes connections for others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedService {
    pub name: String,
    /// Its subnet.
    pub subnet: String,
}

/// What becomes of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum FlowVerdict {
    /// It passes, and is answered.
    Passes,
    /// It passes slower, damaged or in part.
    Degraded,
    /// Something stops it, or nothing leads there.
    Blocked,
    /// It depends on what was not read.
    Indeterminate,
}

impl FlowVerdict {
    /// Returns what the documents come to, to be weighed against a measurement.
    pub(crate) const fn computed(self) -> Computed {
        match self {
            Self::Passes => Computed::Passes,
            Self::Degraded => Computed::Lossy,
            Self::Blocked => Computed::Stopped,
            Self::Indeterminate => Computed::NotKnown,
        }
    }
}

/// What stops or degrades a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedCause {
    /// The fault code.
    pub fault: String,
    /// What is at fault.
    pub object: String,
    /// `forward` or `return`.
    pub side: String,
    /// Whether nothing leads there: no rule is at fault.
    pub is_gap: bool,
    /// Whether it closes whatever nothing before it lets in: the flow is let in before it, and it stays.
    pub catches_all: bool,
    /// Why, as a sentence.
    pub reason: String,
    /// Whether something that would decide was not read, or is not here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_likely: bool,
    /// Whether traffic passes all the same, and worse.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degrades: bool,
}

/// A document that was not read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnreadDocument {
    pub what: String,
    /// Why not.
    pub why: String,
}

/// Something that seems alarming and does not touch the flows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticedObject {
    pub object: String,
    /// What it does.
    pub what: String,
    /// Why it is not the cause.
    pub why_not: String,
}

impl JudgedFlow {
    /// Tells whether something that was read stops or degrades it.
    #[must_use]
    pub fn is_explained(&self) -> bool {
        matches!(self.verdict, FlowVerdict::Blocked | FlowVerdict::Degraded)
    }

    /// Returns why nothing leads to its destination, where nothing does.
    #[must_use]
    pub fn gap(&self) -> Option<&str> {
        self.causes.iter().find(|cause| cause.is_gap).map(|cause| cause.reason.as_str())
    }

    /// Tells whether a `flow/…` object is this flow, whichever end calls. An end that is not known is `*`.
    #[must_use]
    pub fn is(&self, object: &str) -> bool {
        let parts: Vec<&str> = object.split('/').collect();
        let ["flow", from, to, protocol, port] = parts.as_slice() else { return false };
        let same = |text: &str, own: IpAddr| text == "*" || text.parse() == Ok(own);
        let ends = same(from, self.source) && same(to, self.destination)
            || same(to, self.source) && same(from, self.destination);
        ends && *protocol == self.protocol && self.port.is_none_or(|own| port.parse() == Ok(own))
    }

    /// Tells whether a `flow/…` object is between the same ends, whichever calls.
    #[must_use]
    pub fn is_between(&self, object: &str) -> bool {
        let parts: Vec<&str> = object.split('/').collect();
        let ["flow", from, to, ..] = parts.as_slice() else { return false };
        let ends = (from.parse().ok(), to.parse().ok());
        let own = (Some(self.source), Some(self.destination));
        ends == own || (ends.1, ends.0) == own
    }

    /// Returns what the destination is called, where it has a name.
    const fn called(&self) -> &Option<String> {
        if self.destination_name.is_some() { &self.destination_name } else { &self.destination_machine }
    }

    /// Names who calls.
    #[must_use]
    pub fn caller(&self) -> String {
        let service = self.source_service.as_ref().map(|service| &service.name);
        self.source_machine.as_ref().or(service).cloned().unwrap_or_else(|| self.source.to_string())
    }

    /// Returns what a rule calls whoever calls: an address, or the subnet of a service.
    #[must_use]
    pub fn sources(&self) -> String {
        match &self.source_service {
            Some(service) => service.subnet.clone(),
            None => self.source.to_string(),
        }
    }

    /// Says that it passes, as far as that was judged.
    #[must_use]
    pub fn passing(&self) -> String {
        match &self.cluster {
            Some(cluster) => format!("is let through by {cluster}"),
            None => "passes in both directions".to_owned(),
        }
    }

    /// Names it, as a person would.
    #[must_use]
    pub fn name(&self) -> String {
        let end = |machine: &Option<String>, address: IpAddr| {
            machine.clone().unwrap_or_else(|| address.to_string())
        };
        let (from, to) = (self.caller(), end(self.called(), self.destination));
        match self.port {
            Some(port) => format!("{from} → {to} {}/{port}", self.protocol),
            None => format!("{from} → {to} {}", self.protocol),
        }
    }
}

impl JudgedFlows {
    /// Tells whether people speak of trouble that no flow between two ends shows.
    #[must_use]
    pub fn is_beside_flows(&self) -> bool {
        let beside = [Symptom::Containers, Symptom::StorageUnreachable];
        let mut trouble = self.complaints.iter().filter(|complaint| complaint.kind != Kind::Exposure);
        trouble.any(|complaint| {
            beside.iter().any(|symptom| complaint.symptoms.contains(symptom))
                || (complaint.symptoms.contains(&Symptom::InternetLost) && complaint.flows.is_empty())
        })
    }

    /// Tells whether that is about accounts, and about nothing else that no flow shows.
    #[must_use]
    pub fn is_of_accounts(&self) -> bool {
        let mut symptoms = self.complaints.iter().flat_map(|complaint| &complaint.symptoms);
        self.is_beside_flows() && !symptoms.any(|symptom| *symptom == Symptom::Containers)
    }

    /// Tells whether a `flow/…` object is one of the flows; where no port was named, on any port between the same ends.
    #[must_use]
    pub fn covers(&self, object: &str) -> bool {
        let portless = self.complaints.iter().filter(|complaint| !complaint.names_port);
        let mut between =
            portless.flat_map(|complaint| &complaint.flows).filter_map(|at| self.flows.get(*at));
        self.flows.iter().any(|flow| flow.is(object)) || between.any(|flow| flow.is_between(object))
    }

    /// Tells whether every flow of some complaint passes, while others do not: what is found does not explain that one.
    #[must_use]
    pub fn leaves_open(&self) -> bool {
        let explained = |complaint: &JudgedComplaint| {
            complaint.flows.iter().filter_map(|at| self.flows.get(*at)).any(JudgedFlow::is_explained)
        };
        let with_flows = self.complaints.iter().filter(|complaint| !complaint.flows.is_empty());
        let (open, closed): (Vec<_>, Vec<_>) = with_flows.partition(|complaint| !explained(complaint));
        !open.is_empty() && !closed.is_empty()
    }

    /// Returns the one flow of which somebody asks whether it passes, where nothing else is said.
    #[must_use]
    pub fn asked(&self) -> Option<&JudgedFlow> {
        match (self.complaints.as_slice(), self.flows.as_slice()) {
            ([complaint], [flow]) if complaint.is_question && complaint.unlisted == 0 => Some(flow),
            _ => None,
        }
    }

    /// Returns the flow that an object stops or degrades, and how.
    #[must_use]
    pub fn cause(&self, fault: &str, object: &str) -> Option<(&JudgedFlow, &JudgedCause)> {
        self.flows.iter().find_map(|flow| {
            let mut causes = flow.causes.iter().chain(&flow.behind);
            let cause = causes.find(|cause| cause.fault == fault && cause.object == object)?;
            Some((flow, cause))
        })
    }

    /// Tells whether machines were read themselves.
    #[must_use]
    pub fn is_of_machines(&self) -> bool {
        !self.machines.is_empty()
    }

    /// Tells whether it is about what is inside of clusters.
    #[must_use]
    pub fn is_of_clusters(&self) -> bool {
        !self.clusters.is_empty()
    }

    /// Returns the machines that people complain about, each once, where machines were read themselves.
    #[must_use]
    pub fn complained_of(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let unread = self.machines.iter().filter(|machine| machine.unread.is_some());
        let complained = self.complaints.iter().flat_map(|complaint| &complaint.machines);
        for name in complained.chain(unread.map(|machine| &machine.name)) {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        names
    }

    /// Returns what explains a complaint about machines that were read themselves.
    #[must_use]
    pub fn of_machines(&self, fault: &str, object: &str) -> Option<&JudgedCause> {
        let mut causes = self.complaints.iter().flat_map(|complaint| &complaint.causes);
        causes.find(|cause| cause.fault == fault && cause.object == object)
    }

    /// Returns the remedy of a fault with its place in the order, where one held.
    #[must_use]
    pub fn remedy(&self, fault: &str, object: &str) -> Option<(usize, &JudgedRemedy)> {
        let is = |remedy: &JudgedRemedy| remedy.fault == fault && remedy.object == object;
        self.remedies.iter().enumerate().find(|(_, remedy)| is(remedy))
    }

    /// Reads the result of a call; `None` where it is none of the tool's.
    #[must_use]
    pub fn of_result(result: &Value) -> Option<Self> {
        let facts = result.get("facts").filter(|facts| facts.get("flows").is_some())?;
        serde_json::from_value(facts.clone()).ok()
    }

    /// Returns the machines at the ends of the flows, each once; those that were read themselves, where some were.
    #[must_use]
    pub fn machines(&self) -> Vec<String> {
        let mut machines: Vec<String> = self.machines.iter().map(|machine| machine.name.clone()).collect();
        for name in
            self.flows.iter().flat_map(|flow| flow.source_machine.iter().chain(&flow.destination_machine))
        {
            if !machines.contains(name) {
                machines.push(name.clone());
            }
        }
        machines
    }
}

/// Tells whether a call judged what people complain about, and not one flow that somebody named.
pub(crate) fn is_of_complaints(arguments: &Value) -> bool {
    ["source", "destination", "port", "protocol"].iter().all(|name| arguments.get(name).is_none())
}

/// Returns the last judgement of what people complain about, with the call that made it.
pub(crate) fn judged(state: &State) -> Option<(&CallState, JudgedFlows)> {
    let judged = state.calls().filter_map(|call| Some((call, of_complaints(call)?)));
    judged.fold(None, |_, last| Some(last))
}

/// Returns every flow that a session judged in the cloud, those that people complain about first, and of each judgement the last.
pub(crate) fn judged_flows(state: &State) -> Vec<JudgedFlow> {
    let complaints = judged(state).map(|(_, judged)| judged.flows).unwrap_or_default();
    let results = results(state).flat_map(|judged| judged.flows);
    let asked: Vec<JudgedFlow> = results.collect();
    complaints.into_iter().chain(asked.into_iter().rev()).collect()
}

/// Returns what the calls of a session judged in the cloud.
fn results(state: &State) -> impl Iterator<Item = JudgedFlows> {
    let calls = state.calls().filter(|call| call.call.tool == TOOL);
    let returned = calls.filter_map(|call| call.returned.as_ref().filter(|returned| !returned.is_error));
    let results = returned.filter_map(|returned| serde_json::from_str::<Value>(&returned.content).ok());
    results.filter_map(|result| JudgedFlows::of_result(&result))
}

/// Returns where objects are that lie in other resource groups than the session's own, as the calls of a session say, the last of each.
pub(crate) fn elsewhere(state: &State) -> BTreeMap<String, OtherGroup> {
    results(state).flat_map(|judged| judged.elsewhere).collect()
}

/// Tells whether a session is about machines that are read themselves: where the cloud may know them, too, what was judged last says it.
pub(crate) fn is_of_hosts(state: &State) -> bool {
    let by_itself = || !state.opened.cloud_too;
    !state.opened.hosts.is_empty() && judged(state).map_or_else(by_itself, |(_, last)| last.is_of_machines())
}

/// Tells whether a session is about what is inside of clusters: where it may be about the cloud, too, what was judged last says it.
pub(crate) fn is_of_clusters(state: &State) -> bool {
    let by_itself = || !state.opened.cloud_too && state.opened.hosts.is_empty();
    !state.opened.clusters.is_empty()
        && judged(state).map_or_else(by_itself, |(_, last)| last.is_of_clusters())
}

/// Returns what a call judged of what people complain about; `None` where it is no such call, or did not come to a result.
pub(crate) fn of_complaints(call: &CallState) -> Option<JudgedFlows> {
    let is_of_them = match call.call.tool.as_str() {
        TOOL => is_of_complaints(&call.call.arguments),
        tool => [HOSTS, CLUSTERS].contains(&tool),
    };
    let returned = call.returned.as_ref().filter(|returned| is_of_them && !returned.is_error)?;
    JudgedFlows::of_result(&serde_json::from_str(&returned.content).ok()?)
}
