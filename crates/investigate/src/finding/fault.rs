//! The fault codes and the names of what is at fault. Codes are added, never renamed.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::object_kind::ObjectKind;
use super::{cluster, host, service};
use ghost_inspect::cluster::Fault as ClusterFault;
use ghost_inspect::host::Fault as HostFault;

/// A fault that a finding can claim. It is written as its code, such as `nsg_deny`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    NsgDeny,
    NsgExposure,
    RouteBlackhole,
    RouteDeadNva,
    RouteDetour,
    ServiceEndpointMissing,
    StorageFirewallDeny,
    GuestFirewallDrop,
    GuestFirewallReject,
    GuestFirewallPolicyDrop,
    Fail2banBan,
    ContainerFirewallChange,
    NetemLoss,
    NetemDelay,
    NetemCorrupt,
    NetemDuplicate,
    NetemReorder,
    RateLimit,
    PmtuBlackhole,
    TcpRefused,
    SynUnanswered,
    DnsFailure,
    ArpConflict,
    AsymmetricPath,
    NoDrift,
    PeeringDisconnected,
    PeeringMissing,
    PeeringAccessOff,
    PeeringForwardingOff,
    PeeringTransitOff,
    PeeringNotSynced,
    VmStopped,
    LbProbeMismatch,
    LbProbeStatus,
    LbBackendEmpty,
    LbRuleMissing,
    LbFloatingIp,
    LbAdminDown,
    NotListening,
    FirewallDeny,
    FirewallDefaultDeny,
    FirewallDnsProxyOff,
    PeNotApproved,
    PrivateDnsUnlinked,
    PrivateDnsShadow,
    PrivateDnsRecordMissing,
    PrivateDnsRecordStale,
    DnsServerWrong,
    DnsForwarderMissing,
    OutboundAbsent,
    NatUnconfigured,
    SnatExhausted,
    VpnDown,
    VpnKeyMismatch,
    VpnIkeMismatch,
    VpnPeerUnreachable,
    VpnPrefixMissing,
    VpnPrefixOverlap,
    BgpPeerDown,
    BgpRouteMissing,
    RoutePropagationOff,
    ErCircuitDown,
    ErPeeringDown,
    AppgwProbeMismatch,
    AppgwBackendTls,
    AppgwCertExpired,
    AppgwPoolEmpty,
    AppgwStopped,
    AppgwBackendDown,
    AksStopped,
    AksApiRestricted,
    BastionUnconfigured,
    PlatformEvent,
    /// A fault of a machine's own network that no document of the cloud shows; made by [`Fault::of_host`].
    #[serde(skip)]
    Host(HostFault),
    /// A fault inside of a Kubernetes cluster.
    #[serde(skip)]
    Cluster(ClusterFault),
}

/// No fault has this code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no such fault code")]
pub struct UnknownFault;

impl Fault {
    /// All faults that the cloud shows. A test holds that each variant is among them.
    pub const ALL: [Self; 73] = [
        Self::NsgDeny,
        Self::NsgExposure,
        Self::RouteBlackhole,
        Self::RouteDeadNva,
        Self::RouteDetour,
        Self::ServiceEndpointMissing,
        Self::StorageFirewallDeny,
        Self::GuestFirewallDrop,
        Self::GuestFirewallReject,
        Self::GuestFirewallPolicyDrop,
        Self::Fail2banBan,
        Self::ContainerFirewallChange,
        Self::NetemLoss,
        Self::NetemDelay,
        Self::NetemCorrupt,
        Self::NetemDuplicate,
        Self::NetemReorder,
        Self::RateLimit,
        Self::PmtuBlackhole,
        Self::TcpRefused,
        Self::SynUnanswered,
        Self::DnsFailure,
        Self::ArpConflict,
        Self::AsymmetricPath,
        Self::NoDrift,
        Self::PeeringDisconnected,
        Self::PeeringMissing,
        Self::PeeringAccessOff,
        Self::PeeringForwardingOff,
        Self::PeeringTransitOff,
        Self::PeeringNotSynced,
        Self::VmStopped,
        Self::LbProbeMismatch,
        Self::LbProbeStatus,
        Self::LbBackendEmpty,
        Self::LbRuleMissing,
        Self::LbFloatingIp,
        Self::LbAdminDown,
        Self::NotListening,
        Self::FirewallDeny,
        Self::FirewallDefaultDeny,
        Self::FirewallDnsProxyOff,
        Self::PeNotApproved,
        Self::PrivateDnsUnlinked,
        Self::PrivateDnsShadow,
        Self::PrivateDnsRecordMissing,
        Self::PrivateDnsRecordStale,
        Self::DnsServerWrong,
        Self::DnsForwarderMissing,
        Self::OutboundAbsent,
        Self::NatUnconfigured,
        Self::SnatExhausted,
        Self::VpnDown,
        Self::VpnKeyMismatch,
        Self::VpnIkeMismatch,
        Self::VpnPeerUnreachable,
        Self::VpnPrefixMissing,
        Self::VpnPrefixOverlap,
        Self::BgpPeerDown,
        Self::BgpRouteMissing,
        Self::RoutePropagationOff,
        Self::ErCircuitDown,
        Self::ErPeeringDown,
        Self::AppgwProbeMismatch,
        Self::AppgwBackendTls,
        Self::AppgwCertExpired,
        Self::AppgwPoolEmpty,
        Self::AppgwStopped,
        Self::AppgwBackendDown,
        Self::AksStopped,
        Self::AksApiRestricted,
        Self::BastionUnconfigured,
        Self::PlatformEvent,
    ];

