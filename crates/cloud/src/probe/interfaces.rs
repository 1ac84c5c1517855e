//! Which interfaces a machine or a network has.

use serde::Deserialize;

use super::resource::{document, list, placed};
use crate::operation::{CommandOutcome, CommandRequest, Issue, Next, Operation, ReadOperation};
use crate::{Name, ResourceGroup, line};
use ghost_base::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interface {
    /// Where it is: not always where its machine is.
    pub place: ResourceGroup,
    pub name: Name,
    /// It is the one from which its machine sends by default.
    pub primary: bool,
}

/// Finds the interfaces of a machine, the primary one first, or of a virtual network.
#[derive(Debug)]
pub struct Interfaces {
    place: ResourceGroup,
    of: Of,
    doing: String,
    reading: ReadOperation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    Machine,
    Network,
}

impl Interfaces {
    /// Asks for those of a machine.
    #[must_use]
    pub fn of_machine(place: &ResourceGroup, machine: &Name) -> Self {
        let order =
            CommandRequest::line(line::machine(place, machine), format!("find the interfaces of {machine}"));
        Self::new(place, Of::Machine, order, format!("looking at the machine {machine}"))
    }

    /// Asks for those of a virtual network.
    #[must_use]
    pub fn of_network(place: &ResourceGroup, network: &Name) -> Self {
        let order =
            CommandRequest::line(line::network(place, network), format!("find the interfaces in {network}"));
        Self::new(place, Of::Network, order, format!("looking at the network {network}"))
    }

    fn new(place: &ResourceGroup, of: Of, order: CommandRequest, doing: String) -> Self {
        Self { place: place.clone(), of, reading: ReadOperation::new(order, doing.clone()), doing }
    }

    fn read(&self, text: &str) -> Result<Vec<Interface>, Issue> {
        let found = match self.of {
            Of::Machine => self.machine(text)?,
            Of::Network => self.network(text)?,
        };
        if found.is_empty() {
            let hint = "look at the spelling and the resource group";
            return Err(Issue::hinted(format!("{}: it has no interfaces", self.doing), hint));
        }
        Ok(found)
    }

    fn machine(&self, text: &str) -> Result<Vec<Interface>, Issue> {
        let machine: Machine = document(text, &self.doing)?;
        let all = machine.network_profile.network_interfaces;
        let only = all.len() == 1;
        let mut found = Vec::new();
        for one in &all {
            let (place, name) = self.placed(&one.id)?;
            found.push(Interface { place, name, primary: only || one.primary == Some(true) });
        }
        found.sort_by_key(|one| !one.primary);
        Ok(found)
    }

    fn network(&self, text: &str) -> Result<Vec<Interface>, Issue> {
        let network: Network = document(text, &self.doing)?;
        let mut found: Vec<Interface> = Vec::new();
        let addresses = network.subnets.iter().flat_map(|subnet| &subnet.ip_configurations);
        // Gateways and the like have addresses, too, and no routes that could be asked for.
        let own = |id: &&str| {
            let id = id.to_ascii_lowercase();
            id.contains("/microsoft.network/networkinterfaces/") && !id.contains("/virtualmachinescalesets/")
        };
        for id in addresses.map(|address| address.id.as_str()).filter(own) {
            let (place, name) = self.placed(id)?;
            let one = Interface { place, name, primary: false };
            if !found.contains(&one) {
                found.push(one);
            }
        }
        Ok(found)
    }

    fn placed(&self, id: &str) -> Result<(ResourceGroup, Name), Issue> {
        let id: String = id.chars().take(300).collect();
        placed(&id, "networkInterfaces", &self.place)
            .ok_or_else(|| Issue::new(format!("{}: `{id}` is no identifier of an interface", self.doing)))
    }
}

impl Operation for Interfaces {
    type Result = Result<Vec<Interface>, Issue>;

    fn next(&self, now: Timestamp) -> Next<Self::Result> {
        self.reading.next(now).map(|read| read.and_then(|text| self.read(&text)))
    }

    fn on_result(&mut self, answer: &CommandOutcome, now: Timestamp) {
        self.reading.on_result(answer, now);
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Machine {
    network_profile: NetworkProfile,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NetworkProfile {
    #[serde(default, deserialize_with = "list")]
    network_interfaces: Vec<Attached>,
}

#[derive(Deserialize)]
struct Attached {
    id: String,
    #[serde(default)]
    primary: Option<bool>,
}

#[derive(Deserialize)]
struct Network {
    #[serde(default, deserialize_with = "list")]
    subnets: Vec<Subnet>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subnet {
    #[serde(default, deserialize_with = "list")]
    ip_configurations: Vec<super::resource::Pointer>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::parse(text).unwrap()
    }

    fn id(group: &str, rest: &str) -> String {
        format!("/subscriptions/s/resourceGroups/{group}/providers/Microsoft.Network/{rest}")
    }

    fn on_result(mut operation: Interfaces, stdout: &str) -> Result<Vec<(String, String, bool)>, Issue> {
        let now = Timestamp::from_millis(0);
        let ran = CommandOutcome::Ran { exit: Some(0), stdout: stdout.to_owned(), stderr: String::new() };
        operation.on_result(&ran, now);
        let Next::Over(found) = operation.next(now) else { panic!("it is not over") };
        found.map(|all| {
            all.into_iter()
                .map(|one| (one.place.group.to_string(), one.name.to_string(), one.primary))
                .collect()
        })
    }

    fn place() -> ResourceGroup {
        ResourceGroup { subscription: None, group: name("rg") }
    }

    #[test]
    fn the_primary_interface_comes_first_whatever_group_it_is_in() {
        let text = serde_json::json!({"networkProfile": {"networkInterfaces": [
            {"id": id("rg", "networkInterfaces/a"), "primary": false},
            {"id": id("Other", "networkinterfaces/b"), "primary": true}]}});
        let found = on_result(Interfaces::of_machine(&place(), &name("vm")), &text.to_string()).unwrap();
        let found_interface = |group: &str, name: &str, primary| (group.to_owned(), name.to_owned(), primary);
        assert_eq!(found, [found_interface("Other", "b", true), found_interface("rg", "a", false)]);
    }

    #[test]
    fn a_network_has_the_interfaces_of_its_subnets_once_each() {
        let text = serde_json::json!({"subnets": [{"ipConfigurations": [
            {"id": id("rg", "networkInterfaces/a/ipConfigurations/one")},
            {"id": id("rg", "networkInterfaces/a/ipConfigurations/two")},
            {"id": id("rg", "virtualNetworkGateways/g/ipConfigurations/x")}]}, {"ipConfigurations": null}]});
        let found = on_result(Interfaces::of_network(&place(), &name("vnet")), &text.to_string()).unwrap();
        assert_eq!(found, [("rg".to_owned(), "a".to_owned(), false)]);
    }

    #[test]
    fn what_is_no_answer_is_reported() {
        let hostile = serde_json::json!({"networkProfile": {"networkInterfaces": [{"id": id("rg", "networkInterfaces/--x")}]}});
        for text in
            ["", "[]", "{}", "{\"networkProfile\": {\"networkInterfaces\": []}}", &hostile.to_string()]
        {
            assert!(on_result(Interfaces::of_machine(&place(), &name("vm")), text).is_err(), "{text}");
        }
    }
}
