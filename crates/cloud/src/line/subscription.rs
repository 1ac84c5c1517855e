//! What lies above resource groups: subscriptions, management groups, and where in them something is.

use std::net::IpAddr;

use super::text::Line;
use crate::name::Name;

/// So many rows of an answer are asked for.
const MAX_ROWS: &str = "100";

/// Lists the subscriptions that whoever is signed in sees.
#[must_use]
pub fn subscriptions() -> Line {
    Line::read("account list").json()
}

/// Lists the management groups. Without the flag `az` registers a provider first, which is a change.
#[must_use]
pub fn management_groups() -> Line {
    Line::read("account management-group list").flag("--no-register").json()
}

/// Asks Resource Graph in which subscription a machine of a name is.
#[must_use]
pub fn find_machine(name: &Name) -> Line {
    graph(format!(
        "Resources | where type =~ \"microsoft.compute/virtualmachines\" and name =~ \"{name}\" | project id, name"
    ))
}

/// Asks Resource Graph in which subscription an interface with an address is.
#[must_use]
pub fn find_address(address: IpAddr) -> Line {
    graph(format!(
        "Resources | where type =~ \"microsoft.network/networkinterfaces\" | mv-expand own = properties.ipConfigurations | where tostring(own.properties.privateIPAddress) == \"{address}\" | project id, name, machine = tostring(properties.virtualMachine.id)"
    ))
}

fn graph(query: String) -> Line {
    Line::read("graph query").option("--graph-query", query).option("--first", MAX_ROWS).json()
}

/// Lists the machines of a whole subscription.
#[must_use]
pub fn machines_of(subscription: &Name) -> Line {
    Line::read("vm list").option("--subscription", subscription).json()
}

/// Lists the interfaces of a whole subscription.
#[must_use]
pub fn interfaces_of(subscription: &Name) -> Line {
    Line::read("network nic list").option("--subscription", subscription).json()
}
