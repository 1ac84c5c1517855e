//! Reads effective security rules as `az` prints them.

use serde_json::{Map, Value};

use super::peers::{Knowledge, Peers};
use super::rule::{Access, Direction, Gate, Group, Ports, Protocols, Rule};
use crate::net::{DocumentError, Fields, Ranges, Warning, rows, texts};

/// From here on the platform's own rules stand.
const FIRST_DEFAULT: u32 = 65_000;

pub(super) fn decode(
    text: &str,
    knowledge: Knowledge<'_>,
) -> Result<(Vec<Group>, Vec<Warning>), DocumentError> {
    let mut reader = Reader { knowledge, row: 0, warnings: Vec::new() };
    let (mut groups, mut loose) = (Vec::new(), Vec::new());
    for entry in &rows(text, &["value", "networkSecurityGroups"], is_row, "effective security rules")? {
        if entry.as_object().is_some_and(is_rule) {
            loose.push(reader.rule(entry));
        } else {
            groups.push(reader.group(entry));
        }
    }
    if !loose.is_empty() {
        reader.warnings.push(Warning::whole("rules without a network security group: their gate is unknown"));
        groups.push(Group { gate: Gate::Unknown, name: None, rules: loose });
    }
    for group in &mut groups {
        // What has no priority may stand before all others.
        group.rules.sort_by_key(|rule| rule.priority);
    }
    Ok((groups, reader.warnings))
}

fn is_row(map: &Map<String, Value>) -> bool {
    map.field("effectiveSecurityRules").is_some()
        || map.field("networkSecurityGroup").is_some()
        || is_rule(map)
}

fn is_rule(map: &Map<String, Value>) -> bool {
    map.field("access").is_some() && map.field("effectiveSecurityRules").is_none()
}

struct Reader<'a> {
    knowledge: Knowledge<'a>,
    row: usize,
    warnings: Vec<Warning>,
}

impl Reader<'_> {
    fn group(&mut self, entry: &Value) -> Group {
        let nsg = entry.field("networkSecurityGroup");
        let id = nsg.and_then(|nsg| nsg.text("id").or_else(|| nsg.text("name")).or_else(|| nsg.as_str()));
        let name = id.and_then(|id| id.rsplit('/').next()).map(clipped);
        let said = name.as_deref().unwrap_or("without a name").to_owned();
        let gate = self.gate(entry.field("association"), &said);
        let listed = entry.field("effectiveSecurityRules").filter(|rules| !rules.is_null());
        let mut values = Vec::new();
        let inner = || nsg.and_then(|nsg| nsg.field("effectiveSecurityRules"));
        listed.or_else(inner).into_iter().for_each(|rules| flatten(rules, &mut values));
        if values.is_empty() {
            let what = format!("the network security group {said} lists no rules: it was not read");
            self.warnings.push(Warning::whole(what));
        }
        Group { gate, name, rules: values.into_iter().map(|value| self.rule(value)).collect() }
    }

    fn gate(&mut self, association: Option<&Value>, said: &str) -> Gate {
        let has = |name: &str| {
            association.and_then(|value| value.field(name)).is_some_and(|value| !value.is_null())
        };
        match (has("networkManager"), has("subnet"), has("networkInterface")) {
            (true, false, false) => Gate::Manager,
            (false, true, false) => Gate::Subnet,
            (false, false, true) => Gate::Nic,
            (false, false, false) | (true, true, _) | (true, _, true) | (_, true, true) => {
                let what = format!("the network security group {said} does not say which gate it stands at");
                self.warnings.push(Warning::whole(what));
                Gate::Unknown
            }
        }
    }

    fn rule(&mut self, value: &Value) -> Rule {
        self.row += 1;
        let full = value.text("name").map_or_else(|| format!("rule {}", self.row), clipped);
        let is_default = full.to_ascii_lowercase().starts_with("defaultsecurityrules/");
        let name = full.rsplit('/').next().unwrap_or(&full).to_owned();
        let priority = value.field("priority").and_then(|value| {
            let number = value.as_u64().or_else(|| value.as_str().and_then(|text| text.trim().parse().ok()));
            number.and_then(|number| u32::try_from(number).ok())
        });
        let rule = Rule {
            is_default: is_default || priority.is_some_and(|priority| priority >= FIRST_DEFAULT),
            direction: value.text("direction").and_then(Direction::parse),
            access: value.text("access").and_then(Access::parse),
            protocols: value.text("protocol").and_then(Protocols::parse),
            source: Peers::read(value, "source", self.knowledge),
            destination: Peers::read(value, "destination", self.knowledge),
            source_ports: ports(value, "source"),
            destination_ports: ports(value, "destination"),
            name,
            priority,
        };
        self.complain(&rule, value);
        rule
    }

    fn complain(&mut self, rule: &Rule, value: &Value) {
        let mut odd = Vec::new();
        let mut word = |missing: bool, name: &str| {
            if missing {
                odd.push(match value.field(name) {
                    Some(found) if !found.is_null() => format!("the {name} {}", clipped(&found.to_string())),
                    Some(_) | None => format!("its {name}, which is missing"),
                });
            }
        };
        word(rule.priority.is_none(), "priority");
        word(rule.direction.is_none(), "direction");
        word(rule.access.is_none(), "access");
        word(rule.protocols.is_none(), "protocol");
        odd.extend([&rule.source_ports.open, &rule.destination_ports.open].into_iter().flatten().cloned());
        let strange = |name: &&str| {
            name.contains(['/', ' ', ':', '{']) || name.starts_with(|char: char| char.is_ascii_digit())
        };
        let peers = [&rule.source, &rule.destination].into_iter().flat_map(|peers| &peers.open);
        odd.extend(peers.map(|open| open.name.as_str()).filter(strange).map(|name| format!("`{name}`")));
        for what in odd {
            self.warnings
                .push(Warning::at(self.row, format!("of the rule {} cannot be read: {what}", rule.name)));
        }
    }
}

fn flatten<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| flatten(item, found)),
        Value::Object(map) if map.len() == 1 && map.field("value").is_some_and(Value::is_array) => {
            map.values().for_each(|inner| flatten(inner, found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            found.push(value)
        }
    }
}

fn ports(rule: &Value, side: &str) -> Ports {
    let list = |name: String| texts(rule.field(&name));
    let (mut good, mut odd) = list(format!("{side}PortRanges"));
    if good.is_empty() && odd.is_empty() {
        (good, odd) = list(format!("{side}PortRange"));
    }
    let mut ranges = Vec::new();
    for text in good {
        match port_range(&text) {
            Some(range) => ranges.push(range),
            None => odd.push(text),
        }
    }
    let missing =
        (ranges.is_empty() && odd.is_empty()).then(|| format!("its {side} ports, which are missing"));
    let open = odd.first().map(|text| format!("the {side} port `{}`", clipped(text))).or(missing);
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

fn clipped(text: &str) -> String {
    text.chars().take(200).collect()
}
