//! Judges one flow: where it leads, and what policies do to it there.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::endpoint::{Endpoints, Place};
use super::engine::Engine;
use super::error::AskError;
use super::fault::{Cause, Fault, Object};
use super::node::NodeView;
use super::object::{Cluster, ContainerPort, Kind, Name, Pod, PortRef, Protocol, Service, ServicePort};
use super::question::{Callee, Caller, Question};
use super::report::{FORMAT, Passage, Report, Target, Verdict};
use super::walk::{Direction, End, Walk};

/// The port that name servers answer on.
const NAMES: u16 = 53;

/// What is found out while a flow is judged.
#[derive(Debug, Default)]
struct Found {
    targets: Vec<Target>,
    causes: Vec<Cause>,
    noticed: Vec<String>,
    missing: Vec<String>,
}

/// Who is called, found in the documents.
enum Called<'a> {
    Service(&'a Service),
    Pod(&'a Pod),
    Address(IpAddr),
}

impl Cluster {
    /// Judges a flow.
    ///
    /// # Errors
    /// Fails where the documents hold no such pod or service, or the name is both.
    pub fn judge(&self, question: &Question) -> Result<Report, AskError> {
        let engine = question.engine.or_else(|| Engine::of_pods(self.pods.values()));
        let caller = self.caller(&question.caller)?;
        let called = self.called(&question.callee)?;
        let mut found = Found::default();
        let protocol = question.protocol;
        if let End::Pod(pod) = &caller
            && !pod.is_running()
        {
            found.missing.push(format!("{} does not run: its phase is {}", pod.name, pod.phase));
        }
        match &called {
            Called::Service(service) => {
                self.to_service(service, &question.port, protocol, &caller, engine, &mut found);
            }
            Called::Pod(pod) => {
                let port = number(&question.port, pod, protocol)?;
                if !pod.is_running() {
                    found.missing.push(format!("{} does not run: its phase is {}", pod.name, pod.phase));
                }
                self.to_place(&Place::of_pod(pod, port), protocol, &caller, engine, &mut found);
                found.causes.extend(undeclared(pod, port, protocol, Object::Pod(pod.name.clone())));
            }
            Called::Address(address) => {
                let PortRef::Number(port) = question.port else {
                    return Err(AskError::Form {
                        text: question.port.to_string(),
                        expected: "the number of a port of an address",
                    });
                };
                let end = End::Address(*address);
                let place = Place { end, pod: None, address: Some(*address), port };
                self.to_place(&place, protocol, &caller, engine, &mut found);
            }
        }
        self.name_servers(&called, &caller, engine, &mut found);
        let mut seen = BTreeSet::new();
        found.causes.retain(|cause| seen.insert((cause.fault, cause.object.clone())));
        let mut known = BTreeSet::new();
        found.missing.retain(|why| known.insert(why.clone()));
        Ok(Report {
            format: FORMAT,
            from: question.written.0.clone(),
            to: question.written.1.clone(),
            protocol,
            verdict: found.verdict(),
            engine,
            service: match &called {
                Called::Service(service) => Some(service.name.to_string()),
                Called::Pod(_) | Called::Address(_) => None,
            },
            targets: found.targets,
            causes: found.causes,
            noticed: found.noticed,
            missing: found.missing,
            warnings: self.warnings.clone(),
            more_warnings: self.more_warnings,
        })
    }

    fn caller(&self, caller: &Caller) -> Result<End<'_>, AskError> {
        match caller {
            Caller::Pod(name) => self.pod(name).map(End::Pod),
            Caller::Address(address) => Ok(self.pod_at(*address).map_or(End::Address(*address), End::Pod)),
        }
    }

    fn called(&self, callee: &Callee) -> Result<Called<'_>, AskError> {
        let service = |name: &Name| self.services.get(name).map(Called::Service);
        match callee {
            Callee::Service(name) => {
                service(name).ok_or_else(|| self.missing(format!("service {name}"), &[Kind::Service]))
            }
            Callee::Pod(name) => self.pod(name).map(Called::Pod),
            Callee::Either(name) => match (service(name), self.pods.get(name)) {
                (Some(_), Some(_)) => Err(AskError::Ambiguous { name: name.to_string() }),
                (Some(service), None) => Ok(service),
                (None, Some(pod)) => Ok(Called::Pod(pod)),
                (None, None) => {
                    Err(self.missing(format!("service and no pod {name}"), &[Kind::Service, Kind::Pod]))
                }
            },
            Callee::Address(address) => {
                let has = |service: &&Service| service.addresses.contains(address);
                let service = self.services.values().find(has).map(Called::Service);
                let pod = || self.pod_at(*address).map(Called::Pod);
                Ok(service.or_else(pod).unwrap_or(Called::Address(*address)))
            }
        }
    }

    fn pod(&self, name: &Name) -> Result<&Pod, AskError> {
        self.pods.get(name).ok_or_else(|| self.missing(format!("pod {name}"), &[Kind::Pod]))
    }

    /// Says that something is not there, or that it may be among what could not be read.
    fn missing(&self, object: String, kinds: &[Kind]) -> AskError {
        let first = self.warnings.first().filter(|_| kinds.iter().any(|kind| self.unread.contains(kind)));
        match first {
            Some(first) => AskError::Unread { object, first: first.clone() },
            None => AskError::Missing { object },
        }
    }

    /// Returns the pod that has an address for itself.
    fn pod_at(&self, address: IpAddr) -> Option<&Pod> {
        let has = |pod: &&Pod| !pod.is_on_host && !pod.is_over() && pod.addresses.contains(&address);
        self.pods.values().find(has)
    }

    fn to_service(
        &self,
        service: &Service,
        port: &PortRef,
        protocol: Protocol,
        caller: &End<'_>,
        engine: Option<Engine>,
        found: &mut Found,
    ) {
        let is_it = |own: &&ServicePort| {
            own.protocol == protocol
                && match port {
                    PortRef::Number(number) => own.number == *number,
                    PortRef::Name(name) => own.name == *name,
                }
        };
        let object = || Object::Service(service.name.clone());
        let Some(own) = service.ports.iter().find(is_it) else {
            if service.addresses.is_empty() {
                let why = format!("{} has no address of its own: its name leads to its pods", service.name);
                found.missing.push(why);
                return;
            }
            let all: Vec<String> = service.ports.iter().map(service_port_text).collect();
            let why = format!("{port} ({protocol}) is none of its ports: {}", all.join(", "));
            found.causes.push(Cause::proven(Fault::ServicePortMissing, object(), why));
            return;
        };
        let pod = match caller {
            End::Pod(pod) => Some(*pod),
            End::Address(_) | End::Hidden(_) => None,
        };
        let places = match self.endpoints(service, own, pod) {
            Endpoints::Places(places) => places,
            Endpoints::Nowhere(cause) => {
                let cause = self.held_against_rules(service, own, cause, found);
                found.causes.push(cause);
                return;
            }
            Endpoints::Unknown(why) => {
                found.missing.push(why);
                return;
            }
        };
        // The node that takes a call from outside puts its own address in, unless it may only serve its own pods.
        let hidden = match caller {
            End::Address(address) if !service.is_local_outside => Some(End::Hidden(format!(
                "a node may put its own address in place of {address} (externalTrafficPolicy)"
            ))),
            End::Pod(_) | End::Address(_) | End::Hidden(_) => None,
        };
        let caller = hidden.as_ref().unwrap_or(caller);
        for place in &places {
            self.to_place(place, protocol, caller, engine, found);
            if let End::Pod(pod) = &place.end {
                found.causes.extend(undeclared(pod, place.port, protocol, object()));
            }
        }
        self.hold_rules(service, own, &places, found);
    }

    /// Holds the rules of the caller's node against a service that leads nowhere.
    fn held_against_rules(
        &self,
        service: &Service,
        port: &ServicePort,
        mut cause: Cause,
        found: &mut Found,
    ) -> Cause {
        for address in &service.addresses {
            match self.rules.as_ref().map(|rules| rules.view(*address, port.number, port.protocol)) {
                Some(NodeView::Refuse) => {
                    cause.why.push_str(&format!("; the node refuses {address}:{}", port.number));
                }
                Some(NodeView::Send(sent)) => {
                    let sent: Vec<String> = sent.iter().map(SocketAddr::to_string).collect();
                    let to = sent.join(", ");
                    found.noticed.push(format!("the node still sends {address}:{} to {to}", port.number));
                }
                Some(NodeView::Unknown(why)) => found.noticed.push(why),
                Some(NodeView::Absent) | None => {}
            }
        }
        cause
    }

    /// Holds the rules of the caller's node against the endpoints of a service.
    fn hold_rules(&self, service: &Service, port: &ServicePort, places: &[Place<'_>], found: &mut Found) {
        let Some(rules) = &self.rules else { return };
        let object = || Object::Service(service.name.clone());
        let expected: BTreeSet<SocketAddr> =
            places.iter().filter_map(|place| Some(SocketAddr::new(place.address?, place.port))).collect();
        for address in &service.addresses {
            let stale = |why: String| Cause::proven(Fault::NodeRulesStale, object(), why);
            match rules.view(*address, port.number, port.protocol) {
                NodeView::Refuse => {
                    let why = format!("they refuse {address}:{}, as if it had no endpoint", port.number);
                    found.causes.push(stale(why));
                }
                NodeView::Absent => {
                    found.causes.push(stale(format!("they do not have {address}:{}", port.number)));
                }
                NodeView::Send(sent) => {
                    let gone: Vec<String> =
                        sent.iter().filter(|to| !expected.contains(to)).map(SocketAddr::to_string).collect();
                    if gone.is_empty() {
                        continue;
                    }
                    let why = format!("they send it to {}, which is no endpoint of it", gone.join(", "));
                    let cause = stale(why);
                    // As long as one of them is right some calls arrive.
                    let is_proven = gone.len() == sent.len();
                    found.causes.push(Cause { is_proven, ..cause });
                }
                NodeView::Unknown(why) => found.noticed.push(why),
            }
        }
    }

    fn to_place(
        &self,
        place: &Place<'_>,
        protocol: Protocol,
        caller: &End<'_>,
        engine: Option<Engine>,
        found: &mut Found,
    ) {
        let walk = Walk { cluster: self, engine, protocol, port: place.port };
        let mut passage = |subject: &End<'_>, other: &End<'_>, direction| {
            let End::Pod(subject) = subject else {
                if let End::Hidden(why) = subject {
                    return Some(Passage::Unknown { why: why.clone() });
                }
                return None;
            };
            let passage = walk.passage(subject, other, direction);
            if let Passage::Closed { .. } = &passage {
                let (what, side) = match direction {
                    Direction::Egress => ("goes out of", "egress"),
                    Direction::Ingress => ("comes in to", "ingress"),
                };
                let why = format!(
                    "no rule for {side} lets {} {protocol} through that {what} {}",
                    place.port, subject.name
                );
                let object = walk.closing(subject, direction).into_iter();
                found.causes.extend(object.map(|own| Cause::proven(Fault::PolicyDenies, own, why.clone())));
            }
            Some(passage)
        };
        let egress = match caller {
            // Whoever calls from outside is under no policy.
            End::Address(_) | End::Hidden(_) => None,
            End::Pod(_) => passage(caller, &place.end, Direction::Egress),
        };
        let ingress = passage(&place.end, caller, Direction::Ingress);
        if egress.is_none() && ingress.is_none() {
            found.missing.push("neither end is a pod that was read: no policy of a pod decides".to_owned());
        }
        let (verdict, why) = outcome(egress.iter().chain(&ingress));
        found.missing.extend(why);
        let (pod, address, port) = (place.pod.clone(), place.address, place.port);
        found.targets.push(Target { pod, address, port, verdict, egress, ingress });
    }

    /// Notices where the caller cannot ask the name server of the cluster: what it calls by name it then does not find.
    fn name_servers(&self, called: &Called<'_>, caller: &End<'_>, engine: Option<Engine>, found: &mut Found) {
        let name = Name { namespace: "kube-system".to_owned(), name: "kube-dns".to_owned() };
        let (Some(service), End::Pod(pod)) = (self.services.get(&name), caller) else { return };
        if matches!(called, Called::Service(own) if own.name == name) {
            return;
        }
        let mut names = Found::default();
        let port = PortRef::Number(NAMES);
        self.to_service(service, &port, Protocol::Udp, caller, engine, &mut names);
        let Some(cause) = names.causes.iter().find(|cause| cause.is_proven) else { return };
        if names.verdict() != Verdict::Indeterminate {
            found.noticed.push(format!(
                "{} does not reach the name server {name} (53 udp), so that names do not resolve there: {} {}",
                pod.name, cause.fault, cause.object
            ));
        }
    }
}

