//! Reads effective security rules as `az` prints them.

use serde_json::{Map, Value, json};

use super::peers::Knowledge;
use super::resolve::{Resolver, SideQuery};
use super::rule::{Access, Direction, Gate, Group, Ports, Protocols, Rule};
use crate::net::{
    DocumentError, Fields, JsonPath, Placed, Ranges, Warning, Warnings, beginning, clipped, document,
    each_text, flattened, placed,
};

/// The field with the rules of a group.
const RULES: &str = "effectiveSecurityRules";

/// From here on the platform's own rules stand.
const FIRST_DEFAULT: u32 = 65_000;

pub(super) fn decode(
    text: &str,
    knowledge: Knowledge<'_>,
) -> Result<(Vec<Group>, Vec<Warning>), DocumentError> {
    let mut reader = Reader { resolver: Resolver::new(knowledge), row: 0, warnings: Warnings::default() };
    let (mut groups, mut loose, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    let document = document(text)?;
    let found = placed(&document, &["value", "networkSecurityGroups"], is_row, "effective security rules")?;
    let echoes = echoes(&found.iter().map(|entry| entry.value).collect::<Vec<&Value>>());
    for (entry, _) in found.iter().zip(&echoes).filter(|(_, is_echo)| !**is_echo) {
        if entry.value.as_object().is_some_and(is_rule) {
            loose.push(reader.rule(entry));
        } else if entry.value.as_object().is_some_and(is_group) {
            whole.push(entry);
        } else {
            groups.push(reader.group(entry));
        }
    }
    if !loose.is_empty() {
        let what = "rules without a network security group: their gate is unknown";
        reader.warnings.push(|| Warning::whole(what));
        reader.complete(&mut loose, "the rules");
        groups.push(Group::new(Gate::Unknown, None, loose));
    }
    for entry in whole {
        groups.extend(reader.configured(entry));
    }
    Ok((groups, reader.warnings.into_vec()))
}

/// Returns which entries are groups that stand in the document once more: the platform lists one twice at an interface, once without its
/// rules.
pub(crate) fn echoes(entries: &[&Value]) -> Vec<bool> {
    let all: Vec<Option<ListedGroup<'_>>> = entries.iter().map(|entry| listed(entry)).collect();
    let is_echo = |(at, own): (usize, &Option<ListedGroup<'_>>)| {
        let Some(own) = own else { return false };
        let others = all.iter().enumerate().filter(|(other, _)| *other != at);
        let mut same = others
            .filter_map(|(at, other)| Some((at, other.as_ref()?)))
            .filter(|(_, other)| other.id.eq_ignore_ascii_case(own.id) && other.gate == own.gate);
        match own.rules {
            [] => same.any(|(_, other)| !other.rules.is_empty()),
            rules => same.any(|(other, one)| one.rules == rules && other < at),
        }
    };
    all.iter().enumerate().map(is_echo).collect()
}

/// A group as the platform lists it at an interface.
struct ListedGroup<'a> {
    id: &'a str,
    gate: Gate,
    rules: &'a [Value],
}

fn listed(entry: &Value) -> Option<ListedGroup<'_>> {
    let id = entry.field("networkSecurityGroup")?.text("id")?;
    let rules = match entry.field(RULES) {
        None | Some(Value::Null) => &[],
        Some(Value::Array(rules)) => rules.as_slice(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => return None,
    };
    Some(ListedGroup { id, gate: association_gate(entry), rules })
}

fn is_row(map: &Map<String, Value>) -> bool {
    map.field("effectiveSecurityRules").is_some()
        || map.field("networkSecurityGroup").is_some()
        || is_rule(map)
        || is_group(map)
}

fn is_rule(map: &Map<String, Value>) -> bool {
    map.field("access").is_some() && map.field("effectiveSecurityRules").is_none()
}

pub(super) struct Reader<'a> {
    resolver: Resolver<'a>,
    row: usize,
    pub(super) warnings: Warnings,
}

