//! The API server of a cluster at the end of a path, and nodes at its beginning.

use std::net::IpAddr;

use super::cluster::{Cluster, Outbound};
use super::document::{Document, Missing};
use super::estate::Estate;
use super::fault::{Cause, Fault, Object};
use super::flow::{Flow, Protocol, Wire};
use super::hop::{Effect, Hop, Kind};
use super::walk::Walk;

/// Stands for the public address of an API server.
const PUBLIC: [u8; 4] = [20, 37, 158, 2];
/// Where API servers listen.
const PORT: u16 = 443;

impl Estate {
    /// Returns the names of the clusters, each with an address for the nodes of each pool: one of its subnet.
    pub fn clusters(&self) -> impl Iterator<Item = (&str, Vec<IpAddr>)> {
        let all = self.clusters.read().into_iter().flatten().enumerate();
        all.map(|(at, own)| {
            let nodes = self.nics.iter().filter(move |nic| nic.cluster == Some(at));
            (own.name.as_str(), nodes.filter_map(|nic| nic.addresses.first().copied()).collect())
        })
    }

    /// Returns the flow from an address to the API server of a cluster; nothing where no address of it is known.
    #[must_use]
    pub fn flow_to_cluster(&self, src: IpAddr, cluster: &str) -> Option<Flow> {
        let own = self.clusters.read()?.iter().find(|own| own.name.eq_ignore_ascii_case(cluster))?;
        match (&own.public_name, &own.private_name) {
            (Some(name), _) => {
                let flow = Flow::new(src, IpAddr::from(PUBLIC), Protocol::Tcp, Some(PORT)).ok()?;
                Some(flow.by_name(name))
            }
            (None, Some(name)) => self.flow_to_name(src, name, Protocol::Tcp, Some(PORT)),
            (None, None) => None,
        }
    }

    /// Returns the cluster whose API server has a name.
    pub(super) fn cluster_of(&self, name: &str) -> Option<&Cluster> {
        let is_own = |own: &&Cluster| {
            let names = [&own.public_name, &own.private_name].into_iter().flatten();
            names.into_iter().any(|own| own.eq_ignore_ascii_case(name))
        };
        self.clusters.read()?.iter().find(is_own)
    }
}

impl Walk<'_> {
    /// Ends at the API server of a cluster, where the flow goes to the name of one.
    pub(super) fn api_server(&mut self, from: Option<usize>, wire: &Wire) -> bool {
        let estate = self.asked.estate;
        let Some(own) = self.asked.flow.name.as_deref().and_then(|name| estate.cluster_of(name)) else {
            return false;
        };
        let mut hop = Hop::new(Kind::Cluster, &own.name).on(Document::Clusters);
        hop.reason = format!("the API server of {} runs and takes the call", own.name);
        let cause = |fault| Cause::new(fault, Object::Cluster { cluster: own.name.clone() });
        let stopped = cause(Fault::AksStopped);
        if own.is_running == Some(false) && !self.is_gone(&stopped) {
            let why =
                format!("the cluster {} is stopped: its API server and its nodes are not there", own.name);
            hop.stops.push(Effect::new(stopped, why));
        }
        let is_public = own.public_name.is_some();
        if is_public && !own.ranges.is_empty() {
            self.authorized(own, from, wire, &mut hop);
        }
        if own.is_running.is_none() || !own.state.eq_ignore_ascii_case("succeeded") {
            let what = format!("the API server of {}", own.name);
            let why = format!("its provisioning state is {}", own.state);
            hop.missing.push(Missing { what: Document::Probe { what }, why });
        }
        self.push(hop);
        true
    }

    /// Holds the address by which a caller leaves against those that may call.
    fn authorized(&self, own: &Cluster, from: Option<usize>, wire: &Wire, hop: &mut Hop) {
        let estate = self.asked.estate;
        let nic = from.and_then(|from| estate.nic(from));
        let firewall = from.and_then(|from| estate.firewall_at(from));
        let seen: Vec<IpAddr> = match (nic, firewall) {
            (None, _) => vec![wire.src],
            (_, Some(firewall)) => firewall.publics.clone(),
            (Some(nic), None) => self.leaving(nic),
        };
        let lets = |address: &IpAddr| own.ranges.iter().any(|range| range.contains(address));
        let listed: Vec<String> = seen.iter().map(IpAddr::to_string).collect();
        let listed = listed.join(", ");
        if seen.is_empty() || seen == [IpAddr::from([8, 8, 8, 8])] {
            let what = format!("the API server of {}", own.name);
            let why = format!("by which address it is called: {} ranges are authorized", own.ranges.len());
            hop.missing.push(Missing { what: Document::Probe { what }, why });
        } else if !seen.iter().any(lets) {
            let cause = Cause::new(Fault::AksApiRestricted, Object::Cluster { cluster: own.name.clone() });
            if !self.is_gone(&cause) {
                let why = format!(
                    "the API server of {} takes calls of authorized ranges alone, and {listed} is in none of them",
                    own.name
                );
                hop.stops.push(Effect::new(cause, why));
            }
        } else if seen.iter().all(lets) {
            hop.reason = format!("the API server of {} takes calls of {listed}", own.name);
        } else {
            let what = format!("the API server of {}", own.name);
            let why = format!("by which of {listed} it is called: some are authorized");
            hop.missing.push(Missing { what: Document::Probe { what }, why });
        }
    }

    /// Says how the nodes of a cluster leave to the internet. True where something else than their subnet decides; what stops them stands in
    /// the hop.
    pub(super) fn nodes_leave(&self, from: usize, hop: &mut Hop) -> bool {
        let estate = self.asked.estate;
        let nic = estate.nic(from);
        let place = nic.and_then(|nic| nic.cluster);
        let Some(own) = place.and_then(|at| estate.clusters.read()?.get(at)) else { return false };
        match &own.outbound {
            Outbound::Managed(word) => {
                hop.reason =
                    format!("the nodes of {} leave by what the cluster keeps itself ({word})", own.name);
            }
            Outbound::Routes => {
                let (network, subnet) =
                    nic.map(|nic| (nic.network.clone(), nic.subnet.clone())).unwrap_or_default();
                let object = Object::SubnetOutbound {
                    network: network.unwrap_or_default(),
                    subnet: subnet.unwrap_or_default(),
                };
                let cause = Cause::new(Fault::OutboundAbsent, object);
                if !self.is_gone(&cause) {
                    let why = format!(
                        "the nodes of {} leave by the routes of their subnet alone (userDefinedRouting), and none leads to an appliance or a gateway: nothing gives them an address",
                        own.name
                    );
                    hop.stops.push(Effect::new(cause, why));
                }
            }
            Outbound::Subnet => return false,
            Outbound::Other => {
                let what = format!("the internet, from the nodes of {}", own.name);
                let why = "how they leave is not said".to_owned();
                hop.missing.push(Missing { what: Document::Probe { what }, why });
            }
        }
        true
    }
}
