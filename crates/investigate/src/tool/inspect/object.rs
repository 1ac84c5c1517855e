//! How objects of a judged path are named in findings.

use crate::suspect::plain;
use ghost_inspect::path::Object;

/// Names an object: a part that could break out of it becomes plain.
pub(super) fn object(object: &Object) -> String {
    let parts = |all: &[&str]| all.iter().map(|part| plain(part)).collect::<Vec<_>>().join("/");
    match object {
        Object::NsgRule { group, rule } => parts(&["nsg", group, rule]),
        Object::Route { table, route } => parts(&["route", table, route]),
        Object::GuestRule { machine, table, chain, protocol, port } => {
            format!("{}/{}", parts(&["netfilter", machine, table, chain, protocol]), ports(port))
        }
        Object::GuestChain { machine, table, chain } => parts(&["netfilter", machine, table, chain]),
        Object::Ban { machine, chain, ip } => format!("{}/{ip}", parts(&["netfilter", machine, chain])),
        Object::Qdisc { machine, device } => parts(&["qdisc", machine, device]),
        Object::Machine { machine } => parts(&["vm", machine]),
        Object::BalancerPort { balancer, frontend, protocol, port } => {
            format!("{}/{protocol}/{port}", parts(&["lb", balancer, frontend]))
        }
        Object::BalancerPart { balancer, part } => parts(&["lb", balancer, part]),
        Object::BalancerMember { balancer, pool, address } => {
            format!("{}/{address}", parts(&["lb", balancer, pool]))
        }
        Object::Listener { machine, protocol, port } => {
            format!("{}/{protocol}/{port}", parts(&["listener", machine]))
        }
        Object::FirewallRule { firewall, collection, rule } => {
            parts(&["firewall", firewall, collection, rule])
        }
        Object::FirewallPort { firewall, protocol, port } => {
            let port = port.map_or_else(|| "any".to_owned(), |port| port.to_string());
            format!("{}/{protocol}/{port}", parts(&["firewall", firewall]))
        }
        Object::FirewallNames { firewall } => parts(&["firewall", firewall, "dns"]),
        Object::Endpoint { endpoint } => parts(&["pe", endpoint]),
        Object::Zone { zone, part } => parts(&["zone", zone, part]),
        Object::NetworkServers { network } => parts(&["vnet", network, "dns"]),
        Object::Forwarder { server, zone } => format!("dns/{server}/{}", plain(zone)),
        Object::SubnetOutbound { network, subnet } => parts(&["subnet", network, subnet, "outbound"]),
        Object::NatGateway { name } => parts(&["natgateway", name]),
        Object::SourceTranslation { name } => parts(&["snat", name]),
        Object::Connection { connection } => parts(&["vpn", connection]),
        Object::LocalGateway { name } => parts(&["localgateway", name]),
        Object::GatewayPeer { gateway, peer } => format!("{}/{peer}", parts(&["bgp", gateway])),
        Object::GatewayPrefix { gateway, prefix } => format!("{}/{prefix}", parts(&["bgp", gateway])),
        Object::RouteTable { table } => parts(&["routetable", table]),
        Object::Circuit { circuit } => parts(&["er", circuit]),
        Object::CircuitPeering { circuit, peering } => parts(&["er", circuit, peering]),
        Object::AppGateway { gateway } => parts(&["appgw", gateway]),
        Object::AppGatewayPart { gateway, part } => parts(&["appgw", gateway, part]),
        Object::AppGatewayServer { gateway, pool, server } => parts(&["appgw", gateway, pool, server]),
        Object::Cluster { cluster } => parts(&["aks", cluster]),
        Object::Bastion { bastion } => parts(&["bastion", bastion]),
        Object::Health { event } => parts(&["health", event]),
        Object::Networks { one, other } => parts(&["peering", one, other]),
        Object::Peering { network, peering } => parts(&["peering", network, peering]),
        Object::Flow { .. } | Object::GuestRoute { .. } | Object::Sysctl { .. } | Object::Network { .. } => {
            object.to_string()
        }
    }
}

/// A list of ports has commas.
fn ports(text: &str) -> String {
    text.split(',').map(plain).collect::<Vec<_>>().join(",")
}
