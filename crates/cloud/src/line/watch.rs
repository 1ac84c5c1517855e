//! The network watcher: questions, and captures.

use std::net::IpAddr;

use super::text::Line;
use crate::name::{Account, Container, Name, ResourceGroup};

/// Lists the watchers of the subscription: one a region, in a group of their own.
#[must_use]
pub fn watchers(place: &ResourceGroup) -> Line {
    Line::read("network watcher list").pinned(place).json()
}

/// Lists the flow logs of a region.
#[must_use]
pub fn flow_logs(place: &ResourceGroup, region: &Name) -> Line {
    Line::read("network watcher flow-log list").option("--location", region).pinned(place).json()
}

/// Asks where a machine's packets to an address go.
#[must_use]
pub fn next_hop(place: &ResourceGroup, machine: &Name, from: IpAddr, to: IpAddr) -> Line {
    Line::read("network watcher show-next-hop")
        .option("--vm", machine)
        .within(place)
        .option("--source-ip", from.to_string())
        .option("--dest-ip", to.to_string())
        .json()
}

/// Asks whether security rules let a packet pass.
#[must_use]
pub fn ip_flow(
    place: &ResourceGroup,
    machine: &Name,
    inbound: bool,
    protocol: &str,
    local: (IpAddr, u16),
    remote: (IpAddr, u16),
) -> Line {
    let end = |(address, port): (IpAddr, u16)| format!("{address}:{port}");
    Line::read("network watcher test-ip-flow")
        .option("--vm", machine)
        .within(place)
        .option("--direction", if inbound { "Inbound" } else { "Outbound" })
        .option("--protocol", protocol)
        .option("--local", end(local))
        .option("--remote", end(remote))
        .json()
}

/// Lets the platform try a connection from a machine.
#[must_use]
pub fn connectivity(place: &ResourceGroup, machine: &Name, to: IpAddr, port: u16) -> Line {
    Line::read("network watcher test-connectivity")
        .option("--source-resource", machine)
        .within(place)
        .option("--dest-address", to.to_string())
        .option("--dest-port", port.to_string())
        .option("--protocol", "Tcp")
        .json()
}

/// Shows what is connected to what in a group.
#[must_use]
pub fn topology(place: &ResourceGroup) -> Line {
    Line::read("network watcher show-topology").within(place).json()
}

/// How much a capture may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CaptureLimits {
    /// How many seconds.
    pub seconds: u32,
    /// How many bytes in all.
    pub bytes: u64,
    /// How many bytes of a packet; 0 is all of it.
    pub snaplen: u32,
}

/// Begins a capture. This one takes the machine's group; its siblings take the watcher's region.
///
/// `az` searches for an account that is named in the machine's group; `elsewhere` is the account's identifier where it lies in another.
#[must_use]
pub fn capture_create(
    place: &ResourceGroup,
    machine: &Name,
    name: &Name,
    (account, container, elsewhere): (&Account, &Container, Option<&str>),
    limits: CaptureLimits,
    filters: Option<&str>,
) -> Line {
    let path = format!("https://{account}.blob.core.windows.net/{container}/{name}.cap");
    let line = Line::change("network watcher packet-capture create")
        .option("--vm", machine)
        .within(place)
        .option("--name", name)
        .option("--storage-account", elsewhere.unwrap_or(account.as_str()))
        .option("--storage-path", path)
        .option("--time-limit", limits.seconds.to_string())
        .option("--capture-limit", limits.bytes.to_string())
        .option("--capture-size", limits.snaplen.to_string());
    match filters {
        Some(filters) => line.option("--filters", filters).json(),
        None => line.json(),
    }
}

fn capture(line: Line, place: &ResourceGroup, region: &Name, name: &Name) -> Line {
    line.option("--location", region).option("--name", name).pinned(place).json()
}

/// Asks how far a capture is.
#[must_use]
pub fn capture_status(place: &ResourceGroup, region: &Name, name: &Name) -> Line {
    capture(Line::read("network watcher packet-capture show-status"), place, region, name)
}

/// Ends a capture.
#[must_use]
pub fn capture_stop(place: &ResourceGroup, region: &Name, name: &Name) -> Line {
    capture(Line::change("network watcher packet-capture stop"), place, region, name)
}

/// Removes a capture; what it wrote stays.
#[must_use]
pub fn capture_delete(place: &ResourceGroup, region: &Name, name: &Name) -> Line {
    capture(Line::change("network watcher packet-capture delete"), place, region, name)
}

/// Lists the captures of a region.
#[must_use]
pub fn captures(place: &ResourceGroup, region: &Name) -> Line {
    Line::read("network watcher packet-capture list").option("--location", region).pinned(place).json()
}
