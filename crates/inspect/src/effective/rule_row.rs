//! Effective security rules as rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::Category;
use super::find::Shape;
use super::row::{Part, Row, RowDetails, RulePosition, clipped};
use crate::net::{Fields, is_tag, parse_prefix, texts};
use crate::nsg::{Direction, Gate, Protocols, association_gate, echoes};

/// From here on the platform's own rules stand.
const FIRST_DEFAULT: u32 = 65_000;

const GROUPS: Shape = Shape {
    wraps: ["value", "networkSecurityGroups"],
    is_row: |map| {
        map.field("effectiveSecurityRules").is_some() || map.field("networkSecurityGroup").is_some()
    },
    expected: "network security groups",
};

const RULES: Shape = Shape {
    wraps: ["value", "effectiveSecurityRules"],
    is_row: |map| map.field("access").is_some() || map.field("direction").is_some(),
    expected: "security rules",
};

/// Reads effective security rules; an interface without a security group has none.
pub(super) fn rules(answer: &Value, at: &str) -> Part {
    let mut part = Part::default();
    let mut names: BTreeSet<(String, Gate)> = BTreeSet::new();
    let mut entries: Vec<Value> = Vec::new();
    let mut is_twice = false;
    GROUPS.each(answer, at, &mut Part::default(), &mut |entry, _, _| {
        let id = entry.field("networkSecurityGroup").and_then(|nsg| nsg.text("id")).unwrap_or_default();
        is_twice |= !names.insert((id.to_ascii_lowercase(), association_gate(entry)));
    });
    if is_twice {
        GROUPS.each(answer, at, &mut Part::default(), &mut |entry, _, _| entries.push(entry.clone()));
    }
    let mut echoes = echoes(&entries.iter().collect::<Vec<&Value>>()).into_iter();
    GROUPS.each(answer, at, &mut part, &mut |entry, at, part| {
        if !echoes.next().unwrap_or(false) {
            group(entry, at, part);
        }
    });
    part
}

fn group(entry: &Value, at: &str, part: &mut Part) {
    let nsg = entry.field("networkSecurityGroup");
    let id = nsg.and_then(|nsg| nsg.text("id").or_else(|| nsg.text("name")).or_else(|| nsg.as_str()));
    let association = entry.field("association");
    let id = id.or_else(|| association?.field("networkManager")?.text("id")).unwrap_or_default();
    let gate = association_gate(entry);
    if gate == Gate::Unknown {
        // Its rules stand somewhere: compared, they would seem to have come or gone.
        return part.problem(
            &format!("{at}.association"),
            "it does not say at which gate the security group stands",
        );
    }
    let own = entry.field("effectiveSecurityRules").filter(|rules| !rules.is_null());
    let inner = || nsg.and_then(|nsg| nsg.field("effectiveSecurityRules")).filter(|rules| !rules.is_null());
    if own.zip(inner()).is_some_and(|(own, inner)| own != inner) {
        return part.problem(at, "the security group lists its rules twice, and differently");
    }
    let place =
        if own.is_some() { "effectiveSecurityRules" } else { "networkSecurityGroup.effectiveSecurityRules" };
    let Some(listed) = own.or_else(inner) else {
        return part.problem(at, "the security group lists no rules: it was not read");
    };
    let before = (part.rows.len(), part.problems.len());
    let at = format!("{at}.{place}");
    RULES.each(listed, &at, part, &mut |value, at, part| match rule(value, gate, id) {
        Ok(row) => {
            part.push(at, row);
        }
        Err(what) => part.problem(at, what),
    });
    if before == (part.rows.len(), part.problems.len()) {
        // The platform's own rules stand in every security group.
        part.problem(&at, "the security group has no rules, as none is");
    }
}

/// Leaves out of an id which subscription it is in: that of its interface. What was looked at through the shell does not show it, a file
/// may.
fn within_subscription(id: &str) -> &str {
    let start = "/subscriptions/";
    match id.get(..start.len()) {
        Some(head) if head.eq_ignore_ascii_case(start) => {
            id.get(start.len()..).and_then(|rest| rest.split_once('/')).map_or(id, |(_, rest)| rest)
        }
        _ => id,
    }
}

