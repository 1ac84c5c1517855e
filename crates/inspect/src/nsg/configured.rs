//! Security groups as they are configured, which is half of what decides about a packet.
//!
//! `az network nsg show`, `nsg list` and `nsg rule list` print one group's rules; whether another group stands at the other gate
//! is not in them, so that they allow nothing for certain.

use serde_json::{Map, Value, json};

use super::decode::Reader;
use super::rule::{Direction, Gate, Group, Rule};
use crate::net::{Fields, Place, Placed, Warning, clipped};

/// Where a group lists its rules.
const LISTS: [&str; 2] = ["securityRules", "defaultSecurityRules"];

/// The rules that the platform puts into every group: name, priority, direction, access, source and destination.
const DEFAULTS: [(&str, u32, &str, &str, &str, &str); 6] = [
    ("AllowVnetInBound", 65_000, "Inbound", "Allow", "VirtualNetwork", "VirtualNetwork"),
    ("AllowAzureLoadBalancerInBound", 65_001, "Inbound", "Allow", "AzureLoadBalancer", "*"),
    ("DenyAllInBound", 65_500, "Inbound", "Deny", "*", "*"),
    ("AllowVnetOutBound", 65_000, "Outbound", "Allow", "VirtualNetwork", "VirtualNetwork"),
    ("AllowInternetOutBound", 65_001, "Outbound", "Allow", "*", "Internet"),
    ("DenyAllOutBound", 65_500, "Outbound", "Deny", "*", "*"),
];

/// Tells whether an object is a security group as it is configured.
pub(super) fn is_group(map: &Map<String, Value>) -> bool {
    LISTS.iter().any(|name| map.field(name).is_some_and(Value::is_array))
}

impl Reader<'_> {
    /// Reads a security group; where it stands at one gate, what stands at the other one was not read.
    pub(super) fn configured(&mut self, entry: &Placed<'_>) -> Vec<Group> {
        let value = entry.value;
        let name = value.text("name").map(clipped);
        let said = name.as_deref().unwrap_or("without a name").to_owned();
        let mut rules = Vec::new();
        for list in LISTS {
            for (at, rule) in value.field(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
                let place = entry.place.field(list).items(&[at]);
                rules.push(self.rule(&Placed { place, value: rule }));
            }
        }
        self.complete(&mut rules, &format!("the network security group {said}"));
        let stands =
            |list: &str| value.field(list).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let (gate, other) = match (stands("subnets"), stands("networkInterfaces")) {
            (true, false) => (Gate::Subnet, Some(Gate::Nic)),
            (false, true) => (Gate::Nic, Some(Gate::Subnet)),
            (true, true) | (false, false) => (Gate::Unknown, None),
        };
        let what = format!(
            "{said} is one network security group as it is configured: what stands at the other gate is not in the document"
        );
        self.warnings.push(|| Warning::within(&entry.place, what));
        let own = Group::new(gate, name, rules);
        let unread = other.map(|gate| Group::new(gate, Some("the other gate".to_owned()), Vec::new()));
        std::iter::once(own).chain(unread).collect()
    }

    /// Adds the rules that the platform puts into every group, where a list has none of them for a direction.
    pub(super) fn complete(&mut self, rules: &mut Vec<Rule>, of: &str) {
        for direction in Direction::ALL {
            if rules.iter().any(|rule| rule.is_default && rule.may_apply(direction)) {
                continue;
            }
            let missing = DEFAULTS.iter().filter(|default| Direction::parse(default.2) == Some(direction));
            let mut names = Vec::new();
            for (name, priority, dir, access, source, destination) in missing {
                let value = json!({
                    "name": format!("defaultSecurityRules/{name}"), "priority": priority, "direction": dir, "access": access,
                    "protocol": "*", "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
                    "sourcePortRange": "*", "destinationPortRange": "*",
                });
                rules.push(self.rule(&Placed { place: Place::default(), value: &value }));
                names.push(*name);
            }
            let what = || format!("{of} without the platform's own: {} are added", names.join(", "));
            self.warnings.push(|| Warning::whole(what()));
        }
    }
}
