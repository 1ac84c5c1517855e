//! The two ends: which machine has which address, and how it is reached.

use std::net::{IpAddr, Ipv4Addr};

use serde::Deserialize;

use super::request::{AccessMethod, MeasurementRequest};
use crate::guest::{GuestAccess, Ssh};
use crate::operation::Issue;
use crate::{Name, ResourceGroup};

/// One end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// What people call it.
    pub name: String,
    pub address: Ipv4Addr,
    /// Its interface, where that is known.
    pub interface: Option<(ResourceGroup, Name)>,
    /// How it is reached.
    pub reach: GuestAccess,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Interface {
    name: String,
    #[serde(default)]
    id: String,
    #[serde(default, alias = "ipConfigurations")]
    ip_configurations: Vec<Configuration>,
    virtual_machine: Option<Reference>,
    #[serde(default)]
    primary: Option<bool>,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default, rename = "privateIPAddress", alias = "privateIpAddress")]
    address: Option<String>,
}

#[derive(Deserialize)]
struct Reference {
    id: String,
}

impl Interface {
    fn machine(&self) -> Option<&str> {
        self.virtual_machine.as_ref()?.id.rsplit('/').next()
    }

    fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.ip_configurations.iter().filter_map(|one| one.address.as_deref()?.parse().ok())
    }
}

/// Returns the resource group that an identifier names.
fn group(id: &str) -> Option<Name> {
    let mut parts = id.split('/');
    parts.find(|part| part.eq_ignore_ascii_case("resourceGroups"))?;
    Name::parse(parts.next()?).ok()
}

/// Finds both ends in a list of interfaces.
///
/// # Errors
/// Says which one is not there, or there twice.
pub(super) fn resolve(
    list: &str,
    ask: &MeasurementRequest,
    place: &ResourceGroup,
) -> Result<[Endpoint; 2], Issue> {
    let all: Vec<Interface> = serde_json::from_str(list)
        .map_err(|_| Issue::new("the list of interfaces cannot be read: az printed something else"))?;
    let (source, destination) = match &ask.access {
        AccessMethod::Platform => (None, None),
        AccessMethod::Ssh(source, destination) => (Some(source.as_ref()), Some(destination.as_ref())),
    };
    let reach = |ssh: Option<&Ssh>| ssh.map(|ssh| GuestAccess::Ssh(Box::new(ssh.clone())));
    Ok([
        find(&all, &ask.source, place, reach(source))?,
        find(&all, &ask.destination, place, reach(destination))?,
    ])
}

/// Takes both ends as they were named: over ssh the cloud need not know them.
pub(super) fn named(ask: &MeasurementRequest) -> Result<[Endpoint; 2], Issue> {
    let end = |name: &String, reach: GuestAccess| {
        let address = name.parse().map_err(|_| Issue::new(format!("`{name}` is no IPv4 address")))?;
        Ok(Endpoint { name: name.clone(), address, interface: None, reach })
    };
    match &ask.access {
        AccessMethod::Ssh(source, destination) => Ok([
            end(&ask.source, GuestAccess::Ssh(source.clone()))?,
            end(&ask.destination, GuestAccess::Ssh(destination.clone()))?,
        ]),
        AccessMethod::Platform => Err(Issue::new("no resource group is named in which the machines are")),
    }
}

/// Names both ends as far as they are known before anything was looked up.
pub(super) fn guessed(ask: &MeasurementRequest) -> Option<[Endpoint; 2]> {
    if let Ok(ends) = named(ask) {
        return Some(ends);
    }
    let place = ask.place.clone()?;
    let end = |name: &String| {
        let address = name.parse::<Ipv4Addr>();
        let machine = match &address {
            Ok(address) => Name::parse(&format!("MACHINE-OF-{address}")).ok()?,
            Err(_) => Name::parse(name).ok()?,
        };
        let interface = Name::parse(&format!("INTERFACE-OF-{name}")).ok()?;
        Some(Endpoint {
            name: name.clone(),
            address: address.unwrap_or(Ipv4Addr::UNSPECIFIED),
            interface: Some((place.clone(), interface)),
            reach: GuestAccess::Platform { place: place.clone(), machine },
        })
    };
    Some([end(&ask.source)?, end(&ask.destination)?])
}

fn find(
    all: &[Interface],
    name: &str,
    place: &ResourceGroup,
    reach: Option<GuestAccess>,
) -> Result<Endpoint, Issue> {
    let by_address = name.parse::<IpAddr>().ok();
    let fits = |one: &&Interface| match by_address {
        Some(address) => one.addresses().any(|own| IpAddr::V4(own) == address),
        None => one.machine().is_some_and(|machine| machine.eq_ignore_ascii_case(name)),
    };
    let mut found: Vec<&Interface> = all.iter().filter(fits).collect();
    if by_address.is_none() && found.len() > 1 {
        // A machine with several speaks by its primary one.
        found.retain(|one| one.primary == Some(true));
    }
    let trouble = |what: String| {
        Issue::hinted(what, format!("look at the spelling and at the resource group {}", place.group))
    };
    let one = match found.as_slice() {
        [one] => *one,
        [] => return Err(trouble(format!("no interface in {} belongs to {name}", place.group))),
        more => {
            return Err(trouble(format!("{} interfaces in {} are of {name}", more.len(), place.group)));
        }
    };
    let within = |id: &str| ResourceGroup {
        subscription: place.subscription.clone(),
        group: group(id).unwrap_or_else(|| place.group.clone()),
    };
    let odd = |_| trouble(format!("the interface of {name} has a name that cannot be used"));
    let interface = (within(&one.id), Name::parse(&one.name).map_err(odd)?);
    let own = by_address.and_then(|address| match address {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(_) => None,
    });
    let address = own
        .or_else(|| one.addresses().next())
        .ok_or_else(|| trouble(format!("the interface of {name} has no IPv4 address")))?;
    let machine = one.virtual_machine.as_ref();
    let reach = match (reach, machine, one.machine()) {
        (Some(reach), ..) => reach,
        (None, Some(machine), Some(own)) => {
            GuestAccess::Platform { place: within(&machine.id), machine: Name::parse(own).map_err(odd)? }
        }
        (None, ..) => return Err(trouble(format!("the interface of {name} belongs to no machine"))),
    };
    let name = one.machine().map_or_else(|| address.to_string(), str::to_owned);
    Ok(Endpoint { name, address, interface: Some(interface), reach })
}
