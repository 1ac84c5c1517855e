//! A network, and the networks that are peered with it.

use serde_json::Value;

use crate::azure::cloud::Cloud;

/// A network that is peered with another, in both directions.
#[derive(Debug, Clone, Copy)]
pub(in crate::azure) struct Neighbor<'a> {
    /// Its document.
    pub(in crate::azure) network: &'a Value,
    /// Whether it belongs to what rules call the virtual network.
    pub(in crate::azure) open: bool,
    /// Whether it lies in another region.
    pub(in crate::azure) far: bool,
}

/// Returns the networks to which packets of a network go. A peering that only one side has carries nothing.
pub(in crate::azure) fn neighbors<'a>(cloud: &'a Cloud, network: &'a Value) -> Vec<Neighbor<'a>> {
    let own = text(network, "/id");
    let find = |peering: &'a Value| {
        let other = cloud.estate.by_id(text(peering, "/properties/remoteVirtualNetwork/id"))?;
        let back = peerings(other).find(|back| {
            text(back, "/properties/remoteVirtualNetwork/id").eq_ignore_ascii_case(own) && connected(back)
        });
        back.filter(|_| connected(peering))?;
        let access = peering.pointer("/properties/allowVirtualNetworkAccess").and_then(Value::as_bool);
        let far = !text(other, "/location").eq_ignore_ascii_case(text(network, "/location"));
        Some(Neighbor { network: other, open: access.unwrap_or(true), far })
    };
    peerings(network).filter_map(find).collect()
}

/// Returns the address space of a network.
pub(in crate::azure) fn space(network: &Value) -> Vec<String> {
    let list = network.pointer("/properties/addressSpace/addressPrefixes").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|prefix| prefix.as_str().map(str::to_owned)).collect()
}

fn peerings(network: &Value) -> impl Iterator<Item = &Value> {
    let list = network.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
    list.into_iter().flatten()
}

fn connected(peering: &Value) -> bool {
    text(peering, "/properties/peeringState").eq_ignore_ascii_case("Connected")
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
