//! Gateways to other sites: connections, sites, circuits, BGP.

use super::text::Line;
use crate::name::{Name, ResourceGroup};

/// Lists the gateways of a group.
#[must_use]
pub fn virtual_gateways(place: &ResourceGroup) -> Line {
    Line::read("network vnet-gateway list").within(place).json()
}

/// Lists the connections of a group; how they are is said of one alone.
#[must_use]
pub fn connections(place: &ResourceGroup) -> Line {
    Line::read("network vpn-connection list").within(place).json()
}

/// Shows a connection, and how it is.
#[must_use]
pub fn connection(place: &ResourceGroup, name: &Name) -> Line {
    Line::read("network vpn-connection show").option("--name", name).within(place).json()
}

/// Lists the sites that connections of a group lead to.
#[must_use]
pub fn local_gateways(place: &ResourceGroup) -> Line {
    Line::read("network local-gateway list").within(place).json()
}

/// Lists the circuits of a group.
#[must_use]
pub fn circuits(place: &ResourceGroup) -> Line {
    Line::read("network express-route list").within(place).json()
}

/// Asks a gateway with whom it speaks BGP.
#[must_use]
pub fn bgp_peers(place: &ResourceGroup, gateway: &Name) -> Line {
    Line::read("network vnet-gateway list-bgp-peer-status").option("--name", gateway).within(place).json()
}

/// Asks a gateway which routes it learned.
#[must_use]
pub fn learned_routes(place: &ResourceGroup, gateway: &Name) -> Line {
    Line::read("network vnet-gateway list-learned-routes").option("--name", gateway).within(place).json()
}

/// Shows what the platform found when somebody last let it examine a connection. `subscription` is that of its id.
#[must_use]
pub fn connection_trouble(place: &ResourceGroup, subscription: &Name, connection: &Name) -> Line {
    let id = format!(
        "/subscriptions/{subscription}/resourceGroups/{}/providers/Microsoft.Network/connections/{connection}",
        place.group
    );
    Line::read("network watcher troubleshooting show").option("--resource", id).json()
}
