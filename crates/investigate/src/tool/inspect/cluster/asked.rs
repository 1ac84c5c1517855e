//! The flows that people speak of, between pods and services of a cluster.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};

use super::spoken::{Inside, Spoken, SpokenText};
use crate::complaint::{
    self, Complaint, ComplaintFlow, End, Inventory, Kind, Listener, Machine, Topic, UnknownEnd,
};
use crate::symptom_text::{self, Symptom};
use ghost_base::Limit;
use ghost_inspect::cluster::{Name, Protocol};

/// Stands for anybody on the Internet, and is never called.
pub(super) const INTERNET: IpAddr = IpAddr::V4(Ipv4Addr::new(8, 8, 8, 8));
/// The port of the web, where somebody names none.
const HTTPS: u16 = 443;
/// Who answers for names in a cluster, and where.
const NAMES: (&str, &str, u16) = ("kube-system", "kube-dns", 53);
/// How many pods of one name are judged, as callers and as called ones: a larger workload is one of thousands.
const PODS: Limit = Limit::new("cluster.pods", 256);
/// How many callers are tried if the words name none: one of each workload.
const ANYBODY: Limit = Limit::new("cluster.anybody", 256);
/// How many services of a namespace are judged if the words name none.
const SERVICES: Limit = Limit::new("cluster.services", 2_000);
/// How many ports of one end are judged.
const PORTS: Limit = Limit::new("cluster.ports", 64);

/// More names than these are no help.
const MAX_NEAREST: usize = 3;

/// Everything that the words ask.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) complaints: Vec<ClusterComplaint>,
    /// What a limit cut off.
    pub(super) unjudged: Vec<String>,
}

/// What somebody complains about or asks.
#[derive(Debug)]
pub(super) struct ClusterComplaint {
    pub(super) kind: Kind,
    pub(super) symptoms: BTreeSet<Symptom>,
    pub(super) names_port: bool,
    pub(super) is_question: bool,
    pub(super) flows: Vec<AskedFlow>,
    /// Names that nobody in the clusters has.
    pub(super) unknown: Vec<(String, Vec<String>)>,
    /// What is open of it, whatever the cluster shows.
    pub(super) doubts: Vec<String>,
}

/// Who calls whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AskedFlow {
    /// The place of the cluster.
    pub(super) cluster: usize,
    pub(super) callers: Callers,
    pub(super) callee: Callee,
    pub(super) protocol: Protocol,
    pub(super) port: u16,
    /// The words name a namespace, and this is one of all flows in it: nobody says that anybody needs it.
    pub(super) is_of_namespace: bool,
}

/// Who calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Callers {
    /// These pods, by the name that stands for them.
    Pods {
        called: String,
        pods: Vec<Name>,
    },
    Address(IpAddr),
    /// Nobody says who: some pod of each name that there is.
    Anybody(Vec<Name>),
}

/// Who is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Callee {
    Service(Name),
    Pods {
        called: String,
        pods: Vec<Name>,
    },
    Address(IpAddr),
    /// A name outside of the cluster, and an address that stands for it.
    Outside(String),
}

impl Callee {
    /// Returns the address that stands for it, where it is outside.
    pub(super) const fn address(&self) -> Option<IpAddr> {
        match self {
            Self::Address(address) => Some(*address),
            Self::Outside(_) => Some(INTERNET),
            Self::Service(_) | Self::Pods { .. } => None,
        }
    }
}

/// Reads the words of people.
pub(super) fn read(text: &str, clusters: &[Inside]) -> Asked {
    let spoken = SpokenText::read(text, clusters);
    let reading = Reading { clusters, spoken: &spoken, unjudged: RefCell::default() };
    let complaints = reading.complaints(text);
    Asked { complaints, unjudged: reading.unjudged.into_inner().into_iter().collect() }
}

