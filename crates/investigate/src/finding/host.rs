//! Faults of a machine's own network, as findings name them: which object has them, their words, and what they explain.

use ghost_inspect::host::Fault as HostFault;

use super::fault::Fault;
use super::object_kind::ObjectKind;
use crate::suspect::Layer;
use crate::symptom_text::Symptom;

/// The faults that only a machine itself shows. A test holds that the others have a code of the cloud, too.
pub(super) const OF_HOSTS: [HostFault; 60] = [
    HostFault::LinkMissing,
    HostFault::LinkDown,
    HostFault::LinkFlap,
    HostFault::ChecksumErrors,
    HostFault::PayloadRewrite,
    HostFault::RandomDrop,
    HostFault::AddressMissing,
    HostFault::WrongAddress,
    HostFault::WrongNetmask,
    HostFault::DuplicateAddress,
    HostFault::DuplicateMac,
    HostFault::ArpDrop,
    HostFault::NeighborPoisoned,
    HostFault::WrongGateway,
    HostFault::GatewayDead,
    HostFault::NoDefaultRoute,
    HostFault::NoReturnRoute,
    HostFault::StaticBlackhole,
    HostFault::ContainerOverlap,
    HostFault::IpForwardOff,
    HostFault::RpFilterDrop,
    HostFault::PolicyRule,
    HostFault::EcmpLeg,
    HostFault::Ipv6Disabled,
    HostFault::FragNeededDrop,
    HostFault::MtuMismatch,
    HostFault::DscpRewrite,
    HostFault::BridgePort,
    HostFault::VniMismatch,
    HostFault::DnsWrongRecord,
    HostFault::DnsSlow,
    HostFault::WrongResolver,
    HostFault::NoResolver,
    HostFault::HostsOverride,
    HostFault::DhcpServerDown,
    HostFault::DhcpNoRange,
    HostFault::DhcpPoolFull,
    HostFault::DhcpWrongOption,
    HostFault::DhcpRogue,
    HostFault::BoundToLoopback,
    HostFault::AcceptQueueFull,
    HostFault::SynFlood,
    HostFault::ReceiveWindow,
    HostFault::ReceiveBuffer,
    HostFault::ConntrackFull,
    HostFault::SnatPorts,
    HostFault::NatMissing,
    HostFault::PortRangeExhausted,
    HostFault::BgpAsnMismatch,
    HostFault::BgpMaxPrefix,
    HostFault::BgpNotAnnounced,
    HostFault::BgpBlackholeCommunity,
    HostFault::BgpHijack,
    HostFault::OspfAreaMismatch,
    HostFault::OspfNotEnabled,
    HostFault::OspfTimerMismatch,
    HostFault::RoutingDaemonDown,
    HostFault::UnitFailed,
    HostFault::DeviceErrors,
    HostFault::SoftnetDrop,
];

