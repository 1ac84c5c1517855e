//! Which resource, which verb.

use serde_json::{Value, json};

use super::act::act;
use super::{change, compute, subscription};
use crate::azure::activity;
use crate::azure::cloud::Cloud;
use crate::azure::gateway;
use crate::azure::health;
use crate::azure::job::Job;
use crate::azure::operation::Form;
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request, Verb};
use crate::azure::target::Target;
use ghost_base::Timestamp;

/// An answer, and what has to be done outside before its operation ends.
pub(super) type ArmResult = Result<(Answer, Option<Job>), Refusal>;

/// Answers a request.
pub(in crate::azure) fn answer(cloud: &mut Cloud, request: &Request, now: Timestamp) -> ArmResult {
    let Some(target) = Target::parse(&request.path) else {
        return subscription::outside(cloud, request).map(alone);
    };
    if target.subscription.as_deref().is_some_and(|id| cloud.described(id).is_none()) {
        let id = target.subscription.unwrap_or_default();
        let message = format!("The subscription '{id}' could not be found.");
        return Err(Refusal::new(404, "SubscriptionNotFound", message));
    }
    if target.provider.is_none() {
        return subscription::inside(cloud, request, &target).map(alone);
    }
    let registers = request.verb == Verb::Post && matches!(target.last().as_str(), "register" | "unregister");
    if target.chain.is_empty() && (target.tail.is_none() || (registers && target.group.is_none())) {
        return subscription::provider(cloud, request, &target).map(alone);
    }
    if let Some(group) = &target.group {
        let around = Target { provider: None, chain: Vec::new(), tail: None, ..target.clone() };
        if cloud.estate.get(&around).is_none() {
            return Err(Refusal::no_group(group));
        }
    }
    if let Some(answered) = health::answer(cloud, request, &target) {
        return answered.map(alone);
    }
    if target.namespace() == "microsoft.insights" && target.last() == "values" {
        return cloud
            .list(request, activity::list(cloud, request, target.subscription.as_deref(), now)?)
            .map(alone);
    }
    if target.last() == "metrics" && target.name().eq_ignore_ascii_case("Microsoft.Insights") {
        return metrics(cloud, request, &target, now).map(alone);
    }
    if let Some(answer) = asked(cloud, request, &target) {
        return Ok(alone(answer));
    }
    match (request.verb, &target.tail) {
        (Verb::Get, Some(kind)) => list(cloud, request, &target, kind).map(alone),
        (Verb::Get | Verb::Head, None) => read(cloud, request, &target).map(alone),
        (Verb::Put, None) => change::put(cloud, request, &target, now).map(alone),
        (Verb::Patch, None) => change::patch(cloud, request, &target).map(alone),
        (Verb::Delete, None) => change::delete(cloud, request, &target).map(alone),
        (Verb::Post, Some(action)) => act(cloud, request, &target, action, now),
        (verb, _) => Err(Refusal::new(
            405,
            "MethodNotAllowed",
            format!("The resource does not support the method {}.", verb.name()),
        )),
    }
}

pub(super) fn alone(answer: Answer) -> (Answer, Option<Job>) {
    (answer, None)
}

/// Answers with the metrics of a resource: how many connections found no port, as the document below it says, and nothing else.
fn metrics(cloud: &Cloud, request: &Request, target: &Target, now: Timestamp) -> Result<Answer, Refusal> {
    let own = Target { tail: None, ..target.clone() };
    let Some(resource) = own.parent() else { return Err(missing(cloud, target)) };
    if cloud.estate.get(&resource).is_none() {
        return Err(missing(cloud, &resource));
    }
    let count = cloud.estate.by_id(&format!("{}/metrics/failed", resource.id()));
    let failed = count.and_then(|count| count.pointer("/properties/failed")?.as_f64());
    let names = request.parameter("metricnames").unwrap_or_default();
    let metric = |name: &str| {
        let is_known = name.eq_ignore_ascii_case("SnatConnectionCount");
        let point = json!({"timeStamp": now.to_string(), "total": failed.unwrap_or(0.0)});
        let series = json!([{"metadatavalues": [{"name": {"value": "connectionstate"}, "value": "Failed"}], "data": [point]}]);
        json!({"id": format!("{}/providers/Microsoft.Insights/metrics/{name}", resource.id()), "type": "Microsoft.Insights/metrics",
            "name": {"value": name, "localizedValue": name}, "unit": "Count",
            "timeseries": if is_known { series } else { json!([]) }})
    };
    let all: Vec<Value> = names.split(',').filter(|name| !name.is_empty()).map(metric).collect();
    Ok(Answer::json(
        200,
        json!({"cost": 0, "interval": "PT5M", "namespace": "Microsoft.Network", "value": all}),
    ))
}

