//! Hosts of an ssh configuration. What needs a program (`Match exec`, `ProxyCommand`) or another file (`Include`) is passed over.

use super::Entries;
use crate::config::HostEntry;

/// The patterns of hosts, and the options for those that they hold for.
type Section = (Vec<String>, Vec<(String, String)>);

/// Tells whether a text is one.
pub(super) fn is_one(text: &str) -> bool {
    text.lines().filter_map(option).any(|(key, value)| key == "host" && !value.is_empty())
}

/// Reads one; the first value that is said of a host counts, as OpenSSH has it.
pub(super) fn parse(text: &str) -> Entries {
    let mut sections: Vec<Section> = Vec::new();
    for (key, value) in text.lines().filter_map(option) {
        match key.as_str() {
            "host" => {
                sections.push((value.split_whitespace().map(str::to_owned).collect(), Vec::new()));
            }
            // Nobody here decides whether it holds.
            "match" => sections.push((Vec::new(), Vec::new())),
            _ => {
                if sections.is_empty() {
                    sections.push((vec!["*".to_owned()], Vec::new()));
                }
                if let Some((_, options)) = sections.last_mut() {
                    options.push((key, value));
                }
            }
        }
    }
    let named = sections.iter().flat_map(|(patterns, _)| patterns);
    let mut entries = Entries::new();
    for name in named.filter(|name| !name.contains(['*', '?', '!', '%'])) {
        let mut entry = HostEntry::default();
        for (_, options) in sections.iter().filter(|(patterns, _)| holds(patterns, name)) {
            options.iter().for_each(|(key, value)| set(&mut entry, key, value));
        }
        entries.insert(name.clone(), entry);
    }
    // A jump host may be a host of the same file.
    let addresses: Vec<(String, Option<String>)> =
        entries.iter().map(|(name, entry)| (name.clone(), entry.address.clone())).collect();
    for entry in entries.values_mut() {
        let known = entry.jump.as_ref().and_then(|jump| addresses.iter().find(|(name, _)| name == jump));
        if let Some((_, Some(address))) = known {
            entry.jump = Some(address.clone());
        }
    }
    entries
}

fn set(entry: &mut HostEntry, key: &str, value: &str) {
    let first = |own: &mut Option<String>| {
        if own.is_none() {
            *own = Some(value.to_owned());
        }
    };
    match key {
        "hostname" => first(&mut entry.address),
        "user" => first(&mut entry.user),
        "port" => entry.port = entry.port.or_else(|| value.parse().ok()),
        "identityfile" if entry.key.is_none() && !value.contains('%') => entry.key = Some(value.into()),
        "proxyjump" if entry.jump.is_none() && value != "none" => {
            // Of several the last one stands before the machine.
            let last = value.rsplit(',').next().unwrap_or(value);
            let host = last.rsplit('@').next().unwrap_or(last);
            let host = host.strip_prefix("ssh://").unwrap_or(host);
            entry.jump = Some(host.split(':').next().unwrap_or(host).to_owned());
        }
        _ => {}
    }
}

/// Reads `Key value` or `Key=value`.
fn option(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let end = line.find(|char: char| char.is_whitespace() || char == '=')?;
    let (key, value) = line.split_at(end);
    let value = value.trim_start_matches(|char: char| char.is_whitespace() || char == '=').trim();
    Some((key.to_ascii_lowercase(), value.trim_matches('"').to_owned()))
}

/// Tells whether a section is about a host: a pattern fits, and none that is turned around does.
fn holds(patterns: &[String], name: &str) -> bool {
    let fits = |pattern: &str| wild(pattern.as_bytes(), name.as_bytes());
    let mut turned = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!'));
    patterns.iter().any(|pattern| !pattern.starts_with('!') && fits(pattern)) && !turned.any(fits)
}

/// `*` and `?`, without going back more than once for each byte.
fn wild(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(b'?') => (at, place) = (at + 1, place + 1),
            Some(byte) if text.get(place) == Some(byte) => (at, place) = (at + 1, place + 1),
            Some(_) | None => match star {
                Some((from, begun)) => {
                    star = Some((from, begun + 1));
                    (at, place) = (from + 1, begun + 1);
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}
