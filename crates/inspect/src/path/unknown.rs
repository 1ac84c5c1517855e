//! Fields of documents that nobody here knows.
//!
//! Goes in: the lists of the cloud. Comes out: each field that says something and is none of those in `known_fields.txt`, with the resource
//! that has it. Never: a verdict that is certain about what passes such a resource.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde_json::Value;

use super::bundle::Cloud;
use super::document::{Document, Missing, Reading};
use super::estate::{Estate, Nic};
use super::hop::{Hop, Kind};
use super::topology::inner;
use crate::net::Fields;

/// What is known of fields: by document, or by a list in it, the names, and the values with which they are harmless.
const KNOWN: &str = include_str!("known_fields.txt");

/// So many are named of one resource.
const MAX_NAMED: usize = 8;

/// Words by which a field says that it does nothing.
const IDLE: [&str; 6] = ["", "none", "disabled", "notset", "notapplicable", "off"];

/// A field that nobody here knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct UnknownField {
    /// The document, as in `load_balancers`.
    document: &'static str,
    /// The resource.
    resource: String,
    /// The list in it and the name there, where it is a field of a part.
    part: Option<(&'static str, String)>,
    field: String,
}

/// With which values a known field is harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harmless {
    Always,
    Only(&'static str),
    Without(&'static str),
}

impl Harmless {
    fn holds(self, value: &Value) -> bool {
        let text = || value.to_string().to_ascii_lowercase();
        match self {
            Self::Always => true,
            Self::Only(word) => text().trim_matches('"') == word.to_ascii_lowercase(),
            Self::Without(word) => !text().contains(&word.to_ascii_lowercase()),
        }
    }
}

/// By document, or by a list in it: the fields that are known, each with what makes it harmless.
type Table = BTreeMap<&'static str, HashMap<String, Vec<Harmless>>>;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let lines = KNOWN.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &'static str| {
        let (name, fields) = line.split_once(' ')?;
        let field = |word: &'static str| match (word.split_once('='), word.split_once('!')) {
            (Some((name, value)), _) => (field_letters(name), Harmless::Only(value)),
            (None, Some((name, value))) => (field_letters(name), Harmless::Without(value)),
            (None, None) => (field_letters(word), Harmless::Always),
        };
        let mut known: HashMap<String, Vec<Harmless>> = HashMap::new();
        for (field, harmless) in fields.split_whitespace().map(field) {
            known.entry(field).or_default().push(harmless);
        }
        Some((name, known))
    };
    lines.filter_map(row).collect()
});

/// Returns the letters of a name that count.
pub(crate) fn field_letters(name: &str) -> String {
    name.chars().filter(|char| !matches!(char, '_' | '-')).flat_map(char::to_lowercase).collect()
}

fn is_idle(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(on) => !on,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => IDLE.iter().any(|word| text.eq_ignore_ascii_case(word)),
        Value::Array(all) => all.iter().all(is_idle),
        Value::Object(map) => map.values().all(is_idle),
    }
}

fn unknown_of(row: &Value, place: &str) -> Vec<String> {
    let tables = ["*", place].map(|name| TABLE.get(name));
    let is_known = |name: &str, value: &Value| {
        let name = field_letters(name);
        let mut own = tables.iter().flatten().filter_map(|table| table.get(&name)).flatten();
        own.any(|harmless| harmless.holds(value))
    };
    let both = [row, inner(row)];
    let maps =
        both.iter().take(if std::ptr::eq(row, inner(row)) { 1 } else { 2 }).filter_map(|one| one.as_object());
    let fields = maps.flatten().filter(|(name, value)| {
        !name.eq_ignore_ascii_case("properties") && !is_idle(value) && !is_known(name, value)
    });
    fields.map(|(name, _)| name.clone()).collect()
}

/// Finds the fields of the lists of the cloud that nobody here knows.
pub(super) fn unknown_fields(cloud: &Cloud) -> Vec<UnknownField> {
    let mut found = Vec::new();
    for (document, reading) in cloud.all() {
        let Some(Reading::Text(text)) = reading.filter(|_| TABLE.contains_key(document)) else { continue };
        let rows = match serde_json::from_str::<Value>(text) {
            Ok(Value::Array(rows)) => rows,
            Ok(Value::Object(mut map)) => match map.get_mut("value") {
                Some(Value::Array(rows)) => std::mem::take(rows),
                Some(_) | None => vec![Value::Object(map)],
            },
            Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | Err(_) => continue,
        };
        for row in &rows {
            let Some(resource) = row.text("name").map(str::to_owned) else { continue };
            let mut keep = |part: Option<(&'static str, String)>, fields: Vec<String>| {
                found.extend(fields.into_iter().map(|field| UnknownField {
                    document,
                    resource: resource.clone(),
                    part: part.clone(),
                    field,
                }));
            };
            keep(None, unknown_of(row, document));
            for (place, _) in TABLE.range(document..) {
                let Some(list) = place.strip_prefix(document).and_then(|rest| rest.strip_prefix('.')) else {
                    continue;
                };
                for part in inner(row).field(list).and_then(Value::as_array).into_iter().flatten() {
                    let name = part.text("name").unwrap_or("unnamed").to_owned();
                    keep(Some((list, name)), unknown_of(part, place));
                }
            }
        }
    }
    found
}

