//! An interface, and what surrounds it.

use std::net::IpAddr;

use serde_json::Value;

use crate::azure::cloud::Cloud;
use crate::azure::estate::Estate;
use crate::azure::target::Target;

/// An interface with its subnet and network.
#[derive(Debug, Clone, Copy)]
pub(in crate::azure) struct Nic<'a> {
    pub(in crate::azure) document: &'a Value,
    /// Its subnet's.
    pub(in crate::azure) subnet: Option<&'a Value>,
    /// Its network's.
    pub(in crate::azure) network: Option<&'a Value>,
}

impl<'a> Nic<'a> {
    /// Finds what surrounds an interface.
    pub(in crate::azure) fn of(estate: &'a Estate, document: &'a Value) -> Self {
        let id =
            document.pointer("/properties/ipConfigurations/0/properties/subnet/id").and_then(Value::as_str);
        let place = id.and_then(Target::parse);
        let subnet = place.as_ref().and_then(|place| estate.get(place));
        let network = place.and_then(|place| place.parent()).and_then(|network| estate.get(&network));
        Self { document, subnet, network }
    }

    pub(in crate::azure) fn addresses(&self) -> Vec<&'a str> {
        let list = self.document.pointer("/properties/ipConfigurations").and_then(Value::as_array);
        let address = |one: &'a Value| one.pointer("/properties/privateIPAddress")?.as_str();
        list.into_iter().flatten().filter_map(address).collect()
    }

    /// Returns the identifier of the machine that it belongs to.
    pub(in crate::azure) fn machine(&self) -> Option<&'a str> {
        self.document.pointer("/properties/virtualMachine/id")?.as_str()
    }
}

/// Finds the first interface of a machine.
pub(in crate::azure) fn by_machine<'a>(estate: &'a Estate, machine: &str) -> Option<Nic<'a>> {
    let mut all = estate.of("Microsoft.Network/networkInterfaces").map(|document| Nic::of(estate, document));
    all.find(|nic| nic.machine().is_some_and(|id| id.eq_ignore_ascii_case(machine)))
}

/// A network that is peered with another, in both directions.
#[derive(Debug, Clone, Copy)]
pub(in crate::azure) struct Neighbor<'a> {
    /// Its document.
    pub(in crate::azure) network: &'a Value,
    /// The peering that leads to it.
    peering: &'a Value,
    /// Whether it belongs to what rules call the virtual network.
    pub(in crate::azure) open: bool,
    /// Whether it lies in another region.
    pub(in crate::azure) far: bool,
}

impl Neighbor<'_> {
    /// Returns its addresses as far as the peering knows them: those that it got later lead nowhere until both sides are in step.
    pub(in crate::azure) fn space(&self) -> Vec<String> {
        let known = self.peering.pointer("/properties/remoteAddressSpace/addressPrefixes");
        let known = known.and_then(Value::as_array).into_iter().flatten();
        let known: Vec<String> = known.filter_map(|prefix| prefix.as_str().map(str::to_owned)).collect();
        if known.is_empty() { space(self.network) } else { known }
    }

    /// Tells whether what others forward comes in from it.
    pub(in crate::azure) fn takes_forwarded(&self) -> bool {
        let allowed = self.peering.pointer("/properties/allowForwardedTraffic").and_then(Value::as_bool);
        allowed.unwrap_or(false)
    }
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
        Some(Neighbor { network: other, peering, open: access.unwrap_or(true), far })
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

/// The tag by which a rule means an address, and the address: names and health, and what a machine asks about itself.
const ADDRESSES: [(&str, &str); 2] =
    [("AzurePlatformDNS", "168.63.129.16"), ("AzurePlatformIMDS", "169.254.169.254")];

/// Returns the tag of an address; nothing where it is none of the platform's own.
///
/// No route of a table or a gateway carries a packet there, and no rule stops one on the outbound path that does not name this tag.
pub(in crate::azure) fn platform_tag(address: IpAddr) -> Option<&'static str> {
    let address = address.to_canonical().to_string();
    ADDRESSES.iter().find(|(_, own)| *own == address).map(|(tag, _)| *tag)
}

/// Returns the prefixes of all of them.
pub(super) fn prefixes() -> impl Iterator<Item = String> {
    ADDRESSES.iter().map(|(_, address)| format!("{address}/32"))
}

/// Returns the prefix of one tag.
pub(super) fn prefix(tag: &str) -> Option<String> {
    ADDRESSES
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(tag))
        .map(|(_, address)| format!("{address}/32"))
}
