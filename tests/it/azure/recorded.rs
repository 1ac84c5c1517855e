//! The cloud answers as the recordings of a real one do.

use std::collections::BTreeMap;
use std::path::Path;

use ghost_base::Timestamp;
use ghost_lab::az::{Failure, run};
use ghost_lab::azure::{Answer, Body, Cloud, Description, Fault, Job, Request, Verb};
use serde_json::Value;

use super::recording::{every, read};

pub(super) fn cloud(place: &Path) -> Cloud {
    let about: Description = serde_json::from_value(read(&place.join("_estate.json"))).unwrap();
    Cloud::new(about).unwrap()
}

const SUBSCRIPTION: &str = "00000000-0000-0000-0000-000000000001";

/// What stands in a recording for what differs from run to run.
const BASE: &str = "{{ARM}}";
const TIME: &str = "{{TIME}}";

pub(super) fn request(recorded: &Value) -> Request {
    let text = |field: &str| recorded[field].as_str().unwrap_or_default().to_owned();
    let pairs = |field: &str| -> Vec<(String, String)> {
        let found = recorded[field].as_object().into_iter().flatten();
        let filled = |value: &Value| value.as_str().unwrap_or_default().replace(TIME, &now().to_string());
        found.map(|(name, value)| (name.clone(), filled(value))).collect()
    };
    let body = match &recorded["body"] {
        Value::Null => Vec::new(),
        body => body.to_string().into_bytes(),
    };
    Request {
        verb: Verb::of(&text("method")).unwrap(),
        base: BASE.to_owned(),
        path: text("path"),
        query: pairs("query"),
        headers: pairs("headers").into_iter().collect::<BTreeMap<_, _>>(),
        body,
    }
}

/// Takes out what is the server's own business.
pub(super) fn essential(document: &Value) -> Value {
    const OWN: [&str; 7] =
        ["etag", "resourceGuid", "nextLink", "access_token", "expires_on", "not_before", "value"];
    match document {
        Value::Object(map) => {
            let kept = map.iter().filter(|(name, value)| {
                let lower = name.to_lowercase();
                // A list is called so, and a key of an account.
                let drawn =
                    OWN.contains(&name.as_str()) && (name.as_str() != "value" || map.contains_key("keyName"));
                !drawn && !lower.ends_with("time") && !value.is_null()
            });
            let kept = kept.map(|(name, value)| {
                let updating = name == "provisioningState" && value == "Updating";
                (name.clone(), if updating { Value::from("Succeeded") } else { essential(value) })
            });
            // Ids that are no paths are drawn.
            let kept = kept.filter(|(name, value)| {
                !(name == "nextHopIds" || (name == "id" && value.as_str().is_some_and(|id| id.len() == 36)))
            });
            Value::Object(kept.collect())
        }
        Value::Array(list) => {
            let mut list: Vec<Value> = list.iter().map(essential).collect();
            // Which tags there are does not depend on their order.
            if list.iter().any(|entry| !entry["properties"]["systemService"].is_null()) {
                list.sort_by_key(|entry| entry["name"].to_string());
            }
            Value::Array(list)
        }
        other => other.clone(),
    }
}

pub(super) fn body(answer: &Answer) -> Value {
    match &answer.body {
        Body::Empty => Value::Null,
        Body::Json(document) => document.clone(),
        Body::Text(_, text) => Value::from(text.as_str()),
        Body::Bytes(bytes) => Value::from(bytes.len()),
    }
}

pub(super) fn now() -> Timestamp {
    "2025-06-02T09:31:00.000Z".parse().unwrap()
}

/// Runs a command of the built-in `az`.
fn az(cloud: &mut Cloud, words: &[String]) -> Result<Option<Value>, Failure> {
    let mut wire = |request: Request| cloud.answer(&request, now()).0;
    run(&mut wire, BASE, SUBSCRIPTION, words, now())
}

