//! What policies do to a flow in one direction.

use std::net::IpAddr;

use super::engine::Engine;
use super::fault::Object;
use super::object::{Cluster, Kind, Pod, PortRef, Protocol};
use super::policy::{Peer, Policy, Ports, Rule};
use super::report::Passage;
use super::selector::{Labels, Selector};
use super::truth::Truth;

/// An end of a flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End<'a> {
    /// A pod.
    Pod(&'a Pod),
    /// An address that is no pod's.
    Address(IpAddr),
    /// Somebody who is not known, and why.
    Hidden(String),
}

/// A direction, seen from the pod that policies select.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ingress,
    Egress,
}

/// A flow to a port of one target.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walk<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) engine: Option<Engine>,
    pub(super) protocol: Protocol,
    pub(super) port: u16,
}

impl Walk<'_> {
    /// Says what the policies that select a pod do to a flow with somebody.
    pub(super) fn passage(&self, subject: &Pod, other: &End<'_>, direction: Direction) -> Passage {
        let open = |why: &str| Passage::Open { why: why.to_owned() };
        let unknown = |why: &str| Passage::Unknown { why: why.to_owned() };
        if self.engine == Some(Engine::None) {
            return open("nothing enforces policies");
        }
        if *other == End::Pod(subject) {
            return open("a pod reaches itself whatever policies say");
        }
        if is_own_node(subject, other) {
            return open("a pod and its own node reach each other whatever policies say");
        }
        if !self.cluster.has_policies {
            return unknown(
                "no NetworkPolicy was read, and an empty list of kubectl does not say of what it is empty",
            );
        }
        if self.cluster.unread.contains(&Kind::Policy) {
            return unknown("a NetworkPolicy could not be read");
        }
        if let Some(other) = self.cluster.other_policies.first() {
            return unknown(&format!("there are policies that are not judged: {other}"));
        }
        let selecting: Vec<&Policy> =
            self.cluster.policies.values().filter(|own| is_about(own, subject, direction)).collect();
        if selecting.is_empty() {
            return open("no policy selects the pod for this direction");
        }
        if subject.is_on_host {
            return unknown("policies over a pod on the network of its node are left to the engine");
        }
        let mut found = Truth::No;
        for policy in &selecting {
            match self.lets_through(policy, subject, other, direction) {
                Truth::Yes => return Passage::Allowed { policy: policy.name.to_string() },
                why @ Truth::Unknown(_) if found == Truth::No => found = why,
                Truth::Unknown(_) | Truth::No => {}
            }
        }
        let names: Vec<String> = selecting.iter().map(|own| own.name.to_string()).collect();
        match (found, self.engine) {
            (Truth::Unknown(why), _) => unknown(&why),
            (_, None) => unknown(&format!(
                "{} would deny it, and no pod of an engine that enforces policies was read in kube-system",
                names.join(", ")
            )),
            (_, Some(_)) => Passage::Closed { policies: names },
        }
    }

    /// Returns the policies that close a direction.
    pub(super) fn closing(&self, subject: &Pod, direction: Direction) -> Vec<Object> {
        let selecting = self.cluster.policies.values().filter(|own| is_about(own, subject, direction));
        selecting.map(|own| Object::Policy(own.name.clone())).collect()
    }

    fn lets_through(&self, policy: &Policy, subject: &Pod, other: &End<'_>, direction: Direction) -> Truth {
        if let Some(odd) = &policy.odd {
            return Truth::unknown(format!("{} has {odd}, which is not understood", policy.name));
        }
        let rules = match direction {
            Direction::Ingress => &policy.ingress,
            Direction::Egress => &policy.egress,
        };
        let called = match direction {
            Direction::Ingress => &End::Pod(subject),
            Direction::Egress => other,
        };
        let matches = |rule: &Rule| match &rule.odd {
            Some(odd) => Truth::unknown(format!("{} has {odd}, which is not understood", policy.name)),
            None => self.is_port(rule, called).and(|| self.is_peer(policy, rule, other)),
        };
        Truth::any(rules.iter().flatten().map(matches))
    }

    fn is_port(&self, rule: &Rule, called: &End<'_>) -> Truth {
        let one = |ports: &Ports| match ports {
            Ports::All(protocol) => Truth::of(*protocol == self.protocol),
            Ports::Range(protocol, first, last) => {
                Truth::of(*protocol == self.protocol && (*first..=*last).contains(&self.port))
            }
            Ports::One(protocol, _) if *protocol != self.protocol => Truth::No,
            Ports::One(_, PortRef::Number(number)) => Truth::of(*number == self.port),
            Ports::One(_, PortRef::Name(name)) => match called {
                End::Pod(pod) => {
                    let numbers = pod.ports_named(name, self.protocol);
                    match (numbers.contains(&self.port), numbers.len()) {
                        (false, _) => Truth::No,
                        (true, 1) => Truth::Yes,
                        (true, _) => Truth::unknown(format!("{} has several ports {name}", pod.name)),
                    }
                }
                End::Address(_) | End::Hidden(_) => Truth::unknown(format!(
                    "a rule names the port {name}, and whose it would be is not known"
                )),
            },
            Ports::Odd(odd) => Truth::unknown(format!("a rule has {odd}, which is not understood")),
        };
        if rule.ports.is_empty() { Truth::Yes } else { Truth::any(rule.ports.iter().map(one)) }
    }

    fn is_peer(&self, policy: &Policy, rule: &Rule, other: &End<'_>) -> Truth {
        let one = |peer: &Peer| match (peer, other) {
            (Peer::Odd(odd), _) => {
                Truth::unknown(format!("{} has {odd}, which is not understood", policy.name))
            }
            (_, End::Hidden(why)) => Truth::unknown(why),
            (_, End::Pod(pod)) if pod.is_on_host => Truth::unknown(format!(
                "{} is on the network of its node: which rules match it is left to the engine",
                pod.name
            )),
            (Peer::Pods { namespaces, pods }, End::Pod(pod)) => {
                let in_namespace = match namespaces {
                    Some(selector) => self.is_namespace(selector, &pod.name.namespace),
                    None => Truth::of(pod.name.namespace == policy.name.namespace),
                };
                in_namespace.and(|| Truth::of(pods.as_ref().is_none_or(|own| own.selects(&pod.labels))))
            }
            (Peer::Block { within, except }, End::Pod(pod)) => self.is_pod_in(pod, within, except),
            (Peer::Pods { .. }, End::Address(address)) => self.is_some_pod(*address),
            (Peer::Block { within, except }, End::Address(address)) => {
                let holds = Peer::holds(within, except, address);
                match (holds, self.is_node(address), self.engine) {
                    (false, _, _) => Truth::No,
                    (true, false, _) | (true, true, Some(Engine::Azure | Engine::Calico)) => Truth::Yes,
                    (true, true, _) => Truth::unknown(format!(
                        "{address} is a node: whether a block of addresses matches it is left to the engine"
                    )),
                }
            }
        };
        if rule.peers.is_empty() { Truth::Yes } else { Truth::any(rule.peers.iter().map(one)) }
    }

    fn is_namespace(&self, selector: &Selector, namespace: &str) -> Truth {
        let (labels, is_whole): (Labels, bool) = self.cluster.namespace_labels(namespace);
        if is_whole {
            return Truth::of(selector.selects(&labels));
        }
        match selector.selects_known(&labels) {
            Some(holds) => Truth::of(holds),
            None => Truth::unknown(format!("the labels of the namespace {namespace} were not read")),
        }
    }

    fn is_pod_in(&self, pod: &Pod, within: &ipnet::IpNet, except: &[ipnet::IpNet]) -> Truth {
        if pod.addresses.is_empty() {
            return Truth::unknown(format!("{} has no address", pod.name));
        }
        let holds = pod.addresses.iter().map(|address| Truth::of(Peer::holds(within, except, address)));
        let why = format!("a block matches one of the addresses of {} and not another", pod.name);
        Truth::same(holds, &why).and(|| match self.engine.and_then(Engine::blocks_select_pods) {
            Some(selects) => Truth::of(selects),
            None => Truth::unknown(format!(
                "whether the block {within} matches pods is left to the engine, and what this one does is not known"
            )),
        })
    }

    fn is_some_pod(&self, address: IpAddr) -> Truth {
        if self.is_node(&address) {
            return Truth::unknown(format!("{address} is a node: pods on its network may be meant"));
        }
        if is_public(address) {
            return Truth::No;
        }
        Truth::unknown(format!("whether {address} is a pod is not known: no pod that was read has it"))
    }

    fn is_node(&self, address: &IpAddr) -> bool {
        self.cluster.pods.values().any(|pod| pod.node_addresses.contains(address))
    }
}

fn is_about(policy: &Policy, subject: &Pod, direction: Direction) -> bool {
    let has = match direction {
        Direction::Ingress => policy.ingress.is_some(),
        Direction::Egress => policy.egress.is_some(),
    };
    // One that is not understood may be about either.
    (has || policy.odd.is_some())
        && policy.name.namespace == subject.name.namespace
        && policy.pods.selects(&subject.labels)
}

fn is_own_node(subject: &Pod, other: &End<'_>) -> bool {
    match other {
        End::Pod(pod) => pod.is_on_host && pod.node.is_some() && pod.node == subject.node,
        End::Address(address) => subject.node_addresses.contains(address),
        End::Hidden(_) => false,
    }
}

/// Tells whether an address is one of the internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(own) => {
            let [first, second, ..] = own.octets();
            let is_shared = first == 100 && (64..128).contains(&second);
            !(own.is_private()
                || own.is_loopback()
                || own.is_link_local()
                || own.is_unspecified()
                || is_shared)
        }
        IpAddr::V6(own) => own.segments().first().is_some_and(|first| first & 0xe000 == 0x2000),
    }
}
