//! Reads effective route tables as `az` prints them.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde_json::{Map, Value};

use super::row::{Hop, Route, Row, Source, State};
use crate::net::{
    DocumentError, Fields, JsonPath, Tags, Warning, Warnings, beginning, clipped, document, each_text,
    is_tag, parse_prefix, placed,
};

/// The field that makes a row.
const PREFIX: &str = "addressPrefix";

/// The field with the addresses of the next hops.
const HOP: &str = "nextHopIpAddress";

/// The word for what a row does not say.
const UNKNOWN: &str = "Unknown";

/// What could be read, and what could not.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) routes: Vec<Route>,
    /// Rows whose prefix is a service tag that nobody resolved, or not all of it.
    pub(super) tags: Vec<(String, Arc<Row>)>,
    /// How many prefixes the table lists, a tag as one.
    pub(super) listed: usize,
    /// How many rows there are, whether they could be read or not.
    pub(super) rows: usize,
    /// Whether rows are those of a route table, beside which the platform has its own.
    pub(super) partial: bool,
    pub(super) warnings: Warnings,
}

pub(super) fn decode(text: &str, tags: Option<&Tags>) -> Result<Decoded, DocumentError> {
    let is_row = |map: &Map<String, Value>| map.field(PREFIX).is_some();
    let mut decoded = Decoded::default();
    let document = document(text)?;
    for found in &placed(&document, &["value", "effectiveRoutes", "routes"], is_row, "effective routes")? {
        decoded.rows += 1;
        let seen = HashSet::new();
        Reader { number: decoded.rows, place: &found.place, tags, decoded: &mut decoded, seen }
            .row(found.value);
    }
    if is_table(&document) && decoded.rows == 0 {
        decoded.partial = true;
    }
    if decoded.partial {
        let what =
            "it lists the routes of a route table: those of the platform and of gateways are not in it";
        decoded.warnings.push(|| Warning::whole(what));
    }
    Ok(decoded)
}

/// Tells whether a row is one of a route table: it says nothing of its source or state, and who made it is known.
fn is_configured(value: &Value) -> bool {
    let silent = ["source", "state"].iter().all(|name| value.field(name).is_none_or(Value::is_null));
    let of_table = |id: &str| id.to_ascii_lowercase().contains("/routetables/");
    silent
        && (value.field("hasBgpOverride").is_some()
            || value.field("provisioningState").is_some()
            || value.text("id").is_some_and(of_table))
}

/// Tells whether a document is one route table, alone or in a list, with routes or without.
fn is_table(document: &Value) -> bool {
    match document {
        Value::Array(rows) => matches!(rows.as_slice(), [row] if is_table(row)),
        Value::Object(map) => match map.field("value") {
            Some(within) => is_table(within),
            None => {
                map.field("routes").is_some_and(Value::is_array) && map.field("provisioningState").is_some()
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Reads one row.
struct Reader<'a> {
    number: usize,
    place: &'a JsonPath,
    tags: Option<&'a Tags>,
    decoded: &'a mut Decoded,
    /// The prefixes of the row so far, and whether each comes from a tag.
    seen: HashSet<(IpNet, bool)>,
}

impl Reader<'_> {
    fn row(&mut self, value: &Value) {
        let (listed, place) = match value {
            Value::String(_) => (Some(value), self.place.clone()),
            Value::Object(map) => (map.field(PREFIX), self.place.field(PREFIX)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                return self.warn(self.place, || format!("{} is no route", beginning(value)));
            }
        };
        let mut row = None;
        let mut found = false;
        each_text(listed, &mut |text, path| {
            found = true;
            match text {
                Ok(text) => {
                    let row = row.get_or_insert_with(|| Arc::new(self.shared(value)));
                    self.prefix(text, row, || place.items(path));
                }
                Err(odd) => self.warn(place.items(path), || format!("`{}` is no prefix", beginning(odd))),
            }
        });
        if !found {
            self.warn(self.place, || format!("a route without a prefix: {}", beginning(value)));
        }
    }

    fn prefix(&mut self, text: &str, row: &Arc<Row>, place: impl Fn() -> JsonPath) {
        if let Some(prefix) = parse_prefix(text) {
            if !self.seen.insert((prefix, false)) {
                return self
                    .warn(place(), || format!("the prefix `{}` stands twice in its row", clipped(text)));
            }
            self.decoded.listed += 1;
            self.decoded.routes.push(Route { prefix, tag: None, row: Arc::clone(row) });
            return;
        }
        if !is_tag(text) {
            return self.warn(place(), || format!("`{}` is no prefix", clipped(text)));
        }
        self.decoded.listed += 1;
        let known = self.tags.and_then(|tags| tags.resolve(text));
        let tag: Arc<str> = Arc::from(text);
        let route = |prefix: &_| Route { prefix: *prefix, tag: Some(Arc::clone(&tag)), row: Arc::clone(row) };
        // What two tags of a row, or one that stands twice, have in common is one route.
        let prefixes = known.into_iter().flat_map(|tag| &tag.prefixes);
        let fresh = prefixes.filter(|prefix| self.seen.insert((**prefix, true)));
        self.decoded.routes.extend(fresh.map(route));
        if known.is_none_or(|tag| !tag.whole) {
            let how = if known.is_some() { "only partly resolved" } else { "not resolved" };
            self.warn(place(), || format!("the service tag `{}` is {how}", clipped(text)));
            self.decoded.tags.push((clipped(text), Arc::clone(row)));
        }
    }

    fn shared(&mut self, value: &Value) -> Row {
        let configured = is_configured(value);
        self.decoded.partial |= configured;
        let mut word = |name: &str| {
            let own = match name {
                "source" if configured => Some("User"),
                "state" if configured => Some("Active"),
                _ => value.text(name),
            };
            own.map_or_else(
                || {
                    self.warn(self.place.field(name), || format!("the route has no {name}"));
                    UNKNOWN.to_owned()
                },
                clipped,
            )
        };
        let (source, state, hop_type) = (word("source"), word("state"), word("nextHopType"));
        let mut hop_ips = Vec::new();
        each_text(value.field(HOP), &mut |text, path| {
            let odd = match text {
                Ok(text) => {
                    hop_ips.push(clipped(text));
                    text.parse::<IpAddr>().is_err().then(|| clipped(text))
                }
                Err(value) => Some(beginning(value)),
            };
            if let Some(odd) = odd {
                let place = self.place.field(HOP).items(path);
                self.warn(place, || format!("the next hop `{odd}` is no address"));
            }
        });
        let hop = Hop::parse(&hop_type);
        if hop == Hop::Appliance && hop_ips.is_empty() {
            self.warn(self.place.field(HOP), || "the appliance of the route has no address".to_owned());
        }
        Row {
            number: self.number,
            source: Source::parse(&source),
            hop,
            hop_type,
            hop_ips,
            name: value.text("name").map(clipped),
            state: State::parse(&state),
        }
    }

    fn warn(&mut self, place: impl fmt::Display, what: impl FnOnce() -> String) {
        let number = self.number;
        self.decoded.warnings.push(|| Warning::at(number, place, what()));
    }
}
