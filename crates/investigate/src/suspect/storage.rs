//! A storage account's own rules, and what the subnets bring along that it lets in.

use serde_json::Value;

use super::supported::plain;
use super::{Suspect, once};
use crate::finding::Fault;
use ghost_cloud::probe::topology::Topology;

/// The service that a subnet has to bring along.
const SERVICE: &str = "Microsoft.Storage";

/// Returns why an account keeps a subnet out (`network/subnet`), or any of the subnets that it names where none is asked for.
///
/// # Errors
/// Says why the account cannot be read.
pub(crate) fn kept_out(
    account: &str,
    document: &str,
    topology: &Topology,
    subnet: Option<&str>,
) -> Result<Vec<Suspect>, String> {
    let value: Value = serde_json::from_str(document).map_err(|error| error.to_string())?;
    let rules =
        value.get("networkRuleSet").or_else(|| value.get("networkAcls")).filter(|rules| !rules.is_null());
    let closed = value.get("publicNetworkAccess").and_then(Value::as_str).unwrap_or_default();
    let wall =
        |why: &str| Suspect::new(Fault::StorageFirewallDeny, format!("storage/{}", plain(account)), why);
    // Whoever comes by a private endpoint needs no rule; whether the name leads there, the path says.
    if is_linked(&value) {
        return Ok(Vec::new());
    }
    if closed.eq_ignore_ascii_case("disabled") {
        return Ok(vec![wall("the account takes nobody from outside private endpoints")]);
    }
    let rules = rules.ok_or("it does not tell its network rules")?;
    let action =
        rules.get("defaultAction").and_then(Value::as_str).ok_or("it does not tell its default action")?;
    if !action.eq_ignore_ascii_case("deny") {
        return Ok(Vec::new());
    }
    let named = named(rules);
    let Some(subnet) = subnet else {
        let missing: Vec<Suspect> = named.iter().filter_map(|path| missing(topology, path)).collect();
        let none = named.is_empty().then(|| wall("the default is to deny, and no rule lets any subnet in"));
        return Ok(once(missing.into_iter().chain(none).collect()));
    };
    if named.iter().any(|path| path.eq_ignore_ascii_case(subnet)) {
        return Ok(missing(topology, subnet).into_iter().collect());
    }
    let path: Vec<String> = subnet.split('/').map(plain).collect();
    Ok(vec![wall(&format!("the default is to deny, and no rule lets the subnet {} in", path.join("/")))])
}

/// Tells whether a private endpoint leads to the account that somebody let in.
fn is_linked(account: &Value) -> bool {
    let all = account.get("privateEndpointConnections").and_then(Value::as_array).into_iter().flatten();
    let status = |one: &Value| {
        let own = one.get("properties").unwrap_or(one);
        own.pointer("/privateLinkServiceConnectionState/status").and_then(Value::as_str).map(str::to_owned)
    };
    all.filter_map(status).any(|status| status.eq_ignore_ascii_case("approved"))
}

/// Returns the subnets that the account lets in, as `network/subnet`.
fn named(rules: &Value) -> Vec<String> {
    let list = rules.get("virtualNetworkRules").and_then(Value::as_array);
    let allows = |rule: &&Value| {
        let is = |name: &str, word: &str| {
            rule.get(name).and_then(Value::as_str).is_none_or(|own| own.eq_ignore_ascii_case(word))
        };
        is("action", "Allow") && is("state", "Succeeded")
    };
    let id = |rule: &Value| {
        let id = rule.get("virtualNetworkResourceId").or_else(|| rule.get("id"))?.as_str()?;
        let behind = |word: &str| {
            let mut parts = id.split('/');
            parts.find(|part| part.eq_ignore_ascii_case(word))?;
            parts.next().filter(|part| !part.is_empty())
        };
        Some(format!("{}/{}", behind("virtualNetworks")?, behind("subnets")?))
    };
    list.into_iter().flatten().filter(allows).filter_map(id).collect()
}

