//! Who comes through an account's network rules.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::Value;

use crate::azure::cloud::Cloud;
use crate::azure::effective::{Nic, by_machine};

/// From where somebody asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum From {
    /// From somewhere on the Internet.
    Outside(IpAddr),
    /// From a virtual machine, by its name.
    Machine(String),
    /// The platform itself.
    Platform,
}

/// Finds an account by its name.
pub(in crate::azure) fn account<'a>(cloud: &'a Cloud, name: &str) -> Option<&'a Value> {
    cloud.estate.of("Microsoft.Storage/storageAccounts").find(|found| {
        found.get("name").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(name))
    })
}

/// Tells whether the network rules of an account let somebody in.
pub(in crate::azure) fn lets_in(cloud: &Cloud, account: &Value, from: &From) -> bool {
    let rules = account.pointer("/properties/networkAcls");
    let word = |field: &str| rules.and_then(|rules| rules.get(field)).and_then(Value::as_str).unwrap_or("");
    let list = |field: &str| {
        rules.and_then(|rules| rules.get(field)).and_then(Value::as_array).into_iter().flatten()
    };
    let shut = account
        .pointer("/properties/publicNetworkAccess")
        .and_then(Value::as_str)
        .is_some_and(|word| word.eq_ignore_ascii_case("Disabled"));
    let open = !shut && !word("defaultAction").eq_ignore_ascii_case("Deny");
    if open {
        return true;
    }
    let listed = |address: IpAddr| {
        let holds = |text: &str| {
            let net = text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from));
            net.is_some_and(|net: IpNet| net.contains(&address))
        };
        list("ipRules").filter_map(|rule| rule.get("value")?.as_str()).any(holds)
    };
    match from {
        From::Platform => {
            word("bypass").split(',').any(|one| one.trim().eq_ignore_ascii_case("AzureServices"))
        }
        From::Outside(_) | From::Machine(_) if shut => false,
        From::Outside(address) => listed(*address),
        From::Machine(name) => machine(cloud, name).is_some_and(|nic| {
            let subnet = nic.subnet.and_then(|subnet| subnet.get("id")?.as_str()).unwrap_or_default();
            let ruled = list("virtualNetworkRules")
                .filter_map(|rule| rule.get("id")?.as_str())
                .any(|id| id.eq_ignore_ascii_case(subnet));
            let region = |document: &Value| {
                document.get("location").and_then(Value::as_str).map(str::to_ascii_lowercase)
            };
            // Within a region a machine comes by the platform's own addresses, to which rules for addresses mean nothing.
            let far = region(nic.document) != region(account);
            (ruled && has_endpoint(&nic)) || (far && public(cloud, nic.document).is_some_and(listed))
        }),
    }
}

/// Finds the first interface of a machine by the machine's name.
fn machine<'a>(cloud: &'a Cloud, name: &str) -> Option<Nic<'a>> {
    let found = cloud.estate.of("Microsoft.Compute/virtualMachines").find(|found| {
        found.get("name").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(name))
    })?;
    by_machine(&cloud.estate, found.get("id")?.as_str()?)
}

fn has_endpoint(nic: &Nic<'_>) -> bool {
    let list = nic.subnet.and_then(|subnet| subnet.pointer("/properties/serviceEndpoints")?.as_array());
    let mut services = list.into_iter().flatten().filter_map(|endpoint| endpoint.get("service")?.as_str());
    services.any(|service| {
        service.eq_ignore_ascii_case("Microsoft.Storage")
            || service.eq_ignore_ascii_case("Microsoft.Storage.Global")
    })
}

/// Returns the public address of an interface.
pub(in crate::azure) fn public(cloud: &Cloud, nic: &Value) -> Option<IpAddr> {
    let list = nic.pointer("/properties/ipConfigurations").and_then(Value::as_array);
    let id =
        list.into_iter().flatten().find_map(|one| one.pointer("/properties/publicIPAddress/id")?.as_str())?;
    cloud.estate.by_id(id)?.pointer("/properties/ipAddress")?.as_str()?.parse().ok()
}
