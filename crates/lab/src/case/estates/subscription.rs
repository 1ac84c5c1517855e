//! A network that lies in another subscription, with all that is in it: people see one estate, and two teams own it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::estate::Estate;
use super::write::PROVIDERS;

const OTHER: &str = "00000000-0000-0000-0000-000000000002";
/// Whoever investigates in a lab may look there.
const GROUP: &str = "hub-rg";

/// Moves a network, and whatever stands in it alone, into the other subscription.
pub(super) fn moved(whole: &mut Value, estate: &Estate, network: &str) {
    let inside = format!("{network}/");
    let (own, others): (Vec<_>, Vec<_>) =
        estate.machines.iter().partition(|machine| machine.subnet.starts_with(&inside));
    let (subnets, beside): (Vec<_>, Vec<_>) =
        estate.subnets.iter().partition(|subnet| subnet.network() == network);
    // What others use, too, stays.
    let used: BTreeSet<&String> = others
        .iter()
        .filter_map(|machine| machine.group.as_ref())
        .chain(beside.iter().flat_map(|subnet| [&subnet.group, &subnet.table].into_iter().flatten()))
        .collect();
    let groups = own
        .iter()
        .filter_map(|machine| machine.group.as_ref())
        .chain(subnets.iter().filter_map(|subnet| subnet.group.as_ref()));
    let mut names: BTreeSet<String> =
        BTreeSet::from([format!("Microsoft.Network/virtualNetworks/{network}")]);
    names.extend(
        groups
            .filter(|name| !used.contains(name))
            .map(|name| format!("Microsoft.Network/networkSecurityGroups/{name}")),
    );
    let tables = subnets.iter().filter_map(|subnet| subnet.table.as_ref());
    names.extend(
        tables
            .filter(|name| !used.contains(name))
            .map(|name| format!("Microsoft.Network/routeTables/{name}")),
    );
    for machine in own {
        names.insert(format!("Microsoft.Compute/virtualMachines/{}", machine.name));
        names.insert(format!("Microsoft.Network/networkInterfaces/{}-nic", machine.name));
    }
    let there = format!("/subscriptions/{OTHER}/resourceGroups/{GROUP}/providers");
    rename(whole, &|id: &str| {
        let rest = id.strip_prefix(PROVIDERS)?.strip_prefix('/')?;
        let name: Vec<&str> = rest.splitn(4, '/').take(3).collect();
        names.contains(&name.join("/")).then(|| format!("{there}/{rest}"))
    });
    let Some(map) = whole.as_object_mut() else { return };
    let like = |known: Option<&Value>, name: &str| {
        let mut own = known.cloned().unwrap_or_default();
        if let Some(own) = own.as_object_mut() {
            own.insert("id".to_owned(), json!(format!("/subscriptions/{OTHER}")));
            own.insert("subscriptionId".to_owned(), json!(OTHER));
            own.insert("displayName".to_owned(), json!(name));
        }
        own
    };
    let other = like(map.get("subscription"), "platform");
    map.insert("otherSubscriptions".to_owned(), json!([other]));
    let watchers: Vec<Value> = map
        .get("resources")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|one| {
            one.get("id").and_then(Value::as_str).is_some_and(|id| id.contains("/networkWatchers/"))
        })
        .cloned()
        .collect();
    if let Some(all) = map.get_mut("resources").and_then(Value::as_array_mut) {
        for mut watcher in watchers {
            rename(&mut watcher, &|id: &str| {
                id.strip_prefix("/subscriptions/00000000-0000-0000-0000-000000000001/")
                    .map(|rest| format!("/subscriptions/{OTHER}/{rest}"))
            });
            all.push(watcher);
        }
    }
    if let Some(all) = map.get_mut("resourceGroups").and_then(Value::as_array_mut) {
        let group = |name: &str| json!({"id": format!("/subscriptions/{OTHER}/resourceGroups/{name}"), "location": "eastus", "tags": {}});
        all.extend([group(GROUP), group("NetworkWatcherRG")]);
    }
}

/// Changes the texts of a document.
fn rename(document: &mut Value, new: &dyn Fn(&str) -> Option<String>) {
    match document {
        Value::Object(map) => map.values_mut().for_each(|value| rename(value, new)),
        Value::Array(list) => list.iter_mut().for_each(|value| rename(value, new)),
        Value::String(text) => {
            if let Some(renamed) = new(text) {
                *text = renamed;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
