//! The network, for whoever carries its packets.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::arm::{runs, service_tags};
use super::blob::{From, lets_in, public};
use super::cloud::Cloud;
use super::effective::{self, routes, rules};
use crate::host::{Account, Fabric, Machine, Neighbor, Nic};

impl Cloud {
    /// Returns the network as it is now: machines, what their interfaces let through and where it goes, accounts.
    #[must_use]
    pub fn fabric(&self) -> Fabric {
        let machines: Vec<Machine> =
            self.estate.of("Microsoft.Compute/virtualMachines").map(|found| machine(self, found)).collect();
        let account = |found: &Value| {
            let in_it = |machine: &&Machine| lets_in(self, found, &From::Machine(machine.name.clone()));
            let lets_in = machines.iter().filter(in_it).map(|machine| machine.name.clone()).collect();
            Account { name: text(found, "/name").to_owned(), lets_in }
        };
        let accounts = self.estate.of("Microsoft.Storage/storageAccounts").map(account).collect();
        Fabric { machines, tags: service_tags(self), accounts }
    }
}

fn machine(cloud: &Cloud, found: &Value) -> Machine {
    let (name, id) = (text(found, "/name"), text(found, "/id"));
    let listed = found.pointer("/properties/networkProfile/networkInterfaces").and_then(Value::as_array);
    let mut nics: Vec<(bool, Nic)> = listed
        .into_iter()
        .flatten()
        .filter_map(|listed| {
            let document = cloud.estate.by_id(text(listed, "/id"))?;
            let own = text(document, "/properties/virtualMachine/id").eq_ignore_ascii_case(id);
            let primary = listed.pointer("/properties/primary").and_then(Value::as_bool).unwrap_or(false);
            own.then(|| (!primary, nic(cloud, document)))
        })
        .collect();
    nics.sort_by_key(|(second, _)| *second);
    Machine {
        name: name.to_owned(),
        running: runs(cloud, name),
        nics: nics.into_iter().map(|(_, nic)| nic).collect(),
    }
}

fn nic(cloud: &Cloud, document: &Value) -> Nic {
    let seen = effective::Nic::of(&cloud.estate, document);
    let list = document.pointer("/properties/ipConfigurations").and_then(Value::as_array);
    let address = |one: &Value| -> Option<(IpAddr, u8)> {
        let address: IpAddr = text(one, "/properties/privateIPAddress").parse().ok()?;
        let subnet = cloud.estate.by_id(text(one, "/properties/subnet/id"));
        Some((
            address,
            subnet.and_then(|subnet| length(subnet, address)).unwrap_or(if address.is_ipv4() {
                24
            } else {
                64
            }),
        ))
    };
    Nic {
        name: text(document, "/name").to_owned(),
        mac: text(document, "/properties/macAddress").replace('-', ":").to_ascii_lowercase(),
        addresses: list.into_iter().flatten().filter_map(address).collect(),
        public: public(cloud, document),
        rules: json!({"value": rules(cloud, &seen)}),
        routes: json!({"value": routes(cloud, &seen)}),
        forwards: document
            .pointer("/properties/enableIPForwarding")
            .and_then(Value::as_bool)
            .unwrap_or(false),
        network: seen.network.map(|network| text(network, "/id").to_ascii_lowercase()).unwrap_or_default(),
        unforwarded: seen.network.map(|network| unforwarded(cloud, network)).unwrap_or_default(),
    }
}

/// Returns the networks whose peering takes in only what comes from themselves.
fn unforwarded(cloud: &Cloud, network: &Value) -> Vec<Neighbor> {
    let own = effective::neighbors(cloud, network).into_iter();
    let closed = own.filter(|neighbor| !neighbor.takes_forwarded());
    let neighbor = |neighbor: effective::Neighbor<'_>| Neighbor {
        network: text(neighbor.network, "/id").to_ascii_lowercase(),
        space: effective::space(neighbor.network).iter().filter_map(|prefix| prefix.parse().ok()).collect(),
    };
    closed.map(neighbor).collect()
}

/// Returns the length of the prefix of a subnet that holds an address.
fn length(subnet: &Value, address: IpAddr) -> Option<u8> {
    let several = subnet.pointer("/properties/addressPrefixes").and_then(Value::as_array);
    let all = several.into_iter().flatten().filter_map(Value::as_str);
    let one = subnet.pointer("/properties/addressPrefix").and_then(Value::as_str);
    let nets = all.chain(one).filter_map(|text| text.parse::<ipnet::IpNet>().ok());
    nets.filter(|net| net.contains(&address)).map(|net| net.prefix_len()).max()
}

fn text<'a>(document: &'a Value, pointer: &str) -> &'a str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