impl Reader<'_> {
    fn group(&mut self, entry: &Placed<'_>) -> Group {
        let (place, entry) = (&entry.place, entry.value);
        let nsg = entry.field("networkSecurityGroup");
        let id = nsg.and_then(|nsg| nsg.text("id").or_else(|| nsg.text("name")).or_else(|| nsg.as_str()));
        let name = id.and_then(|id| id.rsplit('/').next()).map(clipped);
        let said = name.as_deref().unwrap_or("without a name");
        let gate = association_gate(entry);
        if gate == Gate::Unknown {
            let what = format!("the network security group {said} does not say which gate it stands at");
            self.warnings.push(|| Warning::within(place.field("association"), what));
        }
        let listed = entry.field(RULES).filter(|rules| !rules.is_null());
        let inner = || nsg.and_then(|nsg| nsg.field(RULES));
        let place = match listed {
            Some(_) => place.field(RULES),
            None => place.field("networkSecurityGroup").field(RULES),
        };
        // A list that is wrapped has nothing else beside it.
        let is_row =
            |map: &Map<String, Value>| !(map.len() == 1 && map.field("value").is_some_and(Value::is_array));
        let values = listed.or_else(inner).map(|rules| flattened(rules, place.clone(), &["value"], is_row));
        let twice =
            listed.zip(inner().filter(|rules| !rules.is_null())).is_some_and(|(own, inner)| own != inner);
        let read = values.iter().flatten().filter(|_| !twice);
        let rules: Vec<Rule> = read.map(|value| self.rule(value)).collect();
        if twice {
            let what = format!("the network security group {said} lists its rules twice, and differently");
            self.warnings.push(|| Warning::within(place, what));
        } else if rules.is_empty() {
            let what = format!("the network security group {said} lists no rules: it was not read");
            self.warnings.push(|| Warning::within(place, what));
        }
        Group::new(gate, name, rules)
    }

    pub(super) fn rule(&mut self, found: &Placed<'_>) -> Rule {
        self.row += 1;
        let value = found.value;
        let full = value.text("name").map_or_else(|| format!("rule {}", self.row), clipped);
        let is_default = full.to_ascii_lowercase().starts_with("defaultsecurityrules/");
        let name = full.rsplit('/').next().unwrap_or(&full).to_owned();
        let priority = value.field("priority").and_then(|value| {
            let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
            number.and_then(|number| u32::try_from(number).ok())
        });
        let mut odd = Vec::new();
        let mut side = |side| {
            let asked = SideQuery { rule: value, number: self.row, side };
            self.resolver.side(&asked, &mut |place, text| odd.push((place, format!("`{text}`"))))
        };
        let (source, destination) = (side("source"), side("destination"));
        let rule = Rule {
            is_default: is_default || priority.is_some_and(|priority| priority >= FIRST_DEFAULT),
            direction: value.text("direction").and_then(Direction::parse),
            access: value.text("access").and_then(Access::parse),
            protocols: value.text("protocol").and_then(Protocols::parse),
            source,
            destination,
            source_ports: ports(value, "source", &mut odd),
            destination_ports: ports(value, "destination", &mut odd),
            name,
            priority,
        };
        for (missing, field) in [
            (rule.priority.is_none(), "priority"),
            (rule.direction.is_none(), "direction"),
            (rule.access.is_none(), "access"),
            (rule.protocols.is_none(), "protocol"),
        ] {
            if missing {
                let said = match value.field(field) {
                    Some(found) if !found.is_null() => format!("the {field} {}", beginning(found)),
                    Some(_) | None => format!("its {field}, which is missing"),
                };
                odd.push((JsonPath::default().field(field), said));
            }
        }
        for (inside, what) in odd {
            let what = || format!("of the rule {} cannot be read: {what}", rule.name);
            let place = || found.place.field(&inside.to_string());
            self.warnings.push(|| Warning::at(self.row, place(), what()));
        }
        rule
    }
}

/// Returns the gate at which the rules of an entry stand.
pub(crate) fn association_gate(entry: &Value) -> Gate {
    let association = entry.field("association");
    let has =
        |name: &str| association.and_then(|value| value.field(name)).is_some_and(|value| !value.is_null());
    let group = entry.field("networkSecurityGroup").and_then(|group| group.text("id"));
    let is_group = group.is_some_and(|id| id.to_ascii_lowercase().contains("/networksecuritygroups/"));
    match (has("networkManager"), has("subnet"), has("networkInterface")) {
        (true, false, false) => Gate::Manager,
        // What a network manager brings stands before both gates, whichever subnet and interface it names beside.
        (true, ..) if !is_group => Gate::Manager,
        (false, true, false) => Gate::Subnet,
        (false, false, true) => Gate::Nic,
        (false, false, false) | (true, true, _) | (true, _, true) | (_, true, true) => Gate::Unknown,
    }
}

