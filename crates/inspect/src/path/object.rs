//! The objects that can be at fault, and how they are named.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::flow::{Flow, Protocol};

/// The object that is at fault.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A rule of a security group.
    NsgRule {
        /// The group.
        group: String,
        /// The rule.
        rule: String,
    },
    /// A route of a route table.
    Route {
        /// The table.
        table: String,
        /// The route.
        route: String,
    },
    /// A rule of a guest.
    GuestRule {
        /// The machine.
        machine: String,
        /// The table; a native one of nft is `family:table`.
        table: String,
        /// The chain in which the rule stands.
        chain: String,
        /// Its protocol, or `any`.
        protocol: String,
        /// Its port, a range `a-b`, or `any`.
        port: String,
    },
    /// A chain of a guest.
    GuestChain {
        /// The machine.
        machine: String,
        /// The table.
        table: String,
        /// The chain.
        chain: String,
    },
    /// Who is banned, and in which jail.
    Ban {
        /// The machine.
        machine: String,
        /// The jail's chain or set.
        chain: String,
        /// Who is banned.
        ip: String,
    },
    /// A device that shapes what it sends.
    Qdisc {
        /// The machine.
        machine: String,
        /// The device.
        device: String,
    },
    /// The flow itself.
    Flow {
        /// Who calls.
        src: IpAddr,
        /// Who is called.
        dst: IpAddr,
        /// The protocol.
        protocol: Protocol,
        /// The port that is called.
        port: Option<u16>,
    },
    /// A route of a guest.
    GuestRoute {
        /// The machine.
        machine: String,
        /// The prefix, or `default`.
        prefix: String,
    },
    /// A kernel setting of a guest.
    Sysctl {
        /// The machine.
        machine: String,
        /// The setting.
        key: String,
    },
    /// A machine.
    Machine {
        /// Its name.
        machine: String,
    },
    /// A network.
    Network {
        /// Its name.
        network: String,
    },
    /// Two networks, in the order of their names.
    Networks {
        /// The first.
        one: String,
        /// The other.
        other: String,
    },
    /// A port of a frontend of a load balancer.
    BalancerPort {
        /// The load balancer.
        balancer: String,
        /// The frontend.
        frontend: String,
        /// The protocol.
        protocol: Protocol,
        /// The port.
        port: u16,
    },
    /// A probe, a pool or a rule of a load balancer.
    BalancerPart {
        /// The load balancer.
        balancer: String,
        /// The probe, pool or rule.
        part: String,
    },
    /// A member of a pool.
    BalancerMember {
        /// The load balancer.
        balancer: String,
        /// The pool.
        pool: String,
        /// The address of the member.
        address: IpAddr,
    },
    /// A port on which somebody has to listen.
    Listener {
        /// The machine.
        machine: String,
        /// The protocol.
        protocol: Protocol,
        /// The port.
        port: u16,
    },
    /// A private endpoint.
    Endpoint {
        /// Its name.
        endpoint: String,
    },
    /// A record of a private zone, or a network that does or does not see it.
    Zone {
        /// The zone.
        zone: String,
        /// The record or the network.
        part: String,
    },
    /// The name servers of a network.
    NetworkServers {
        /// The network.
        network: String,
    },
    /// What a name server does about a zone.
    Forwarder {
        /// The server.
        server: IpAddr,
        /// The zone.
        zone: String,
    },
    /// A rule of a firewall of the platform.
    FirewallRule {
        /// The firewall.
        firewall: String,
        /// The collection in which the rule stands.
        collection: String,
        /// The rule.
        rule: String,
    },
    /// A port that no rule of a firewall of the platform lets through.
    FirewallPort {
        /// The firewall.
        firewall: String,
        /// The protocol.
        protocol: Protocol,
        /// The port.
        port: Option<u16>,
    },
    /// The name service of a firewall of the platform.
    FirewallNames {
        /// The firewall.
        firewall: String,
    },
    /// How the machines of a subnet leave to the internet.
    SubnetOutbound {
        /// The network.
        network: String,
        /// The subnet.
        subnet: String,
    },
    /// A NAT gateway.
    NatGateway {
        /// Its name.
        name: String,
    },
    /// What gives the machines behind it ports of a public address.
    SourceTranslation {
        /// The name of the NAT gateway or load balancer.
        name: String,
    },
    /// A connection of a gateway.
    Connection {
        /// Its name.
        connection: String,
    },
    /// What a gateway knows of a site.
    LocalGateway {
        /// Its name.
        name: String,
    },
    /// Somebody with whom a gateway speaks BGP.
    GatewayPeer {
        /// The gateway.
        gateway: String,
        /// The address of the other side.
        peer: IpAddr,
    },
    /// A prefix that a gateway did not learn.
    GatewayPrefix {
        /// The gateway.
        gateway: String,
        /// The prefix.
        prefix: IpNet,
    },
    /// A route table.
    RouteTable {
        /// Its name.
        table: String,
    },
    /// A circuit.
    Circuit {
        /// Its name.
        circuit: String,
    },
    /// A peering of a circuit.
    CircuitPeering {
        /// The circuit.
        circuit: String,
        /// The peering.
        peering: String,
    },
    /// An application gateway.
    AppGateway {
        /// Its name.
        gateway: String,
    },
    /// A probe, a listener, a pool or the settings of an application gateway.
    AppGatewayPart {
        /// The gateway.
        gateway: String,
        /// The part.
        part: String,
    },
    /// A server behind an application gateway.
    AppGatewayServer {
        /// The gateway.
        gateway: String,
        /// The pool.
        pool: String,
        /// The server, as the pool names it.
        server: String,
    },
    /// A Kubernetes cluster.
    Cluster {
        /// Its name.
        cluster: String,
    },
    /// A bastion host.
    Bastion {
        /// Its name.
        bastion: String,
    },
    /// An event of the platform.
    Health {
        /// Its tracking id; the machine that it took away, where the platform names no event.
        event: String,
    },
    /// A peering.
    Peering {
        /// The network that has it.
        network: String,
        /// Its name.
        peering: String,
    },
}

