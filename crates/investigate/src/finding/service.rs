//! The names of faults in services of the platform, and how they work.

use super::fault::{Fault, traffic};

/// A fault, its headline, and how it works. In a headline `{1}` is the first name of the object behind its kind, `{2..}` the second with
/// all behind it, and `{3 4}` a protocol with a port.
type Text = (Fault, &'static str, &'static str);

const TEXTS: [Text; 48] = [
    (
        Fault::PeeringDisconnected,
        "Peering {2..} of {1} is not connected",
        "A peering carries packets only while both sides are connected. Where one side is gone, nothing passes in either direction, whatever rules and routes say.",
    ),
    (
        Fault::PeeringMissing,
        "Networks {1} and {2..} are not peered",
        "Nothing leads from one network to the other. The platform throws packets for private addresses away that no network of the path holds.",
    ),
    (
        Fault::PeeringAccessOff,
        "Peering {2..} of {1} gives the other network no access",
        "Packets still have a path, but the other network is no part of what rules call the virtual network, so the last rule of a group denies them.",
    ),
    (
        Fault::PeeringForwardingOff,
        "Peering {2..} of {1} does not let in what others forward",
        "The peering takes in only what comes from the other network itself. Packets that an appliance there passes on come from elsewhere, and are dropped.",
    ),
    (
        Fault::PeeringTransitOff,
        "Peering {2..} of {1} keeps the gateway from the other network",
        "A network without a gateway uses that of another one only where the one lends it and the other uses it. Without that it learns no routes to what lies behind the gateway.",
    ),
    (
        Fault::PeeringNotSynced,
        "Peering {2..} of {1} does not know new addresses of the other network",
        "The peering keeps the addresses that the other network had when both were last brought in step. Nothing leads to those that were added later.",
    ),
    (
        Fault::VmStopped,
        "{1..} does not run",
        "A machine that does not run answers nobody, and nothing on the path shows it.",
    ),
    (
        Fault::LbProbeMismatch,
        "Probe {2..} of {1} does not fit what is served",
        "A load balancer sends nothing to members whose probe fails. This probe asks for something that the members do not serve, though what the rule leads to is served.",
    ),
    (
        Fault::LbProbeStatus,
        "Probe {2..} of {1} is answered with another status than 200",
        "The probe asks for a page, and only one that comes with status 200 counts. A member with any other status gets nothing, though its port is open.",
    ),
    (
        Fault::LbBackendEmpty,
        "Pool {2..} of {1} has no member",
        "The rule leads to a pool, and nobody is in it: every connection is dropped.",
    ),
    (
        Fault::LbRuleMissing,
        "No rule of {1} takes {3 4} at {2}",
        "A load balancer passes on only the ports that its rules name. Everything else is dropped without an answer.",
    ),
    (
        Fault::LbFloatingIp,
        "Rule {2..} of {1} needs an address that the machine does not have",
        "The rule leaves the address of the load balancer in the packet. A machine that does not have that address drops it.",
    ),
    (
        Fault::LbAdminDown,
        "{3..} is taken out of pool {2} of {1}",
        "The member is set to take nothing, whatever its probe says.",
    ),
    (
        Fault::NotListening,
        "Nobody listens on {1} for {2 3}",
        "Callers of this port are refused, and a load balancer whose probe is refused sends nothing there.",
    ),
    (
        Fault::FirewallDeny,
        "Rule {3..} of the collection {2} of firewall {1} denies the traffic",
        "A firewall asks its rules in order, and the first that fits decides. What it denies is dropped without an answer. What security groups and routes allow does not help.",
    ),
    (
        Fault::FirewallDefaultDeny,
        "No rule of firewall {1} lets {2 3} through",
        "A firewall drops without an answer whatever no rule of its own lets through. A security group that lets it in does not help.",
    ),
    (
        Fault::FirewallDnsProxyOff,
        "Firewall {1} is asked for names and does not answer",
        "Machines of the network ask the firewall for names, and its DNS proxy is off: nobody answers there, and no name is found.",
    ),
    (
        Fault::PeNotApproved,
        "The connection of private endpoint {1..} is not approved",
        "The endpoint has an address, and the service behind it has not let it in. Its packets are dropped without an answer, though the endpoint itself was made without an error.",
    ),
    (
        Fault::PrivateDnsUnlinked,
        "Network {2..} does not see the private zone {1}",
        "Machines ask the platform for names, and it answers from the private zones that are linked to the network of whoever asks. Without the link the public address comes back, at which the service refuses or does not answer.",
    ),
    (
        Fault::PrivateDnsShadow,
        "The private zone {1} hides other people's names in {2..}",
        "A zone that is linked answers for every name below it. A name that belongs to somebody else is not in it, so it does not exist there, though everybody else finds it.",
    ),
    (
        Fault::PrivateDnsRecordMissing,
        "The private zone {1} has no record {2..}",
        "The network sees the zone, and the zone does not hold the name: it was made without a zone group, or the record was forgotten. The name does not exist there, or leads to the public address.",
    ),
    (
        Fault::PrivateDnsRecordStale,
        "Record {2..} of the private zone {1} is an old address",
        "The endpoint was made again and has another address. The record still leads to the old one, where nobody answers or somebody else does.",
    ),
    (
        Fault::DnsServerWrong,
        "Network {1} asks a name server that does not answer",
        "The machines of a network ask the servers that it names, and nobody else. Where nobody is there, no name is found.",
    ),
    (
        Fault::DnsForwarderMissing,
        "Name server {1} does not ask the platform for {2..}",
        "A name server of one's own knows private zones only by asking the platform at 168.63.129.16. This one asks elsewhere, and gets the public address or none.",
    ),
    (
        Fault::OutboundAbsent,
        "Subnet {2} of {1} has no path to the internet",
        "The route leads to the internet, and the machines have no address there. The subnet has no NAT gateway, no outbound rule and no default access. Packets are dropped without an answer.",
    ),
    (
        Fault::NatUnconfigured,
        "NAT gateway {1..} has no public address",
        "The subnet leaves by its NAT gateway and by nothing else, and the gateway has no address to leave with. Packets are dropped without an answer.",
    ),
    (
        Fault::SnatExhausted,
        "The ports of {1..} for calls to the internet ran out",
        "Calls to one destination share the ports of a public address. Where all are in use, new calls to that destination fail, and others still work. It passes when ports are free again.",
    ),
    (
        Fault::VpnDown,
        "Connection {1..} of the gateway is not up",
        "The gateway encrypts what goes to the other site, and has nobody to do that with while the connection is down. Packets to the site are dropped without an answer.",
    ),
    (
        Fault::VpnKeyMismatch,
        "Both sides of connection {1..} have different keys",
        "A connection comes up only where both sides prove the same shared key. With different ones it is tried again and again, and carries nothing.",
    ),
    (
        Fault::VpnIkeMismatch,
        "Both sides of connection {1..} do not agree on how to encrypt",
        "Both sides propose how to encrypt, and no proposal of the one is among those of the other. The connection does not come up.",
    ),
    (
        Fault::VpnPeerUnreachable,
        "The other side of connection {1..} does not answer",
        "The gateway calls the address that its local network gateway names, and hears nothing. It is the wrong address, or the site is down, or something before it drops UDP 500 and 4500.",
    ),
    (
        Fault::VpnPrefixMissing,
        "Local network gateway {1..} lacks an address of its site",
        "A gateway sends to a site what its local network gateway lists. Nothing leads to an address that is not in that list.",
    ),
    (
        Fault::VpnPrefixOverlap,
        "Site {1..} has addresses that the network has, too",
        "What leads to the network itself goes before everything that a gateway brings. Packets for these addresses stay in the network, where nobody has them.",
    ),
    (
        Fault::BgpPeerDown,
        "Gateway {1} does not speak BGP with {2..}",
        "A gateway with BGP learns from the other side where to send. While they do not speak, the routes are gone, though the connection itself may be up.",
    ),
    (
        Fault::BgpRouteMissing,
        "Gateway {1} did not learn a route to {2..}",
        "A gateway with BGP sends only where the other side announced something. Nobody announces this, though both speak with each other.",
    ),
    (
        Fault::RoutePropagationOff,
        "Route table {1..} keeps out what gateways know",
        "A route table can keep its subnets from the routes of gateways. Machines there do not know the other site, and those of other subnets do.",
    ),
    (
        Fault::ErCircuitDown,
        "Circuit {1..} carries nothing",
        "A circuit carries packets once the platform has enabled it and its provider has provisioned it. This one is not there yet, or no longer.",
    ),
    (
        Fault::ErPeeringDown,
        "Peering {2..} of circuit {1} is off",
        "The routes to the other site come by the private peering of the circuit. While it is off none are learned, though the circuit is up.",
    ),
    (
        Fault::AppgwProbeMismatch,
        "Probe {2..} of {1} is answered otherwise than it expects",
        "An application gateway sends requests only to servers whose probe gets the page that it expects. Where no server gives that page, callers see 502 Bad Gateway, though the application runs.",
    ),
    (
        Fault::AppgwBackendTls,
        "{1} does not take the certificate of its servers (settings {2..})",
        "The gateway calls its servers by TLS. Their certificate has to be for the name in the settings, and signed by somebody the gateway trusts, and it must not have expired. Otherwise callers see 502 Bad Gateway.",
    ),
    (
        Fault::AppgwCertExpired,
        "The certificate of listener {2..} of {1} has expired",
        "Browsers and programs refuse a certificate whose end has passed, before they send a request. The gateway and its servers may be in order.",
    ),
    (
        Fault::AppgwPoolEmpty,
        "Pool {2..} of {1} has no server",
        "The rule leads to a pool, and nobody is in it: callers see 502 Bad Gateway.",
    ),
    (
        Fault::AppgwStopped,
        "Application gateway {1..} is stopped",
        "A gateway that is stopped keeps its settings and answers nobody.",
    ),
    (
        Fault::AppgwBackendDown,
        "{3..} in pool {2} does not answer {1}",
        "The gateway gets no answer of this server, and nothing that was read says why. While no server answers, callers see 502 Bad Gateway.",
    ),
    (
        Fault::AksStopped,
        "Cluster {1..} is stopped",
        "A cluster that is stopped keeps its settings; its API server and its nodes are not there, and nothing of it answers.",
    ),
    (
        Fault::AksApiRestricted,
        "The API server of {1..} does not take calls of this address",
        "The API server takes calls only of the authorized ranges. Whoever comes from another address gets no answer, though everything else of the cluster is in order.",
    ),
    (
        Fault::BastionUnconfigured,
        "Bastion host {1..} is not set to do that",
        "Clients of people's own pass a bastion host only with tunneling. It calls addresses of other sites only with IP-based connection. Both need a setting and the Standard tier. Sessions in the portal need neither.",
    ),
    (
        Fault::PlatformEvent,
        "The platform has trouble of its own ({1..})",
        "The platform says that a service is disturbed in the region of these machines, or that it took a machine away. No rule, route or setting of anybody's shows that.",
    ),
];

