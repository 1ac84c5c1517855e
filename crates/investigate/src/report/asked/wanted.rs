//! Which other connection a question is about.
//!
//! Goes in: the words, what was judged, and the machines that are known. Comes out: connections by the names of their ends. Never: an end
//! that is neither written nor one of those that were asked about.

use std::net::IpAddr;

use crate::complaint::{folded, ports_named};
use crate::judged::{JudgedFlow, JudgedFlows, UnknownName};
use crate::unlooked::unknown_ends;

use super::Recorded;
use super::answer::machines;

const INTERNET: &str = "internet";

/// A connection by the names of its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) source: String,
    pub(super) destination: String,
    pub(super) protocol: String,
    pub(super) port: Option<u16>,
}

/// Returns the connections that a question is about: others than those that were judged, or these too.
pub(super) fn wanted(
    recorded: &Recorded<'_>,
    judged: &JudgedFlows,
    text: &str,
    also_judged: bool,
) -> Option<Vec<Wanted>> {
    let base = judged.flows.iter().find(|flow| flow.is_explained()).or_else(|| judged.flows.first())?;
    let (source, destination) = (caller(base), called(base));
    let ends = ends(recorded, judged, text);
    let port = port(text);
    let (protocol, number) = match &port {
        Some((protocol, number)) => (protocol.clone(), Some(*number)),
        None => (base.protocol.clone(), base.port),
    };
    let make = |source: &str, destination: &str| Wanted {
        source: source.to_owned(),
        destination: destination.to_owned(),
        protocol: protocol.clone(),
        port: number,
    };
    let is_same = |wanted: &Wanted| {
        judged.flows.iter().any(|flow| {
            caller(flow) == wanted.source
                && called(flow) == wanted.destination
                && flow.port == wanted.port
                && flow.protocol == wanted.protocol
        })
    };
    let found: Vec<Wanted> = match ends.as_slice() {
        [] if port.is_some() => vec![make(&source, &destination)],
        [] => Vec::new(),
        [only] if *only == source || *only == destination => match port {
            Some(_) => vec![make(&source, &destination)],
            None => Vec::new(),
        },
        [only] if only == INTERNET && leaves(text) => vec![make(&source, only)],
        [only] if only == INTERNET => vec![make(only, &destination)],
        [only] if alike(only, &destination) && !alike(only, &source) => vec![make(&source, only)],
        [only] if alike(only, &source) && !alike(only, &destination) => vec![make(only, &destination)],
        [only] => vec![make(only, &destination), make(&source, only)],
        [first, second, ..] if from_second(text, second) => vec![make(second, first)],
        [first, second, ..] => vec![make(first, second)],
    };
    let found: Vec<Wanted> = found.into_iter().filter(|wanted| also_judged || !is_same(wanted)).collect();
    (!found.is_empty()).then_some(found)
}

fn caller(flow: &JudgedFlow) -> String {
    flow.source_machine.clone().unwrap_or_else(|| flow.source.to_string())
}

fn called(flow: &JudgedFlow) -> String {
    flow.destination_machine.clone().unwrap_or_else(|| flow.destination.to_string())
}

/// Returns the machines and addresses of a text, in order, each once.
fn ends(recorded: &Recorded<'_>, judged: &JudgedFlows, text: &str) -> Vec<String> {
    let mut known: Vec<String> = machines(recorded.state).into_iter().map(|machine| machine.name).collect();
    known.extend(judged.machines());
    let said = folded(text);
    let mut found: Vec<String> = Vec::new();
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.' | ':');
    for word in said.split(|char: char| !is_part(char)).map(|word| word.trim_matches(['.', ':', '-'])) {
        let host = word.split(':').next().unwrap_or(word);
        let name = known.iter().find(|name| !name.is_empty() && name.eq_ignore_ascii_case(host)).cloned();
        let address =
            || word.parse::<IpAddr>().or_else(|_| host.parse()).ok().map(|address| address.to_string());
        let outside = || (host == INTERNET).then(|| INTERNET.to_owned());
        if let Some(end) = name.or_else(address).or_else(outside)
            && !found.contains(&end)
        {
            found.push(end);
        }
    }
    found
}

/// Names the words of a text that have the form of a machine's name and that nothing here is called; nothing where there are none.
pub(super) fn strange_ends(recorded: &Recorded<'_>, judged: &JudgedFlows, text: &str) -> Option<String> {
    let mut known: Vec<String> = machines(recorded.state).into_iter().map(|machine| machine.name).collect();
    known.extend(judged.machines());
    let objects = recorded.state.accepted.iter().flat_map(|found| found.finding.object.split('/'));
    known.extend(objects.map(str::to_owned));
    let said = folded(text);
    let is_part = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
    let words = said.split(|char: char| !is_part(char)).map(|word| word.trim_matches(['.', '-', '_']));
    let is_name = |word: &&str| {
        let begins = word.starts_with(|char: char| char.is_ascii_alphabetic());
        let numbered = word.ends_with(|char: char| char.is_ascii_digit());
        begins && (numbered || word.contains(['-', '_'])) && word.parse::<IpAddr>().is_err()
    };
    let strange =
        words.filter(is_name).filter(|word| !known.iter().any(|name| name.eq_ignore_ascii_case(word)));
    let strange: Vec<UnknownName> =
        strange.map(|word| UnknownName { word: word.to_owned(), nearest: Vec::new() }).collect();
    unknown_ends(&strange)
}

/// Returns the port of a text. A bare number counts where there is no other: `is 443 open, too?`
fn port(text: &str) -> Option<(String, u16)> {
    let named = ports_named(text).into_iter().next();
    named.map(|(protocol, port)| (protocol.as_str().to_owned(), port)).or_else(|| {
        let said = folded(text);
        let words = said.split(|char: char| !char.is_alphanumeric() && !matches!(char, '-' | '.' | '_'));
        let mut numbers = words.filter_map(|word| word.parse::<u16>().ok()).filter(|number| *number >= 20);
        numbers.next().filter(|_| numbers.next().is_none()).map(|number| ("tcp".to_owned(), number))
    })
}

/// Tells whether two names are called alike: `web-1` and `web-2`.
fn alike(one: &str, other: &str) -> bool {
    let stem = |name: &str| name.trim_end_matches(|char: char| char.is_ascii_digit()).to_ascii_lowercase();
    let (one, other) = (stem(one), stem(other));
    one == other || one.split('-').next() == other.split('-').next()
}

/// Tells whether a text speaks of the internet as the end that is called.
fn leaves(text: &str) -> bool {
    let said = folded(text);
    [
        "to the internet",
        "reach the internet",
        "into the internet",
        "get to internet",
        "ins internet",
        "a internet",
        "vers internet",
        "su internet",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// Tells whether the second end is the one that calls: `can db-1 be reached from web-2?`
fn from_second(text: &str, second: &str) -> bool {
    let said = folded(text);
    let second = second.to_ascii_lowercase();
    ["from", "by", "von", "desde", "depuis", "da", "de", "van", "z", "od", "из", "с", "от"]
        .iter()
        .any(|word| said.contains(&format!(" {word} {second}")))
}
