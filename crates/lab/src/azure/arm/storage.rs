//! Storage accounts: keys, and changes in part.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::act::no_action;
use super::change::document;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::request::{Answer, Request};
use crate::azure::target::Target;
use ghost_base::Digest;

const KEYS: [&str; 2] = ["key1", "key2"];

/// Does what is asked of an account.
pub(super) fn act(
    cloud: &mut Cloud,
    request: &Request,
    account: &Target,
    action: &str,
) -> Result<Answer, Refusal> {
    match action {
        "listkeys" => Ok(Answer::json(200, listed(cloud, account))),
        "regeneratekey" => {
            let body = document(request)?;
            let name = body.get("keyName").and_then(Value::as_str).unwrap_or_default();
            let Some(name) = KEYS.into_iter().find(|known| known.eq_ignore_ascii_case(name)) else {
                let message = "Values for request parameters are invalid: keyName.";
                return Err(Refusal::new(400, "InvalidValuesForRequestParameters", message));
            };
            *cloud.rotations.entry((account.name().to_ascii_lowercase(), name)).or_default() += 1;
            Ok(Answer::json(200, listed(cloud, account)))
        }
        _ => Err(no_action(action)),
    }
}

fn listed(cloud: &Cloud, account: &Target) -> Value {
    let key = |(name, value): (&str, String)| json!({"creationTime": "2025-05-20T08:00:00.0000000Z", "keyName": name, "value": value, "permissions": "FULL"});
    let keys = KEYS.into_iter().zip(keys(cloud, account.name()));
    json!({"keys": keys.map(key).collect::<Vec<_>>()})
}

/// Returns the keys of an account: they follow from its name, and open nothing but this cloud.
pub(in crate::azure) fn keys(cloud: &Cloud, account: &str) -> [String; 2] {
    let account = account.to_ascii_lowercase();
    KEYS.map(|name| {
        let rotation = cloud.rotations.get(&(account.clone(), name)).copied().unwrap_or_default();
        let half = |part: &str| Digest::of(format!("{account}/{name}/{rotation}/{part}")).to_string();
        let bytes = [half("a"), half("b")].concat().into_bytes();
        STANDARD.encode(bytes.get(..64).unwrap_or_default())
    })
}

/// Checks what an account is to be like, and gives its network rules the state that the platform tells.
pub(super) fn checked(cloud: &Cloud, whole: &mut Value) -> Result<(), Refusal> {
    let Some(rules) = whole.pointer_mut("/properties/networkAcls") else { return Ok(()) };
    let action = rules.get("defaultAction").and_then(Value::as_str).unwrap_or("Allow");
    if !["Allow", "Deny"].iter().any(|known| known.eq_ignore_ascii_case(action)) {
        return Err(invalid("networkAcls.defaultAction"));
    }
    for list in ["ipRules", "virtualNetworkRules"] {
        let entries = rules.get(list);
        if entries.is_some_and(|entries| !entries.is_array() && !entries.is_null()) {
            return Err(invalid(&format!("networkAcls.{list}")));
        }
    }
    for rule in rules.get("ipRules").and_then(Value::as_array).into_iter().flatten() {
        let text = rule.get("value").and_then(Value::as_str).unwrap_or_default();
        let net: Option<ipnet::Ipv4Net> =
            text.parse().ok().or_else(|| text.parse::<std::net::Ipv4Addr>().ok().map(ipnet::Ipv4Net::from));
        // The platform takes public addresses alone, and no prefix that is longer than 30.
        let fits = |net: &ipnet::Ipv4Net| {
            !net.addr().is_private() && (net.prefix_len() <= 30 || net.prefix_len() == 32)
        };
        if !net.as_ref().is_some_and(fits) {
            return Err(invalid("networkAcls.ipRule[*].value"));
        }
    }
    for rule in rules.get_mut("virtualNetworkRules").and_then(Value::as_array_mut).into_iter().flatten() {
        let id = rule.get("id").and_then(Value::as_str).unwrap_or_default();
        if cloud.estate.by_id(id).is_none() {
            let message =
                format!("Validation of network acls failure: SubnetsNotFound:Cannot find subnet {id}.");
            return Err(Refusal::new(400, "NetworkAclsValidationFailure", message));
        }
        if let Some(map) = rule.as_object_mut() {
            map.entry("state").or_insert(json!("Succeeded"));
        }
    }
    Ok(())
}

fn invalid(what: &str) -> Refusal {
    let message = format!("Values for request parameters are invalid: {what}.");
    Refusal::new(400, "InvalidValuesForRequestParameters", message)
}
