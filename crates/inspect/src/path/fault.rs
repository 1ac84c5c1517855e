//! What can be at fault, and how it is named.

use std::fmt;
use std::net::IpAddr;

use ipnet::IpNet;
use serde::{Serialize, Serializer};

use super::flow::{Flow, Protocol};

/// A fault code of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A rule of a security group denies.
    NsgDeny,
    /// A rule of a security group lets the world in.
    NsgExposure,
    /// A route of a user's leads to None.
    RouteBlackhole,
    /// A route leads to an appliance that nobody is.
    RouteDeadNva,
    /// A route leads to where the packet is not passed on.
    RouteDetour,
    /// A rule of a guest drops.
    GuestFirewallDrop,
    /// A rule of a guest refuses.
    GuestFirewallReject,
    /// The policy of a chain drops what no rule lets in.
    GuestFirewallPolicyDrop,
    /// A jail keeps an end of the flow out.
    Fail2banBan,
    /// A chain of a container engine stops the flow.
    ContainerFirewallChange,
    /// A device loses packets.
    NetemLoss,
    /// A device delays packets.
    NetemDelay,
    /// A device damages packets.
    NetemCorrupt,
    /// A device doubles packets.
    NetemDuplicate,
    /// A device reorders packets.
    NetemReorder,
    /// A device is limited to a rate.
    RateLimit,
    /// Nobody listens on the TCP port.
    TcpRefused,
    /// Nobody listens on the UDP port.
    UdpRefused,
    /// The answers come from somebody else than was called.
    AsymmetricPath,
    /// A route of a guest throws packets away.
    StaticBlackhole,
    /// A guest has no route.
    NoGuestRoute,
    /// A guest refuses packets that it would answer by another device.
    RpFilterDrop,
    /// A machine is not running.
    VmStopped,
    /// Two networks are not peered.
    PeeringMissing,
    /// A peering is there and not connected.
    PeeringDisconnected,
    /// A peering keeps the other network out of what rules call the network.
    PeeringAccessOff,
    /// A peering does not let in what others forward.
    PeeringForwardingOff,
    /// A peering does not lend, or does not use, the gateway of one side.
    PeeringTransitOff,
    /// A peering does not know addresses that the other network got later.
    PeeringNotSynced,
    /// No rule of a load balancer takes the port.
    LbRuleMissing,
    /// A pool of a load balancer has no member.
    LbBackendEmpty,
    /// A member of a pool is set to take nothing.
    LbAdminDown,
    /// A probe asks for something else than what is served.
    LbProbeMismatch,
    /// A probe asks for a page, and what is served answers with another status than 200.
    LbProbeStatus,
    /// A rule leaves the address of the frontend in the packet, and the machine does not have it.
    LbFloatingIp,
    /// Nobody listens where a probe asks.
    NotListening,
    /// The connection of a private endpoint is not approved.
    PeNotApproved,
    /// A network does not see a private zone that it should ask.
    PrivateDnsUnlinked,
    /// A private zone hides a name that is somebody else's.
    PrivateDnsShadow,
    /// A private zone has no record for an endpoint.
    PrivateDnsRecordMissing,
    /// The record of a private zone is another address than that of the endpoint.
    PrivateDnsRecordStale,
    /// A network asks a name server that is not there.
    DnsServerWrong,
    /// A name server does not ask the platform for a private zone.
    DnsForwarderMissing,
    /// A rule of a firewall of the platform denies.
    FirewallDeny,
    /// No rule of a firewall of the platform lets it through.
    FirewallDefaultDeny,
    /// A firewall of the platform is asked for names and does not answer.
    FirewallDnsProxyOff,
    /// Nothing leads from a subnet to the internet.
    OutboundAbsent,
    /// A NAT gateway has no address.
    NatUnconfigured,
    /// The ports for calls to the internet ran out.
    SnatExhausted,
    /// A connection of a gateway is not connected.
    VpnDown,
    /// Both sides of a connection have different keys.
    VpnKeyMismatch,
    /// Both sides of a connection do not agree on how to encrypt.
    VpnIkeMismatch,
    /// The other side of a connection does not answer.
    VpnPeerUnreachable,
    /// The addresses of a site lack one that is called there.
    VpnPrefixMissing,
    /// A site has addresses that a network has, too.
    VpnPrefixOverlap,
    /// A gateway does not speak BGP with the other side.
    BgpPeerDown,
    /// Nobody announces a prefix to a gateway.
    BgpRouteMissing,
    /// A route table keeps out what a gateway learned.
    RoutePropagationOff,
    /// A circuit carries nothing.
    ErCircuitDown,
    /// A peering of a circuit is off.
    ErPeeringDown,
    /// A route leads to a gateway, and there is none.
    GatewayMissing,
    /// Nothing leads there, for another reason.
    NoPath,
}