    /// Returns every fault: those that the cloud shows, those that only a machine itself shows, those inside of a cluster.
    pub fn every() -> impl Iterator<Item = Self> {
        let inside = ClusterFault::ALL.into_iter().map(Self::Cluster);
        Self::ALL.into_iter().chain(host::OF_HOSTS.into_iter().map(Self::Host)).chain(inside)
    }

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NsgDeny => "nsg_deny",
            Self::NsgExposure => "nsg_exposure",
            Self::RouteBlackhole => "route_blackhole",
            Self::RouteDeadNva => "route_dead_nva",
            Self::RouteDetour => "route_detour",
            Self::ServiceEndpointMissing => "service_endpoint_missing",
            Self::StorageFirewallDeny => "storage_firewall_deny",
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
            Self::PmtuBlackhole => "pmtu_blackhole",
            Self::TcpRefused => "tcp_refused",
            Self::SynUnanswered => "syn_unanswered",
            Self::DnsFailure => "dns_failure",
            Self::ArpConflict => "arp_conflict",
            Self::AsymmetricPath => "asymmetric_path",
            Self::NoDrift => "no_drift",
            Self::PeeringDisconnected => "peering_disconnected",
            Self::PeeringMissing => "peering_missing",
            Self::PeeringAccessOff => "peering_access_off",
            Self::PeeringForwardingOff => "peering_forwarding_off",
            Self::PeeringTransitOff => "peering_transit_off",
            Self::PeeringNotSynced => "peering_not_synced",
            Self::VmStopped => "vm_stopped",
            Self::LbProbeMismatch => "lb_probe_mismatch",
            Self::LbProbeStatus => "lb_probe_status",
            Self::LbBackendEmpty => "lb_backend_empty",
            Self::LbRuleMissing => "lb_rule_missing",
            Self::LbFloatingIp => "lb_floating_ip",
            Self::LbAdminDown => "lb_admin_down",
            Self::NotListening => "not_listening",
            Self::FirewallDeny => "firewall_deny",
            Self::FirewallDefaultDeny => "firewall_default_deny",
            Self::FirewallDnsProxyOff => "firewall_dns_proxy_off",
            Self::PeNotApproved => "pe_not_approved",
            Self::PrivateDnsUnlinked => "private_dns_unlinked",
            Self::PrivateDnsShadow => "private_dns_shadow",
            Self::PrivateDnsRecordMissing => "private_dns_record_missing",
            Self::PrivateDnsRecordStale => "private_dns_record_stale",
            Self::DnsServerWrong => "dns_server_wrong",
            Self::DnsForwarderMissing => "dns_forwarder_missing",
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
            Self::Host(fault) => fault.as_str(),
            Self::Cluster(fault) => fault.as_str(),
        }
    }

    /// Returns what kind of object is at fault.
    #[must_use]
    pub const fn object_kind(self) -> ObjectKind {
        match self {
            Self::NsgDeny | Self::NsgExposure => ObjectKind::NsgRule,
            Self::RouteBlackhole | Self::RouteDeadNva | Self::RouteDetour => ObjectKind::Route,
            Self::ServiceEndpointMissing => ObjectKind::SubnetEndpoint,
            Self::StorageFirewallDeny => ObjectKind::StorageAccount,
            Self::GuestFirewallDrop | Self::GuestFirewallReject => ObjectKind::GuestRule,
            Self::GuestFirewallPolicyDrop | Self::ContainerFirewallChange => ObjectKind::GuestChain,
            Self::Fail2banBan => ObjectKind::Ban,
            Self::NetemLoss
            | Self::NetemDelay
            | Self::NetemCorrupt
            | Self::NetemDuplicate
            | Self::NetemReorder
            | Self::RateLimit => ObjectKind::Qdisc,
            Self::PmtuBlackhole | Self::TcpRefused | Self::SynUnanswered | Self::AsymmetricPath => {
                ObjectKind::Flow
            }
            Self::DnsFailure => ObjectKind::NameServer,
            Self::ArpConflict => ObjectKind::Host,
            Self::NoDrift => ObjectKind::Baseline,
            Self::PeeringDisconnected
            | Self::PeeringMissing
            | Self::PeeringAccessOff
            | Self::PeeringForwardingOff
            | Self::PeeringTransitOff
            | Self::PeeringNotSynced => ObjectKind::Peering,
            Self::VmStopped => ObjectKind::Machine,
            Self::LbProbeMismatch | Self::LbProbeStatus | Self::LbBackendEmpty | Self::LbFloatingIp => {
                ObjectKind::BalancerPart
            }
            Self::LbRuleMissing => ObjectKind::BalancerPort,
            Self::LbAdminDown => ObjectKind::BalancerMember,
            Self::NotListening => ObjectKind::Listener,
            Self::FirewallDeny => ObjectKind::FirewallRule,
            Self::FirewallDefaultDeny => ObjectKind::FirewallPort,
            Self::FirewallDnsProxyOff => ObjectKind::FirewallNames,
            Self::PeNotApproved => ObjectKind::PrivateEndpoint,
            Self::PrivateDnsUnlinked
            | Self::PrivateDnsShadow
            | Self::PrivateDnsRecordMissing
            | Self::PrivateDnsRecordStale => ObjectKind::Zone,
            Self::DnsServerWrong => ObjectKind::NetworkServers,
            Self::DnsForwarderMissing => ObjectKind::Forwarder,
            Self::OutboundAbsent => ObjectKind::SubnetOutbound,
            Self::NatUnconfigured => ObjectKind::NatGateway,
            Self::SnatExhausted => ObjectKind::SourceTranslation,
            Self::VpnDown | Self::VpnKeyMismatch | Self::VpnIkeMismatch | Self::VpnPeerUnreachable => {
                ObjectKind::Connection
            }
            Self::VpnPrefixMissing | Self::VpnPrefixOverlap => ObjectKind::LocalGateway,
            Self::BgpPeerDown | Self::BgpRouteMissing => ObjectKind::GatewayRoutes,
            Self::RoutePropagationOff => ObjectKind::RouteTable,
            Self::ErCircuitDown => ObjectKind::Circuit,
            Self::ErPeeringDown => ObjectKind::CircuitPeering,
            Self::AppgwProbeMismatch
            | Self::AppgwBackendTls
            | Self::AppgwCertExpired
            | Self::AppgwPoolEmpty => ObjectKind::AppGatewayPart,
            Self::AppgwStopped => ObjectKind::AppGateway,
            Self::AppgwBackendDown => ObjectKind::AppGatewayServer,
            Self::AksStopped | Self::AksApiRestricted => ObjectKind::Cluster,
            Self::BastionUnconfigured => ObjectKind::Bastion,
            Self::PlatformEvent => ObjectKind::Health,
            Self::Host(fault) => host::object_kind(fault),
            Self::Cluster(fault) => cluster::object_kind(fault),
        }
    }

    /// Returns the name of the fault as a headline, without codes. Names come out as they stand: whoever prints them escapes them.
    #[must_use]
    pub fn title(self, object: &str) -> String {
        if !self.object_kind().matches(object) {
            return format!("{}, {object}", self.as_str());
        }
        let parts: Vec<&str> = object.split('/').collect();
        let at = |index: usize| parts.get(index).copied().unwrap_or_default();
        // Only the last part may hold a slash of its own.
        let rest = |index: usize| parts.get(index..).unwrap_or_default().join("/");
        let (one, two) = (at(1), at(2));
        let flow = || traffic(at(3), &rest(4));
        match self {
            Self::NsgDeny => format!("Security rule {} of {one} denies the traffic", rest(2)),
            Self::NsgExposure => format!("Security rule {} of {one} lets anybody in", rest(2)),
            Self::RouteBlackhole => format!("Route {} of {one} leads nowhere", rest(2)),
            Self::RouteDeadNva => {
                format!("Route {} of {one} leads to an appliance that is not there", rest(2))
            }
            Self::RouteDetour => format!("Route {} of {one} leads through an appliance", rest(2)),
            Self::ServiceEndpointMissing => format!("Subnet {two} of {one} lacks the endpoint {}", rest(3)),
            Self::StorageFirewallDeny => format!("Storage account {} does not let the subnet in", rest(1)),
            Self::GuestFirewallDrop => {
                format!("{one} itself drops {} in its packet filter", traffic(at(4), &rest(5)))
            }
            Self::GuestFirewallReject => {
                format!("{one} itself refuses {} in its packet filter", traffic(at(4), &rest(5)))
            }
            Self::GuestFirewallPolicyDrop => {
                format!("{one} drops whatever its packet filter does not name (chain {})", rest(3))
            }
            Self::Fail2banBan => format!("fail2ban on {one} has banned {}", rest(3)),
            Self::ContainerFirewallChange => {
                format!("{one} stops traffic of its containers (chain {})", rest(3))
            }
            Self::NetemLoss => format!("{one} loses packets that it sends by {}", rest(2)),
            Self::NetemDelay => format!("{one} delays what it sends through {}", rest(2)),
            Self::NetemCorrupt => format!("{one} damages packets that it sends by {}", rest(2)),
            Self::NetemDuplicate => format!("{one} sends packets of {} twice", rest(2)),
            Self::NetemReorder => format!("{one} sends packets of {} out of order", rest(2)),
            Self::RateLimit => format!("{one} limits the rate of {}", rest(2)),
            Self::PmtuBlackhole => format!("Large packets from {one} to {two} do not get through"),
            Self::TcpRefused => format!("Nothing listens on {two} for {}", flow()),
            Self::SynUnanswered => format!("{two} does not answer {one} on {}", flow()),
            Self::DnsFailure => format!("Name server {} does not resolve names", rest(1)),
            Self::ArpConflict => format!("Two interfaces claim {}", rest(1)),
            Self::AsymmetricPath => {
                format!("The two directions between {one} and {two} take different paths")
            }
            Self::NoDrift => format!("Nothing changed at {} since the baseline", rest(1)),
            Self::PeeringDisconnected
            | Self::PeeringMissing
            | Self::PeeringAccessOff
            | Self::PeeringForwardingOff
            | Self::PeeringTransitOff
            | Self::PeeringNotSynced
            | Self::VmStopped
            | Self::LbProbeMismatch
            | Self::LbProbeStatus
            | Self::LbBackendEmpty
            | Self::LbRuleMissing
            | Self::LbFloatingIp
            | Self::LbAdminDown
            | Self::NotListening
            | Self::FirewallDeny
            | Self::FirewallDefaultDeny
            | Self::FirewallDnsProxyOff
            | Self::PeNotApproved
            | Self::PrivateDnsUnlinked
            | Self::PrivateDnsShadow
            | Self::PrivateDnsRecordMissing
            | Self::PrivateDnsRecordStale
            | Self::DnsServerWrong
            | Self::DnsForwarderMissing
            | Self::OutboundAbsent
            | Self::NatUnconfigured
            | Self::SnatExhausted
            | Self::VpnDown
            | Self::VpnKeyMismatch
            | Self::VpnIkeMismatch
            | Self::VpnPeerUnreachable
            | Self::VpnPrefixMissing
            | Self::VpnPrefixOverlap
            | Self::BgpPeerDown
            | Self::BgpRouteMissing
            | Self::RoutePropagationOff
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
            | Self::PlatformEvent => service::title(self, &parts),
            Self::Host(fault) => host::title(fault, object),
            Self::Cluster(fault) => cluster::title(fault, &parts),
        }
    }

    /// Returns how the fault works and what it explains.
    #[must_use]
    pub fn mechanism(self) -> &'static str {
        match self {
            Self::NsgDeny => {
                "The platform drops the packets before the machine sees them, so connections hang without an answer. Other ports still work."
            }
            Self::NsgExposure => {
                "Anybody on the internet can try the port. Only the program behind it can still refuse them."
            }
            Self::RouteBlackhole => {
                "The most specific route wins, and this one leads nowhere. All packets for its prefix are lost without an answer, whatever the rules allow."
            }
            Self::RouteDeadNva => {
                "The most specific route wins, and this one leads to an address that nobody has. All packets for its prefix are lost without an answer, whatever the rules allow."
            }
            Self::RouteDetour => {
                "The traffic goes through an appliance instead of directly; that costs time and may break the return path."
            }
            Self::ServiceEndpointMissing => {
                "The account lets the subnet in only by its endpoint. Without it the traffic comes from a public address and is refused. Each side is right when seen alone."
            }
            Self::StorageFirewallDeny => "The account's own rules turn this subnet away.",
            Self::GuestFirewallDrop => {
                "The machine itself drops these packets, behind the rules of the platform. Callers hang, and no portal shows it. It makes nothing slow."
            }
            Self::GuestFirewallReject => {
                "The machine itself refuses these packets, behind the rules of the platform. No portal shows it."
            }
            Self::GuestFirewallPolicyDrop => {
                "The machine drops what no rule allows. What worked before now times out, though the rules of the platform are open."
            }
            Self::Fail2banBan => {
                "The ban program blocked this one address after failed logins. No other address is affected."
            }
            Self::ContainerFirewallChange => {
                "Traffic to and from containers passes this chain, and the chain drops it. Services of the host itself still work."
            }
            Self::NetemLoss => {
                "A part of what this machine sends is dropped before it leaves. It has to be sent again, and that is slow."
            }
            Self::NetemDelay => {
                "Everything sent waits, so each round trip takes longer. Connections come up all the same."
            }
            Self::NetemCorrupt => {
                "A part of what this machine sends is damaged before it leaves. Receivers drop it, and some connections break."
            }
            Self::NetemDuplicate => "A part of what this machine sends goes out twice.",
            Self::NetemReorder => {
                "What this machine sends arrives out of order, which the receiver takes for loss."
            }
            Self::RateLimit => {
                "The machine sends no faster than this limit. Small requests stay quick, large transfers do not."
            }
            Self::PmtuBlackhole => {
                "Small packets pass. Large ones do not fit through the path, and the sender does not learn that."
            }
            Self::TcpRefused => {
                "The packet arrives, and the machine answers that nobody listens there. No rule and no route does that."
            }
            Self::SynUnanswered => "The first packet of each connection gets no answer.",
            Self::DnsFailure => "Names are not resolved, so programs fail before they connect.",
            Self::ArpConflict => {
                "Two interfaces answer for one address, and packets reach now one, now the other."
            }
            Self::AsymmetricPath => {
                "The two directions take different paths, and what keeps state sees only one of them."
            }
            Self::NoDrift => "Rules and routes in effect are those of the baseline: a verified negative.",
            Self::PeeringDisconnected
            | Self::PeeringMissing
            | Self::PeeringAccessOff
            | Self::PeeringForwardingOff
            | Self::PeeringTransitOff
            | Self::PeeringNotSynced
            | Self::VmStopped
            | Self::LbProbeMismatch
            | Self::LbProbeStatus
            | Self::LbBackendEmpty
            | Self::LbRuleMissing
            | Self::LbFloatingIp
            | Self::LbAdminDown
            | Self::NotListening
            | Self::FirewallDeny
            | Self::FirewallDefaultDeny
            | Self::FirewallDnsProxyOff
            | Self::PeNotApproved
            | Self::PrivateDnsUnlinked
            | Self::PrivateDnsShadow
            | Self::PrivateDnsRecordMissing
            | Self::PrivateDnsRecordStale
            | Self::DnsServerWrong
            | Self::DnsForwarderMissing
            | Self::OutboundAbsent
            | Self::NatUnconfigured
            | Self::SnatExhausted
            | Self::VpnDown
            | Self::VpnKeyMismatch
            | Self::VpnIkeMismatch
            | Self::VpnPeerUnreachable
            | Self::VpnPrefixMissing
            | Self::VpnPrefixOverlap
            | Self::BgpPeerDown
            | Self::BgpRouteMissing
            | Self::RoutePropagationOff
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
            | Self::PlatformEvent => service::mechanism(self),
            Self::Host(fault) => host::mechanism(fault),
            Self::Cluster(fault) => cluster::mechanism(fault),
        }
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(code: &str) -> Result<Self, UnknownFault> {
        Self::every().find(|fault| fault.as_str() == code).ok_or(UnknownFault)
    }
}

