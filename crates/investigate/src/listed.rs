//! What `topology` listed of a resource group: one document, written by the tool, and read by the playbook, the gates and the reports.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::state::{CallState, State};

/// The tool that writes it.
pub(crate) const TOOL: &str = "topology";

/// The resources of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedResources {
    /// The resource group.
    pub group: Option<String>,
    pub machines: Vec<ListedMachine>,
    pub networks: Vec<ListedNetwork>,
    pub route_tables: Vec<ListedRouteTable>,
}

/// A machine, with its first interface. Names of groups, tables and networks may have their resource group before them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedMachine {
    pub name: String,
    pub region: String,
    /// Its private addresses.
    pub addresses: Vec<String>,
    /// Its public addresses.
    pub public: Vec<String>,
    pub nic: Option<String>,
    /// The security group of its interface.
    pub nsg: Option<String>,
    pub forwards: Option<bool>,
    pub vnet: Option<String>,
    pub subnet: Option<String>,
    pub subnet_nsg: Option<String>,
    pub route_table: Option<String>,
}

/// A virtual network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedNetwork {
    pub name: String,
    pub prefixes: Vec<String>,
    pub subnets: Vec<ListedSubnet>,
    pub peerings: Vec<ListedPeering>,
}

/// A subnet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedSubnet {
    pub name: String,
    pub prefixes: Vec<String>,
    pub nsg: Option<String>,
    pub route_table: Option<String>,
    /// Its service endpoints.
    pub endpoints: Vec<String>,
}

/// A peering of a network.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedPeering {
    pub name: String,
    /// The other network.
    pub remote: String,
    pub state: String,
    pub prefixes: Vec<String>,
}

/// A route table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedRouteTable {
    pub name: String,
    pub routes: Vec<ListedRoute>,
}

/// A route of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedRoute {
    pub name: String,
    pub prefix: String,
    pub next_hop_type: String,
    pub next_hop_ip: Option<String>,
}

impl ListedResources {
    /// Reads the result of a call of the tool; `None` where it lists nothing.
    #[must_use]
    pub fn of_result(result: &Value) -> Option<Self> {
        serde_json::from_value(result.get("facts")?.clone()).ok()
    }

    /// Returns what was listed last.
    #[must_use]
    pub fn last(state: &State) -> Option<Self> {
        state.calls().rev().find_map(of_call)
    }

    /// Returns the machines of all results: a later call for another group does not remove what is known.
    #[must_use]
    pub fn all_machines(state: &State) -> Vec<ListedMachine> {
        state.calls().filter_map(of_call).flat_map(|listed| listed.machines).collect()
    }

    /// Returns a machine by its name, which may be written in any case.
    #[must_use]
    pub fn machine(&self, name: &str) -> Option<&ListedMachine> {
        self.machines.iter().find(|machine| machine.name.eq_ignore_ascii_case(name))
    }
}

impl ListedMachine {
    /// Returns its addresses, private ones first.
    pub fn all_addresses(&self) -> impl Iterator<Item = &str> {
        self.addresses.iter().chain(&self.public).map(String::as_str)
    }

    /// Returns the security groups of its interface and of its subnet, where there are some.
    pub fn security_groups(&self) -> impl Iterator<Item = &str> {
        [&self.nsg, &self.subnet_nsg].into_iter().filter_map(Option::as_deref).filter(|name| !name.is_empty())
    }
}

fn of_call(call: &CallState) -> Option<ListedResources> {
    let returned = call.returned.as_ref().filter(|returned| !returned.is_error && call.call.tool == TOOL)?;
    ListedResources::of_result(&serde_json::from_str(&returned.content).ok()?)
}

/// Returns the last part of a name that may have its resource group before it.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_ledger_lacks_is_empty_and_what_is_written_is_read_back() {
        let result = json!({"status": "completed", "facts": {"machines": [{"name": "web-1", "nsg": null, "addresses": ["10.0.0.4"]}]}});
        let listed = ListedResources::of_result(&result).unwrap();
        let machine = listed.machine("WEB-1").unwrap();
        assert_eq!((machine.nsg.as_deref(), machine.region.as_str()), (None, ""));
        assert_eq!(machine.all_addresses().collect::<Vec<_>>(), ["10.0.0.4"]);
        assert_eq!(ListedResources::of_result(&json!({ "facts": json!(listed) })), Some(listed));
        assert_eq!(ListedResources::of_result(&json!({"status": "denied"})), None);
    }
}