impl Object {
    /// Returns the machine inside which it lies; `None` for what the cloud has.
    #[must_use]
    pub fn machine(&self) -> Option<&str> {
        match self {
            Self::GuestRule { machine, .. }
            | Self::GuestChain { machine, .. }
            | Self::Ban { machine, .. }
            | Self::Qdisc { machine, .. }
            | Self::GuestRoute { machine, .. }
            | Self::Sysctl { machine, .. }
            | Self::Listener { machine, .. }
            | Self::Machine { machine } => Some(machine),
            Self::NsgRule { .. }
            | Self::Route { .. }
            | Self::Flow { .. }
            | Self::Network { .. }
            | Self::Networks { .. }
            | Self::BalancerPort { .. }
            | Self::BalancerPart { .. }
            | Self::BalancerMember { .. }
            | Self::Endpoint { .. }
            | Self::Zone { .. }
            | Self::NetworkServers { .. }
            | Self::Forwarder { .. }
            | Self::FirewallRule { .. }
            | Self::FirewallPort { .. }
            | Self::FirewallNames { .. }
            | Self::SubnetOutbound { .. }
            | Self::NatGateway { .. }
            | Self::SourceTranslation { .. }
            | Self::Connection { .. }
            | Self::LocalGateway { .. }
            | Self::GatewayPeer { .. }
            | Self::GatewayPrefix { .. }
            | Self::RouteTable { .. }
            | Self::Circuit { .. }
            | Self::CircuitPeering { .. }
            | Self::AppGateway { .. }
            | Self::AppGatewayPart { .. }
            | Self::AppGatewayServer { .. }
            | Self::Cluster { .. }
            | Self::Bastion { .. }
            | Self::Health { .. }
            | Self::Peering { .. } => None,
        }
    }

    /// Names a flow.
    #[must_use]
    pub const fn flow(flow: &Flow) -> Self {
        Self::Flow { src: flow.src, dst: flow.dst, protocol: flow.protocol, port: flow.dst_port }
    }
}

impl Object {
    /// Names two networks, in whichever direction a packet goes.
    #[must_use]
    pub fn networks(one: &str, other: &str) -> Self {
        let (one, other) = if one <= other { (one, other) } else { (other, one) };
        Self::Networks { one: one.to_owned(), other: other.to_owned() }
    }
}

