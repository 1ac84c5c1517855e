//! An interface, and what surrounds it.

use serde_json::Value;

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

    /// Returns its addresses.
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
