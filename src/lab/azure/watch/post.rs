//! Questions to a watcher.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::connect::{connect, machine};
use super::flow::{Packet, verdict};
use super::hop::{choose, told};
use super::topology::topology;
use crate::lab::azure::arm::missing;
use crate::lab::azure::cloud::Cloud;
use crate::lab::azure::effective::Nic;
use crate::lab::azure::refusal::Refusal;
use crate::lab::azure::target::Target;

/// Answers a question: what comes of it, and whether it is told at once.
pub(in crate::lab::azure) fn post(
    cloud: &Cloud,
    action: &str,
    body: &Value,
) -> Option<Result<(Value, bool), Refusal>> {
    Some(match action {
        "nexthop" => hop(cloud, body).map(|told| (told, false)),
        "ipflowverify" => flow(cloud, body).map(|told| (told, false)),
        "connectivitycheck" => connectivity(cloud, body).map(|told| (told, false)),
        "topology" => {
            let group = body.get("targetResourceGroupName").and_then(Value::as_str).unwrap_or_default();
            Ok((topology(cloud, group), true))
        }
        _ => return None,
    })
}

fn word<'a>(body: &'a Value, field: &str) -> &'a str {
    body.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn address(text: &str) -> Result<IpAddr, Refusal> {
    text.parse().map_err(|_| {
        Refusal::network(400, "InvalidIpAddress", format!("'{text}' is not a valid IP address."))
    })
}

fn port(text: &str) -> Result<u16, Refusal> {
    if text == "*" {
        return Ok(0);
    }
    text.parse().map_err(|_| Refusal::network(400, "InvalidPort", format!("'{text}' is not a valid port.")))
}

fn target<'a>(cloud: &'a Cloud, id: &str) -> Result<Nic<'a>, Refusal> {
    let place = Target::parse(id).ok_or_else(|| Refusal::unreadable("targetResourceId"))?;
    if cloud.estate.get(&place).is_none() {
        return Err(missing(cloud, &place));
    }
    machine(cloud, id).ok_or_else(|| {
        Refusal::network(400, "NetworkInterfaceNotFound", "The target has no network interface.")
    })
}

fn hop(cloud: &Cloud, body: &Value) -> Result<Value, Refusal> {
    let nic = target(cloud, word(body, "targetResourceId"))?;
    let (from, to) = (word(body, "sourceIPAddress"), address(word(body, "destinationIPAddress"))?);
    if !nic.addresses().contains(&from) {
        let message = format!(
            "Source IP address {from} does not match any IP address of the target network interface."
        );
        return Err(Refusal::network(400, "SourceIpDoesNotMatchNicIp", message));
    }
    let Some(hop) = choose(cloud, &nic, to) else {
        return Ok(json!({"nextHopType": "None", "routeTableId": "System Route"}));
    };
    Ok(told(&nic, &hop))
}

fn flow(cloud: &Cloud, body: &Value) -> Result<Value, Refusal> {
    let nic = target(cloud, word(body, "targetResourceId"))?;
    let local = (address(word(body, "localIPAddress"))?, port(word(body, "localPort"))?);
    let remote = (address(word(body, "remoteIPAddress"))?, port(word(body, "remotePort"))?);
    let direction = word(body, "direction");
    let inbound = direction.eq_ignore_ascii_case("Inbound");
    let (from, to) = if inbound { (remote, local) } else { (local, remote) };
    let found = verdict(cloud, &nic, Packet { direction, protocol: word(body, "protocol"), from, to });
    Ok(json!({"access": if found.allowed { "Allow" } else { "Deny" }, "ruleName": found.rule}))
}

fn connectivity(cloud: &Cloud, body: &Value) -> Result<Value, Refusal> {
    let part = |side: &str, field: &str| body.pointer(&format!("/{side}/{field}")).and_then(Value::as_str);
    let source = target(cloud, part("source", "resourceId").unwrap_or_default())?;
    let to = match part("destination", "resourceId") {
        Some(id) => Some(target(cloud, id)?),
        None => None,
    };
    let there = match (&to, part("destination", "address")) {
        (Some(nic), _) => nic.addresses().first().map(|found| address(found)).transpose()?,
        (None, Some(text)) => Some(address(text)?),
        (None, None) => None,
    };
    let there = there.ok_or_else(|| Refusal::unreadable("a destination is needed"))?;
    let port = body.pointer("/destination/port").and_then(Value::as_u64).unwrap_or(0);
    let port = u16::try_from(port).map_err(|_| Refusal::unreadable("the port is too large"))?;
    let protocol = word(body, "protocol");
    let protocol = if protocol.is_empty() { "Tcp" } else { protocol };
    Ok(connect(cloud, &source, to.as_ref(), (there, port), protocol))
}
