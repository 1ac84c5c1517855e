//! Documents that are replaced, changed in part, removed.

use serde_json::{Value, json};

use super::answer::missing;
use super::{shape, storage};
use crate::azure::cloud::Cloud;
use crate::azure::operation::{self, Done};
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request};
use crate::azure::target::Target;
use crate::azure::watch::capture;
use ghost_base::Timestamp;

/// What nobody changes in part.
const OWN: [&str; 4] = ["id", "name", "type", "etag"];

/// Replaces a document: what is absent is gone, what only the platform writes stays.
pub(super) fn put(
    cloud: &mut Cloud,
    request: &Request,
    target: &Target,
    now: Timestamp,
) -> Result<Answer, Refusal> {
    let body = document(request)?;
    if let Some(parent) = target.parent()
        && cloud.estate.get(&parent).is_none()
    {
        let kinds: Vec<&str> = target.chain.iter().map(|(kind, _)| kind.as_str()).collect();
        let message = format!(
            "Failed to perform 'write' on resource(s) of type '{}', because the parent resource '{}' could not be found.",
            kinds.join("/"),
            parent.id()
        );
        return Err(Refusal::new(404, "ParentResourceNotFound", message));
    }
    tagged(cloud, request, target)?;
    let target = &spelled(cloud, target);
    let before = cloud.estate.get(target).cloned();
    let body = match body.get("properties").and_then(Value::as_object) {
        Some(sent) if target.kind() == "networkwatchers/packetcaptures" => {
            let begun = capture::begin(cloud, target, sent, now)?;
            json!({"properties": begun})
        }
        _ => body,
    };
    let shaped = shape::shaped(cloud, target, body, before.as_ref())?;
    let status = if before.is_some() { 200 } else { 201 };
    Ok(later(cloud, request, target, shaped, status))
}

