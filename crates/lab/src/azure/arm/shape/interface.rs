//! Interfaces and public addresses.

use std::net::{IpAddr, Ipv4Addr};

use ipnet::Ipv4Net;
use serde_json::{Map, Value, json};

use super::group::{below, child};
use super::reference;
use super::shaped::document;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// What only the platform writes.
const OWN: [&str; 5] = ["macAddress", "virtualMachine", "primary", "hostedWorkloads", "tapConfigurations"];

/// An interface: its addresses are in their subnets, and nobody else's.
pub(super) fn interface(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let sent = match properties.remove("ipConfigurations") {
        Some(Value::Array(sent)) if !sent.is_empty() => sent,
        Some(_) | None => {
            let message =
                format!("Network interface {} must have at least one IP configuration.", target.name());
            return Err(Refusal::network(400, "MissingIpConfiguration", message));
        }
    };
    let mut configurations: Vec<Value> = Vec::new();
    for sent in sent {
        let (name, mut inner) = child(sent)?;
        let place = below(target, "ipConfigurations", &name);
        reference::exist(cloud, &place, &inner)?;
        let known = before.and_then(|before| {
            let list = before.pointer("/properties/ipConfigurations")?.as_array()?;
            list.iter().find(|one| {
                one.get("name").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(&name))
            })
        });
        let address = address(cloud, target, &inner, known, &configurations)?;
        inner.insert("privateIPAddress".to_owned(), json!(address.to_string()));
        inner.insert("provisioningState".to_owned(), json!("Succeeded"));
        inner.entry("privateIPAllocationMethod").or_insert(json!("Dynamic"));
        inner.entry("privateIPAddressVersion").or_insert(json!("IPv4"));
        inner.entry("primary").or_insert(json!(configurations.is_empty()));
        configurations.push(document(&place, Map::new(), inner, known));
    }
    properties.insert("ipConfigurations".to_owned(), json!(configurations));
    for field in OWN {
        properties.remove(field);
        if let Some(known) = before.and_then(|before| before.pointer(&format!("/properties/{field}"))) {
            properties.insert(field.to_owned(), known.clone());
        }
    }
    let number = guid_bytes(&target.id());
    let mac = format!("00-0D-3A-{:02X}-{:02X}-{:02X}", number[0], number[1], number[2]);
    properties.entry("macAddress").or_insert(json!(mac));
    for (field, value) in [("enableIPForwarding", false), ("enableAcceleratedNetworking", false)] {
        properties.entry(field).or_insert(json!(value));
    }
    properties.entry("nicType").or_insert(json!("Standard"));
    Ok(())
}

fn guid_bytes(text: &str) -> [u8; 32] {
    *ghost_base::Digest::of(text).as_bytes()
}

