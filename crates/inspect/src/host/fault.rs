//! What can be wrong with a machine's network: every code.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A fault code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A device that is named elsewhere is not there.
    LinkMissing,
    /// A device that traffic needs is down.
    LinkDown,
    /// A device comes and goes.
    LinkFlap,
    /// A queueing discipline limits what a device sends.
    RateLimit,
    /// A queueing discipline loses packets of a device.
    NetemLoss,
    /// A queueing discipline delays them.
    NetemDelay,
    /// A queueing discipline damages them.
    NetemCorrupt,
    /// A queueing discipline sends them twice.
    NetemDuplicate,
    /// A queueing discipline sends them out of order.
    NetemReorder,
    /// Packets arrive damaged.
    ChecksumErrors,
    /// A rule overwrites parts of some packets.
    PayloadRewrite,
    /// A rule drops a share of all packets.
    RandomDrop,
    /// A device has no address.
    AddressMissing,
    /// A machine has another address than it is known by.
    WrongAddress,
    /// The prefix of an address is too long or too short.
    WrongNetmask,
    /// Two machines have one address.
    DuplicateAddress,
    /// Two machines have one hardware address.
    DuplicateMac,
    /// A rule drops what finds out neighbors.
    ArpDrop,
    /// A neighbor entry leads to the wrong hardware address.
    NeighborPoisoned,
    /// The default route leads to a machine that is no router.
    WrongGateway,
    /// The gateway does not answer.
    GatewayDead,
    /// There is no route to what is not on the own link.
    NoDefaultRoute,
    /// The answering machine has no route back.
    NoReturnRoute,
    /// A route throws packets away.
    StaticBlackhole,
    /// The route is that of a network of containers on the machine itself.
    ContainerOverlap,
    /// A machine that others use as a gateway does not forward.
    IpForwardOff,
    /// Packets arrive by another device than answers would leave by, and are dropped.
    RpFilterDrop,
    /// A routing rule sends the flow to the wrong table.
    PolicyRule,
    /// One of several next hops is dead.
    EcmpLeg,
    /// Answers take another path, past a filter that knows the connection.
    AsymmetricPath,
    /// IPv6 is off where it is used.
    Ipv6Disabled,
    /// A rule of a packet filter drops.
    GuestFirewallDrop,
    /// A rule of a packet filter refuses.
    GuestFirewallReject,
    /// The policy of a chain drops what no rule lets in.
    GuestFirewallPolicyDrop,
    /// A rule drops the messages about packets that are too large.
    FragNeededDrop,
    /// The ends of a link take packets of different sizes.
    MtuMismatch,
    /// A rule takes the class of packets away.
    DscpRewrite,
    /// Two ports of a bridge are kept apart.
    BridgePort,
    /// The ends of a tunnel have different numbers.
    VniMismatch,
    /// A name server does not answer.
    DnsFailure,
    /// A name leads to the wrong address.
    DnsWrongRecord,
    /// A name server answers late.
    DnsSlow,
    /// The machine asks a name server that is none.
    WrongResolver,
    /// The machine has no name server.
    NoResolver,
    /// A line of /etc/hosts hides what name servers say.
    HostsOverride,
    /// A DHCP server does not run.
    DhcpServerDown,
    /// A DHCP server has no addresses for a segment.
    DhcpNoRange,
    /// Every address that a DHCP server may give is taken.
    DhcpPoolFull,
    /// A DHCP server gives a wrong gateway, name server or mask.
    DhcpWrongOption,
    /// A DHCP server that should not be there.
    DhcpRogue,
    /// Nobody listens on the port.
    NotListening,
    /// The service listens for its own machine alone.
    BoundToLoopback,
    /// The service does not take the connections that wait.
    AcceptQueueFull,
    /// Half-open connections fill the queue of a service.
    SynFlood,
    /// The receive buffer is kept small.
    ReceiveWindow,
    /// Datagrams are lost because a socket does not read them in time.
    ReceiveBuffer,
    /// The table of connections is full.
    ConntrackFull,
    /// The ports for translated connections are used up.
    SnatPorts,
    /// Nobody translates private sources on their path out.
    NatMissing,
    /// There are too few local ports.
    PortRangeExhausted,
    /// The ends of a session disagree about an autonomous system.
    BgpAsnMismatch,
    /// A session was ended because of too many prefixes.
    BgpMaxPrefix,
    /// A router does not announce a network that hangs on it.
    BgpNotAnnounced,
    /// A network is announced with the community that asks others to throw its packets away.
    BgpBlackholeCommunity,
    /// A router announces addresses that are another's.
    BgpHijack,
    /// The ends of a link are in different areas.
    OspfAreaMismatch,
    /// A router does not speak OSPF on a link to one that does.
    OspfNotEnabled,
    /// The ends of a link say hello at different intervals.
    OspfTimerMismatch,
    /// A routing daemon that should run does not.
    RoutingDaemonDown,
    /// A service of the network has failed.
    UnitFailed,
    /// A device counts errors that grow.
    DeviceErrors,
    /// The kernel drops packets because its input queue is full.
    SoftnetDrop,
}

