//! Both sides of a peering: the second one connects the first, and one that goes leaves the other alone.

use serde_json::{Value, json};

use super::documents::{Estate, list_mut};
use crate::azure::target::Target;

/// Brings the other side of a peering in step with a change.
pub(super) fn follow(estate: &mut Estate, before: Option<&Value>, after: Option<&Value>) {
    let Some(changed) = after.or(before) else { return };
    let kind = changed.get("type").and_then(Value::as_str).unwrap_or_default();
    let gone: Vec<Value> = match kind.to_ascii_lowercase().as_str() {
        "microsoft.network/virtualnetworks/virtualnetworkpeerings" => vec![changed.clone()],
        "microsoft.network/virtualnetworks" if after.is_none() => {
            let list = changed.pointer("/properties/virtualNetworkPeerings").and_then(Value::as_array);
            list.cloned().unwrap_or_default()
        }
        _ => return,
    };
    for peering in &gone {
        let text = |pointer: &str| peering.pointer(pointer).and_then(Value::as_str);
        let own = text("/id").and_then(Target::parse).and_then(|peering| peering.parent());
        let other = text("/properties/remoteVirtualNetwork/id").and_then(Target::parse);
        let (Some(own), Some(other)) = (own, other) else { continue };
        let state = match (after, text("/properties/peeringState")) {
            (None, _) => "Disconnected",
            (Some(_), Some("Connected")) => "Connected",
            (Some(_), _) => continue,
        };
        let list = estate.get_mut(&other).and_then(|network| list_mut(network, "virtualNetworkPeerings"));
        for back in list.into_iter().flatten() {
            let remote = back.pointer("/properties/remoteVirtualNetwork/id").and_then(Value::as_str);
            let mine = remote.is_some_and(|id| id.eq_ignore_ascii_case(&own.id()));
            if let (true, Some(properties)) =
                (mine, back.get_mut("properties").and_then(Value::as_object_mut))
            {
                properties.insert("peeringState".to_owned(), json!(state));
                let level = if state == "Connected" { "FullyInSync" } else { "RemoteNotInSync" };
                properties.insert("peeringSyncLevel".to_owned(), json!(level));
            }
        }
    }
}
