//! Whose an address is.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde_json::Value;

use super::{DocumentError, Fields, Placed, Warning, Warnings, document, placed};

/// A network interface of the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// Its name.
    pub name: String,
    /// Whether it may forward what is not addressed to it, where the inventory says so.
    pub forwards: Option<bool>,
}

/// The network interfaces that are known, and nothing about those that are not.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    nics: Vec<Nic>,
    owners: HashMap<IpAddr, usize>,
    groups: HashMap<IpAddr, HashSet<String>>,
    warnings: Vec<Warning>,
}

impl Inventory {
    /// Reads what `az network nic list -o json` prints.
    ///
    /// # Errors
    /// Fails where the text is no document of network interfaces.
    pub fn parse(text: &str) -> Result<Self, DocumentError> {
        let is_nic = |map: &serde_json::Map<String, Value>| map.field("ipConfigurations").is_some();
        let document = document(text)?;
        let (mut inventory, mut warnings) = (Self::default(), Warnings::default());
        for (at, Placed { place, value: row }) in
            placed(&document, &["value"], is_nic, "network interfaces")?.iter().enumerate()
        {
            let Some(Value::Array(configurations)) = row.field("ipConfigurations") else {
                warnings.push(|| Warning::at(at + 1, place, "a network interface without addresses"));
                continue;
            };
            let id = row.text("id").and_then(|id| id.rsplit('/').next());
            let name = row.text("name").or(id).unwrap_or("unnamed").to_owned();
            let nic = Nic { name, forwards: row.field("enableIpForwarding").and_then(Value::as_bool) };
            inventory.nics.push(nic);
            for (index, configuration) in configurations.iter().enumerate() {
                if !inventory.configure(configuration) {
                    let place = || place.field("ipConfigurations").items(&[index]);
                    let what = "an address of a network interface cannot be read";
                    warnings.push(|| Warning::at(at + 1, place(), what));
                }
            }
        }
        inventory.warnings = warnings.into_vec();
        Ok(inventory)
    }

    /// Takes an address in, and tells whether there is one.
    fn configure(&mut self, configuration: &Value) -> bool {
        // Older command lines nest the fields once more.
        let inner = configuration.field("properties").unwrap_or(configuration);
        let Some(address) = inner.text("privateIpAddress").and_then(|text| text.parse::<IpAddr>().ok())
        else {
            return false;
        };
        let groups = inner.field("applicationSecurityGroups").and_then(Value::as_array);
        let ids = groups.into_iter().flatten().filter_map(|group| group.text("id"));
        self.groups.entry(address).or_default().extend(ids.map(str::to_ascii_lowercase));
        self.owners.insert(address, self.nics.len() - 1);
        true
    }

    /// Returns the interface that owns an address, where it is known.
    #[must_use]
    pub fn owner(&self, address: IpAddr) -> Option<&Nic> {
        self.owners.get(&address).and_then(|at| self.nics.get(*at))
    }

    /// Returns every known address with whether it is in an application security group.
    pub fn membership<'a>(&'a self, group: &str) -> impl Iterator<Item = (IpAddr, bool)> + 'a {
        let group = group.to_ascii_lowercase();
        self.groups.iter().map(move |(address, groups)| (*address, groups.contains(&group)))
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NICS: &str = r#"[{"name":"fw","enableIPForwarding":false,"ipConfigurations":[{"privateIPAddress":"10.0.0.4",
        "applicationSecurityGroups":[{"id":"/s/ASG/web"}]},{"privateIPAddress":"x"}]},{"name":"bare"},7]"#;

    #[test]
    fn an_address_has_its_owner_and_its_groups() {
        let inventory = Inventory::parse(NICS).unwrap();
        let address = "10.0.0.4".parse().unwrap();
        assert_eq!(inventory.owner(address), Some(&Nic { name: "fw".into(), forwards: Some(false) }));
        assert_eq!(inventory.membership("/s/asg/WEB").collect::<Vec<_>>(), [(address, true)]);
        assert_eq!(inventory.membership("/s/asg/db").collect::<Vec<_>>(), [(address, false)]);
        assert_eq!(inventory.owner("10.0.0.5".parse().unwrap()), None);
        assert_eq!(inventory.warnings().len(), 3);
    }
}