impl Fault {
    /// Every code.
    pub const ALL: [Self; 72] = [
        Self::LinkMissing,
        Self::LinkDown,
        Self::LinkFlap,
        Self::RateLimit,
        Self::NetemLoss,
        Self::NetemDelay,
        Self::NetemCorrupt,
        Self::NetemDuplicate,
        Self::NetemReorder,
        Self::ChecksumErrors,
        Self::PayloadRewrite,
        Self::RandomDrop,
        Self::AddressMissing,
        Self::WrongAddress,
        Self::WrongNetmask,
        Self::DuplicateAddress,
        Self::DuplicateMac,
        Self::ArpDrop,
        Self::NeighborPoisoned,
        Self::WrongGateway,
        Self::GatewayDead,
        Self::NoDefaultRoute,
        Self::NoReturnRoute,
        Self::StaticBlackhole,
        Self::ContainerOverlap,
        Self::IpForwardOff,
        Self::RpFilterDrop,
        Self::PolicyRule,
        Self::EcmpLeg,
        Self::AsymmetricPath,
        Self::Ipv6Disabled,
        Self::GuestFirewallDrop,
        Self::GuestFirewallReject,
        Self::GuestFirewallPolicyDrop,
        Self::FragNeededDrop,
        Self::MtuMismatch,
        Self::DscpRewrite,
        Self::BridgePort,
        Self::VniMismatch,
        Self::DnsFailure,
        Self::DnsWrongRecord,
        Self::DnsSlow,
        Self::WrongResolver,
        Self::NoResolver,
        Self::HostsOverride,
        Self::DhcpServerDown,
        Self::DhcpNoRange,
        Self::DhcpPoolFull,
        Self::DhcpWrongOption,
        Self::DhcpRogue,
        Self::NotListening,
        Self::BoundToLoopback,
        Self::AcceptQueueFull,
        Self::SynFlood,
        Self::ReceiveWindow,
        Self::ReceiveBuffer,
        Self::ConntrackFull,
        Self::SnatPorts,
        Self::NatMissing,
        Self::PortRangeExhausted,
        Self::BgpAsnMismatch,
        Self::BgpMaxPrefix,
        Self::BgpNotAnnounced,
        Self::BgpBlackholeCommunity,
        Self::BgpHijack,
        Self::OspfAreaMismatch,
        Self::OspfNotEnabled,
        Self::OspfTimerMismatch,
        Self::RoutingDaemonDown,
        Self::UnitFailed,
        Self::DeviceErrors,
        Self::SoftnetDrop,
    ];

    /// Returns the code.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.text().code
    }

    /// Finds a code by its name.
    #[must_use]
    pub fn named(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.as_str() == code)
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

impl<'de> Deserialize<'de> for Fault {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let code = String::deserialize(deserializer)?;
        Self::named(&code).ok_or_else(|| serde::de::Error::custom(format!("no fault code `{code}`")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_its_own_and_says_all_that_there_is_to_say() {
        let codes: BTreeSet<_> = Fault::ALL.iter().map(|fault| fault.as_str()).collect();
        assert_eq!(codes.len(), Fault::ALL.len());
        for fault in Fault::ALL {
            let text = fault.text();
            assert_eq!(Fault::named(text.code), Some(fault));
            assert!(text.words.contains("{object}"), "{fault}");
            for said in [text.remedy, text.evidence, text.alike] {
                assert!(said.len() > 8 && !said.ends_with('.'), "{fault}: {said}");
            }
        }
    }
}
