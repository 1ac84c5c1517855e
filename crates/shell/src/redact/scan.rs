//! All rules over one text, structure first.

use std::collections::HashSet;

use crate::redact::reader::{Reader, Rule};
use crate::redact::span::Span;
use crate::redact::view::plainer;
use crate::redact::{
    assign, cloud, command, encoded, grid, header, json, login, network, pair, pem, row, shape, speech,
    table, url,
};

/// How deep texts inside JSON strings inside texts are read.
const MAX_DEPTH: u32 = 12;

/// How many of these one look below an encoding takes.
const LAYER_DEPTH: u32 = 3;

/// Finds every stretch of a text that must be hidden, in no order.
pub(super) fn text(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    nested(text, 0, &mut found);
    found
}

/// Finds the secrets of a text that stands inside so many JSON strings.
///
/// The rules for text see only what lies between JSON values: inside, the walk gives them one string at a time, so
/// that no rule takes a quotation mark.
pub(super) fn nested(text: &str, depth: u32, found: &mut Vec<Span>) {
    let islands = if depth < MAX_DEPTH { json::find(text, depth, found) } else { Vec::new() };
    let mut start = 0;
    for island in islands {
        plain(text, start..island.start, depth, found);
        start = island.end;
    }
    plain(text, start..text.len(), depth, found);
}

/// The rules for text, each with bytes of which it needs one: most strings of a document have none of them.
pub(super) static RULES: [(&[Rule], &[u8]); 14] = [
    (&assign::RULES, b"=:% "),
    (&header::RULES, b"=: %+"),
    (&url::RULES, b"/@="),
    (&pem::RULES, b"-"),
    (&shape::RULES, b"-_/.~=+AJ:0123456789"),
    (&cloud::RULES, b"-/"),
    (&network::RULES, b" :$}=\t"),
    (&command::RULES, b" "),
    (&pair::RULES, b"<=\n"),
    (&[Rule::Walk(table::tables)], b"\n"),
    (&[Rule::Walk(grid::tables)], b",;\t| "),
    (&row::RULES, b"\t|, "),
    (&login::RULES, b" "),
    (&speech::RULES, b" "),
];

/// Finds the secrets of a stretch that is not JSON.
fn plain(text: &str, range: std::ops::Range<usize>, depth: u32, found: &mut Vec<Span>) {
    let Some(part) = text.get(range.clone()) else { return };
    // Shorter than any secret with its name.
    if part.len() < 6 {
        return;
    }
    let seen = part.bytes().fold([0_u64; 4], |mut seen, byte| {
        if let Some(word) = seen.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
        seen
    });
    let has = |byte: &u8| seen.get(usize::from(byte >> 6)).is_some_and(|word| word & (1 << (byte & 63)) != 0);
    let mut reader = Reader::new(part);
    for (rules, needs) in &RULES {
        if needs.iter().any(has) {
            reader.apply(rules);
        }
    }
    let mut spans = reader.found;
    if depth + LAYER_DEPTH <= MAX_DEPTH {
        below(part, depth + LAYER_DEPTH, &mut spans);
    }
    found.extend(spans.into_iter().map(|span| span.shifted(range.start)));
}

/// Finds what can only be read once colors, codes or line breaks are taken off, and hides it where it stands.
fn below(text: &str, depth: u32, found: &mut Vec<Span>) {
    let view = plainer(text);
    if view.as_ref().is_none_or(crate::redact::view::View::is_joined) {
        encoded::find(text, depth, found);
    }
    let Some(view) = view else { return };
    let mut inside = Vec::new();
    nested(&view.text, depth, &mut inside);
    if !view.is_joined() {
        found.extend(inside.into_iter().filter_map(|span| view.raw(span)));
        return;
    }
    // What begins at the beginning of a line was found there; the line before it is not its head.
    let begun: HashSet<usize> = found.iter().map(|span| span.range.start).collect();
    let crossing = inside.into_iter().filter(|span| view.crosses(&span.range, &begun));
    found.extend(crossing.filter_map(|span| view.raw(span)));
}