fn ports(rule: &Value, side: &str, odd: &mut Vec<(JsonPath, String)>) -> Ports {
    let (mut ranges, mut open, mut any) = (Vec::new(), None, false);
    for name in [format!("{side}PortRanges"), format!("{side}PortRange")] {
        each_text(rule.field(&name), &mut |text, indexes| {
            any = true;
            match text.ok().and_then(port_range) {
                Some(range) => ranges.push(range),
                None => {
                    let what = format!("the {side} port `{}`", text.map_or_else(beginning, clipped));
                    odd.push((JsonPath::default().field(&name).items(indexes), what.clone()));
                    open = open.take().or(Some(what));
                }
            }
        });
        if any {
            break;
        }
    }
    if !any {
        let what = format!("its {side} ports, which are missing");
        odd.push((JsonPath::default().field(&format!("{side}PortRange")), what.clone()));
        open = Some(what);
    }
    Ports { known: Ranges::of(ranges), open }
}

fn port_range(text: &str) -> Option<(u128, u128)> {
    if text == "*" || text.eq_ignore_ascii_case("any") {
        return Some((0, u128::from(u16::MAX)));
    }
    let port = |text: &str| text.trim().parse::<u16>().ok().map(u128::from);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let (first, last) = (port(first)?, port(last)?);
    (first <= last).then_some((first, last))
}

/// Where a group lists its rules.
const LISTS: [&str; 2] = ["securityRules", "defaultSecurityRules"];

/// The rules that the platform puts into every group: name, priority, direction, access, source and destination.
const DEFAULTS: [(&str, u32, &str, &str, &str, &str); 6] = [
    ("AllowVnetInBound", 65_000, "Inbound", "Allow", "VirtualNetwork", "VirtualNetwork"),
    ("AllowAzureLoadBalancerInBound", 65_001, "Inbound", "Allow", "AzureLoadBalancer", "*"),
    ("DenyAllInBound", 65_500, "Inbound", "Deny", "*", "*"),
    ("AllowVnetOutBound", 65_000, "Outbound", "Allow", "VirtualNetwork", "VirtualNetwork"),
    ("AllowInternetOutBound", 65_001, "Outbound", "Allow", "*", "Internet"),
    ("DenyAllOutBound", 65_500, "Outbound", "Deny", "*", "*"),
];

/// Tells whether an object is a security group as it is configured.
fn is_group(map: &Map<String, Value>) -> bool {
    LISTS.iter().any(|name| map.field(name).is_some_and(Value::is_array))
}

impl Reader<'_> {
    /// Reads a security group; where it stands at one gate, what stands at the other one was not read.
    pub(super) fn configured(&mut self, entry: &Placed<'_>) -> Vec<Group> {
        let value = entry.value;
        let name = value.text("name").map(clipped);
        let said = name.as_deref().unwrap_or("without a name").to_owned();
        let mut rules = Vec::new();
        for list in LISTS {
            for (at, rule) in value.field(list).and_then(Value::as_array).into_iter().flatten().enumerate() {
                let place = entry.place.field(list).items(&[at]);
                rules.push(self.rule(&Placed { place, value: rule }));
            }
        }
        self.complete(&mut rules, &format!("the network security group {said}"));
        let stands =
            |list: &str| value.field(list).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let (gate, other) = match (stands("subnets"), stands("networkInterfaces")) {
            (true, false) => (Gate::Subnet, Some(Gate::Nic)),
            (false, true) => (Gate::Nic, Some(Gate::Subnet)),
            (true, true) | (false, false) => (Gate::Unknown, None),
        };
        let what = format!(
            "{said} is one network security group as it is configured: what stands at the other gate is not in the document"
        );
        self.warnings.push(|| Warning::within(&entry.place, what));
        let own = Group::new(gate, name, rules);
        let unread = other.map(|gate| Group::new(gate, Some("the other gate".to_owned()), Vec::new()));
        std::iter::once(own).chain(unread).collect()
    }

    /// Adds the rules that the platform puts into every group, where a list has none of them for a direction.
    pub(super) fn complete(&mut self, rules: &mut Vec<Rule>, of: &str) {
        for direction in Direction::ALL {
            if rules.iter().any(|rule| rule.is_default && rule.may_apply(direction)) {
                continue;
            }
            let missing = DEFAULTS.iter().filter(|default| Direction::parse(default.2) == Some(direction));
            let mut names = Vec::new();
            for (name, priority, dir, access, source, destination) in missing {
                let value = json!({
                    "name": format!("defaultSecurityRules/{name}"), "priority": priority, "direction": dir, "access": access,
                    "protocol": "*", "sourceAddressPrefix": source, "destinationAddressPrefix": destination,
                    "sourcePortRange": "*", "destinationPortRange": "*",
                });
                rules.push(self.rule(&Placed { place: JsonPath::default(), value: &value }));
                names.push(*name);
            }
            let what = || format!("{of} without the platform's own: {} are added", names.join(", "));
            self.warnings.push(|| Warning::whole(what()));
        }
    }
}
