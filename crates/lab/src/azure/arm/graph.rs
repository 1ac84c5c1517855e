//! Resource Graph, as far as it is asked for where something is: two questions, and no language.

use serde_json::{Value, json};

use super::change::document;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request};
use crate::azure::target::Target;

const MACHINES: &str = "Resources | where type =~ \"microsoft.compute/virtualmachines\" and name =~ \"";
const ADDRESSES: &str = "Resources | where type =~ \"microsoft.network/networkinterfaces\" | mv-expand own = properties.ipConfigurations | where tostring(own.properties.privateIPAddress) == \"";

/// Answers one of the questions that are known, from the subscriptions that it names and whoever asks may read.
pub(super) fn answer(cloud: &Cloud, request: &Request) -> Result<Answer, Refusal> {
    let body = document(request)?;
    let query = body.get("query").and_then(Value::as_str).unwrap_or_default();
    let named: Vec<&str> = body
        .get("subscriptions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let is_readable = |found: &&Value| {
        let id = found.get("id").and_then(Value::as_str).and_then(Target::parse);
        let own = id.and_then(|id| id.subscription).unwrap_or_default();
        !cloud.about.is_closed(&own)
            && (named.is_empty() || named.iter().any(|id| id.eq_ignore_ascii_case(&own)))
    };
    let value =
        |start: &str| query.strip_prefix(start).and_then(|rest| rest.split_once('"')).map(|(value, _)| value);
    let rows: Vec<Value> = match (value(MACHINES), value(ADDRESSES)) {
        (Some(name), _) => {
            let all = cloud.estate.of("Microsoft.Compute/virtualMachines").filter(is_readable);
            let own = |found: &&Value| {
                found.get("name").and_then(Value::as_str).is_some_and(|own| own.eq_ignore_ascii_case(name))
            };
            all.filter(own).map(|found| json!({"id": found.get("id"), "name": found.get("name")})).collect()
        }
        (None, Some(address)) => {
            let all = cloud.estate.of("Microsoft.Network/networkInterfaces").filter(is_readable);
            let own = |found: &&Value| {
                let list = found.pointer("/properties/ipConfigurations").and_then(Value::as_array);
                let mut texts =
                    list.into_iter().flatten().filter_map(|own| own.pointer("/properties/privateIPAddress"));
                texts.any(|text| text == address)
            };
            let row = |found: &Value| {
                let machine = found.pointer("/properties/virtualMachine/id").and_then(Value::as_str);
                json!({"id": found.get("id"), "name": found.get("name"), "machine": machine.unwrap_or_default()})
            };
            all.filter(own).map(row).collect()
        }
        (None, None) => {
            let message = "The lab answers two questions of Resource Graph, and this is none of them.";
            return Err(Refusal::new(400, "BadRequest", message));
        }
    };
    let count = rows.len();
    Ok(Answer::json(
        200,
        json!({"totalRecords": count, "count": count, "data": rows, "facets": [], "resultTruncated": "false"}),
    ))
}
