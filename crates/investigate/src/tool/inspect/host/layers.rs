//! Which parts of what is gathered belong to which layer: a layer is looked at where none of them was closed.

use crate::suspect::Layer;
use ghost_inspect::host::{Answer, Host, Part};

/// What was closed of a machine, by layer: nothing that depends on it was judged. A program that a layer needs and that is not installed
/// closes it, too.
pub(super) fn closed(host: &Host) -> Vec<(Layer, String, String)> {
    let parts =
        host.closed.iter().filter_map(|(part, why)| Some((layer(*part)?, part.to_string(), why.to_string())));
    let mut found: Vec<(Layer, String, String)> = parts.collect();
    if let Answer::NotKnown(why) = &host.filters_read {
        found.push((Layer::Guest, "packet filters".to_owned(), why.clone()));
    }
    found
}

/// Returns the layer that cannot be judged without a part; nothing for what only says more.
const fn layer(part: Part) -> Option<Layer> {
    match part {
        Part::Links | Part::LinksLater | Part::Addresses | Part::Neighbors | Part::NeighborsLater => {
            Some(Layer::Links)
        }
        Part::Routes | Part::Routes6 | Part::Rules | Part::Rules6 => Some(Layer::Routes),
        Part::Qdiscs | Part::QdiscsLater => Some(Layer::Shaping),
        Part::Resolver | Part::Answers => Some(Layer::Names),
        Part::Listeners
        | Part::Connections
        | Part::Udp
        | Part::Settings
        | Part::Counters
        | Part::CountersLater
        | Part::Softnet
        | Part::SoftnetLater => Some(Layer::Sockets),
        // Of the programs for packet filters each machine has some; whether all of its rules were read is said apart.
        Part::FilterNft
        | Part::FilterLegacy
        | Part::FilterLegacy6
        | Part::FilterIptables
        | Part::FilterIptables6
        | Part::FilterSets
        | Part::FilterAlternatives
        | Part::FilterTables
        | Part::FilterTables6
        | Part::About
        | Part::Conntrack
        | Part::ConntrackLater
        | Part::Bridge
        | Part::Fdb
        | Part::Hosts
        | Part::Nsswitch
        | Part::Proxy
        | Part::DhcpClient
        | Part::DhcpServer
        | Part::Wireguard
        | Part::Routing
        | Part::BgpPeers
        | Part::BgpRoutes
        | Part::BgpBlackholes
        | Part::OspfDevices
        | Part::OspfNeighbors
        | Part::KernelLog
        | Part::Units
        | Part::UnitLog
        | Part::DockerNetworks
        | Part::PodmanNetworks
        | Part::CniNetworks
        | Part::Processes
        | Part::Clock
        | Part::Probes => None,
    }
}
