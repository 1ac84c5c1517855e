//! Whose an address is.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde_json::Value;

use super::{DocumentError, Fields, JsonPath, Placed, Warning, Warnings, clipped, document, placed};

/// How many addresses with several owners are named.
const MAX_NAMED_OWNERS: usize = 3;

/// A network interface of the inventory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// The name of the resource, unique in its resource group alone.
    pub name: String,
    /// What tells it from others of its name, where the inventory says so.
    pub id: Option<String>,
    /// Whether it may forward what is not addressed to it, where the inventory says so.
    pub forwards: Option<bool>,
}

/// Whose an address is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner<'a> {
    /// No interface of the inventory has it.
    Unknown,
    /// One has it.
    One(&'a Nic),
    /// Several have it, each in another network: nothing says which of them is meant.
    Several(Vec<&'a Nic>),
}

/// What one interface says of an address.
#[derive(Debug, Clone)]
struct Claim {
    nic: usize,
    groups: HashSet<String>,
    /// Whether all of its groups were read.
    whole: bool,
}

/// The network interfaces that are known, and nothing about those that are not.
#[derive(Debug, Clone, Default)]
pub struct Inventory {
    nics: Vec<Nic>,
    /// Networks may use the same addresses, so that one may have several interfaces.
    claims: HashMap<IpAddr, Vec<Claim>>,
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
        for (at, found) in placed(&document, &["value"], is_nic, "network interfaces")?.iter().enumerate() {
            inventory.read(at + 1, found, &mut warnings);
        }
        if let Some(what) = inventory.shared() {
            warnings.push(|| Warning::whole(what));
        }
        inventory.warnings = warnings.into_vec();
        Ok(inventory)
    }

    fn read(&mut self, number: usize, found: &Placed<'_>, warnings: &mut Warnings) {
        let (place, row) = (&found.place, found.value);
        let Some(Value::Array(configurations)) = row.field("ipConfigurations") else {
            warnings.push(|| Warning::at(number, place, "a network interface without addresses"));
            return;
        };
        let last = row.text("id").and_then(|id| id.rsplit('/').next());
        let forwards = row.field("enableIpForwarding").filter(|value| !value.is_null());
        if forwards.is_some_and(|value| !value.is_boolean()) {
            let what = "nothing says whether the network interface forwards";
            warnings.push(|| Warning::at(number, place.field("enableIpForwarding"), what));
        }
        self.nics.push(Nic {
            name: clipped(row.text("name").or(last).unwrap_or("unnamed")),
            id: row.text("id").map(str::to_ascii_lowercase),
            forwards: forwards.and_then(Value::as_bool),
        });
        for (index, configuration) in configurations.iter().enumerate() {
            let place = || place.field("ipConfigurations").items(&[index]);
            self.configure(configuration, &mut |inside: JsonPath, what| {
                let place = || place().field(&inside.to_string());
                warnings.push(|| Warning::at(number, place(), what));
            });
        }
    }

    /// Takes an address in.
    fn configure(&mut self, configuration: &Value, odd: &mut dyn FnMut(JsonPath, &str)) {
        // Older command lines nest the fields once more.
        let inner = configuration.field("properties").unwrap_or(configuration);
        let Some(address) = inner.text("privateIpAddress").and_then(|text| text.parse::<IpAddr>().ok())
        else {
            let what = "an address of a network interface cannot be read";
            return odd(JsonPath::default().field("privateIpAddress"), what);
        };
        let mut claim = Claim { nic: self.nics.len() - 1, groups: HashSet::new(), whole: true };
        let listed = inner.field("applicationSecurityGroups").filter(|groups| !groups.is_null());
        let items =
            listed.map(|groups| groups.as_array().map_or(std::slice::from_ref(groups), Vec::as_slice));
        for group in items.into_iter().flatten() {
            if let Some(id) = group.text("id") {
                claim.groups.insert(id.to_ascii_lowercase());
            } else {
                claim.whole = false;
                odd(
                    JsonPath::default().field("applicationSecurityGroups"),
                    "an application security group of a network interface cannot be read",
                );
            }
        }
        self.claims.entry(address).or_default().push(claim);
    }

    /// Returns whose an address is.
    #[must_use]
    pub fn owner(&self, address: IpAddr) -> Owner<'_> {
        let mut owners: Vec<&Nic> = Vec::new();
        for nic in
            self.claims.get(&address).into_iter().flatten().filter_map(|claim| self.nics.get(claim.nic))
        {
            // An interface that is listed twice is one, if both say the same.
            let known = |other: &&Nic| nic.id.is_some() && *other == nic;
            if !owners.iter().any(known) {
                owners.push(nic);
            }
        }
        match owners.as_slice() {
            [] => Owner::Unknown,
            [one] => Owner::One(one),
            _ => Owner::Several(owners),
        }
    }

    /// Returns every known address with whether it is in an application security group; nothing where that is not certain.
    pub fn membership<'a>(&'a self, group: &str) -> impl Iterator<Item = (IpAddr, Option<bool>)> + 'a {
        let group = group.to_ascii_lowercase();
        self.claims.iter().map(move |(address, claims)| {
            let mut answers = claims.iter().map(|claim| claim.has(&group));
            let first = answers.next().flatten();
            (*address, first.filter(|_| answers.all(|answer| answer == first)))
        })
    }

    /// Returns what could not be read.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Says which addresses have several owners, where any has.
    fn shared(&self) -> Option<String> {
        let several = |address: &&IpAddr| matches!(self.owner(**address), Owner::Several(_));
        let mut shared: Vec<IpAddr> = self.claims.keys().filter(several).copied().collect();
        shared.sort_unstable();
        let first =
            shared.iter().take(MAX_NAMED_OWNERS).map(ToString::to_string).collect::<Vec<_>>().join(", ");
        (!shared.is_empty()).then(|| {
            let more = shared.len().checked_sub(MAX_NAMED_OWNERS).filter(|more| *more > 0);
            let more = more.map(|more| format!(" and {more} more")).unwrap_or_default();
            format!("several network interfaces have the same address ({first}{more}): what they do not share is not decided")
        })
    }
}