/// Changes a document in part.
pub(super) fn patch(cloud: &mut Cloud, request: &Request, target: &Target) -> Result<Answer, Refusal> {
    let body = document(request)?;
    let Some(mut whole) = cloud.estate.get(target).cloned() else { return Err(missing(cloud, target)) };
    tagged(cloud, request, target)?;
    let own: Vec<(&str, Value)> =
        OWN.iter().filter_map(|name| Some((*name, whole.get(*name)?.clone()))).collect();
    // Network rules come whole: what is absent is gone.
    if let (Some(_), Some(known)) = (body.pointer("/properties/networkAcls"), whole.get_mut("properties"))
        && let Some(known) = known.as_object_mut()
    {
        known.remove("networkAcls");
    }
    merge(&mut whole, body);
    if let Some(map) = whole.as_object_mut() {
        map.extend(own.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if !map.get("properties").is_some_and(Value::is_object) {
            return Err(Refusal::unreadable("properties are expected to be an object"));
        }
    }
    if target.kind() == "storageaccounts" {
        storage::checked(cloud, &mut whole)?;
    }
    let stored = store(cloud, target, whole);
    Ok(Answer::json(200, stored))
}

/// Removes a document. What is not there is gone already.
pub(super) fn delete(cloud: &mut Cloud, request: &Request, target: &Target) -> Result<Answer, Refusal> {
    if cloud.estate.get(target).is_none() {
        return Ok(Answer::empty(204));
    }
    tagged(cloud, request, target)?;
    shape::removable(cloud, target)?;
    cloud.estate.remove(target);
    capture::forget(cloud, target);
    if target.kind() == "storageaccounts" {
        cloud.store.drop_account(target.name());
    }
    let name = cloud.operations.begin(Some(Done::Gone));
    let (status, result) = operation::network(request, &cloud.subscription_of(request), "eastus", &name);
    Ok(Answer::empty(202)
        .with("Azure-AsyncOperation", status)
        .with("Location", result)
        .with("Azure-AsyncNotification", "Enabled"))
}

/// Stores a document. A machine that is new runs, and its interfaces say whose they are.
fn store(cloud: &mut Cloud, target: &Target, document: Value) -> Value {
    let stored = cloud.estate.put(target, document);
    if target.kind() == "virtualmachines" {
        cloud.about.instance_views = cloud.about.views(&cloud.estate);
    }
    if matches!(target.kind().as_str(), "virtualmachines" | "networkinterfaces") {
        attach(cloud);
        return cloud.estate.get(target).cloned().unwrap_or(stored);
    }
    stored
}

/// Has interfaces that a machine lists, and that are nobody's, say that they are its.
fn attach(cloud: &mut Cloud) {
    let mut free: Vec<(Target, Value)> = Vec::new();
    for machine in cloud.estate.of("Microsoft.Compute/virtualMachines") {
        let listed =
            machine.pointer("/properties/networkProfile/networkInterfaces").and_then(Value::as_array);
        for id in listed.into_iter().flatten().filter_map(|one| one.get("id")?.as_str()) {
            let found =
                cloud.estate.by_id(id).filter(|nic| nic.pointer("/properties/virtualMachine/id").is_none());
            let (Some(mut nic), Some(target)) = (found.cloned(), Target::parse(id)) else { continue };
            if let Some(properties) = nic.get_mut("properties").and_then(Value::as_object_mut) {
                properties.insert("virtualMachine".to_owned(), json!({"id": machine.get("id")}));
                free.push((target, nic));
            }
        }
    }
    for (target, nic) in free {
        cloud.estate.put(&target, nic);
    }
}

/// Stores a document, and says that the platform is still at it.
fn later(cloud: &mut Cloud, request: &Request, target: &Target, shaped: Value, status: u16) -> Answer {
    let mut answered = store(cloud, target, shaped);
    if let Some(state) = answered.pointer_mut("/properties/provisioningState") {
        *state = json!("Updating");
    }
    let name = cloud.operations.begin(Some(Done::Nothing));
    let (place, _) = operation::network(request, &cloud.subscription_of(request), "eastus", &name);
    Answer::json(status, answered)
        .with("Azure-AsyncOperation", place)
        .with("Azure-AsyncNotification", "Enabled")
}

/// Reads the body as a document.
pub(super) fn document(request: &Request) -> Result<Value, Refusal> {
    let read: Value =
        serde_json::from_slice(&request.body).map_err(|error| Refusal::unreadable(&error.to_string()))?;
    if read.is_object() { Ok(read) } else { Err(Refusal::unreadable("an object is expected")) }
}

/// Refuses where somebody changed the document meanwhile.
fn tagged(cloud: &Cloud, request: &Request, target: &Target) -> Result<(), Refusal> {
    let stored = cloud.estate.get(target).and_then(|found| found.get("etag")).and_then(Value::as_str);
    let wanted = request.header("if-match").filter(|wanted| *wanted != "*");
    let fresh = request.header("if-none-match") == Some("*");
    if wanted.is_some_and(|wanted| Some(wanted) != stored) || (fresh && stored.is_some()) {
        let message = "The condition that the header sets is not met: the resource was changed meanwhile.";
        return Err(Refusal::network(412, "PreconditionFailed", message));
    }
    Ok(())
}

/// Returns the target in the spelling of what is there.
fn spelled(cloud: &Cloud, target: &Target) -> Target {
    let stored = cloud.estate.get(target).or_else(|| cloud.estate.get(&target.parent()?));
    let Some(known) =
        stored.and_then(|found| found.get("id")).and_then(Value::as_str).and_then(Target::parse)
    else {
        let around = Target { provider: None, chain: Vec::new(), tail: None, ..target.clone() };
        let group = cloud.estate.get(&around).and_then(|group| group.get("name")).and_then(Value::as_str);
        return Target { group: group.map(str::to_owned).or_else(|| target.group.clone()), ..target.clone() };
    };
    let chain =
        known.chain.iter().cloned().chain(target.chain.iter().skip(known.chain.len()).cloned()).collect();
    Target { chain, ..known }
}

/// Puts one document over another: objects are merged, everything else is replaced, null takes away.
fn merge(whole: &mut Value, part: Value) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (name, value) in part {
                if value.is_null() {
                    whole.remove(&name);
                } else {
                    merge(whole.entry(name).or_insert(Value::Null), value);
                }
            }
        }
        (whole, part) => *whole = part,
    }
}