impl UnknownField {
    fn is_of(&self, document: &str, resource: &str) -> bool {
        self.document == document && self.resource.eq_ignore_ascii_case(resource)
    }

    fn is_of_part(&self, list: &str, name: &str) -> bool {
        self.part.as_ref().is_none_or(|(own, part)| *own == list && part.eq_ignore_ascii_case(name))
    }

    /// Names it.
    fn shown(&self) -> String {
        match &self.part {
            Some((list, name)) => format!("`{}` of {name} ({list}) of {}", self.field, self.resource),
            None => format!("`{}` of {}", self.field, self.resource),
        }
    }
}

impl Estate {
    /// Leaves open what passes a resource of which a document says something that nobody here knows.
    pub(super) fn doubt(&self, hop: &mut Hop) {
        if self.unknown.is_empty() || !hop.stops.is_empty() {
            return;
        }
        let mut named: Vec<Missing> = Vec::new();
        for (document, own) in self.unknown.iter().filter_map(|own| Some((self.passed(hop, own)?, own))) {
            let why = format!("{} says something that is not known here", own.shown());
            named.push(Missing { what: document, why });
        }
        named.sort();
        named.dedup();
        hop.missing.extend(named.into_iter().take(MAX_NAMED));
    }

    /// Returns the document of a field, where a hop passes its resource.
    fn passed(&self, hop: &Hop, own: &UnknownField) -> Option<Document> {
        let nic = || self.nics.iter().find(|nic: &&Nic| nic.name == hop.at);
        let (is_passed, document) = match hop.kind {
            Kind::Balancer => (own.is_of("load_balancers", &hop.at), Document::Frontends),
            Kind::ApplicationGateway => (own.is_of("application_gateways", &hop.at), Document::Frontends),
            Kind::Firewall => (own.is_of("firewalls", &hop.at), Document::Firewalls),
            Kind::Peering => {
                let is_peering = own.part.as_ref().is_none_or(|(list, _)| *list == "virtualNetworkPeerings");
                (own.is_of("networks", &hop.at) && is_peering, Document::Networks)
            }
            Kind::Route => {
                let nic = nic()?;
                let network = nic.network.as_deref().unwrap_or_default();
                let subnet = nic.subnet.as_deref().unwrap_or_default();
                let is_network = own.is_of("networks", network) && own.is_of_part("subnets", subnet);
                if is_network {
                    (true, Document::Networks)
                } else if own.is_of("interfaces", &nic.name) {
                    (true, Document::Interfaces)
                } else {
                    let table = nic.table.as_deref().filter(|_| nic.configured.0);
                    (table.is_some_and(|table| own.is_of("route_tables", table)), Document::Configuration)
                }
            }
            Kind::GroupInbound | Kind::GroupOutbound => {
                let nic = nic()?;
                if own.is_of("interfaces", &nic.name) {
                    return Some(Document::Interfaces);
                }
                if !nic.configured.1 {
                    return None;
                }
                let groups = nic.rules.read()?.groups();
                let mut names = groups.iter().filter_map(|group| group.name.as_deref());
                (names.any(|name| own.is_of("groups", name)), Document::Configuration)
            }
            Kind::Machine
            | Kind::GuestOutput
            | Kind::GuestRoute
            | Kind::Shaping
            | Kind::Forwarding
            | Kind::GuestForward
            | Kind::GuestInput
            | Kind::Name
            | Kind::Bastion
            | Kind::Cluster
            | Kind::Endpoint
            | Kind::Listener
            | Kind::Egress
            | Kind::Gateway
            | Kind::Platform
            | Kind::Outside => return None,
        };
        is_passed.then_some(document)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_that_nobody_knows_is_found_where_it_says_something() {
        let rows = json!([{"name": "front", "id": "/x", "futureMode": "Strict", "laterMode": null, "offMode": "Disabled",
            "properties": {"frontendIPConfigurations": [{"name": "f", "properties": {"subnet": {"id": "/s"}, "mirror": true}}]}}]);
        let cloud = Cloud { load_balancers: Some(Reading::Text(rows.to_string())), ..Cloud::default() };
        let found: Vec<String> = unknown_fields(&cloud).iter().map(UnknownField::shown).collect();
        assert_eq!(found, ["`futureMode` of front", "`mirror` of f (frontendIPConfigurations) of front"]);
    }

    #[test]
    fn a_value_may_be_harmless_alone() {
        let rows = |value: bool| json!([{"name": "n", "addressSpace": {}, "virtualNetworkPeerings": [{"name": "p", "peerCompleteVnets": value, "localSubnetNames": if value { json!([]) } else { json!(["a"]) }}]}]);
        let of = |value: bool| {
            let cloud = Cloud { networks: Some(Reading::Text(rows(value).to_string())), ..Cloud::default() };
            unknown_fields(&cloud).len()
        };
        assert_eq!((of(true), of(false)), (0, 1));
    }
}