/// Returns the address of a configuration: the one that is asked for, the one that it has, or the first free one.
fn address(
    cloud: &Cloud,
    target: &Target,
    inner: &Map<String, Value>,
    known: Option<&Value>,
    others: &[Value],
) -> Result<IpAddr, Refusal> {
    let subnet_id =
        inner.get("subnet").and_then(|subnet| subnet.get("id")).and_then(Value::as_str).unwrap_or_default();
    let subnet = cloud.estate.by_id(subnet_id);
    let prefix = subnet.and_then(|subnet| {
        let several = subnet.pointer("/properties/addressPrefixes/0");
        subnet.pointer("/properties/addressPrefix").or(several)?.as_str()?.parse::<Ipv4Net>().ok()
    });
    let Some(prefix) = prefix else {
        let message = format!("The IP configurations of network interface {} need a subnet.", target.name());
        return Err(Refusal::network(400, "InvalidResourceReference", message));
    };
    let own = |one: &Value| one.pointer("/properties/privateIPAddress")?.as_str()?.parse::<IpAddr>().ok();
    let taken: Vec<IpAddr> = cloud
        .estate
        .of("Microsoft.Network/networkInterfaces")
        .filter(|nic| {
            nic.get("id").and_then(Value::as_str).is_some_and(|id| !id.eq_ignore_ascii_case(&target.id()))
        })
        .flat_map(|nic| {
            nic.pointer("/properties/ipConfigurations").and_then(Value::as_array).into_iter().flatten()
        })
        .filter(|one| {
            one.pointer("/properties/subnet/id")
                .and_then(Value::as_str)
                .is_some_and(|id| id.eq_ignore_ascii_case(subnet_id))
        })
        .chain(others)
        .filter_map(own)
        .collect();
    // The platform keeps the first four and the last address of a subnet.
    let (first, last) = (u32::from(prefix.network()).saturating_add(4), u32::from(prefix.broadcast()));
    let usable = |address: &IpAddr| match address {
        IpAddr::V4(address) => (first..last).contains(&u32::from(*address)),
        IpAddr::V6(_) => false,
    };
    let asked = inner.get("privateIPAddress").and_then(Value::as_str).filter(|text| !text.is_empty());
    if let Some(text) = asked {
        let found = text.parse::<IpAddr>().ok().filter(usable).ok_or_else(|| {
            let message = format!(
                "Private static IP address {text} does not belong to the range of subnet prefix {prefix}."
            );
            Refusal::network(400, "PrivateIPAddressNotInSubnet", message)
        })?;
        if taken.contains(&found) {
            let message = format!(
                "IP configuration of {} is using the private IP address {text} which is already allocated.",
                target.id()
            );
            return Err(Refusal::network(400, "PrivateIPAddressInUse", message));
        }
        return Ok(found);
    }
    let same = known.and_then(own).filter(|address| usable(address) && !taken.contains(address));
    let free = (first..last).take(65_536).map(|address| IpAddr::V4(Ipv4Addr::from(address)));
    same.or_else(|| free.into_iter().find(|address| !taken.contains(address))).ok_or_else(|| {
        Refusal::network(
            400,
            "SubnetIsFull",
            format!("Subnet {subnet_id} does not have enough capacity for 1 IP addresses."),
        )
    })
}

/// A public address: one that is nobody else's, from a range that is for documentation.
pub(super) fn public(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let others: Vec<&str> = cloud
        .estate
        .of("Microsoft.Network/publicIPAddresses")
        .filter(|other| {
            other.get("id").and_then(Value::as_str).is_some_and(|id| !id.eq_ignore_ascii_case(&target.id()))
        })
        .filter_map(|other| other.pointer("/properties/ipAddress")?.as_str())
        .collect();
    let known = before.and_then(|before| before.pointer("/properties/ipAddress")?.as_str());
    let asked = properties.get("ipAddress").and_then(Value::as_str).map(str::to_owned);
    let address = match asked.or_else(|| known.map(str::to_owned)) {
        Some(text) if text.parse::<IpAddr>().is_ok() && !others.contains(&text.as_str()) => text,
        Some(text) => {
            return Err(Refusal::network(
                400,
                "InvalidPublicIPAddress",
                format!("The address {text} cannot be used."),
            ));
        }
        None => {
            let free = (10..250)
                .map(|last| format!("203.0.113.{last}"))
                .find(|text| !others.contains(&text.as_str()));
            let message =
                "Cannot create more than 240 public IP addresses for this subscription in this region.";
            free.ok_or_else(|| Refusal::network(400, "PublicIPCountLimitReached", message))?
        }
    };
    properties.insert("ipAddress".to_owned(), json!(address));
    properties.entry("publicIPAddressVersion").or_insert(json!("IPv4"));
    properties.entry("publicIPAllocationMethod").or_insert(json!("Static"));
    properties.entry("idleTimeoutInMinutes").or_insert(json!(4));
    properties.remove("ipConfiguration");
    if let Some(user) = before.and_then(|before| before.pointer("/properties/ipConfiguration")) {
        properties.insert("ipConfiguration".to_owned(), user.clone());
    }
    Ok(())
}