impl Fault {
    /// Returns what findings call a fault of a machine. What the cloud's machines show as well has one code for both.
    #[must_use]
    pub const fn of_host(fault: HostFault) -> Self {
        match fault {
            HostFault::RateLimit => Self::RateLimit,
            HostFault::NetemLoss => Self::NetemLoss,
            HostFault::NetemDelay => Self::NetemDelay,
            HostFault::NetemCorrupt => Self::NetemCorrupt,
            HostFault::NetemDuplicate => Self::NetemDuplicate,
            HostFault::NetemReorder => Self::NetemReorder,
            HostFault::AsymmetricPath => Self::AsymmetricPath,
            HostFault::GuestFirewallDrop => Self::GuestFirewallDrop,
            HostFault::GuestFirewallReject => Self::GuestFirewallReject,
            HostFault::GuestFirewallPolicyDrop => Self::GuestFirewallPolicyDrop,
            HostFault::DnsFailure => Self::DnsFailure,
            HostFault::NotListening => Self::NotListening,
            HostFault::LinkMissing
            | HostFault::LinkDown
            | HostFault::LinkFlap
            | HostFault::ChecksumErrors
            | HostFault::PayloadRewrite
            | HostFault::RandomDrop
            | HostFault::AddressMissing
            | HostFault::WrongAddress
            | HostFault::WrongNetmask
            | HostFault::DuplicateAddress
            | HostFault::DuplicateMac
            | HostFault::ArpDrop
            | HostFault::NeighborPoisoned
            | HostFault::WrongGateway
            | HostFault::GatewayDead
            | HostFault::NoDefaultRoute
            | HostFault::NoReturnRoute
            | HostFault::StaticBlackhole
            | HostFault::ContainerOverlap
            | HostFault::IpForwardOff
            | HostFault::RpFilterDrop
            | HostFault::PolicyRule
            | HostFault::EcmpLeg
            | HostFault::Ipv6Disabled
            | HostFault::FragNeededDrop
            | HostFault::MtuMismatch
            | HostFault::DscpRewrite
            | HostFault::BridgePort
            | HostFault::VniMismatch
            | HostFault::DnsWrongRecord
            | HostFault::DnsSlow
            | HostFault::WrongResolver
            | HostFault::NoResolver
            | HostFault::HostsOverride
            | HostFault::DhcpServerDown
            | HostFault::DhcpNoRange
            | HostFault::DhcpPoolFull
            | HostFault::DhcpWrongOption
            | HostFault::DhcpRogue
            | HostFault::BoundToLoopback
            | HostFault::AcceptQueueFull
            | HostFault::SynFlood
            | HostFault::ReceiveWindow
            | HostFault::ReceiveBuffer
            | HostFault::ConntrackFull
            | HostFault::SnatPorts
            | HostFault::NatMissing
            | HostFault::PortRangeExhausted
            | HostFault::BgpAsnMismatch
            | HostFault::BgpMaxPrefix
            | HostFault::BgpNotAnnounced
            | HostFault::BgpBlackholeCommunity
            | HostFault::BgpHijack
            | HostFault::OspfAreaMismatch
            | HostFault::OspfNotEnabled
            | HostFault::OspfTimerMismatch
            | HostFault::RoutingDaemonDown
            | HostFault::UnitFailed
            | HostFault::DeviceErrors
            | HostFault::SoftnetDrop => Self::Host(fault),
        }
    }
}

/// Returns what kind of object has it.
pub(super) const fn object_kind(fault: HostFault) -> ObjectKind {
    match fault {
        HostFault::LinkMissing
        | HostFault::LinkDown
        | HostFault::LinkFlap
        | HostFault::MtuMismatch
        | HostFault::BridgePort
        | HostFault::VniMismatch
        | HostFault::DeviceErrors => ObjectKind::Device,
        HostFault::AddressMissing | HostFault::WrongAddress | HostFault::WrongNetmask => ObjectKind::Address,
        HostFault::ChecksumErrors
        | HostFault::DuplicateAddress
        | HostFault::DuplicateMac
        | HostFault::ConntrackFull
        | HostFault::SoftnetDrop => ObjectKind::Host,
        HostFault::NeighborPoisoned => ObjectKind::Neighbor,
        HostFault::WrongGateway
        | HostFault::GatewayDead
        | HostFault::NoDefaultRoute
        | HostFault::NoReturnRoute
        | HostFault::StaticBlackhole
        | HostFault::ContainerOverlap
        | HostFault::EcmpLeg => ObjectKind::Route,
        HostFault::PolicyRule => ObjectKind::RoutingRule,
        HostFault::IpForwardOff
        | HostFault::RpFilterDrop
        | HostFault::Ipv6Disabled
        | HostFault::ReceiveWindow
        | HostFault::PortRangeExhausted => ObjectKind::Setting,
        HostFault::RateLimit
        | HostFault::NetemLoss
        | HostFault::NetemDelay
        | HostFault::NetemCorrupt
        | HostFault::NetemDuplicate
        | HostFault::NetemReorder => ObjectKind::Qdisc,
        HostFault::GuestFirewallDrop | HostFault::GuestFirewallReject => ObjectKind::GuestRule,
        HostFault::PayloadRewrite
        | HostFault::RandomDrop
        | HostFault::ArpDrop
        | HostFault::FragNeededDrop
        | HostFault::DscpRewrite
        | HostFault::SnatPorts
        | HostFault::NatMissing
        | HostFault::GuestFirewallPolicyDrop => ObjectKind::GuestChain,
        HostFault::AsymmetricPath => ObjectKind::Flow,
        HostFault::DnsFailure | HostFault::DnsWrongRecord | HostFault::DnsSlow => ObjectKind::NameServer,
        HostFault::WrongResolver | HostFault::NoResolver | HostFault::HostsOverride => ObjectKind::Resolver,
        HostFault::DhcpServerDown
        | HostFault::DhcpNoRange
        | HostFault::DhcpPoolFull
        | HostFault::DhcpWrongOption
        | HostFault::DhcpRogue => ObjectKind::DhcpServer,
        HostFault::NotListening => ObjectKind::Listener,
        HostFault::BoundToLoopback
        | HostFault::AcceptQueueFull
        | HostFault::SynFlood
        | HostFault::ReceiveBuffer => ObjectKind::Service,
        HostFault::BgpAsnMismatch
        | HostFault::BgpMaxPrefix
        | HostFault::BgpNotAnnounced
        | HostFault::BgpBlackholeCommunity
        | HostFault::BgpHijack => ObjectKind::Bgp,
        HostFault::OspfAreaMismatch | HostFault::OspfNotEnabled | HostFault::OspfTimerMismatch => {
            ObjectKind::Ospf
        }
        HostFault::RoutingDaemonDown | HostFault::UnitFailed => ObjectKind::Unit,
    }
}

