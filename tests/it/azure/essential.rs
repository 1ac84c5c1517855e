//! What two answers have to have in common.

use serde_json::Value;

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