/// Returns the headline of a fault for the parts of an object.
pub(super) fn title(fault: Fault, parts: &[&str]) -> String {
    let Some((_, text, _)) = TEXTS.iter().find(|(own, ..)| *own == fault) else {
        return fault.as_str().to_owned();
    };
    let at = |index: usize| parts.get(index).copied().unwrap_or_default().to_owned();
    let mut found = String::new();
    let mut rest = *text;
    while let Some((before, behind)) = rest.split_once('{') {
        found.push_str(before);
        let Some((word, after)) = behind.split_once('}') else { break };
        found.push_str(&match (word.strip_suffix(".."), word.split_once(' ')) {
            (Some(first), _) => parts.get(number(first)..).unwrap_or_default().join("/"),
            (None, Some((protocol, port))) => {
                traffic(&at(number(protocol)), &parts.get(number(port)..).unwrap_or_default().join("/"))
            }
            (None, None) => at(number(word)),
        });
        rest = after;
    }
    found.push_str(rest);
    found
}

fn number(text: &str) -> usize {
    text.parse().unwrap_or(usize::MAX)
}

/// Returns how a fault works.
pub(super) fn mechanism(fault: Fault) -> &'static str {
    TEXTS.iter().find(|(own, ..)| *own == fault).map_or("", |(.., text)| text)
}
