//! Effective routes as rows: one for each prefix.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Category;
use super::find::Shape;
use super::row::{Part, Row, RowDetails, clipped};
use crate::net::{Fields, is_tag, parse_prefix, texts};
use crate::route::Source;

const SHAPE: Shape = Shape {
    wraps: ["value", "effectiveRoutes"],
    is_row: |map| map.field("addressPrefix").is_some(),
    expected: "effective routes",
};

/// Reads an effective route table.
pub(super) fn routes(answer: &Value, at: &str) -> Part {
    let mut part = Part::default();
    SHAPE.each(answer, at, &mut part, &mut row);
    if part.rows.is_empty() && part.problems.is_empty() {
        // The platform has routes of its own for every interface that runs.
        part.problem(at, "the table is empty, as no effective route table is");
    }
    part
}

fn row(value: &Value, at: &str, part: &mut Part) {
    let word =
        |name: &str| value.text(name).map(str::to_owned).ok_or_else(|| format!("the route has no {name}"));
    let words = || Ok::<_, String>((word("source")?, word("nextHopType")?, word("state")?));
    let (source, hop_type, state) = match words() {
        Ok(words) => words,
        Err(what) => return part.problem(at, what),
    };
    let (hops, odd) = texts(value.field("nextHopIpAddress"));
    if let Some(odd) = odd.first() {
        return part.problem(at, format!("the next hop {} is no address", clipped(odd)));
    }
    let mut hops: Vec<String> = hops.iter().map(|hop| address(hop)).collect();
    hops.sort_unstable();
    let (prefixes, odd) = texts(value.field("addressPrefix"));
    if prefixes.is_empty() && odd.is_empty() {
        return part.problem(at, "the route has no prefix");
    }
    for odd in odd {
        part.problem(at, format!("{} is no prefix", clipped(&odd)));
    }
    let (name, propagation) =
        (value.text("name").map(str::to_owned), value.field("disableBgpRoutePropagation"));
    let aside = [
        ("name", name.clone()),
        (
            "disable_bgp_route_propagation",
            propagation.filter(|flag| !flag.is_null()).map(ToString::to_string),
        ),
    ];
    let aside: Vec<_> = aside.into_iter().map(|(field, value)| (field, value.unwrap_or_default())).collect();
    let details = Arc::new(RowDetails {
        category: category(&source),
        content: vec![
            ("next_hop_type", hop_type.to_ascii_lowercase()),
            ("next_hop_ips", hops.join(", ")),
            ("state", state.to_ascii_lowercase()),
        ],
        expansion: Vec::new(),
        tagged: false,
        place: None,
        aside,
        shown: json!({
            "source": source, "next_hop_type": hop_type, "next_hop_ips": hops, "state": state, "name": name,
        }),
    });
    let source = source.to_ascii_lowercase();
    for text in prefixes {
        let Some(prefix) = prefix(&text) else {
            part.problem(at, format!("`{}` is no prefix", clipped(&text)));
            continue;
        };
        let key = format!("route/{source}/{}", prefix.to_ascii_lowercase());
        if !part.push(at, Row { key, prefix: Some(prefix.into()), details: Arc::clone(&details) }) {
            return;
        }
    }
}

fn category(source: &str) -> Category {
    match Source::parse(source) {
        Source::User => Category::UdrRoute,
        Source::Gateway => Category::BgpRoute,
        Source::System | Source::Other(_) => Category::SystemRoute,
    }
}

/// Returns the one spelling of a prefix or of a service tag.
fn prefix(text: &str) -> Option<String> {
    match parse_prefix(text) {
        Some(prefix) => Some(prefix.to_string()),
        None => is_tag(text).then(|| text.to_owned()),
    }
}

/// Returns the one spelling of an address; what is none stays as it is.
fn address(text: &str) -> String {
    text.parse::<std::net::IpAddr>().map_or_else(|_| text.to_ascii_lowercase(), |address| address.to_string())
}
