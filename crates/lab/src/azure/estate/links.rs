//! References that stand on both sides: a subnet and its group or table, an interface and its subnet or group.

use serde_json::{Value, json};

use super::documents::{Estate, list_mut};
use crate::azure::target::Target;

/// A reference of one kind, and where the other side lists those that refer to it.
struct Link {
    /// The type of what refers.
    from: &'static str,
    /// The property that holds the reference.
    by: &'static str,
    /// The list below the properties of what is referred to; a field of that name, where there is room for one.
    listed: &'static str,
    one: bool,
}

const LINKS: [Link; 7] = [
    Link {
        from: "microsoft.network/azurefirewalls/azurefirewallipconfigurations",
        by: "subnet",
        listed: "ipConfigurations",
        one: false,
    },
    Link {
        from: "microsoft.network/virtualnetworks/subnets",
        by: "networkSecurityGroup",
        listed: "subnets",
        one: false,
    },
    Link {
        from: "microsoft.network/virtualnetworks/subnets",
        by: "routeTable",
        listed: "subnets",
        one: false,
    },
    Link {
        from: "microsoft.network/networkinterfaces",
        by: "networkSecurityGroup",
        listed: "networkInterfaces",
        one: false,
    },
    Link {
        from: "microsoft.network/networkinterfaces/ipconfigurations",
        by: "subnet",
        listed: "ipConfigurations",
        one: false,
    },
    Link {
        from: "microsoft.network/virtualnetworkgateways/ipconfigurations",
        by: "subnet",
        listed: "ipConfigurations",
        one: false,
    },
    Link {
        from: "microsoft.network/networkinterfaces/ipconfigurations",
        by: "publicIPAddress",
        listed: "ipConfiguration",
        one: true,
    },
];

/// Brings the other sides in step with a change: what was referred to before, and what is now.
pub(super) fn follow(estate: &mut Estate, before: Option<&Value>, after: Option<&Value>) {
    for (whole, present) in [(before, false), (after, true)] {
        let Some(whole) = whole else { continue };
        for document in [whole].into_iter().chain(parts(whole)) {
            for link in LINKS.iter().filter(|link| is_of(document, link.from)) {
                let Some(id) = document.get("id").and_then(Value::as_str) else { continue };
                let referred =
                    document.pointer(&format!("/properties/{}/id", link.by)).and_then(Value::as_str);
                let Some(target) = referred.and_then(Target::parse) else { continue };
                if link.one {
                    only(estate, &target, link.listed, id, present);
                    continue;
                }
                if let Some(list) = estate.get_mut(&target).and_then(|found| list_mut(found, link.listed)) {
                    list.retain(|entry| !names(entry, id));
                    if present {
                        list.push(json!({"id": id}));
                    } else if list.is_empty() {
                        drop_empty(estate, &target, link.listed);
                    }
                }
            }
        }
    }
}

/// Sets the one reference back, or takes it away.
fn only(estate: &mut Estate, target: &Target, field: &str, id: &str, present: bool) {
    let found = estate.get_mut(target).and_then(|found| found.get_mut("properties"));
    let Some(properties) = found.and_then(Value::as_object_mut) else { return };
    if present {
        properties.insert(field.to_owned(), json!({"id": id}));
    } else if properties.get(field).is_some_and(|own| names(own, id)) {
        properties.remove(field);
    }
}

/// Returns what lives inside a document and can refer to something.
fn parts(whole: &Value) -> impl Iterator<Item = &Value> {
    ["subnets", "ipConfigurations"].into_iter().flat_map(|list| {
        let found = whole.get("properties").and_then(|properties| properties.get(list));
        found.and_then(Value::as_array).into_iter().flatten()
    })
}

/// The platform tells of no list that holds nothing.
fn drop_empty(estate: &mut Estate, target: &Target, list: &str) {
    let properties = estate.get_mut(target).and_then(|found| found.get_mut("properties"));
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        properties.remove(list);
    }
}

fn is_of(document: &Value, kind: &str) -> bool {
    document.get("type").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(kind))
}

fn names(entry: &Value, id: &str) -> bool {
    entry.get("id").and_then(Value::as_str).is_some_and(|found| found.eq_ignore_ascii_case(id))
}

/// Returns the list below `properties` in which children of a kind stand; nothing where they are documents of their own.
pub(super) fn list_of(parent: &str, child: &str) -> Option<&'static str> {
    let parent = parent.rsplit('/').next().unwrap_or(parent);
    Some(match (parent, child) {
        ("networksecuritygroups", "securityrules") => "securityRules",
        ("networksecuritygroups", "defaultsecurityrules") => "defaultSecurityRules",
        ("virtualnetworks", "subnets") => "subnets",
        ("virtualnetworks", "virtualnetworkpeerings") => "virtualNetworkPeerings",
        ("routetables", "routes") => "routes",
        ("networkinterfaces", "ipconfigurations") => "ipConfigurations",
        ("azurefirewalls", "azurefirewallipconfigurations") => "ipConfigurations",
        ("loadbalancers", "frontendipconfigurations") => "frontendIPConfigurations",
        ("loadbalancers", "backendaddresspools") => "backendAddressPools",
        ("loadbalancers", "loadbalancingrules") => "loadBalancingRules",
        ("loadbalancers", "probes") => "probes",
        ("loadbalancers", "inboundnatrules") => "inboundNatRules",
        ("loadbalancers", "outboundrules") => "outboundRules",
        _ => return None,
    })
}