/// Answers whoever asks for an operation.
fn asked(cloud: &mut Cloud, request: &Request, target: &Target) -> Option<Answer> {
    let [(locations, _), (kind, name)] = target.chain.as_slice() else { return None };
    if request.verb != Verb::Get || !locations.eq_ignore_ascii_case("locations") {
        return None;
    }
    let form = if target.namespace() == "microsoft.compute" { Form::Compute } else { Form::Network };
    let wants = request.parameter("monitor").is_some() || kind.eq_ignore_ascii_case("operationResults");
    match kind.to_ascii_lowercase().as_str() {
        "operationresults" | "operations" if wants => Some(cloud.operations.result(name)),
        "operations" => Some(cloud.operations.status(name, form)),
        _ => None,
    }
}

/// Lists a collection: of a resource, of a group or of the subscription. One that nobody knows is empty.
fn list(cloud: &Cloud, request: &Request, target: &Target, kind: &str) -> Result<Answer, Refusal> {
    if target.chain.is_empty() {
        if kind.eq_ignore_ascii_case("locations") {
            return Ok(Answer::json(200, json!({"value": []})));
        }
        let whole = format!("{}/{kind}", target.provider.as_deref().unwrap_or_default());
        let found = cloud.estate.of(&whole).filter(|document| is_within(document, target));
        let found = found.cloned().map(|found| gateway::shown(cloud, found, false));
        return cloud.list(request, found.collect());
    }
    if let Some(answer) = subscription::of_location(cloud, target, kind) {
        return Ok(answer);
    }
    let parent = Target { tail: None, ..target.clone() };
    let Some(found) = cloud.estate.get(&parent) else { return Err(missing(cloud, &parent)) };
    if let Some(view) = compute::view(cloud, found).filter(|_| kind.eq_ignore_ascii_case("instanceView")) {
        return Ok(Answer::json(200, view.clone()));
    }
    let inside =
        Target { chain: [&parent.chain[..], &[(kind.to_owned(), String::new())]].concat(), ..parent.clone() };
    if let Some((_, list)) = cloud.estate.nested(&inside) {
        let entries = found.pointer(&format!("/properties/{list}")).and_then(Value::as_array);
        return cloud.list(request, entries.cloned().unwrap_or_default());
    }
    let below = format!("{}/{kind}/", parent.id()).to_ascii_lowercase();
    let entries = cloud.estate.all().filter(|document| {
        let id = document.get("id").and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
        id.strip_prefix(&below).is_some_and(|rest| !rest.contains('/'))
    });
    cloud.list(request, entries.cloned().collect())
}

fn read(cloud: &Cloud, request: &Request, target: &Target) -> Result<Answer, Refusal> {
    let Some(found) = cloud.estate.get(target) else { return Err(missing(cloud, target)) };
    let found = compute::looked_at(cloud, found.clone(), request);
    let found = gateway::shown(cloud, found, true);
    Ok(Answer::json(200, found))
}

/// Says that something is not there, as its provider says it.
pub(in crate::azure) fn missing(cloud: &Cloud, target: &Target) -> Refusal {
    let there = target.parent().is_none_or(|parent| cloud.estate.get(&parent).is_some());
    let child = target.chain.len() > 1;
    if child && there && target.namespace() == "microsoft.network" {
        return Refusal::no_child(&target.id());
    }
    let outer = if there { target.clone() } else { target.parent().unwrap_or_else(|| target.clone()) };
    let kinds: Vec<&str> = outer.chain.iter().map(|(kind, _)| kind.as_str()).collect();
    let names: Vec<&str> = outer.chain.iter().map(|(_, name)| name.as_str()).collect();
    let kind = format!("{}/{}", outer.provider.as_deref().unwrap_or_default(), kinds.join("/"));
    Refusal::missing(&kind, &names.join("/"), outer.group.as_deref().unwrap_or_default())
}

/// Tells whether a document is in the subscription of a request, and in its group where that names one.
fn is_within(document: &Value, around: &Target) -> bool {
    let id = document.get("id").and_then(Value::as_str).and_then(Target::parse);
    let same = |one: Option<&String>, other: Option<&String>| {
        other.is_none_or(|other| one.is_some_and(|one| one.eq_ignore_ascii_case(other)))
    };
    id.is_some_and(|id| {
        same(id.subscription.as_ref(), around.subscription.as_ref())
            && same(id.group.as_ref(), around.group.as_ref())
    })
}
