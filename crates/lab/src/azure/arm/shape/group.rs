//! Network security groups and their rules.

use serde_json::{Map, Value, json};

use super::network::{is_ports, is_word, prefix};
use super::shaped::document;
use crate::azure::cloud::Cloud;
use crate::azure::refusal::Refusal;
use crate::azure::target::Target;

/// The rules that every group has: name, what it says, source, destination, access, priority, direction.
const DEFAULTS: [(&str, &str, &str, &str, &str, u32, &str); 6] = [
    (
        "AllowVnetInBound",
        "Allow inbound traffic from all VMs in VNET",
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow",
        65_000,
        "Inbound",
    ),
    (
        "AllowAzureLoadBalancerInBound",
        "Allow inbound traffic from azure load balancer",
        "AzureLoadBalancer",
        "*",
        "Allow",
        65_001,
        "Inbound",
    ),
    ("DenyAllInBound", "Deny all inbound traffic", "*", "*", "Deny", 65_500, "Inbound"),
    (
        "AllowVnetOutBound",
        "Allow outbound traffic from all VMs to all VMs in VNET",
        "VirtualNetwork",
        "VirtualNetwork",
        "Allow",
        65_000,
        "Outbound",
    ),
    (
        "AllowInternetOutBound",
        "Allow outbound traffic from all VMs to Internet",
        "*",
        "Internet",
        "Allow",
        65_001,
        "Outbound",
    ),
    ("DenyAllOutBound", "Deny all outbound traffic", "*", "*", "Deny", 65_500, "Outbound"),
];

/// Pairs of fields: one value, and several.
const PAIRS: [(&str, &str); 4] = [
    ("sourcePortRange", "sourcePortRanges"),
    ("destinationPortRange", "destinationPortRanges"),
    ("sourceAddressPrefix", "sourceAddressPrefixes"),
    ("destinationAddressPrefix", "destinationAddressPrefixes"),
];

/// A whole group: its rules, those that every group has, and who uses it.
pub(super) fn whole(
    target: &Target,
    properties: &mut Map<String, Value>,
    before: Option<&Value>,
) -> Result<(), Refusal> {
    let sent = match properties.remove("securityRules") {
        None => Vec::new(),
        Some(Value::Array(rules)) => rules,
        Some(_) => return Err(Refusal::unreadable("securityRules are expected to be a list")),
    };
    let mut rules: Vec<Value> = Vec::new();
    for rule in sent {
        let (name, mut inner) = child(rule)?;
        filled(&mut inner);
        checked(&name, &inner, &rules)?;
        rules.push(document(&below(target, "securityRules", &name), Map::new(), inner, None));
    }
    properties.insert("securityRules".to_owned(), json!(rules));
    let kept =
        |field: &str| before.and_then(|before| before.pointer(&format!("/properties/{field}"))).cloned();
    for field in ["networkInterfaces", "subnets"] {
        properties.remove(field);
        if let Some(users) = kept(field) {
            properties.insert(field.to_owned(), users);
        }
    }
    let defaults = kept("defaultSecurityRules").unwrap_or_else(|| json!(defaults(target)));
    properties.insert("defaultSecurityRules".to_owned(), defaults);
    Ok(())
}

pub(super) fn rule(
    cloud: &Cloud,
    target: &Target,
    properties: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    filled(properties);
    let parent = target.parent().and_then(|parent| cloud.estate.get(&parent));
    let others =
        parent.and_then(|group| group.pointer("/properties/securityRules")).and_then(Value::as_array);
    checked(target.name(), properties, others.map_or(&[], Vec::as_slice))
}

/// Returns the rules that every group has.
pub(in crate::azure) fn defaults(target: &Target) -> Vec<Value> {
    let rule =
        |(name, what, from, to, access, priority, direction): &(&str, &str, &str, &str, &str, u32, &str)| {
            let mut inner = Map::new();
            for (field, value) in [
                ("description", json!(what)),
                ("protocol", json!("*")),
                ("sourcePortRange", json!("*")),
                ("destinationPortRange", json!("*")),
                ("sourceAddressPrefix", json!(from)),
                ("destinationAddressPrefix", json!(to)),
                ("access", json!(access)),
                ("priority", json!(priority)),
                ("direction", json!(direction)),
            ] {
                inner.insert(field.to_owned(), value);
            }
            filled(&mut inner);
            let place = below(target, "defaultSecurityRules", name);
            let mut whole = Map::new();
            whole.insert("etag".to_owned(), json!(format!("W/\"{}\"", super::shaped::guid(&place.id()))));
            document(&place, whole, inner, None)
        };
    DEFAULTS.iter().map(rule).collect()
}

