//! What kube-proxy wrote on a node: where its rules send a service.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

use super::error::ReadError;
use super::object::{Cluster, Protocol};
use crate::netfilter::{self, Body, Chain, Part, Rule, Ruleset};

/// The rules of a node, as `iptables-save` prints them.
#[derive(Debug, Clone)]
pub struct NodeRules(Ruleset);

/// What the rules of a node do with a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeView {
    /// They refuse it: kube-proxy knows no endpoint.
    Refuse,
    /// They do not have it.
    Absent,
    /// They send it to one of these.
    Send(BTreeSet<SocketAddr>),
    /// That cannot be said, and why.
    Unknown(String),
}

/// The chain in which kube-proxy lists services.
const SERVICES: &str = "KUBE-SERVICES";

impl Cluster {
    /// Adds the rules of the caller's node, as `iptables-save` prints them.
    ///
    /// # Errors
    /// Fails where they cannot be read.
    pub fn add_rules(&mut self, text: &str) -> Result<(), ReadError> {
        let rules = netfilter::read(text).map_err(|error| ReadError::Rules { why: error.to_string() })?;
        self.rules = Some(NodeRules(rules));
        Ok(())
    }
}

impl NodeRules {
    /// Says what the rules do with a port of an address of a service.
    pub(super) fn view(&self, address: IpAddr, port: u16, protocol: Protocol) -> NodeView {
        let rules = &self.0;
        if rules.cut_off || !rules.unread.is_empty() {
            return NodeView::Unknown("the rules of the node were not read to their end".to_owned());
        }
        let is_six = rules.family == "ipv6";
        if address.is_ipv6() != is_six {
            return NodeView::Unknown(format!("the rules of the node are not about {address}"));
        }
        let Some(services) = self.chain("nat", SERVICES) else {
            let why =
                "the node has no chain KUBE-SERVICES in nat: kube-proxy writes no rules of iptables there";
            return NodeView::Unknown(why.to_owned());
        };
        let is_it = |rule: &&Rule| is_for(rule, address, port, protocol);
        let filter = self.chain("filter", SERVICES);
        let all = [filter, Some(services)].into_iter().flatten().flat_map(|chain| &chain.rules).filter(is_it);
        // A rule that only some callers meet says nothing of the others.
        if all.clone().any(|rule| option(rule, "-s").is_some()) {
            return NodeView::Unknown(format!(
                "a rule of the node about {address} is for some callers alone"
            ));
        }
        // Where nothing is ready it rejects; where nothing on the node is, and only that may be used, it drops.
        let stops = |rule: &Rule| matches!(option(rule, "-j"), Some("REJECT" | "DROP"));
        if filter.is_some_and(|chain| chain.rules.iter().filter(is_it).any(stops)) {
            return NodeView::Refuse;
        }
        let mut targets = services.rules.iter().filter(is_it).filter_map(|rule| option(rule, "-j"));
        match targets.find(|target| is_service(target)) {
            Some(chain) => self.sent(chain, address.is_ipv6()),
            None if services.unread.is_empty() => NodeView::Absent,
            None => NodeView::Unknown("a rule of KUBE-SERVICES could not be read".to_owned()),
        }
    }

    fn chain(&self, table: &str, name: &str) -> Option<&Chain> {
        let table = self.0.tables.iter().find(|own| own.name == table)?;
        table.chains.iter().find(|chain| chain.name == name)
    }

    /// Follows the chain of a service to the chains of its endpoints.
    fn sent(&self, service: &str, is_six: bool) -> NodeView {
        let unknown =
            |what: &str| NodeView::Unknown(format!("the chain {what} of the node cannot be followed"));
        let Some(chain) = self.chain("nat", service) else { return unknown(service) };
        let jumps = chain.rules.iter().filter_map(|rule| option(rule, "-j"));
        let endpoints: BTreeSet<&str> = jumps.filter(|name| name.starts_with("KUBE-SEP-")).collect();
        let mut found = BTreeSet::new();
        for name in endpoints {
            let Some(chain) = self.chain("nat", name) else { return unknown(name) };
            let to = chain.rules.iter().find_map(|rule| option(rule, "--to-destination"));
            match to.and_then(|to| to.parse::<SocketAddr>().ok()).filter(|to| to.is_ipv6() == is_six) {
                Some(to) => found.insert(to),
                None => return unknown(name),
            };
        }
        if found.is_empty() || !chain.unread.is_empty() { unknown(service) } else { NodeView::Send(found) }
    }
}

fn is_service(chain: &str) -> bool {
    ["KUBE-SVC-", "KUBE-SVL-", "KUBE-EXT-"].iter().any(|start| chain.starts_with(start))
}

/// Tells whether a rule is about a port of an address.
fn is_for(rule: &Rule, address: IpAddr, port: u16, protocol: Protocol) -> bool {
    let within = option(rule, "-d")
        .and_then(|text| text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from)));
    within == Some(IpNet::from(address))
        && option(rule, "-p") == Some(protocol.to_string().as_str())
        && option(rule, "--dport") == Some(port.to_string().as_str())
}

/// Returns what stands behind an option that is not negated.
fn option<'a>(rule: &'a Rule, name: &str) -> Option<&'a str> {
    let Body::Save(parts) = &rule.body else { return None };
    let is_it = |part: &&Part| part.name.as_str() == name && !part.negated;
    parts.iter().find(is_it).and_then(|part| part.values.first()).map(netfilter::Text::as_str)
}