/// Returns the name of a fault as a headline, or code and object as they stand where a later version wrote them.
#[must_use]
pub fn title(code: &str, object: &str) -> String {
    code.parse::<Fault>().map_or_else(|_| format!("{code}, {object}"), |fault| fault.title(object))
}

/// Names traffic: `TCP port 5001`, `all ICMP`, `all traffic`.
#[must_use]
pub fn traffic(protocol: &str, port: &str) -> String {
    let every = |text: &str| matches!(text, "any" | "all" | "" | "*");
    match (every(protocol), every(port)) {
        (true, true) => "all traffic".to_owned(),
        (true, false) => format!("port {port}"),
        (false, true) => format!("all {}", protocol.to_uppercase()),
        (false, false) => format!("{} port {port}", protocol.to_uppercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::FaultCode;
    use super::*;

    #[test]
    fn a_code_is_written_as_before_and_one_of_a_later_version_is_kept() {
        for (text, fault) in [("nsg_deny", Some(Fault::NsgDeny)), ("later_fault", None)] {
            let code: FaultCode = serde_json::from_value(text.into()).unwrap();
            assert_eq!((code.fault(), serde_json::to_value(&code).unwrap()), (fault, text.into()));
            assert!(code == text && format!("{code}") == text);
        }
        let mut codes = [Fault::NsgDeny.into(), FaultCode::from("b"), Fault::ArpConflict.into()];
        codes.sort();
        assert_eq!(codes.map(String::from), ["arp_conflict", "b", "nsg_deny"]);
    }

    #[test]
    fn every_fault_is_listed_under_its_code() {
        let unknown = serde_json::from_str::<Fault>("\"?\"").unwrap_err().to_string();
        for fault in Fault::ALL {
            assert!(unknown.contains(&format!("`{}`", fault.as_str())), "{fault:?}");
            assert_eq!(fault.as_str().parse(), Ok(fault));
        }
        assert_eq!(unknown.matches('`').count(), 2 * (Fault::ALL.len() + 1), "a fault is missing: {unknown}");
        assert_eq!("nonsense".parse::<Fault>(), Err(UnknownFault));
    }

    #[test]
    fn an_object_is_named_as_its_kind_requires() {
        let kind = Fault::GuestFirewallDrop.object_kind();
        assert!(kind.matches("netfilter/web-1/filter/INPUT/tcp/5001"));
        for wrong in [
            "netfilter/web-1/filter/INPUT",
            "nsg/a/b/c/d/e",
            "netfilter/web-1/filter//tcp/1",
            "netfilter/a b/f/I/tcp/1",
            "",
        ] {
            assert!(!kind.matches(wrong), "{wrong}");
        }
    }

    #[test]
    fn every_fault_has_a_title_and_a_mechanism() {
        for fault in Fault::every() {
            let parts = fault.object_kind().pattern().split('/').map(|part| part.trim_matches(['<', '>']));
            let title = fault.title(&parts.collect::<Vec<_>>().join("/"));
            assert!(!title.contains(fault.as_str()) && !title.contains('_'), "{title}");
            assert!(fault.mechanism().ends_with('.'), "{fault:?}");
        }
    }

    #[test]
    fn a_fault_is_named_by_what_is_broken() {
        for (code, object, expected) in [
            (
                "guest_firewall_drop",
                "netfilter/db-1/filter/INPUT/tcp/5001",
                "db-1 itself drops TCP port 5001 in its packet filter",
            ),
            (
                "guest_firewall_drop",
                "netfilter/db-1/filter/INPUT/icmp/any",
                "db-1 itself drops all ICMP in its packet filter",
            ),
            ("nsg_deny", "nsg/web-nsg/deny-5001", "Security rule deny-5001 of web-nsg denies the traffic"),
            ("nsg_deny", "nonsense", "nsg_deny, nonsense"),
            ("dreamed", "nsg/a/b", "dreamed, nsg/a/b"),
        ] {
            assert_eq!(title(code, object), expected);
        }
    }
}