impl Fault {
    /// Returns the code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NsgDeny => "nsg_deny",
            Self::NsgExposure => "nsg_exposure",
            Self::RouteBlackhole => "route_blackhole",
            Self::RouteDeadNva => "route_dead_nva",
            Self::RouteDetour => "route_detour",
            Self::GuestFirewallDrop => "guest_firewall_drop",
            Self::GuestFirewallReject => "guest_firewall_reject",
            Self::GuestFirewallPolicyDrop => "guest_firewall_policy_drop",
            Self::Fail2banBan => "fail2ban_ban",
            Self::ContainerFirewallChange => "container_firewall_change",
            Self::NetemLoss => "netem_loss",
            Self::NetemDelay => "netem_delay",
            Self::NetemCorrupt => "netem_corrupt",
            Self::NetemDuplicate => "netem_duplicate",
            Self::NetemReorder => "netem_reorder",
            Self::RateLimit => "rate_limit",
            Self::TcpRefused => "tcp_refused",
            Self::UdpRefused => "udp_refused",
            Self::AsymmetricPath => "asymmetric_path",
            Self::StaticBlackhole => "static_blackhole",
            Self::NoGuestRoute => "no_default_route",
            Self::RpFilterDrop => "rp_filter_drop",
            Self::VmStopped => "vm_stopped",
            Self::PeeringMissing => "peering_missing",
            Self::PeeringDisconnected => "peering_disconnected",
            Self::PeeringAccessOff => "peering_access_off",
            Self::PeeringForwardingOff => "peering_forwarding_off",
            Self::PeeringTransitOff => "peering_transit_off",
            Self::PeeringNotSynced => "peering_not_synced",
            Self::LbRuleMissing => "lb_rule_missing",
            Self::LbBackendEmpty => "lb_backend_empty",
            Self::LbAdminDown => "lb_admin_down",
            Self::LbProbeMismatch => "lb_probe_mismatch",
            Self::LbProbeStatus => "lb_probe_status",
            Self::LbFloatingIp => "lb_floating_ip",
            Self::NotListening => "not_listening",
            Self::PeNotApproved => "pe_not_approved",
            Self::PrivateDnsUnlinked => "private_dns_unlinked",
            Self::PrivateDnsShadow => "private_dns_shadow",
            Self::PrivateDnsRecordMissing => "private_dns_record_missing",
            Self::PrivateDnsRecordStale => "private_dns_record_stale",
            Self::DnsServerWrong => "dns_server_wrong",
            Self::DnsForwarderMissing => "dns_forwarder_missing",
            Self::FirewallDeny => "firewall_deny",
            Self::FirewallDefaultDeny => "firewall_default_deny",
            Self::FirewallDnsProxyOff => "firewall_dns_proxy_off",
            Self::OutboundAbsent => "outbound_absent",
            Self::NatUnconfigured => "nat_unconfigured",
            Self::SnatExhausted => "snat_exhausted",
            Self::VpnDown => "vpn_down",
            Self::VpnKeyMismatch => "vpn_key_mismatch",
            Self::VpnIkeMismatch => "vpn_ike_mismatch",
            Self::VpnPeerUnreachable => "vpn_peer_unreachable",
            Self::VpnPrefixMissing => "vpn_prefix_missing",
            Self::VpnPrefixOverlap => "vpn_prefix_overlap",
            Self::BgpPeerDown => "bgp_peer_down",
            Self::BgpRouteMissing => "bgp_route_missing",
            Self::RoutePropagationOff => "route_propagation_off",
            Self::ErCircuitDown => "er_circuit_down",
            Self::ErPeeringDown => "er_peering_down",
            Self::GatewayMissing => "gateway_missing",
            Self::NoPath => "no_path",
        }
    }

    /// Tells whether it is a gap in the network rather than something that blocks a packet: it is reported by name, and no rule is
    /// at fault.
    #[must_use]
    pub const fn is_gap(self) -> bool {
        match self {
            Self::PeeringMissing
            | Self::PeeringDisconnected
            | Self::PeeringForwardingOff
            | Self::PeeringTransitOff
            | Self::PeeringNotSynced
            | Self::VpnPrefixMissing
            | Self::VpnPrefixOverlap
            | Self::BgpRouteMissing
            | Self::RoutePropagationOff
            | Self::GatewayMissing
            | Self::NoPath => true,
            Self::NsgDeny
            | Self::NsgExposure
            | Self::RouteBlackhole
            | Self::RouteDeadNva
            | Self::RouteDetour
            | Self::GuestFirewallDrop
            | Self::GuestFirewallReject
            | Self::GuestFirewallPolicyDrop
            | Self::Fail2banBan
            | Self::ContainerFirewallChange
            | Self::NetemLoss
            | Self::NetemDelay
            | Self::NetemCorrupt
            | Self::NetemDuplicate
            | Self::NetemReorder
            | Self::RateLimit
            | Self::TcpRefused
            | Self::UdpRefused
            | Self::AsymmetricPath
            | Self::StaticBlackhole
            | Self::NoGuestRoute
            | Self::RpFilterDrop
            | Self::VmStopped
            | Self::PeeringAccessOff
            | Self::LbRuleMissing
            | Self::LbBackendEmpty
            | Self::LbAdminDown
            | Self::LbProbeMismatch
            | Self::LbProbeStatus
            | Self::LbFloatingIp
            | Self::NotListening
            | Self::PeNotApproved
            | Self::PrivateDnsUnlinked
            | Self::PrivateDnsShadow
            | Self::PrivateDnsRecordMissing
            | Self::PrivateDnsRecordStale
            | Self::DnsServerWrong
            | Self::DnsForwarderMissing
            | Self::FirewallDeny
            | Self::FirewallDefaultDeny
            | Self::FirewallDnsProxyOff
            | Self::OutboundAbsent
            | Self::NatUnconfigured
            | Self::VpnDown
            | Self::VpnKeyMismatch
            | Self::VpnIkeMismatch
            | Self::VpnPeerUnreachable
            | Self::BgpPeerDown
            | Self::ErCircuitDown
            | Self::ErPeeringDown
            | Self::SnatExhausted => false,
        }
    }

    /// Tells whether it only says that nobody answers: where something before it stops the flow, it is not known to matter.
    #[must_use]
    pub const fn is_refusal(self) -> bool {
        matches!(self, Self::TcpRefused | Self::UdpRefused)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

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
        match self {
            Self::NsgRule { group, rule } => write!(out, "nsg/{group}/{rule}"),
            Self::Route { table, route } => write!(out, "route/{table}/{route}"),
            Self::GuestRule { machine, table, chain, protocol, port } => {
                write!(out, "netfilter/{machine}/{table}/{chain}/{protocol}/{port}")
            }
            Self::GuestChain { machine, table, chain } => write!(out, "netfilter/{machine}/{table}/{chain}"),
            Self::Ban { machine, chain, ip } => write!(out, "netfilter/{machine}/{chain}/{ip}"),
            Self::Qdisc { machine, device } => write!(out, "qdisc/{machine}/{device}"),
            Self::Flow { src, dst, protocol, port } => {
                write!(out, "flow/{src}/{dst}/{protocol}/")?;
                match port {
                    Some(port) => write!(out, "{port}"),
                    None => out.write_str("any"),
                }
            }
            Self::GuestRoute { machine, prefix } => write!(out, "route/{machine}/{prefix}"),
            Self::Sysctl { machine, key } => write!(out, "sysctl/{machine}/{key}"),
            Self::Machine { machine } => write!(out, "vm/{machine}"),
            Self::Network { network } => write!(out, "network/{network}"),
            Self::Networks { one, other } => write!(out, "peering/{one}/{other}"),
            Self::BalancerPort { balancer, frontend, protocol, port } => {
                write!(out, "lb/{balancer}/{frontend}/{protocol}/{port}")
            }
            Self::BalancerPart { balancer, part } => write!(out, "lb/{balancer}/{part}"),
            Self::BalancerMember { balancer, pool, address } => write!(out, "lb/{balancer}/{pool}/{address}"),
            Self::Listener { machine, protocol, port } => write!(out, "listener/{machine}/{protocol}/{port}"),
            Self::Endpoint { endpoint } => write!(out, "pe/{endpoint}"),
            Self::Zone { zone, part } => write!(out, "zone/{zone}/{part}"),
            Self::NetworkServers { network } => write!(out, "vnet/{network}/dns"),
            Self::Forwarder { server, zone } => write!(out, "dns/{server}/{zone}"),
            Self::FirewallRule { firewall, collection, rule } => {
                write!(out, "firewall/{firewall}/{collection}/{rule}")
            }
            Self::FirewallPort { firewall, protocol, port } => {
                write!(out, "firewall/{firewall}/{protocol}/")?;
                match port {
                    Some(port) => write!(out, "{port}"),
                    None => out.write_str("any"),
                }
            }
            Self::FirewallNames { firewall } => write!(out, "firewall/{firewall}/dns"),
            Self::SubnetOutbound { network, subnet } => write!(out, "subnet/{network}/{subnet}/outbound"),
            Self::NatGateway { name } => write!(out, "natgateway/{name}"),
            Self::SourceTranslation { name } => write!(out, "snat/{name}"),
            Self::Connection { connection } => write!(out, "vpn/{connection}"),
            Self::LocalGateway { name } => write!(out, "localgateway/{name}"),
            Self::GatewayPeer { gateway, peer } => write!(out, "bgp/{gateway}/{peer}"),
            Self::GatewayPrefix { gateway, prefix } => write!(out, "bgp/{gateway}/{prefix}"),
            Self::RouteTable { table } => write!(out, "routetable/{table}"),
            Self::Circuit { circuit } => write!(out, "er/{circuit}"),
            Self::CircuitPeering { circuit, peering } => write!(out, "er/{circuit}/{peering}"),
            Self::Peering { network, peering } => write!(out, "peering/{network}/{peering}"),
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A fault and the object that has it: what a finding says, and what can be taken away.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Cause {
    /// What it does.
    pub fault: Fault,
    /// What does it.
    pub object: Object,
}

impl Cause {
    /// Puts both together.
    #[must_use]
    pub const fn new(fault: Fault, object: Object) -> Self {
        Self { fault, object }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.fault, self.object)
    }
}