/// Says what becomes of a flow that several directions decide, and why it is not known.
fn outcome<'a>(all: impl Iterator<Item = &'a Passage>) -> (Verdict, Option<String>) {
    let mut found = (Verdict::Passes, None);
    for passage in all {
        match passage {
            Passage::Closed { .. } => return (Verdict::Blocked, None),
            Passage::Unknown { why } => found = (Verdict::Indeterminate, Some(why.clone())),
            Passage::Open { .. } | Passage::Allowed { .. } => {}
        }
    }
    found
}

impl Found {
    fn verdict(&self) -> Verdict {
        let is_stopped = self.causes.iter().any(|cause| {
            cause.is_proven
                && match cause.fault {
                    Fault::NoEndpoints | Fault::ServicePortMissing | Fault::NodeRulesStale => true,
                    // A named port without a pod leads nowhere; what policies close is counted by targets.
                    Fault::PortNotServed => self.targets.is_empty(),
                    Fault::PolicyDenies => false,
                }
        });
        if is_stopped {
            return Verdict::Blocked;
        }
        let of = |verdict| self.targets.iter().filter(|own| own.verdict == verdict).count();
        let (blocked, passes) = (of(Verdict::Blocked), of(Verdict::Passes));
        if blocked > 0 && blocked == self.targets.len() {
            return Verdict::Blocked;
        }
        let is_open = !self.missing.is_empty()
            || self.targets.is_empty()
            || blocked + passes < self.targets.len()
            || self.causes.iter().any(|cause| !cause.is_proven);
        match (is_open, blocked) {
            (true, _) => Verdict::Indeterminate,
            (false, 0) => Verdict::Passes,
            (false, _) => Verdict::Degraded,
        }
    }
}