impl fmt::Display for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of resources that share a name each has one of its own here; people know it by the shared one.
        let plain = super::distinct::plain_name;
        match self {
            Self::NsgRule { group, rule } => write!(out, "nsg/{}/{rule}", plain(group)),
            Self::Route { table, route } => write!(out, "route/{}/{route}", plain(table)),
            Self::GuestRule { machine, table, chain, protocol, port } => {
                write!(out, "netfilter/{}/{table}/{chain}/{protocol}/{port}", plain(machine))
            }
            Self::GuestChain { machine, table, chain } => {
                write!(out, "netfilter/{}/{table}/{chain}", plain(machine))
            }
            Self::Ban { machine, chain, ip } => write!(out, "netfilter/{}/{chain}/{ip}", plain(machine)),
            Self::Qdisc { machine, device } => write!(out, "qdisc/{}/{device}", plain(machine)),
            Self::Flow { src, dst, protocol, port } => {
                write!(out, "flow/{src}/{dst}/{protocol}/")?;
                match port {
                    Some(port) => write!(out, "{port}"),
                    None => out.write_str("any"),
                }
            }
            Self::GuestRoute { machine, prefix } => write!(out, "route/{}/{prefix}", plain(machine)),
            Self::Sysctl { machine, key } => write!(out, "sysctl/{}/{key}", plain(machine)),
            Self::Machine { machine } => write!(out, "vm/{}", plain(machine)),
            Self::Network { network } => write!(out, "network/{}", plain(network)),
            Self::Networks { one, other } => write!(out, "peering/{}/{}", plain(one), plain(other)),
            Self::BalancerPort { balancer, frontend, protocol, port } => {
                write!(out, "lb/{}/{frontend}/{protocol}/{port}", plain(balancer))
            }
            Self::BalancerPart { balancer, part } => write!(out, "lb/{}/{part}", plain(balancer)),
            Self::BalancerMember { balancer, pool, address } => {
                write!(out, "lb/{}/{pool}/{address}", plain(balancer))
            }
            Self::Listener { machine, protocol, port } => {
                write!(out, "listener/{}/{protocol}/{port}", plain(machine))
            }
            Self::Endpoint { endpoint } => write!(out, "pe/{}", plain(endpoint)),
            Self::Zone { zone, part } => write!(out, "zone/{zone}/{part}"),
            Self::NetworkServers { network } => write!(out, "vnet/{}/dns", plain(network)),
            Self::Forwarder { server, zone } => write!(out, "dns/{server}/{zone}"),
            Self::FirewallRule { firewall, collection, rule } => {
                write!(out, "firewall/{}/{collection}/{rule}", plain(firewall))
            }
            Self::FirewallPort { firewall, protocol, port } => {
                write!(out, "firewall/{}/{protocol}/", plain(firewall))?;
                match port {
                    Some(port) => write!(out, "{port}"),
                    None => out.write_str("any"),
                }
            }
            Self::FirewallNames { firewall } => write!(out, "firewall/{}/dns", plain(firewall)),
            Self::SubnetOutbound { network, subnet } => {
                write!(out, "subnet/{}/{subnet}/outbound", plain(network))
            }
            Self::NatGateway { name } => write!(out, "natgateway/{}", plain(name)),
            Self::SourceTranslation { name } => write!(out, "snat/{}", plain(name)),
            Self::Connection { connection } => write!(out, "vpn/{}", plain(connection)),
            Self::LocalGateway { name } => write!(out, "localgateway/{}", plain(name)),
            Self::GatewayPeer { gateway, peer } => write!(out, "bgp/{}/{peer}", plain(gateway)),
            Self::GatewayPrefix { gateway, prefix } => write!(out, "bgp/{}/{prefix}", plain(gateway)),
            Self::RouteTable { table } => write!(out, "routetable/{}", plain(table)),
            Self::Circuit { circuit } => write!(out, "er/{}", plain(circuit)),
            Self::CircuitPeering { circuit, peering } => write!(out, "er/{}/{peering}", plain(circuit)),
            Self::AppGateway { gateway } => write!(out, "appgw/{}", plain(gateway)),
            Self::AppGatewayPart { gateway, part } => write!(out, "appgw/{}/{part}", plain(gateway)),
            Self::AppGatewayServer { gateway, pool, server } => {
                write!(out, "appgw/{}/{pool}/{server}", plain(gateway))
            }
            Self::Cluster { cluster } => write!(out, "aks/{}", plain(cluster)),
            Self::Bastion { bastion } => write!(out, "bastion/{}", plain(bastion)),
            Self::Health { event } => write!(out, "health/{event}"),
            Self::Peering { network, peering } => write!(out, "peering/{}/{peering}", plain(network)),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