/// Returns the layer that it lies in.
pub(crate) const fn layer(fault: HostFault) -> Layer {
    match fault {
        HostFault::LinkMissing
        | HostFault::LinkDown
        | HostFault::LinkFlap
        | HostFault::ChecksumErrors
        | HostFault::AddressMissing
        | HostFault::WrongAddress
        | HostFault::WrongNetmask
        | HostFault::DuplicateAddress
        | HostFault::DuplicateMac
        | HostFault::NeighborPoisoned
        | HostFault::MtuMismatch
        | HostFault::BridgePort
        | HostFault::VniMismatch
        | HostFault::DhcpServerDown
        | HostFault::DhcpNoRange
        | HostFault::DhcpPoolFull
        | HostFault::DhcpWrongOption
        | HostFault::DhcpRogue
        | HostFault::Ipv6Disabled
        | HostFault::DeviceErrors => Layer::Links,
        HostFault::WrongGateway
        | HostFault::GatewayDead
        | HostFault::NoDefaultRoute
        | HostFault::NoReturnRoute
        | HostFault::StaticBlackhole
        | HostFault::ContainerOverlap
        | HostFault::EcmpLeg
        | HostFault::PolicyRule
        | HostFault::IpForwardOff
        | HostFault::RpFilterDrop
        | HostFault::AsymmetricPath
        | HostFault::BgpAsnMismatch
        | HostFault::BgpMaxPrefix
        | HostFault::BgpNotAnnounced
        | HostFault::BgpBlackholeCommunity
        | HostFault::BgpHijack
        | HostFault::OspfAreaMismatch
        | HostFault::OspfNotEnabled
        | HostFault::OspfTimerMismatch
        | HostFault::RoutingDaemonDown => Layer::Routes,
        HostFault::GuestFirewallDrop
        | HostFault::GuestFirewallReject
        | HostFault::GuestFirewallPolicyDrop
        | HostFault::PayloadRewrite
        | HostFault::RandomDrop
        | HostFault::ArpDrop
        | HostFault::FragNeededDrop
        | HostFault::DscpRewrite
        | HostFault::SnatPorts
        | HostFault::NatMissing => Layer::Guest,
        HostFault::RateLimit
        | HostFault::NetemLoss
        | HostFault::NetemDelay
        | HostFault::NetemCorrupt
        | HostFault::NetemDuplicate
        | HostFault::NetemReorder => Layer::Shaping,
        HostFault::DnsFailure
        | HostFault::DnsWrongRecord
        | HostFault::DnsSlow
        | HostFault::WrongResolver
        | HostFault::NoResolver
        | HostFault::HostsOverride => Layer::Names,
        HostFault::NotListening
        | HostFault::BoundToLoopback
        | HostFault::AcceptQueueFull
        | HostFault::SynFlood
        | HostFault::ReceiveWindow
        | HostFault::ReceiveBuffer
        | HostFault::ConntrackFull
        | HostFault::PortRangeExhausted
        | HostFault::UnitFailed
        | HostFault::SoftnetDrop => Layer::Sockets,
    }
}