fn rule(value: &Value, gate: Gate, nsg: &str) -> Result<Row, String> {
    let full = word(value, "name")?;
    let (access, protocol) = (word(value, "access")?, word(value, "protocol")?);
    let direction = word(value, "direction")?;
    let direction = Direction::parse(&direction).ok_or_else(|| unread(value, &direction))?;
    let number = value.field("priority").and_then(|priority| {
        priority.as_u64().or_else(|| priority.as_str().and_then(|text| text.trim().parse().ok()))
    });
    let priority = number.and_then(|number| u32::try_from(number).ok());
    let priority =
        priority.ok_or_else(|| format!("the rule {} has no priority that can be read", clipped(&full)))?;
    let (source, destination) = (Peers::read(value, "source")?, Peers::read(value, "destination")?);
    let (source_ports, destination_ports) = (ports(value, "source")?, ports(value, "destination")?);
    let (prefix, name) = full.rsplit_once('/').unwrap_or(("", &full));
    let is_default = priority >= FIRST_DEFAULT || prefix.eq_ignore_ascii_case("defaultSecurityRules");
    let kind = if is_default { "default" } else { "own" };
    let place = within_subscription(nsg);
    let key = format!("rule/{}/{direction:?}/{kind}/{place}/{name}", gate.as_str()).to_ascii_lowercase();
    let known = Protocols::parse(&protocol).map(|protocols| protocols.names().join(", "));
    let lower = |set: &BTreeSet<String>| joined(&set.iter().map(|name| name.to_ascii_lowercase()).collect());
    let details = RowDetails {
        category: Category::SecurityRule,
        content: vec![
            ("priority", priority.to_string()),
            ("access", access.to_ascii_lowercase()),
            ("protocol", known.unwrap_or_else(|| protocol.to_ascii_lowercase())),
            ("source", lower(&source.named)),
            ("source_ports", joined(&source_ports)),
            ("destination", lower(&destination.named)),
            ("destination_ports", joined(&destination_ports)),
        ],
        tagged: [&source, &destination].iter().any(|peers| peers.named.iter().any(|name| is_tag(name))),
        expansion: vec![("source", source.expanded), ("destination", destination.expanded)],
        place: Some(RulePosition {
            identity: format!("{direction:?}/{kind}/{name}").to_ascii_lowercase(),
            name: format!("{}, {}", gate.as_str(), nsg.rsplit('/').next().unwrap_or(nsg)),
        }),
        aside: Vec::new(),
        shown: json!({
            "name": name, "gate": gate.as_str(), "nsg": nsg, "direction": format!("{direction:?}"), "priority": priority, "access": access,
            "protocol": protocol, "source": source.named, "source_ports": source_ports, "destination": destination.named,
            "destination_ports": destination_ports,
        }),
    };
    Ok(Row { key, prefix: None, details: Arc::new(details) })
}

fn word(value: &Value, name: &str) -> Result<String, String> {
    value.text(name).map(str::to_owned).ok_or_else(|| match value.text("name") {
        Some(rule) => format!("the rule {} has no {name}", clipped(rule)),
        None => format!("a rule without a {name}"),
    })
}

fn joined(set: &BTreeSet<String>) -> String {
    set.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The addresses of one side of a rule.
struct Peers {
    /// What the rule says, in whichever field.
    named: BTreeSet<String>,
    /// What the platform made of it.
    expanded: BTreeSet<String>,
}

impl Peers {
    fn read(rule: &Value, side: &str) -> Result<Self, String> {
        let capital = if side == "source" { "Source" } else { "Destination" };
        let mut named = addresses(rule, &[format!("{side}AddressPrefix"), format!("{side}AddressPrefixes")])?;
        let groups =
            rule.field(&format!("{side}ApplicationSecurityGroups")).filter(|groups| !groups.is_null());
        let items =
            groups.map(|groups| groups.as_array().map_or(std::slice::from_ref(groups), Vec::as_slice));
        for group in items.into_iter().flatten() {
            let id = group.text("id").or_else(|| group.as_str());
            let id = id.ok_or_else(|| unread(rule, &group.to_string()))?;
            named.insert(format!("group {id}"));
        }
        let expanded = ["Prefix", "Prefixes"].map(|end| format!("expanded{capital}Address{end}"));
        let mut expanded = addresses(rule, &expanded)?;
        if named.is_empty() {
            named = std::mem::take(&mut expanded);
        }
        if named.is_empty() {
            return Err(format!(
                "a rule without a {side}: {}",
                clipped(rule.text("name").unwrap_or_default())
            ));
        }
        Ok(Self { named, expanded })
    }
}

fn addresses(rule: &Value, fields: &[String]) -> Result<BTreeSet<String>, String> {
    list(rule, fields)?.into_iter().map(|text| address(&text).ok_or_else(|| unread(rule, &text))).collect()
}

fn ports(rule: &Value, side: &str) -> Result<BTreeSet<String>, String> {
    let found = list(rule, &[format!("{side}PortRange"), format!("{side}PortRanges")])?;
    let found: BTreeSet<String> = found
        .into_iter()
        .map(|text| port(&text).ok_or_else(|| unread(rule, &text)))
        .collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err(format!(
            "a rule without {side} ports: {}",
            clipped(rule.text("name").unwrap_or_default())
        ));
    }
    Ok(found)
}

/// Returns all texts of some fields.
fn list(rule: &Value, fields: &[String]) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for field in fields {
        let (good, odd) = texts(rule.field(field));
        if let Some(odd) = odd.first() {
            return Err(unread(rule, odd));
        }
        all.extend(good);
    }
    Ok(all)
}

fn unread(rule: &Value, text: &str) -> String {
    format!(
        "`{}` of the rule {} cannot be read",
        clipped(text),
        clipped(rule.text("name").unwrap_or("without a name"))
    )
}

fn address(text: &str) -> Option<String> {
    if text == "*" || text.eq_ignore_ascii_case("any") {
        return Some("*".to_owned());
    }
    match parse_prefix(text) {
        Some(prefix) => Some(prefix.to_string()),
        None => is_tag(text).then(|| text.to_owned()),
    }
}

/// Returns the one spelling of a range of ports.
fn port(text: &str) -> Option<String> {
    if text == "*" || text.eq_ignore_ascii_case("any") {
        return Some("*".to_owned());
    }
    let port = |text: &str| text.trim().parse::<u16>().ok();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (port(first)?, port(last)?) {
        (0, u16::MAX) => Some("*".to_owned()),
        (first, last) if first == last => Some(first.to_string()),
        (first, last) => (first < last).then(|| format!("{first}-{last}")),
    }
}