/// Whoever asks who changed something complains of nothing, and nothing that is read here says it.
fn author(symptoms: &BTreeSet<Symptom>) -> ClusterComplaint {
    ClusterComplaint {
        kind: Kind::Drift,
        symptoms: symptoms.clone(),
        names_port: false,
        is_question: true,
        flows: Vec::new(),
        unknown: Vec::new(),
        doubts: vec![
            "who changed an object of a cluster stands in the audit log of its API server, which is not read"
                .to_owned(),
        ],
    }
}

struct Reading<'a> {
    clusters: &'a [Inside],
    spoken: &'a SpokenText,
    /// What a limit cut off.
    unjudged: RefCell<BTreeSet<String>>,
}

impl Reading<'_> {
    fn complaints(&self, text: &str) -> Vec<ClusterComplaint> {
        let message = complaint::read(&self.spoken.text);
        let found = complaint::resolve(&message, &self.inventory());
        if message.topic == Topic::Author {
            return vec![author(&symptom_text::read(text).symptoms)];
        }
        let mut all: Vec<ClusterComplaint> = found.iter().map(|one| self.complaint(one)).collect();
        if all.iter().all(|one| one.flows.is_empty()) {
            all = vec![self.whole(&found, symptom_text::read(text).symptoms)];
        }
        // What is said beside a flow describes it.
        if all.iter().any(|one| !one.flows.is_empty()) {
            all.retain(|one| !one.flows.is_empty() || one.kind != Kind::Trouble);
        }
        if let Some(first) = all.first_mut() {
            first.doubts.extend(self.doubts());
            let named = self.spoken.unknown.iter().map(|name| (name.clone(), self.nearest(name)));
            first.unknown.extend(named.chain(self.strangers(&found)));
        }
        all
    }

    /// Returns the names that stand where ends stand, and that nothing in the clusters has.
    fn strangers(&self, found: &[Complaint]) -> Vec<(String, Vec<String>)> {
        let mut names: BTreeSet<&String> = BTreeSet::new();
        for end in found.iter().flat_map(|one| &one.unknown) {
            match end {
                UnknownEnd::Name { name, is_public: false, .. } if !self.is_known(name) => {
                    names.insert(name);
                }
                // A domain is called outside of the cluster, and so is an address.
                UnknownEnd::Name { .. } | UnknownEnd::Address(_) => {}
            }
        }
        names.into_iter().map(|name| (name.clone(), self.nearest(name))).collect()
    }

    /// Tells whether a word is a cluster, a namespace, a node, or a domain that is judged as one.
    fn is_known(&self, word: &str) -> bool {
        let is = |name: &str| name.eq_ignore_ascii_case(word);
        self.spoken.domains.iter().any(|domain| is(domain))
            || self.spoken.unknown.iter().any(|name| is(name))
            || self.spoken.ambiguous.keys().any(|name| is(name))
            || self.clusters.iter().any(|inside| {
                is(&inside.name)
                    || is(&inside.context)
                    || inside.cluster.namespaces().into_iter().any(is)
                    || inside.pods.iter().any(|pod| pod.node.as_deref().is_some_and(is))
            })
    }

    /// Shortens a list to a limit, and records what is cut off.
    fn cut<T>(&self, limit: Limit, list: &mut Vec<T>, of: impl FnOnce() -> String) {
        let cut = limit.cut(list);
        if cut > 0 {
            self.unjudged.borrow_mut().insert(format!("{cut} more {}", of()));
        }
    }

    /// The pods and services that are named, as `complaint` asks about machines. Their addresses are not those that they have: one stands
    /// for each name.
    fn inventory(&self) -> Inventory {
        let machine = |(at, (name, spoken)): (usize, (&String, &Spoken))| Machine {
            name: name.clone(),
            addresses: vec![stand_in(at)],
            network: Some("pods".to_owned()),
            listeners: Some(self.ports(spoken).into_iter().filter_map(listener).collect()),
            ..Machine::default()
        };
        Inventory {
            machines: self.spoken.named.iter().enumerate().map(machine).collect(),
            ..Inventory::default()
        }
    }

    fn complaint(&self, own: &Complaint) -> ClusterComplaint {
        let mut flows: Vec<AskedFlow> = Vec::new();
        let mut add = |more: Vec<AskedFlow>| {
            for flow in more {
                if !flows.contains(&flow) {
                    flows.push(flow);
                }
            }
        };
        let named: Vec<&Spoken> =
            own.machines.iter().filter_map(|name| self.spoken.named.get(name.as_str())).collect();
        let about_names = own.symptoms.contains(&Symptom::Names);
        if about_names {
            add(self.name_flows(&named));
        } else {
            own.flows.iter().for_each(|flow| add(self.flow(flow)));
        }
        let addresses = own.unknown.iter().filter_map(|end| match end {
            UnknownEnd::Address(address) => Some(Callee::Address(*address)),
            // Which names are those of a cluster its own words say.
            UnknownEnd::Name { .. } => None,
        });
        for callee in addresses.chain(self.spoken.domains.iter().cloned().map(Callee::Outside)) {
            if !about_names {
                add(self.outward(&named, &callee, &ports_of(own)));
            }
        }
        if flows.is_empty() && !about_names && own.symptoms.contains(&Symptom::InternetLost) {
            let outside = Callee::Outside("the Internet".to_owned());
            flows.extend(self.outward(&named, &outside, &ports_of(own)));
        }
        ClusterComplaint {
            // Whoever asks what a policy closes or opens asks about flows.
            kind: if flows.is_empty() { own.kind } else { Kind::Trouble },
            symptoms: own.symptoms.clone(),
            names_port: !own.ports.is_empty(),
            is_question: own.is_question,
            flows,
            unknown: Vec::new(),
            doubts: Vec::new(),
        }
    }

    /// Returns a flow between what is named, as flows of the cluster.
    fn flow(&self, flow: &ComplaintFlow) -> Vec<AskedFlow> {
        let spoken = |end: &End| end.machine().and_then(|name| self.spoken.named.get(name));
        let Some(protocol) = protocol(flow.protocol) else { return Vec::new() };
        let (from, to) = (spoken(&flow.source), spoken(&flow.destination));
        let port = flow.port.map(|port| (protocol, port));
        match (from, to) {
            (Some(from), Some(to)) => self.between(from, to, port),
            (None, Some(to)) => match flow.source.address().filter(|_| flow.source.is_named()) {
                Some(address) => self.made(&Callers::Address(address), to, port),
                None => self.to(to, port),
            },
            (Some(from), None) => {
                let callee = match flow.destination.address() {
                    Some(address) => Callee::Address(address),
                    None => Callee::Outside("the Internet".to_owned()),
                };
                let (protocol, port) = port.unwrap_or((Protocol::Tcp, HTTPS));
                let flow = |callers| AskedFlow {
                    cluster: from.cluster,
                    callers,
                    callee,
                    protocol,
                    port,
                    is_of_namespace: false,
                };
                self.callers(from).map(flow).into_iter().collect()
            }
            (None, None) => Vec::new(),
        }
    }

    fn between(&self, from: &Spoken, to: &Spoken, port: Option<(Protocol, u16)>) -> Vec<AskedFlow> {
        if from.cluster != to.cluster {
            return Vec::new();
        }
        match self.callers(from) {
            Some(callers) => self.made(&callers, to, port),
            // A service of which no pod is there calls nobody.
            None => self.to(to, port),
        }
    }

    /// Returns the flows to an end of which nobody says who calls it.
    fn to(&self, to: &Spoken, port: Option<(Protocol, u16)>) -> Vec<AskedFlow> {
        self.made(&Callers::Anybody(self.anybody(to)), to, port)
    }

    /// Returns a pod for each name that there is in a cluster, but for the called one; those of its namespace first.
    fn anybody(&self, to: &Spoken) -> Vec<Name> {
        let Some(inside) = self.clusters.get(to.cluster) else { return Vec::new() };
        let is_called = |name: &Name| to.pods.iter().any(|pod| pod.name == *name);
        let mut seen: BTreeSet<(&str, Option<&String>)> = BTreeSet::new();
        let mut found: Vec<&Name> = Vec::new();
        for pod in inside.pods.iter().filter(|pod| pod.is_caller && !is_called(&pod.name)) {
            if seen.insert((&pod.name.namespace, pod.workloads.first())) {
                found.push(&pod.name);
            }
        }
        found.sort_by_key(|name| name.namespace != to.namespace);
        self.cut(ANYBODY, &mut found, || format!("callers of {}/{}", to.namespace, to.word));
        found.into_iter().cloned().collect()
    }

    /// Returns the flows of those who ask for names.
    fn name_flows(&self, named: &[&Spoken]) -> Vec<AskedFlow> {
        let (namespace, name, port) = NAMES;
        let service = Name { namespace: namespace.to_owned(), name: name.to_owned() };
        let is_server = |spoken: &Spoken| spoken.namespace == namespace;
        let flow = |cluster: usize, callers: Callers| AskedFlow {
            cluster,
            callers,
            callee: Callee::Service(service.clone()),
            protocol: Protocol::Udp,
            port,
            is_of_namespace: false,
        };
        let own: Vec<AskedFlow> = named
            .iter()
            .filter(|spoken| !is_server(spoken))
            .filter_map(|spoken| Some(flow(spoken.cluster, self.callers(spoken)?)))
            .collect();
        if !own.is_empty() {
            return own;
        }
        let of_namespaces: Vec<AskedFlow> = self
            .spoken
            .namespaces
            .iter()
            .filter_map(|(cluster, namespace)| Some(flow(*cluster, self.of_namespace(*cluster, namespace)?)))
            .collect();
        if !of_namespaces.is_empty() {
            return of_namespaces;
        }
        let everybody = |(at, inside): (usize, &Inside)| {
            let callers = inside.pods.iter().filter(|pod| pod.is_caller && pod.name.namespace != namespace);
            let mut pods: Vec<Name> = callers.map(|pod| pod.name.clone()).collect();
            self.cut(ANYBODY, &mut pods, || format!("pods of {}", inside.name));
            (!pods.is_empty()).then(|| flow(at, Callers::Anybody(pods)))
        };
        self.clusters.iter().enumerate().filter_map(everybody).collect()
    }

    fn of_namespace(&self, cluster: usize, namespace: &str) -> Option<Callers> {
        let inside = self.clusters.get(cluster)?;
        let own = inside.pods.iter().filter(|pod| pod.is_caller && pod.name.namespace == namespace);
        let mut pods: Vec<Name> = own.map(|pod| pod.name.clone()).collect();
        self.cut(ANYBODY, &mut pods, || format!("pods of {namespace}"));
        (!pods.is_empty()).then(|| Callers::Pods { called: format!("the pods of {namespace}"), pods })
    }

    /// Returns the flows of those who are named to somebody outside.
    fn outward(&self, named: &[&Spoken], callee: &Callee, ports: &[(Protocol, u16)]) -> Vec<AskedFlow> {
        let ports = if ports.is_empty() { vec![(Protocol::Tcp, HTTPS)] } else { ports.to_vec() };
        let mut all: Vec<(usize, Callers)> =
            named.iter().filter_map(|spoken| Some((spoken.cluster, self.callers(spoken)?))).collect();
        if all.is_empty() {
            let of = |(cluster, namespace): &(usize, String)| {
                Some((*cluster, self.of_namespace(*cluster, namespace)?))
            };
            all.extend(self.spoken.namespaces.iter().filter_map(of));
        }
        let flow = |(cluster, callers): &(usize, Callers), (protocol, port): &(Protocol, u16)| AskedFlow {
            cluster: *cluster,
            callers: callers.clone(),
            callee: callee.clone(),
            protocol: *protocol,
            port: *port,
            is_of_namespace: false,
        };
        all.iter().flat_map(|callers| ports.iter().map(move |port| flow(callers, port))).collect()
    }

    /// Returns what is complained about where the words put no two ends together: whatever is wrong, it is with what is named.
    fn whole(&self, found: &[Complaint], symptoms: BTreeSet<Symptom>) -> ClusterComplaint {
        let named: Vec<&Spoken> = self.spoken.named.values().collect();
        let mut ports: Vec<(Protocol, u16)> = found.iter().flat_map(ports_of).collect();
        ports.sort_unstable();
        ports.dedup();
        let flows = if symptoms.contains(&Symptom::Names) {
            self.name_flows(&named)
        } else if !self.spoken.domains.is_empty() {
            let outside = self.spoken.domains.iter().cloned().map(Callee::Outside);
            outside.flat_map(|callee| self.outward(&named, &callee, &ports)).collect()
        } else if !self.spoken.unknown.is_empty() || !self.strangers(found).is_empty() {
            // Between somebody and nobody there is nothing to judge.
            Vec::new()
        } else {
            self.between_all(&named, ports.first().copied())
        };
        let is_open = flows.is_empty()
            && self.spoken.unknown.is_empty()
            && self.strangers(found).is_empty()
            && self.spoken.ambiguous.is_empty();
        let nobody = "no pod, no service and no namespace that is there is named".to_owned();
        ClusterComplaint {
            kind: found.first().filter(|_| flows.is_empty()).map_or(Kind::Trouble, |one| one.kind),
            names_port: !ports.is_empty(),
            is_question: found.iter().any(|one| one.is_question),
            flows,
            symptoms,
            unknown: Vec::new(),
            doubts: is_open.then_some(nobody).into_iter().collect(),
        }
    }

    fn between_all(&self, named: &[&Spoken], port: Option<(Protocol, u16)>) -> Vec<AskedFlow> {
        match named {
            [] => self
                .spoken
                .namespaces
                .iter()
                .flat_map(|(at, name)| self.inside_namespace(*at, name))
                .collect(),
            [one, other] => {
                let (at, behind) = (self.place(one), self.place(other));
                if at <= behind { self.between(one, other, port) } else { self.between(other, one, port) }
            }
            some => some.iter().flat_map(|one| self.to(one, port)).collect(),
        }
    }

    /// Returns where a name stands in the text.
    fn place(&self, spoken: &Spoken) -> usize {
        let alias = self.spoken.named.iter().find(|(_, known)| *known == spoken).map(|(alias, _)| alias);
        alias.and_then(|alias| self.spoken.text.find(alias.as_str())).unwrap_or(usize::MAX)
    }

    /// Returns the flows to all services of a namespace, from its own pods: a policy that keeps some of them out may be meant to.
    fn inside_namespace(&self, cluster: usize, namespace: &str) -> Vec<AskedFlow> {
        let Some(inside) = self.clusters.get(cluster) else { return Vec::new() };
        let callers = match self.of_namespace(cluster, namespace) {
            Some(Callers::Pods { pods, .. }) => Callers::Anybody(pods),
            Some(other @ (Callers::Address(_) | Callers::Anybody(_))) => other,
            None => return Vec::new(),
        };
        let own = inside.services.iter().filter(|service| service.name.namespace == namespace);
        let mut own: Vec<&ghost_inspect::cluster::ListedService> = own.collect();
        self.cut(SERVICES, &mut own, || format!("services of {namespace}"));
        let flow = |service: &ghost_inspect::cluster::ListedService| {
            let name = service.name.clone();
            let callers = callers.clone();
            let ports = service.ports.clone().into_iter();
            ports.map(move |(protocol, port)| AskedFlow {
                cluster,
                callers: callers.clone(),
                callee: Callee::Service(name.clone()),
                protocol,
                port,
                is_of_namespace: true,
            })
        };
        own.into_iter().flat_map(flow).collect()
    }

    fn doubts(&self) -> Vec<String> {
        let said = |(word, fits): (&String, &Vec<String>)| format!("{word} may be {}", fits.join(" or "));
        self.spoken.ambiguous.iter().map(said).collect()
    }

    /// Returns names that are like another one.
    fn nearest(&self, name: &str) -> Vec<String> {
        let mut all: BTreeMap<String, usize> = BTreeMap::new();
        for inside in self.clusters {
            let services = inside.services.iter().map(|service| &service.name);
            for known in services.chain(inside.pods.iter().map(|pod| &pod.name)) {
                let close = known.name.contains(name) || name.contains(&known.name);
                if close {
                    all.insert(known.to_string(), known.name.len().abs_diff(name.len()));
                }
            }
        }
        let mut near: Vec<(usize, String)> = all.into_iter().map(|(name, far)| (far, name)).collect();
        near.sort();
        near.into_iter().take(MAX_NEAREST).map(|(_, name)| name).collect()
    }

    /// Returns the ports on which something is called.
    fn ports(&self, spoken: &Spoken) -> Vec<(Protocol, u16)> {
        let own = spoken.service.iter().flat_map(|service| service.ports.clone());
        let mut all: Vec<(Protocol, u16)> = own.collect();
        if spoken.service.is_none() {
            all.extend(spoken.pods.iter().flat_map(|pod| pod.ports.clone()));
        }
        all.sort_unstable();
        all.dedup();
        self.cut(PORTS, &mut all, || format!("ports of {}/{}", spoken.namespace, spoken.word));
        all
    }

    /// Returns the pods of a name as those who call.
    fn callers(&self, spoken: &Spoken) -> Option<Callers> {
        let own = spoken.pods.iter().filter(|pod| pod.is_caller);
        let mut pods: Vec<Name> = own.map(|pod| pod.name.clone()).collect();
        self.cut(PODS, &mut pods, || format!("pods of {}/{}", spoken.namespace, spoken.word));
        let called = match pods.as_slice() {
            [] => return None,
            [one] => one.to_string(),
            _ => format!("{}/{}", spoken.namespace, spoken.word),
        };
        Some(Callers::Pods { called, pods })
    }

    /// Makes the flows to an end: on the port that is named, else on all that it has.
    fn made(&self, callers: &Callers, to: &Spoken, port: Option<(Protocol, u16)>) -> Vec<AskedFlow> {
        let pods = || {
            let mut pods: Vec<Name> = to.pods.iter().map(|pod| pod.name.clone()).collect();
            self.cut(PODS, &mut pods, || format!("pods of {}/{}", to.namespace, to.word));
            pods
        };
        let callee = match &to.service {
            Some(service) => Callee::Service(service.name.clone()),
            None => Callee::Pods {
                called: match to.pods.as_slice() {
                    [one] => one.name.to_string(),
                    _ => format!("{}/{}", to.namespace, to.word),
                },
                pods: pods(),
            },
        };
        let all = port.map_or_else(|| self.ports(to), |port| vec![port]);
        let flow = |(protocol, port): (Protocol, u16)| AskedFlow {
            cluster: to.cluster,
            callers: callers.clone(),
            callee: callee.clone(),
            protocol,
            port,
            is_of_namespace: false,
        };
        all.into_iter().map(flow).collect()
    }
}

/// Returns an address that nobody has.
fn stand_in(at: usize) -> IpAddr {
    let at = u32::try_from(at).unwrap_or(u32::MAX).min(0xFFFF);
    IpAddr::from(Ipv4Addr::from(0x0AFF_0001_u32.wrapping_add(at)))
}

/// Returns the ports that stand in the words.
fn ports_of(own: &Complaint) -> Vec<(Protocol, u16)> {
    own.ports.iter().filter_map(|one| Some((protocol(one.protocol)?, one.port?))).collect()
}

fn protocol(own: complaint::Protocol) -> Option<Protocol> {
    match own {
        complaint::Protocol::Tcp => Some(Protocol::Tcp),
        complaint::Protocol::Udp => Some(Protocol::Udp),
        // Policies say nothing of echoes.
        complaint::Protocol::Icmp => None,
    }
}

fn listener((own, port): (Protocol, u16)) -> Option<Listener> {
    let protocol = match own {
        Protocol::Tcp => complaint::Protocol::Tcp,
        Protocol::Udp => complaint::Protocol::Udp,
        Protocol::Sctp => return None,
    };
    Some(Listener { protocol, address: None, port, program: None })
}