impl Claim {
    /// Tells whether the address is in a group, where that is certain.
    fn has(&self, group: &str) -> Option<bool> {
        if self.groups.contains(group) {
            return Some(true);
        }
        // A bare name may be that of any group which is called so.
        let bare = |text: &str| !text.starts_with('/');
        let last = |text: &str| text.rsplit('/').next().unwrap_or_default().to_owned();
        let alike = |own: &String| (bare(own) || bare(group)) && last(own) == last(group);
        (self.whole && !self.groups.iter().any(alike)).then_some(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NICS: &str = r#"[{"name":"fw","enableIPForwarding":false,"ipConfigurations":[{"privateIPAddress":"10.0.0.4",
        "applicationSecurityGroups":[{"id":"/s/ASG/web"}]},{"privateIPAddress":"x"}]},{"name":"bare"},7]"#;

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Tells whether the address 10.0.0.4 is in the group, as the inventory of these interfaces has it.
    fn member(groups: &[&str], group: &str) -> Option<bool> {
        let nic = |(at, groups): (usize, &&str)| {
            format!(
                r#"{{"id":"/nic/{at}","ipConfigurations":[{{"privateIPAddress":"10.0.0.4","applicationSecurityGroups":{groups}}}]}}"#
            )
        };
        let nics: Vec<String> = groups.iter().enumerate().map(nic).collect();
        let inventory = Inventory::parse(&format!("[{}]", nics.join(","))).unwrap();
        inventory.membership(group).next().unwrap().1
    }

    #[test]
    fn an_address_has_its_owner_and_its_groups() {
        let inventory = Inventory::parse(NICS).unwrap();
        let address = at("10.0.0.4");
        assert_eq!(
            inventory.owner(address),
            Owner::One(&Nic { name: "fw".into(), id: None, forwards: Some(false) })
        );
        assert_eq!(inventory.membership("/s/asg/WEB").collect::<Vec<_>>(), [(address, Some(true))]);
        assert_eq!(inventory.membership("/s/asg/db").collect::<Vec<_>>(), [(address, Some(false))]);
        assert_eq!(inventory.owner(at("10.0.0.5")), Owner::Unknown);
        assert_eq!(inventory.warnings().len(), 3);
    }

    #[test]
    fn where_two_networks_share_an_address_only_what_both_interfaces_say_is_certain() {
        let (web, none) = (r#"[{"id":"/asg/web"}]"#, "null");
        assert_eq!(member(&[web, none], "/asg/web"), None);
        assert_eq!(member(&[web, web], "/asg/web"), Some(true));
        assert_eq!(member(&[none, none], "/asg/web"), Some(false));
        let nic = |name: &str| {
            format!(r#"{{"name":"{name}","ipConfigurations":[{{"privateIPAddress":"10.0.0.4"}}]}}"#)
        };
        let inventory = Inventory::parse(&format!("[{},{}]", nic("fw"), nic("fw"))).unwrap();
        assert!(matches!(inventory.owner(at("10.0.0.4")), Owner::Several(nics) if nics.len() == 2));
        assert_eq!(inventory.warnings().len(), 1);
    }

    #[test]
    fn an_interface_that_is_listed_twice_is_one_unless_the_two_differ() {
        let nic = |forwards: bool| {
            format!(
                r#"{{"id":"/fw","enableIPForwarding":{forwards},"ipConfigurations":[{{"privateIPAddress":"10.0.0.4"}}]}}"#
            )
        };
        let same = Inventory::parse(&format!("[{},{}]", nic(true), nic(true))).unwrap();
        assert!(matches!(same.owner(at("10.0.0.4")), Owner::One(_)) && same.warnings().is_empty());
        let other = Inventory::parse(&format!("[{},{}]", nic(true), nic(false))).unwrap();
        assert!(matches!(other.owner(at("10.0.0.4")), Owner::Several(_)));
    }

    #[test]
    fn a_group_that_cannot_be_read_or_distinguished_is_not_known_to_be_another() {
        for groups in [r#"[{"name":"web"}]"#, r#"{"a":1}"#, "[null]", r#"[[{"id":"/asg/web"}]]"#] {
            assert_eq!(member(&[groups], "/asg/web"), None, "{groups}");
        }
        assert_eq!(member(&[r#"[{"id":"/dev/asg/web"}]"#], "web"), None);
        assert_eq!(member(&[r#"[{"id":"/dev/asg/web"}]"#], "/prod/asg/web"), Some(false));
        assert_eq!(member(&[r#"[{"id":"/dev/asg/web"}]"#], "db"), Some(false));
    }
}