/// Finds the number of a port of a pod.
fn number(port: &PortRef, pod: &Pod, protocol: Protocol) -> Result<u16, AskError> {
    match port {
        PortRef::Number(number) => Ok(*number),
        PortRef::Name(name) => {
            let mut numbers = pod.ports_named(name, protocol).into_iter();
            let missing = || AskError::Missing { object: format!("port {name} of the pod {}", pod.name) };
            numbers.next().filter(|_| numbers.next().is_none()).ok_or_else(missing)
        }
    }
}

/// Suspects a port that no container declares, where they declare others.
fn undeclared(pod: &Pod, port: u16, protocol: Protocol, object: Object) -> Option<Cause> {
    let has = |own: &ContainerPort| own.number == port && own.protocol == protocol;
    if pod.ports.is_empty() || pod.ports.iter().any(has) {
        return None;
    }
    let declared: Vec<String> = pod.ports.iter().map(port_text).collect();
    let why = format!(
        "{} declares {} and not {port}/{protocol}; a container may listen on more than it declares",
        pod.name,
        declared.join(", ")
    );
    Some(Cause::suspected(Fault::PortNotServed, object, why))
}

/// Writes a port of a container.
pub(super) fn port_text(port: &ContainerPort) -> String {
    let name = port.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    format!("{}/{}{name}", port.number, port.protocol)
}

fn service_port_text(port: &ServicePort) -> String {
    let name = if port.name.is_empty() { String::new() } else { format!(" ({})", port.name) };
    format!("{}/{}{name}", port.number, port.protocol)
}