/// Returns the fault of a subnet that is let in, is known here, and comes without the service endpoint.
fn missing(topology: &Topology, path: &str) -> Option<Suspect> {
    let (network, _) = path.split_once('/')?;
    let subnet = topology.subnet(path)?;
    let network = topology.networks.iter().find(|one| one.name.eq_ignore_ascii_case(network))?;
    let brings = |service: &String| {
        service.eq_ignore_ascii_case(SERVICE) || service.eq_ignore_ascii_case("Microsoft.Storage.Global")
    };
    if subnet.service_endpoints.iter().any(brings) {
        return None;
    }
    let has: Vec<String> = subnet.service_endpoints.iter().map(|one| plain(one)).collect();
    let has = if has.is_empty() {
        "has no service endpoint".to_owned()
    } else {
        format!("has only {}", has.join(", "))
    };
    let why = format!(
        "the account lets the subnet in, and the subnet {has}: its packets come from another address"
    );
    let object = format!("subnet/{}/{}/{SERVICE}", plain(&network.name), plain(&subnet.name));
    Some(Suspect::new(Fault::ServiceEndpointMissing, object, why))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn topology(endpoints: &[&str]) -> Topology {
        let subnet = json!({"name": "default", "prefixes": ["10.0.1.0/24"], "security_group": null, "route_table": null,
            "service_endpoints": endpoints});
        let network =
            json!({"name": "net", "prefixes": ["10.0.0.0/16"], "peerings": [], "subnets": [subnet]});
        serde_json::from_value(json!({"group": "rg", "machines": [], "interfaces": [], "networks": [network],
            "security_groups": [], "route_tables": [], "unread": []}))
        .unwrap()
    }

    fn judged(action: &str, subnets: &[&str], endpoints: &[&str], asked: Option<&str>) -> Vec<String> {
        let rule = |name: &&str| {
            let id = format!(
                "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/net/subnets/{name}"
            );
            json!({"action": "Allow", "state": "Succeeded", "virtualNetworkResourceId": id})
        };
        let rules: Vec<Value> = subnets.iter().map(rule).collect();
        let document = json!({"networkRuleSet": {"defaultAction": action, "virtualNetworkRules": rules}});
        let all = kept_out("acc", &document.to_string(), &topology(endpoints), asked).unwrap();
        all.into_iter().map(|one| format!("{} {}", one.code, one.object)).collect()
    }

    #[test]
    fn a_subnet_that_is_let_in_has_to_bring_its_endpoint() {
        let missing = ["service_endpoint_missing subnet/net/default/Microsoft.Storage"];
        for asked in [None, Some("net/default")] {
            assert_eq!(judged("Deny", &["default"], &["Microsoft.Sql"], asked), missing);
            assert!(judged("Deny", &["default"], &["Microsoft.Storage"], asked).is_empty());
        }
    }

    #[test]
    fn a_subnet_that_no_rule_names_is_kept_out() {
        let wall = ["storage_firewall_deny storage/acc"];
        assert_eq!(judged("Deny", &["other"], &["Microsoft.Storage"], Some("net/default")), wall);
        assert_eq!(judged("Deny", &[], &[], None), wall);
        assert!(judged("Allow", &[], &[], Some("net/default")).is_empty());
    }

    #[test]
    fn whoever_comes_by_a_private_endpoint_needs_no_rule() {
        let document = |status: &str| {
            let state = json!({"privateLinkServiceConnectionState": {"status": status}});
            json!({"publicNetworkAccess": "Disabled", "privateEndpointConnections": [state]}).to_string()
        };
        let judged =
            |status: &str| kept_out("acc", &document(status), &topology(&[]), Some("net/default")).unwrap();
        assert!(judged("Approved").is_empty());
        assert_eq!(judged("Pending").len(), 1);
    }

    #[test]
    fn what_does_not_tell_its_rules_is_not_open() {
        assert!(kept_out("acc", "{}", &topology(&[]), None).is_err());
        assert!(kept_out("acc", "nonsense", &topology(&[]), None).is_err());
    }
}