/// Nothing arrives.
const CUT: &[Symptom] = &[
    Symptom::Unreachable,
    Symptom::Hanging,
    Symptom::OneProtocol,
    Symptom::Lossy,
    Symptom::Containers,
    Symptom::InternetLost,
    Symptom::StorageUnreachable,
];
const NAMES: &[Symptom] = &[Symptom::Names];
const SLOW: &[Symptom] = &[Symptom::Slow];
const REFUSED: &[Symptom] = &[Symptom::Refused];

/// Lists what somebody may see because of it.
pub(crate) const fn symptoms(fault: HostFault) -> &'static [&'static [Symptom]] {
    match fault {
        // Nothing of the machine, or nothing toward a network, passes.
        HostFault::LinkMissing
        | HostFault::LinkDown
        | HostFault::AddressMissing
        | HostFault::WrongAddress
        | HostFault::WrongNetmask
        | HostFault::ArpDrop
        | HostFault::NeighborPoisoned
        | HostFault::WrongGateway
        | HostFault::GatewayDead
        | HostFault::NoDefaultRoute
        | HostFault::NoReturnRoute
        | HostFault::StaticBlackhole
        | HostFault::ContainerOverlap
        | HostFault::IpForwardOff
        | HostFault::RpFilterDrop
        | HostFault::PolicyRule
        | HostFault::AsymmetricPath
        | HostFault::Ipv6Disabled
        | HostFault::GuestFirewallPolicyDrop
        | HostFault::BridgePort
        | HostFault::VniMismatch
        | HostFault::BgpAsnMismatch
        | HostFault::BgpMaxPrefix
        | HostFault::BgpNotAnnounced
        | HostFault::BgpBlackholeCommunity
        | HostFault::BgpHijack
        | HostFault::OspfAreaMismatch
        | HostFault::OspfNotEnabled
        | HostFault::OspfTimerMismatch
        | HostFault::RoutingDaemonDown
        | HostFault::DhcpServerDown
        | HostFault::DhcpNoRange
        | HostFault::DhcpPoolFull
        | HostFault::DhcpWrongOption
        | HostFault::DhcpRogue
        | HostFault::NatMissing => &[CUT, NAMES],
        // Some packets or some connections do not.
        HostFault::LinkFlap
        | HostFault::ChecksumErrors
        | HostFault::PayloadRewrite
        | HostFault::RandomDrop
        | HostFault::EcmpLeg
        | HostFault::DuplicateAddress
        | HostFault::DuplicateMac
        | HostFault::DeviceErrors
        | HostFault::SoftnetDrop
        | HostFault::ConntrackFull
        | HostFault::SnatPorts
        | HostFault::NetemLoss
        | HostFault::ReceiveBuffer => &[CUT, NAMES, SLOW],
        HostFault::PortRangeExhausted | HostFault::SynFlood | HostFault::AcceptQueueFull => {
            &[CUT, SLOW, REFUSED]
        }
        HostFault::GuestFirewallDrop => &[CUT, NAMES],
        HostFault::GuestFirewallReject => &[CUT, NAMES, REFUSED],
        HostFault::FragNeededDrop | HostFault::MtuMismatch => &[CUT, SLOW],
        HostFault::RateLimit
        | HostFault::NetemDelay
        | HostFault::NetemCorrupt
        | HostFault::NetemDuplicate
        | HostFault::NetemReorder
        | HostFault::DscpRewrite
        | HostFault::ReceiveWindow => &[SLOW, &[Symptom::Lossy]],
        HostFault::DnsSlow | HostFault::WrongResolver => &[NAMES],
        HostFault::DnsFailure
        | HostFault::DnsWrongRecord
        | HostFault::NoResolver
        | HostFault::HostsOverride => &[NAMES, &[Symptom::InternetLost, Symptom::Unreachable]],
        HostFault::NotListening | HostFault::BoundToLoopback | HostFault::UnitFailed => &[CUT, REFUSED],
    }
}

