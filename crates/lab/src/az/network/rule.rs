//! `az network nsg rule …`.

use serde_json::{Map, Value, json};

use super::kind::{path, put};
use crate::az::failure::Failure;
use crate::az::flatten::flattened;
use crate::az::line::Line;
use crate::az::reference::identifier;
use crate::az::session::{Session, checked};
use crate::az::table::{Command, CommandResult};
use crate::az::update::change;
use crate::azure::Verb;

const RULE: &str = "Microsoft.Network/networkSecurityGroups/{--nsg-name}/securityRules/{--name}";
const VERSION: &str = "2022-01-01";

/// The commands. The parts of an identifier stand in its order.
pub(in crate::az) const COMMANDS: &[Command] = &[
    Command::own("network nsg rule list", "--resource-group,-g! --nsg-name! --include-default?", list)
        .at("Microsoft.Network/networkSecurityGroups/{--nsg-name}", VERSION)
        .rows(row),
    Command::show("network nsg rule show", "--nsg-name!^ -n,--name!^ --resource-group,-g!^", RULE, VERSION).rows(row),
    Command::delete("network nsg rule delete", "--nsg-name!^ -n,--name!^ --resource-group,-g!^ --no-wait%", RULE, VERSION),
    Command::own(
        "network nsg rule create",
        "-n,--name! --nsg-name! --priority!# --resource-group,-g! --access --description --direction --protocol --source-address-prefixes,--source-address-prefix* --source-port-ranges,--source-port-range* --source-asgs* --destination-address-prefixes,--destination-address-prefix* --destination-port-ranges,--destination-port-range* --destination-asgs* --no-wait%",
        create,
    )
    .at(RULE, VERSION),
    Command::own(
        "network nsg rule update",
        "--nsg-name!^ -n,--name!^ --resource-group,-g!^ --priority# --access --description --direction --protocol --source-address-prefixes,--source-address-prefix* --source-port-ranges,--source-port-range* --source-asgs* --destination-address-prefixes,--destination-address-prefix* --destination-port-ranges,--destination-port-range* --destination-asgs* --no-wait% --set* --add* --remove*",
        update,
    )
    .at(RULE, VERSION),
];

/// An option, the field for one value, the field for several, what stands where nothing is said.
const FIELDS: [(&str, &str, &str, &str); 4] = [
    ("--source-address-prefixes", "sourceAddressPrefix", "sourceAddressPrefixes", "*"),
    ("--source-port-ranges", "sourcePortRange", "sourcePortRanges", "*"),
    ("--destination-address-prefixes", "destinationAddressPrefix", "destinationAddressPrefixes", "*"),
    ("--destination-port-ranges", "destinationPortRange", "destinationPortRanges", "80"),
];

/// An option, its field, what stands where nothing is said, and the words it knows.
const WORDS: [(&str, &str, &str, &[&str]); 3] = [
    ("--access", "access", "Allow", &["Allow", "Deny"]),
    ("--direction", "direction", "Inbound", &["Inbound", "Outbound"]),
    ("--protocol", "protocol", "*", &["*", "Ah", "Esp", "Icmp", "Tcp", "Udp"]),
];

const SETS: [(&str, &str); 2] = [
    ("--source-asgs", "sourceApplicationSecurityGroups"),
    ("--destination-asgs", "destinationApplicationSecurityGroups"),
];

fn list(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let path = path(session, line)?;
    let found = session.get(&path, session.command.version)?;
    let rules = |field: &str| {
        let texts = found.pointer(&format!("/properties/{field}")).and_then(Value::as_array);
        texts.cloned().unwrap_or_default()
    };
    let mut all = rules("securityRules");
    if line.has("--include-default") {
        all.extend(rules("defaultSecurityRules"));
    }
    Ok(Some(flattened(Value::Array(all))))
}

