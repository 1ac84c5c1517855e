//! What can be at fault, and how it is named.

use std::fmt;

use serde::{Serialize, Serializer};

pub(super) use super::object::Object;

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
    /// The probe of an application gateway is answered otherwise than it expects.
    AppgwProbeMismatch,
    /// An application gateway does not trust the certificate of its servers.
    AppgwBackendTls,
    /// The certificate of a listener has expired.
    AppgwCertExpired,
    /// A pool of an application gateway has no server.
    AppgwPoolEmpty,
    /// An application gateway is stopped.
    AppgwStopped,
    /// A server behind an application gateway does not answer its probe, and why is not known.
    AppgwBackendDown,
    /// A cluster is stopped.
    AksStopped,
    /// The API server of a cluster takes calls of some addresses alone, and the caller has none of them.
    AksApiRestricted,
    /// A bastion host is not set to do what is wanted of it.
    BastionUnconfigured,
    /// An event of the platform itself.
    PlatformEvent,
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
            Self::AppgwProbeMismatch => "appgw_probe_mismatch",
            Self::AppgwBackendTls => "appgw_backend_tls",
            Self::AppgwCertExpired => "appgw_cert_expired",
            Self::AppgwPoolEmpty => "appgw_pool_empty",
            Self::AppgwStopped => "appgw_stopped",
            Self::AppgwBackendDown => "appgw_backend_down",
            Self::AksStopped => "aks_stopped",
            Self::AksApiRestricted => "aks_api_restricted",
            Self::BastionUnconfigured => "bastion_unconfigured",
            Self::PlatformEvent => "platform_event",
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
            | Self::AppgwProbeMismatch
            | Self::AppgwBackendTls
            | Self::AppgwCertExpired
            | Self::AppgwPoolEmpty
            | Self::AppgwStopped
            | Self::AppgwBackendDown
            | Self::AksStopped
            | Self::AksApiRestricted
            | Self::BastionUnconfigured
            | Self::PlatformEvent
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
