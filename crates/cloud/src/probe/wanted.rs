//! Which documents have to be read before flows can be judged.

use std::collections::{BTreeMap, BTreeSet};

use ghost_inspect::path::{
    Document, Estate, Fault, Flow, Guest, GuestDocument, Judgement, Kind, PageQuestion, Place, Reading,
};

use super::flow_logs::FlowLogQuery;

/// So many members of a load balancer are looked at.
const MAX_MEMBERS: usize = 8;

/// Something that is read by one look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wanted {
    /// The lists of another resource group, into which the path of a flow leads.
    Place(Place),
    /// The load balancers, the application gateways, and the public addresses.
    Frontends,
    /// What an application gateway says of the servers behind it.
    Health(String),
    /// The bastion hosts.
    Bastions,
    /// The Kubernetes clusters.
    Clusters,
    /// The firewalls of the platform, with policies and rules.
    Firewalls,
    /// Gateways to other sites, with connections and what they learned.
    Gateways,
    /// NAT gateways, and how often calls found no free port.
    Outbound,
    /// Private endpoints, private zones of names, and whom accounts let in.
    Names,
    /// What the name servers of a machine answer for a name.
    Answers(String, String),
    /// What a machine answers where the probe of a load balancer asks for a page.
    Page(String, PageQuestion),
    /// The effective routes of a network interface.
    Routes(String),
    /// The effective security rules of a network interface.
    Rules(String),
    /// Whether a machine runs.
    Power(String),
    /// How the platform sees a machine.
    Availability(String),
    /// The events of the platform.
    Events,
    /// What flow logs show of some flows.
    FlowLogs(FlowLogQuery),
    /// The state of a machine: packet filters, shaping, routes, addresses, settings, who listens.
    State(String),
}

/// Returns what has to be read for some flows: what a judgement misses, and the effective tables and the state of whatever they pass.
#[must_use]
pub fn wanted(estate: &Estate, flows: &[Flow]) -> BTreeSet<Wanted> {
    flows.iter().flat_map(|flow| of_judgement(&estate.judge(flow), estate)).collect()
}

/// Tells whether the events of the platform may say more: nothing that was read stops one of some flows.
#[must_use]
pub fn wants_events(estate: &Estate, flows: &[Flow]) -> bool {
    flows.iter().any(|flow| estate.judge(flow).stops().is_empty())
}

fn of_judgement(judgement: &Judgement, estate: &Estate) -> BTreeSet<Wanted> {
    let mut wanted = BTreeSet::new();
    let mut pages = 0;
    for missing in judgement.missing() {
        match missing.what {
            Document::Routes { nic } => drop(wanted.insert(Wanted::Routes(nic))),
            Document::Rules { nic } => drop(wanted.insert(Wanted::Rules(nic))),
            Document::Guest { machine, document } => match document {
                GuestDocument::Sockets
                | GuestDocument::Filters
                | GuestDocument::Routes
                | GuestDocument::Addresses
                | GuestDocument::Settings
                | GuestDocument::Shaping => drop(wanted.insert(Wanted::State(machine))),
                GuestDocument::Answers => wanted.extend(asked(judgement, machine)),
            },
            // Which load balancers there are says whose calls are counted.
            Document::Outbound => wanted.extend([Wanted::Frontends, Wanted::Outbound]),
            Document::Gateways => drop(wanted.insert(Wanted::Gateways)),
            Document::Page { machine, question } => {
                pages += 1;
                if pages <= MAX_MEMBERS {
                    wanted.insert(Wanted::Page(machine, question));
                }
            }
            Document::Place(place) => drop(wanted.insert(Wanted::Place(place))),
            Document::Health { gateway } => drop(wanted.insert(Wanted::Health(gateway))),
            Document::Power { machine } => drop(wanted.insert(Wanted::Power(machine))),
            Document::Availability { machine } => drop(wanted.insert(Wanted::Availability(machine))),
            Document::Names => drop(wanted.insert(Wanted::Names)),
            Document::Bastions => drop(wanted.insert(Wanted::Bastions)),
            Document::Clusters => drop(wanted.insert(Wanted::Clusters)),
            Document::Firewalls => drop(wanted.insert(Wanted::Firewalls)),
            Document::Frontends => drop(wanted.insert(Wanted::Frontends)),
            Document::Interfaces
            | Document::Networks
            | Document::Machines
            | Document::Configuration
            | Document::Tags
            | Document::Events
            | Document::FlowLogs
            | Document::Probe { .. }
            | Document::Packets { .. } => {}
        }
    }
    for (_, hop) in judgement.hops() {
        // An appliance that no interface is may stand behind a load balancer.
        if hop.stops.iter().any(|effect| effect.cause.fault == Fault::RouteDeadNva) {
            wanted.insert(Wanted::Frontends);
        }
        match hop.kind {
            // What a firewall or a gateway goes by is configured.
            Kind::Route | Kind::GroupInbound | Kind::GroupOutbound if estate.is_of_platform(&hop.at) => {}
            Kind::Route => drop(wanted.insert(Wanted::Routes(hop.at.clone()))),
            Kind::GroupInbound | Kind::GroupOutbound => drop(wanted.insert(Wanted::Rules(hop.at.clone()))),
            Kind::Machine
            | Kind::GuestOutput
            | Kind::GuestRoute
            | Kind::Shaping
            | Kind::Forwarding
            | Kind::GuestForward
            | Kind::GuestInput
            | Kind::Listener => {
                if estate.machines().any(|name| name == hop.at) {
                    wanted.insert(Wanted::State(hop.at.clone()));
                }
            }
            Kind::Balancer | Kind::ApplicationGateway => {
                for (nic, machine) in estate.members_of(&hop.at).into_iter().take(MAX_MEMBERS) {
                    wanted.insert(Wanted::Rules(nic.to_owned()));
                    wanted.insert(Wanted::State(machine.to_owned()));
                }
            }
            // What is configured is held against what the machine hears.
            Kind::Name => wanted.extend(asked(judgement, hop.at.clone())),
            Kind::Peering
            | Kind::Bastion
            | Kind::Cluster
            | Kind::Egress
            | Kind::Gateway
            | Kind::Outside
            | Kind::Endpoint
            | Kind::Platform
            | Kind::Firewall => {}
        }
    }
    wanted
}

fn asked(judgement: &Judgement, machine: String) -> Option<Wanted> {
    judgement.flow.name.clone().map(|name| Wanted::Answers(machine, name))
}

/// Returns the state of a machine that nobody could read.
#[must_use]
pub fn unread_guest(why: &str) -> Guest {
    let failed = || Some(Reading::Failed { error: why.to_owned() });
    let filters = BTreeMap::from([("nft".to_owned(), Reading::Failed { error: why.to_owned() })]);
    Guest {
        filters,
        shaping: failed(),
        routes: failed(),
        routes6: failed(),
        rules: None,
        addresses: failed(),
        settings: failed(),
        tcp: failed(),
        udp: failed(),
        connections: failed(),
        answers: None,
        pages: None,
        probes: None,
    }
}