fn create(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let mut properties = Map::new();
    for (_, field, _, usual) in FIELDS {
        properties.insert(field.to_owned(), json!(usual));
    }
    for (_, field, usual, _) in WORDS {
        properties.insert(field.to_owned(), json!(usual));
    }
    set_properties(session, line, &mut properties)?;
    put(session, line, &json!({"name": line.need("--name")?, "properties": properties}))
}

fn update(session: &mut Session<'_>, line: &Line) -> CommandResult {
    let place = path(session, line)?;
    let found = session.ask(Verb::Get, &place, &[("api-version", session.command.version)], None)?;
    let mut body = checked(&found)?;
    crate::az::update::writable(&mut body);
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
        set_properties(session, line, properties)?;
        // An empty list beside a single value says nothing.
        for (_, one, several, _) in FIELDS {
            let empty = properties.get(several).and_then(Value::as_array).is_some_and(Vec::is_empty);
            if empty && properties.contains_key(one) {
                properties.remove(several);
            }
        }
    }
    change(&mut body, line)?;
    put(session, line, &body)
}

/// Takes over what the line says: one value stands in the field for one, several in the field for several, never both.
fn set_properties(
    session: &Session<'_>,
    line: &Line,
    properties: &mut Map<String, Value>,
) -> Result<(), Failure> {
    for (option, one, several, _) in FIELDS {
        let Some(words) = line.many(option) else { continue };
        let words: Vec<&str> = words.iter().flat_map(|words| words.split_whitespace()).collect();
        let (field, other, value) = match words.as_slice() {
            [word] => (one, several, json!(word)),
            words => (several, one, json!(words)),
        };
        properties.remove(other);
        properties.insert(field.to_owned(), value);
    }
    for (option, field, _, known) in WORDS {
        let Some(word) = line.one(option) else { continue };
        let Some(known) = known.iter().find(|known| known.eq_ignore_ascii_case(word)) else {
            return Err(Failure::choice(session.command.name, option, word, known));
        };
        properties.insert(field.to_owned(), json!(known));
    }
    if let Some(priority) = line.number("--priority") {
        properties.insert("priority".to_owned(), json!(priority));
    }
    if let Some(text) = line.one("--description") {
        properties.insert("description".to_owned(), json!(text));
    }
    for (option, field) in SETS {
        let Some(names) = line.many(option) else { continue };
        let ids: Result<Vec<Value>, Failure> = names
            .iter()
            .map(|name| Ok(json!({"id": identifier(session, line, "Microsoft.Network/applicationSecurityGroups", name)?})))
            .collect();
        properties.insert(field.to_owned(), Value::Array(ids?));
    }
    Ok(())
}

/// A row of a table of rules.
fn row(rule: &Value) -> Vec<(&'static str, Value)> {
    let own = |field: &str| rule.get(field).cloned().unwrap_or_default();
    let either = |one: &str, several: &str| {
        let words = rule.get(several).and_then(Value::as_array).into_iter().flatten();
        let words: Vec<&str> = words.filter_map(Value::as_str).collect();
        if words.is_empty() { own(one) } else { json!(words.join(" ")) }
    };
    let sets = |field: &str| {
        let sets = rule.get(field).and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = sets.filter_map(|set| set.get("id")?.as_str()?.rsplit('/').next()).collect();
        json!(if names.is_empty() { "None".to_owned() } else { names.join(" ") })
    };
    vec![
        ("Name", own("name")),
        ("ResourceGroup", own("resourceGroup")),
        ("Priority", own("priority")),
        ("SourcePortRanges", either("sourcePortRange", "sourcePortRanges")),
        ("SourceAddressPrefixes", either("sourceAddressPrefix", "sourceAddressPrefixes")),
        ("SourceASG", sets("sourceApplicationSecurityGroups")),
        ("Access", own("access")),
        ("Protocol", own("protocol")),
        ("Direction", own("direction")),
        ("DestinationPortRanges", either("destinationPortRange", "destinationPortRanges")),
        ("DestinationAddressPrefixes", either("destinationAddressPrefix", "destinationAddressPrefixes")),
        ("DestinationASG", sets("destinationApplicationSecurityGroups")),
    ]
}
