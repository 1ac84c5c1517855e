//! Reads effective route tables as `az` prints them.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::row::{Hop, Route, Row, Source, State};
use crate::net::{DocumentError, Fields, Tags, Warning, is_tag, parse_prefix, rows, texts};

/// The word for what a row does not say.
const UNKNOWN: &str = "Unknown";

/// What could be read, and what could not.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub(super) routes: Vec<Route>,
    /// Rows whose prefix is a service tag that nobody resolved.
    pub(super) tags: Vec<(String, Arc<Row>)>,
    /// How many prefixes the table lists, a tag as one.
    pub(super) listed: usize,
    pub(super) warnings: Vec<Warning>,
}

pub(super) fn decode(text: &str, tags: Option<&Tags>) -> Result<Decoded, DocumentError> {
    let is_row = |map: &Map<String, Value>| map.field("addressPrefix").is_some();
    let mut decoded = Decoded::default();
    for (at, value) in
        rows(text, &["value", "effectiveRoutes"], is_row, "effective routes")?.iter().enumerate()
    {
        decoded.row(at + 1, value, tags);
    }
    Ok(decoded)
}

impl Decoded {
    fn row(&mut self, number: usize, value: &Value, tags: Option<&Tags>) {
        let (prefixes, odd) = match value {
            Value::String(_) => texts(Some(value)),
            Value::Object(map) => texts(map.field("addressPrefix")),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                self.warn(number, format!("{} is no route", clipped(&value.to_string())));
                return;
            }
        };
        for text in odd {
            self.warn(number, format!("`{text}` is no prefix"));
        }
        if prefixes.is_empty() {
            self.warn(number, format!("a route without a prefix: {}", clipped(&value.to_string())));
            return;
        }
        let row = Arc::new(self.shared(number, value));
        for text in prefixes {
            self.prefix(&text, &row, tags);
        }
    }

    fn prefix(&mut self, text: &str, row: &Arc<Row>, tags: Option<&Tags>) {
        if let Some(prefix) = parse_prefix(text) {
            self.listed += 1;
            self.routes.push(Route { prefix, tag: None, row: Arc::clone(row) });
            return;
        }
        if !is_tag(text) {
            self.warn(row.number, format!("`{}` is no prefix", clipped(text)));
            return;
        }
        self.listed += 1;
        if let Some(prefixes) = tags.and_then(|tags| tags.resolve(text)) {
            let tag: Arc<str> = Arc::from(text);
            let route =
                |prefix: &_| Route { prefix: *prefix, tag: Some(Arc::clone(&tag)), row: Arc::clone(row) };
            self.routes.extend(prefixes.iter().map(route));
        } else {
            self.warn(row.number, format!("the service tag `{}` is not resolved", clipped(text)));
            self.tags.push((clipped(text), Arc::clone(row)));
        }
    }

    fn shared(&mut self, number: usize, value: &Value) -> Row {
        let mut word = |name: &str| {
            value.text(name).map_or_else(
                || {
                    self.warnings.push(Warning::at(number, format!("the route has no {name}")));
                    UNKNOWN.to_owned()
                },
                clipped,
            )
        };
        let (source, state, hop_type) = (word("source"), word("state"), word("nextHopType"));
        let (hop_ips, odd) = texts(value.field("nextHopIpAddress"));
        for text in hop_ips.iter().chain(&odd) {
            if text.parse::<std::net::IpAddr>().is_err() {
                self.warn(number, format!("the next hop `{}` is no address", clipped(text)));
            }
        }
        Row {
            number,
            source: Source::parse(&source),
            hop: Hop::parse(&hop_type),
            hop_type,
            hop_ips,
            name: value.text("name").map(clipped),
            state: State::parse(&state),
        }
    }

    fn warn(&mut self, row: usize, what: String) {
        self.warnings.push(Warning::at(row, what));
    }
}

/// Bounds what a hostile document can put into a warning.
fn clipped(text: &str) -> String {
    const LONGEST: usize = 200;
    let mut kept: String = text.chars().take(LONGEST).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}
