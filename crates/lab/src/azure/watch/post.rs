//! Questions to a watcher.

use std::net::IpAddr;

use serde_json::{Value, json};

use super::connect::{connect, machine, named, owner, unresolved};
use super::flow::{Packet, verdict};
use super::hop::{choose, document};
use super::topology::topology;
use crate::azure::arm::{missing, runs};
use crate::azure::bastion;
use crate::azure::cloud::Cloud;
use crate::azure::effective::Nic;
use crate::azure::gateway;
use crate::azure::job::DialJob;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;
use crate::host::Protocol;

/// What comes of a question.
pub(in crate::azure) enum PostResult {
    /// A document, in the answer itself.
    AtOnce(Value),
    /// A document, as the result of an operation.
    Soon(Value),
    /// Somebody has to try.
    PendingConnectivity(PendingConnectivity),
}

/// A trial that somebody has to make.
pub(in crate::azure) struct PendingConnectivity {
    /// The answer if it succeeds as the configuration says.
    pub(in crate::azure) document: Value,
    /// The trial; its operation has no name yet.
    pub(in crate::azure) job: DialJob,
}

/// Answers a question.
pub(in crate::azure) fn post(
    cloud: &Cloud,
    action: &str,
    body: &Value,
) -> Option<Result<PostResult, Refusal>> {
    Some(match action {
        "nexthop" => hop(cloud, body).map(PostResult::Soon),
        "ipflowverify" => flow(cloud, body).map(PostResult::Soon),
        "connectivitycheck" => connectivity(cloud, body),
        "querytroubleshootresult" => {
            let id = word(body, "targetResourceId");
            let nothing = || {
                let message = format!("No troubleshooting result was found for the resource {id}.");
                Refusal::network(404, "TroubleshootingResultNotFound", message)
            };
            gateway::trouble(cloud, id).map(PostResult::Soon).ok_or_else(nothing)
        }
        "topology" => {
            let group = body.get("targetResourceGroupName").and_then(Value::as_str).unwrap_or_default();
            Ok(PostResult::AtOnce(topology(cloud, group)))
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
    Ok(document(&nic, &hop))
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

fn connectivity(cloud: &Cloud, body: &Value) -> Result<PostResult, Refusal> {
    let part = |side: &str, field: &str| body.pointer(&format!("/{side}/{field}")).and_then(Value::as_str);
    let id = part("source", "resourceId").unwrap_or_default();
    let place = Target::parse(id).filter(|place| place.kind() == "bastionhosts");
    let bastion = place.as_ref().and_then(|place| bastion::interface(cloud, cloud.estate.get(place)?));
    let source = match &bastion {
        Some(document) => Nic::of(&cloud.estate, document),
        None => target(cloud, id)?,
    };
    let machine = match (&bastion, place) {
        (Some(_), Some(place)) => place,
        _ => source.machine().and_then(Target::parse).unwrap_or_default(),
    };
    if bastion.is_none() && !runs(cloud, machine.name()) {
        let message = format!("The virtual machine {} is not running.", machine.name());
        return Err(Refusal::network(400, "OperationNotAllowed", message));
    }
    let to = match part("destination", "resourceId") {
        Some(id) => Some(target(cloud, id)?),
        None => None,
    };
    let name = part("destination", "address").unwrap_or_default();
    let there = match &to {
        Some(nic) => nic.addresses().first().map(|found| address(found)).transpose()?,
        None if name.is_empty() => None,
        None => match named(cloud, name) {
            Some(found) => Some(found),
            None if name.chars().any(char::is_alphabetic) && !name.contains(':') => {
                return Ok(PostResult::Soon(unresolved(&source)));
            }
            None => Some(address(name)?),
        },
    };
    let there = there.ok_or_else(|| Refusal::unreadable("a destination is needed"))?;
    let to = to.or_else(|| owner(cloud, &source, there));
    let protocol = word(body, "protocol");
    let (protocol, port) = match protocol.to_ascii_lowercase().as_str() {
        "icmp" => (Protocol::Icmp, Some(0)),
        "" | "tcp" | "http" | "https" => (Protocol::Tcp, None),
        _ => return Err(Refusal::unreadable("the protocol is none of Tcp, Http, Https and Icmp")),
    };
    let sent = body.pointer("/destination/port").and_then(Value::as_u64).unwrap_or(0);
    let port = port.map_or_else(|| u16::try_from(sent), Ok);
    let port = port.map_err(|_| Refusal::unreadable("the port is too large"))?;
    let word = if protocol == Protocol::Icmp { "Icmp" } else { "Tcp" };
    let document = connect(cloud, &source, to.as_ref(), (there, port), word);
    let open = document.get("connectionStatus").and_then(Value::as_str) == Some("Reachable");
    if !cloud.guests || !open {
        return Ok(PostResult::Soon(document));
    }
    let job =
        DialJob { operation: String::new(), machine: machine.name().to_owned(), to: there, protocol, port };
    Ok(PostResult::PendingConnectivity(PendingConnectivity { document, job }))
}
