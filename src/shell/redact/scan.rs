//! All rules over one text, structure first.

use crate::shell::redact::span::Span;
use crate::shell::redact::{assign, cloud, command, header, json, network, pair, pem, shape, table, url};

/// How deep texts inside JSON strings inside texts are read.
const DEEPEST: u32 = 12;

/// Finds every stretch of a text that must be hidden, in no order.
pub(super) fn text(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    nested(text, 0, &mut found);
    found
}

/// Finds the secrets of a text that stands inside so many JSON strings.
///
/// The rules for text see only what lies between JSON values: inside, the walk hands them one string at a time, so
/// that no rule takes a quotation mark.
pub(super) fn nested(text: &str, depth: u32, found: &mut Vec<Span>) {
    let islands = if depth < DEEPEST { json::find(text, depth, found) } else { Vec::new() };
    let mut start = 0;
    for island in islands {
        plain(text, start..island.start, found);
        start = island.end;
    }
    plain(text, start..text.len(), found);
}

/// Finds the secrets of a stretch that is not JSON.
fn plain(text: &str, range: std::ops::Range<usize>, found: &mut Vec<Span>) {
    let Some(part) = text.get(range.clone()) else { return };
    // Shorter than any secret with its name.
    if part.len() < 6 {
        return;
    }
    let mut spans = Vec::new();
    for rule in [
        assign::find,
        header::find,
        url::find,
        pem::find,
        shape::find,
        cloud::find,
        network::find,
        command::find,
        pair::find,
        table::find,
    ] {
        rule(part, &mut spans);
    }
    found.extend(spans.into_iter().map(|span| span.shifted(range.start)));
}