/// Plays a recording; returns what differs.
fn play(place: &Path, name: &str) -> Vec<String> {
    let recorded = read(&place.join(name));
    let mut cloud = cloud(place);
    let mut wrong = Vec::new();
    for step in recorded["setup"].as_array().into_iter().flatten() {
        if let Some(polls) = step["lro_polls"].as_u64() {
            cloud.polls(u32::try_from(polls).unwrap());
        } else if let Some(size) = step["page_size"].as_u64() {
            cloud.page(usize::try_from(size).ok());
        } else if let Some(most) = step["capture_limit"].as_u64() {
            cloud.captures(usize::try_from(most).ok());
        } else if let Some(id) = step["remove"].as_str() {
            assert!(cloud.take_out(id));
        } else if let Some(machines) = step["busy"].as_array() {
            machines.iter().for_each(|machine| cloud.busy(machine.as_str().unwrap()));
        } else if let Some(machines) = step["power"].as_object() {
            machines.iter().for_each(|(machine, state)| cloud.power(machine, state.as_str().unwrap()));
        } else if let Some(words) = step["az"].as_array() {
            let words: Vec<String> = words.iter().map(|word| word.as_str().unwrap().to_owned()).collect();
            if words.iter().any(|word| word == "blob") {
                // Blobs are tested elsewhere.
                return Vec::new();
            }
            if let Err(failure) = az(&mut cloud, &words) {
                return vec![format!("{words:?}: {failure:?}")];
            }
        } else if step["fault"].is_object() {
            cloud.faults().add(fault(&step["fault"]));
        }
    }
    // Operations have names of their own here.
    let mut named: BTreeMap<String, String> = BTreeMap::new();
    for exchange in recorded["exchanges"].as_array().unwrap() {
        if exchange["request"]["plane"] != "arm" {
            continue;
        }
        let mut asked = request(&exchange["request"]);
        for (theirs, ours) in &named {
            asked.path = asked.path.replace(theirs, ours);
        }
        let (answer, job) = cloud.answer(&asked, now());
        if let Some(Job::Script(job)) = job {
            let (out, err) = printed(&recorded);
            cloud.printed(&job.operation, &out, &err);
        }
        let reported = &exchange["response"];
        let place = reported["headers"]["Azure-AsyncOperation"].as_str().and_then(operation);
        let ours = answer.headers.iter().find(|(name, _)| name == "Azure-AsyncOperation");
        if let (Some(theirs), Some(ours)) = (place, ours.and_then(|(_, place)| operation(place))) {
            named.insert(theirs, ours);
        }
        let line = format!("{} {}", asked.verb.name(), asked.path);
        if reported["status"] != answer.status {
            wrong.push(format!(
                "{line}: {} instead of {}: {}",
                answer.status,
                reported["status"],
                body(&answer)
            ));
        } else if asked.path.ends_with("/eventtypes/management/values") {
            // What happened before is nothing that happened here.
            assert_eq!(body(&answer)["value"], Value::Array(Vec::new()));
        } else if essential(&reported["body"]) != essential(&body(&answer)) {
            wrong.push(format!(
                "{line}:\n  {}\n  {}",
                essential(&body(&answer)),
                essential(&reported["body"])
            ));
        }
    }
    wrong
}

/// Returns what the guest printed in a recording.
fn printed(recorded: &Value) -> (String, String) {
    let bodies = recorded["exchanges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|exchange| &exchange["response"]["body"]["value"][0]["message"]);
    let message = bodies.filter_map(Value::as_str).next_back().unwrap_or_default();
    let (out, err) = message.rsplit_once("\n[stderr]\n").unwrap_or_default();
    let out = out.split_once("[stdout]\n").map_or("", |(_, out)| out);
    (out.to_owned(), err.to_owned())
}

/// Returns the name of an operation from its place.
fn operation(place: &str) -> Option<String> {
    let name = place.split('?').next()?.rsplit('/').next()?;
    Some(name.to_owned())
}

pub(super) fn fault(reported: &Value) -> Fault {
    let headers = reported["headers"].as_object().into_iter().flatten();
    Fault {
        pattern: regex::Regex::new(reported["match"].as_str().unwrap()).unwrap(),
        status: u16::try_from(reported["status"].as_u64().unwrap()).unwrap(),
        headers: headers
            .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
            .collect(),
        body: Fault::body(&reported["body"]),
        times: reported["times"].as_u64().unwrap_or(1),
    }
}

#[test]
fn recordings_are_answered_as_they_were() {
    every(play);
}
