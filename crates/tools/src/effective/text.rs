//! A comparison in words.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::input::harmless;
use crate::tone::is_colored;
use ghost_base::Digest;
use ghost_inspect::effective::{Category, Change, Comparison, Kind, NicError, Side, Status};

/// How much of one value is shown.
const MAX_LINE_LEN: usize = 160;

/// Everything that is printed.
pub(super) struct Page<'a> {
    pub found: &'a Comparison,
    pub before: &'a Side,
    pub after: &'a Side,
    pub current: Option<&'a Path>,
    pub certificate: Option<&'a (PathBuf, Digest)>,
    /// Whether the user asked for a certificate.
    pub wanted: bool,
    pub forced: &'a [String],
    pub notes: &'a [String],
}

/// Tells people what a comparison came to.
pub(super) fn text(page: &Page<'_>) -> String {
    let color = is_colored();
    let found = page.found;
    let mut lines = vec![headline(found, color)];
    for (name, side) in [("baseline", page.before), ("current", page.after)] {
        let whose = side.taken.as_ref().map_or_else(
            || "a bundle, without a date".to_owned(),
            |taken| format!("{}, {}", taken.session, taken.at),
        );
        lines.push(flat(&format!("  {name:<8}  {whose}  sha256 {}", side.digest)));
    }
    let mut heading = (None, None);
    for change in &found.changes {
        let place = (Some(&change.nic), Some(change.category));
        if heading.0 != place.0 {
            lines.push(format!("\n{}", flat(&change.nic)));
        }
        if heading != place {
            lines.push(format!("  {}", section(change.category)));
        }
        heading = place;
        lines.push(row(change, color));
    }
    let mut list = |title: &str, items: Vec<String>| {
        if !items.is_empty() {
            lines.push(format!("\n{title}"));
            lines.extend(items);
        }
    };
    list("Not read:", unread(&found.nic_errors, true));
    let remark = |remark: &ghost_inspect::effective::Remark| {
        flat(&format!("  {}  {}: {}", remark.nic, remark.key, clipped(&remark.what)))
    };
    list("Worth a word, and no change:", found.remarks.iter().map(remark).collect());
    let forced = page.forced.iter().map(|what| format!("  forced, although {what}"));
    let notes = forced.chain(page.notes.iter().map(|what| format!("  {what}")));
    list("Mind:", notes.map(|note| flat(&note)).collect());
    if let Some(file) = page.current {
        lines.push(format!("\nThe present state is kept in {}", flat(&file.display().to_string())));
    }
    match page.certificate {
        Some((file, digest)) => {
            let file = flat(&file.display().to_string());
            lines.push(format!("\nCertificate of no drift: {file}\n  sha256 {digest}"));
        }
        None if page.wanted => lines.push("\nNo certificate: only a clean comparison has one.".to_owned()),
        None => {}
    }
    lines.join("\n")
}

fn headline(found: &Comparison, color: bool) -> String {
    let number = found.nics.len();
    let (code, what) = match found.status {
        Status::Clean => {
            (32, format!("no drift: {}, all read on both sides", count(number, "network interface")))
        }
        Status::Drift => (31, count(found.changes.len(), "change")),
        Status::Inconclusive => (33, "no certain change, and not everything was read".to_owned()),
    };
    format!("{}  {what}", painted(found.status.as_str(), code, color))
}

/// Counts things in words.
pub(super) fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

const fn section(category: Category) -> &'static str {
    match category {
        Category::Nic => "network interface",
        Category::UdrRoute => "user routes",
        Category::BgpRoute => "routes from the gateway",
        Category::SystemRoute => "routes of the platform",
        Category::SecurityRule => "security rules",
    }
}

fn row(change: &Change, color: bool) -> String {
    let (mark, code) = match change.kind {
        Kind::Added => ("+", 32),
        Kind::Removed => ("-", 31),
        Kind::Changed => ("~", 33),
    };
    let shown = if change.after.is_null() { &change.before } else { &change.after };
    let text = match change.kind {
        Kind::Added | Kind::Removed => whole(change.category, shown),
        Kind::Changed => {
            let fields: Vec<String> = change.fields.iter().map(|field| differing(field, change)).collect();
            fields.join("; ")
        }
    };
    let moved =
        change.moved.as_ref().map(|moved| format!("  (the same rule moved {moved})")).unwrap_or_default();
    let line = flat(&format!("{:<36}  {text}{moved}", title(change.category, shown)));
    format!("    {} {line}", painted(mark, code, color))
}

/// Names a row.
fn title(category: Category, shown: &Value) -> String {
    let field = |name: &str| value(shown.get(name));
    match category {
        Category::Nic => field("nic"),
        Category::UdrRoute | Category::BgpRoute | Category::SystemRoute => field("prefix"),
        Category::SecurityRule => {
            let nsg = field("nsg");
            let nsg = nsg.rsplit('/').next().unwrap_or_default().to_owned();
            format!(
                "{} ({}, {nsg}, {})",
                field("name"),
                field("gate"),
                field("direction").to_ascii_lowercase()
            )
        }
    }
}

/// Tells all of a row that came or went.
fn whole(category: Category, shown: &Value) -> String {
    let field = |name: &str| value(shown.get(name));
    match category {
        Category::Nic => format!("{} routes, {} rules", field("routes"), field("rules")),
        Category::UdrRoute | Category::BgpRoute | Category::SystemRoute => {
            let hops = field("next_hop_ips");
            let hops = if hops.is_empty() { hops } else { format!(" {hops}") };
            format!("{}{hops}, {}", field("next_hop_type"), field("state"))
        }
        Category::SecurityRule => format!(
            "{} {} {}  {} port {} → {} port {}",
            field("priority"),
            field("access"),
            field("protocol"),
            field("source"),
            field("source_ports"),
            field("destination"),
            field("destination_ports")
        ),
    }
}

fn differing(field: &str, change: &Change) -> String {
    let name = if field == "expansion" { "expanded_only_here" } else { field };
    let (before, after) = (value(change.before.get(name)), value(change.after.get(name)));
    let word = |text: String| if text.is_empty() { "nothing".to_owned() } else { text };
    let field = field.replace('_', " ");
    format!("{field}: {} → {}", word(before), word(after))
}

fn value(value: Option<&Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let texts: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            texts.join(", ")
        }
        Some(other) => other.to_string(),
    };
    clipped(&text)
}

fn clipped(text: &str) -> String {
    let mut kept: String = text.chars().take(MAX_LINE_LEN).collect();
    if kept.len() < text.len() {
        kept.push('…');
    }
    kept
}

/// Tells what could not be read, line by line.
pub(super) fn unread(errors: &[NicError], with_side: bool) -> Vec<String> {
    let line = |error: &NicError| {
        let side = if with_side { format!(" ({})", error.side.as_str()) } else { String::new() };
        let nic = error.nic.as_deref().unwrap_or("the list");
        flat(&format!("  {nic}{side}  {}: {}", error.at, error.error))
    };
    errors.iter().map(line).collect()
}

/// Returns a text of one line without what would steer a terminal: a name may be anybody's.
pub(super) fn flat(text: &str) -> String {
    harmless(text).replace('\n', "\u{fffd}")
}

fn painted(text: &str, code: u8, color: bool) -> String {
    if color { format!("\x1b[1;{code}m{text}\x1b[0m") } else { text.to_owned() }
}