/// Fills in what the platform always tells.
fn filled(properties: &mut Map<String, Value>) {
    properties.insert("provisioningState".to_owned(), json!("Succeeded"));
    for (_, several) in PAIRS {
        properties.entry(several).or_insert_with(|| json!([]));
    }
}

/// Refuses a rule that cannot be.
fn checked(name: &str, rule: &Map<String, Value>, others: &[Value]) -> Result<(), Refusal> {
    let word = |field: &str| rule.get(field).and_then(Value::as_str).unwrap_or_default();
    let priority = rule.get("priority").and_then(Value::as_u64).unwrap_or(0);
    if !(100..=4096).contains(&priority) {
        let message =
            format!("Security rule has invalid Priority. Value provided: {priority} Allowed range 100-4096.");
        return Err(Refusal::network(400, "SecurityRuleInvalidPriority", message));
    }
    for (field, allowed) in [("direction", ["Inbound", "Outbound"]), ("access", ["Allow", "Deny"])] {
        if !allowed.iter().any(|one| one.eq_ignore_ascii_case(word(field))) {
            let message = format!(
                "Value provided for {field} of security rule {name} is not one of {}.",
                allowed.join(", ")
            );
            return Err(Refusal::network(400, "SecurityRuleParameterInvalid", message));
        }
    }
    for (one, several) in PAIRS {
        let many = rule.get(several).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let single = rule.get(one).and_then(Value::as_str).is_some_and(|text| !text.is_empty());
        let groups = one.ends_with("AddressPrefix")
            && rule.get(&one.replace("AddressPrefix", "ApplicationSecurityGroups")).is_some();
        if !many && !single && !groups {
            let message = format!(
                "Required security rule parameters are missing for security rule with Identifier: {name}. Security rule must specify {several}, {one}."
            );
            return Err(Refusal::network(400, "SecurityRuleParameterNotSpecified", message));
        }
    }
    readable(name, rule)?;
    let same = others.iter().find(|other| {
        let field = |field: &str| other.pointer(&format!("/properties/{field}"));
        let named = other.get("name").and_then(Value::as_str).unwrap_or_default();
        !named.eq_ignore_ascii_case(name)
            && field("priority").and_then(Value::as_u64) == Some(priority)
            && field("direction")
                .and_then(Value::as_str)
                .is_some_and(|found| found.eq_ignore_ascii_case(word("direction")))
    });
    if let Some(other) = same {
        let other = other.get("name").and_then(Value::as_str).unwrap_or_default();
        let message = format!(
            "Security rule {name} conflicts with rule {other}. Rules cannot have the same Priority and Direction."
        );
        return Err(Refusal::network(400, "SecurityRuleConflict", message));
    }
    Ok(())
}

/// Refuses prefixes and ports that are none.
fn readable(name: &str, rule: &Map<String, Value>) -> Result<(), Refusal> {
    for (one, several) in PAIRS {
        let many = rule.get(several).and_then(Value::as_array).into_iter().flatten();
        for value in many.chain(rule.get(one)) {
            let text = value.as_str().ok_or_else(|| Refusal::unreadable(several))?;
            let ports = one.ends_with("PortRange");
            let good =
                if ports { is_ports(text) } else { text == "*" || prefix(text).is_some() || is_word(text) };
            if !good && !text.is_empty() {
                let (code, what) = if ports {
                    ("SecurityRuleInvalidPortRange", "Port range")
                } else {
                    ("SecurityRuleInvalidAddressPrefix", "Address prefix")
                };
                let message = format!("Security rule {name} has invalid {what}. Value provided: {text}");
                return Err(Refusal::network(400, code, message));
            }
        }
    }
    let known = |protocol: &str| {
        ["*", "Tcp", "Udp", "Icmp", "Esp", "Ah"].iter().any(|known| known.eq_ignore_ascii_case(protocol))
    };
    let protocol = rule.get("protocol").and_then(Value::as_str);
    if protocol.is_some_and(|protocol| !known(protocol)) {
        let message = format!("Value provided for protocol of security rule {name} is not valid.");
        return Err(Refusal::network(400, "SecurityRuleParameterInvalid", message));
    }
    Ok(())
}

/// Takes a child of a whole document apart.
pub(super) fn child(sent: Value) -> Result<(String, Map<String, Value>), Refusal> {
    let name = sent.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let inner = sent.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    if name.is_empty() {
        return Err(Refusal::unreadable("a child has no name"));
    }
    Ok((name, inner))
}

/// Returns the place of a child.
pub(super) fn below(target: &Target, kind: &str, name: &str) -> Target {
    let chain = [&target.chain[..], &[(kind.to_owned(), name.to_owned())]].concat();
    Target { chain, ..target.clone() }
}