/// Headlines of faults whose name alone would not say what has them. All others bear the words of the catalog.
const OWN_TITLES: [(HostFault, &str); 3] = [
    (HostFault::UnitFailed, "the service {object} has failed"),
    (HostFault::HostsOverride, "the line for {object} in /etc/hosts hides the name server's answer"),
    (HostFault::WrongResolver, "{object} does not answer as a name server"),
];

/// Returns its name as a headline: a sentence without a full stop.
pub(super) fn title(fault: HostFault, object: &str) -> String {
    let own = OWN_TITLES.iter().find(|(known, _)| *known == fault).map(|(_, words)| *words);
    capital(&own.unwrap_or(fault.text().words).replace("{object}", &named(object)))
}

/// Names an object as a person would: `eth0 of web-1`.
fn named(object: &str) -> String {
    let parts: Vec<&str> = object.split('/').collect();
    // Only the last part may hold a slash of its own.
    let rest = |at: usize| parts.get(at..).unwrap_or_default().join("/");
    match parts.as_slice() {
        ["link" | "address" | "qdisc" | "ospf", host, ..] => format!("{} of {host}", rest(2)),
        ["neighbour", host, ..] => format!("the entry of {host} for {}", rest(2)),
        ["route", host, "default"] => format!("the default route of {host}"),
        ["route", host, ..] => format!("the route of {host} to {}", rest(2)),
        ["rule", host, ..] => format!("the routing rule {} of {host}", rest(2)),
        ["sysctl", host, ..] => format!("{} of {host}", rest(2)),
        ["netfilter", host, table, ..] => format!("the chain {} of {table} on {host}", rest(3)),
        ["service", host, protocol, port] => format!("{protocol} port {port} of {host}"),
        ["service", host, ..] => format!("{} of {host}", rest(2)),
        ["bgp", host, peer] => format!("the session of {host} with {peer}"),
        ["bgp", host, ..] => format!("{} of {host}", rest(2)),
        ["resolver", host, "none"] => host.to_string(),
        ["resolver", host, ..] => format!("{} of {host}", rest(2)),
        ["dns", server] => format!("the name server {server}"),
        ["dns", server, ..] => format!("{} of the name server {server}", rest(2)),
        ["dhcp", server] => format!("the DHCP server {server}"),
        ["dhcp", server, ..] => format!("{} of the DHCP server {server}", rest(2)),
        ["flow", from, to, ..] => format!("what goes from {from} to {to}"),
        ["host", ..] => rest(1),
        _ => object.to_owned(),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    // A name keeps its letters: `eth0`.
    let is_word =
        text.split(' ').next().is_some_and(|word| word.chars().all(|char| char.is_ascii_lowercase()));
    match chars.next() {
        Some(first) if is_word => first.to_uppercase().chain(chars).collect(),
        Some(_) | None => text.to_owned(),
    }
}

/// Returns how the fault works and what it explains.
pub(super) const fn mechanism(fault: HostFault) -> &'static str {
    match fault {
        HostFault::LinkMissing => {
            "The device that this traffic needs is not in the machine, so nothing can leave by it."
        }
        HostFault::LinkDown => {
            "A device that is down neither sends nor receives. Its routes are gone with it."
        }
        HostFault::LinkFlap => {
            "Each time the carrier goes, packets are lost and connections stall until it is back."
        }
        HostFault::RateLimit => {
            "The machine sends no faster than this limit. What exceeds it waits, and is dropped."
        }
        HostFault::NetemLoss => {
            "The machine drops a share of what it sends. That has to be sent again, and is slow."
        }
        HostFault::NetemDelay => "The machine holds back what it sends, so every answer takes longer.",
        HostFault::NetemCorrupt => {
            "The machine damages a share of what it sends. The receiver drops that, and it has to be sent again."
        }
        HostFault::NetemDuplicate => "The machine sends a share of its packets twice.",
        HostFault::NetemReorder => {
            "The machine sends packets out of order. TCP takes that for loss, and sends more slowly."
        }
        HostFault::ChecksumErrors => {
            "Packets arrive damaged. The receiver drops them, and they have to be sent again."
        }
        HostFault::PayloadRewrite => {
            "A rule changes bytes of packets that pass, so the receiver drops them as damaged."
        }
        HostFault::RandomDrop => {
            "A rule drops a share of the packets. What is lost has to be sent again, and that is slow."
        }
        HostFault::AddressMissing => {
            "Without an address of its own the machine neither sends nor answers on this network."
        }
        HostFault::WrongAddress => "Others call an address that the machine does not have any more.",
        HostFault::WrongNetmask => {
            "The machine takes neighbors for distant machines, or distant ones for neighbors, and sends their packets the wrong direction."
        }
        HostFault::DuplicateAddress => {
            "Two machines answer for one address, and packets reach now one, now the other."
        }
        HostFault::DuplicateMac => {
            "Switches learn one hardware address at two ports, and packets reach now one, now the other."
        }
        HostFault::ArpDrop => {
            "The machine never learns the hardware address of its neighbors, so it reaches none of them."
        }
        HostFault::NeighborPoisoned => "Packets for this neighbor are sent to another machine.",
        HostFault::WrongGateway => {
            "Whatever is not on the own network is sent to a machine that does not pass it on."
        }
        HostFault::GatewayDead => {
            "Whatever is not on the own network goes to this gateway, and nobody answers there."
        }
        HostFault::NoDefaultRoute => {
            "Nothing leads to networks that the machine is not in, so programs fail at once."
        }
        HostFault::NoReturnRoute => {
            "Requests arrive, and answers have no route back, so callers wait in vain."
        }
        HostFault::StaticBlackhole => "The most specific route wins, and this one throws its packets away.",
        HostFault::ContainerOverlap => {
            "The machine takes the address for that of a container of its own, so that nothing leaves it."
        }
        HostFault::IpForwardOff => "The machine is a gateway for others and passes nothing on.",
        HostFault::RpFilterDrop => {
            "The kernel drops packets that arrive by another device than the one by which it would answer. Captures show them, programs do not."
        }
        HostFault::PolicyRule => {
            "A routing rule is looked at before the main table and sends this traffic elsewhere."
        }
        HostFault::EcmpLeg => {
            "Connections are spread over several next hops. Those that meet the dead one fail, the others work."
        }
        HostFault::AsymmetricPath => {
            "The filter sees only one direction, takes the packets for invalid and drops them."
        }
        HostFault::Ipv6Disabled => "Programs that try IPv6 first fail or wait before they try IPv4.",
        HostFault::GuestFirewallDrop => "The machine itself drops these packets. Callers hang.",
        HostFault::GuestFirewallReject => "The machine itself refuses these packets.",
        HostFault::GuestFirewallPolicyDrop => "The machine drops what no rule allows.",
        HostFault::FragNeededDrop => {
            "The sender never learns that its packets are too large. Small packets pass, large ones are lost again and again."
        }
        HostFault::MtuMismatch => {
            "Packets that one end sends are larger than the other end takes: small ones pass, large ones do not."
        }
        HostFault::DscpRewrite => "Packets lose their class, so they wait behind everything else.",
        HostFault::BridgePort => {
            "Two isolated ports of a bridge never reach each other, though both reach everybody else."
        }
        HostFault::VniMismatch => "The ends of the tunnel drop what carries another number than their own.",
        HostFault::DnsFailure => "Names are not resolved, so programs fail before they connect.",
        HostFault::DnsWrongRecord => {
            "Programs connect to the address that the record names, which is another machine."
        }
        HostFault::DnsSlow => "Every program that asks for a name waits for this server first.",
        HostFault::WrongResolver => {
            "The machine asks this address first and waits until it gives up, before it asks the next server."
        }
        HostFault::NoResolver => "The machine has nobody to ask for names, so every name fails at once.",
        HostFault::HostsOverride => {
            "The machine's own file is read first, so a changed record never reaches its programs."
        }
        HostFault::DhcpServerDown | HostFault::DhcpNoRange | HostFault::DhcpPoolFull => {
            "A machine that asks for an address gets none, so it has no network. Those that have one keep it until it runs out."
        }
        HostFault::DhcpWrongOption => {
            "Every machine that asks this server is set up wrongly, and again each time that somebody sets it right by hand."
        }
        HostFault::DhcpRogue => {
            "Whichever server answers first sets a machine up, so some machines are sent to the wrong gateway."
        }
        HostFault::NotListening => "The packet arrives, and nobody takes the connection.",
        HostFault::BoundToLoopback => {
            "The service listens on the loopback address alone: it works on the machine, and nobody else reaches it."
        }
        HostFault::AcceptQueueFull => {
            "The kernel finishes no more connections until the service takes those that wait."
        }
        HostFault::SynFlood => "Half-open connections fill the queue, so honest callers are not answered.",
        HostFault::ReceiveWindow => {
            "The receiver lets the sender send little at a time, and every round trip costs."
        }
        HostFault::ReceiveBuffer => "Datagrams that nobody reads in time are dropped.",
        HostFault::ConntrackFull => "New connections are dropped while those that are known go on.",
        HostFault::SnatPorts => "New connections through the translation fail while open ones go on.",
        HostFault::NatMissing => "Packets leave with an address to which nobody can answer.",
        HostFault::PortRangeExhausted => {
            "The machine has no port left for new connections to that destination; a retry may work."
        }
        HostFault::BgpAsnMismatch => {
            "One end refuses the number of the other, so the session never comes up and no route passes it."
        }
        HostFault::BgpMaxPrefix => {
            "The router ended the session to protect itself, and keeps it down until somebody clears it."
        }
        HostFault::BgpNotAnnounced => {
            "The sessions are up, and nobody else learns where this network is, so packets for it are dropped on their path."
        }
        HostFault::BgpBlackholeCommunity => {
            "Routers that hear this community throw packets for the network away, or pass the route to nobody."
        }
        HostFault::BgpHijack => {
            "The most specific route wins, so packets for these addresses go to another router."
        }
        HostFault::OspfAreaMismatch | HostFault::OspfTimerMismatch => {
            "Routers take each other's hellos only where both say the same, so they never become neighbors and no route passes this link."
        }
        HostFault::OspfNotEnabled => {
            "The other end says hello, and nobody answers, so no route passes this link."
        }
        HostFault::RoutingDaemonDown => {
            "The machine neither learns nor announces routes, and what was learned goes as soon as it ends."
        }
        HostFault::UnitFailed => "What the service does for the network is not done.",
        HostFault::DeviceErrors => "The device loses packets, and what is lost has to be sent again.",
        HostFault::SoftnetDrop => {
            "The kernel's input queue is full, and packets are dropped before any program sees them."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_of_a_machine_has_one_code_whether_the_cloud_shows_it_or_not() {
        for fault in HostFault::ALL {
            let own = Fault::of_host(fault);
            assert_eq!(own.as_str(), fault.as_str());
            assert_eq!(own.as_str().parse(), Ok(own), "{fault:?}");
            assert_eq!(OF_HOSTS.contains(&fault), own == Fault::Host(fault), "{fault:?}");
            assert_eq!(own.object_kind(), object_kind(fault), "{fault:?}");
        }
    }

    #[test]
    fn objects_are_named_as_people_name_them() {
        for (fault, object, expected) in [
            (HostFault::LinkDown, "link/web-1/eth0", "eth0 of web-1 is down"),
            (HostFault::DnsSlow, "dns/10.0.0.53", "The name server 10.0.0.53 answers late"),
            (HostFault::NoDefaultRoute, "route/web-1/default", "The default route of web-1 is missing"),
            (
                HostFault::StaticBlackhole,
                "route/a/10.1.0.0/16",
                "The route of a to 10.1.0.0/16 throws packets away",
            ),
            (HostFault::NoResolver, "resolver/a/none", "a: no name server is configured"),
            (
                HostFault::BgpMaxPrefix,
                "bgp/r1/192.0.2.1",
                "The session of r1 with 192.0.2.1 was ended because of too many prefixes",
            ),
            (
                HostFault::BgpNotAnnounced,
                "bgp/r1/10.1.0.0/16",
                "10.1.0.0/16 of r1 is not announced by the router that it hangs on",
            ),
            (HostFault::UnitFailed, "service/a/ssh.service", "The service ssh.service of a has failed"),
        ] {
            assert_eq!(title(fault, object), expected);
        }
    }
}
