//! Names of nothing that is here: words with the form of a name, where only an end stands.
//!
//! Goes in: a clause, its words, the ends that are read already, the estate. Comes out: ends that nothing here has. Never: a word that the
//! vocabulary knows, a unit, a version, a ticket, an object of the estate.

use std::collections::BTreeSet;

use super::clause::{Clause, is_group};
use super::mention::{self, Mark, Mention, What};
use super::port::PortMention;
use super::scope::{Estate, role_of_part};
use super::token::{Kind, Token};
use super::vocabulary::{KNOWN, Phrases, WORDS};
use super::{Inventory, Message, UnknownEnd};
use crate::symptom_text::Symptom;

/// The longest label of a name.
const MAX_LABEL: usize = 63;

/// Words before a number that make no name of it: devices, protocols, versions, measures, lists of tickets.
const TERMS: [&str; 110] = [
    "aes", "base", "bond", "br", "build", "calico", "cap", "cat", "chapter", "chg", "chge", "cni", "code",
    "covid", "cve", "day", "debian", "dhcpv", "docker", "ec", "ecdsa", "ikev", "smbv", "eno", "enp", "ens",
    "errno", "error", "eth", "event", "exit", "fc", "fedora", "http", "icmpv", "ifb", "iib", "inc", "int",
    "ip", "iperf", "ipv", "iso", "java", "jdk", "kb", "l", "layer", "level", "line", "lo", "log", "md",
    "mtu", "nat", "oauth", "openjdk", "p", "page", "part", "pci", "phase", "pid", "php", "point", "port",
    "prb", "prio", "priority", "ps", "python", "q", "quarter", "rc", "ref", "release", "req", "rev", "rfc",
    "rhel", "ritm", "room", "rsa", "rule", "seq", "sev", "severity", "sha", "sip", "snmpv", "ssl", "state",
    "status", "step", "tap", "task", "tcp", "tier", "tls", "tun", "ubuntu", "udp", "utf", "v", "ver",
    "version", "veth", "vlan", "vxlan", "week",
];
/// The same where the number is what counts: the fourth quarter, a month, a device of a wire.
const SHORT_TERMS: [&str; 20] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "wg", "wlan", "win",
    "windows", "x", "k", "s", "h",
];
/// Ends of names of files.
const FILES: [&str; 24] = [
    "cfg", "conf", "csv", "go", "gz", "html", "ini", "java", "js", "json", "key", "log", "md", "pcap", "pem",
    "php", "py", "service", "sh", "sock", "toml", "txt", "xml", "yaml",
];

/// The form of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Letters with a number: `db-9`, `moodle2`.
    Numbered,
    /// Labels with dots: `nexus.corp.local`.
    Dotted,
    /// Words with a hyphen: `graf-box`.
    Compound,
    /// Letters alone, of no word that the vocabulary knows: `nexus`.
    Plain,
}

/// Adds the words that stand where an end stands to the ends of a clause, each marked by the words around it.
pub(super) fn add(
    clause: &Clause,
    all: &[Token<'_>],
    ports: &[PortMention],
    (estate, skipped): (&Estate<'_>, &[String]),
    mentions: &mut Vec<Mention>,
) {
    // A language may have words for trouble that the vocabulary lacks; a port says it, too.
    if !clause.is_trouble() && !clause.is_ping && ports.is_empty() {
        return;
    }
    for token in all {
        let Some(form) = form(token, clause, estate, skipped) else { continue };
        if form == Form::Plain || overlaps(token, mentions) {
            continue;
        }
        let mut with = mentions.clone();
        with.push(Mention::new(token.start, token.end, What::Unknown(token.text.to_owned())));
        with.sort_by_key(|mention| (mention.start, std::cmp::Reverse(mention.end)));
        mention::mark(&clause.folded, all, &mut with, ports);
        let own = with.iter().find(|mention| mention.start == token.start);
        let is_end = own.is_some_and(|own| match own.mark {
            Mark::From | Mark::To | Mark::Hop | Mark::Between => true,
            // A name with a number that a clause begins with is what it speaks of, in any language.
            Mark::Open | Mark::At | Mark::Of | Mark::With => {
                is_subject(token, clause)
                    || form != Form::Compound && (is_first(token, clause) || has_stranger(mentions))
            }
            Mark::Via => false,
        });
        if is_end {
            *mentions = with;
        }
    }
}

/// Tells whether an end of a clause is a name of nothing here already: a further one with a number is its other end.
fn has_stranger(mentions: &[Mention]) -> bool {
    mentions.iter().any(|mention| matches!(mention.what, What::Unknown(_)))
}

/// Tells whether a clause begins with a word; what only fills may stand before it.
fn is_first(token: &Token<'_>, clause: &Clause) -> bool {
    let before = clause.folded.get(..token.start).unwrap_or_default();
    let mut words = before.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    words.all(|word| WORDS.direction.filler.hold(word))
}

/// Tells whether the clause goes on behind a name with what fails: `db-9 cannot reach …`, `db-9 hangs`.
fn is_subject(token: &Token<'_>, clause: &Clause) -> bool {
    let behind = clause.folded.get(token.end..).unwrap_or_default().trim_start();
    let fails = [Symptom::Unreachable, Symptom::Hanging, Symptom::Refused, Symptom::Slow, Symptom::Lossy];
    let begins = |phrases: &Phrases| phrases.find_all(behind).first().is_some_and(|place| place.start == 0);
    clause.is_trouble()
        && (WORDS.direction.cannot.begin(behind)
            || WORDS.direction.silent.begin(behind)
            || fails
                .iter()
                .filter_map(|symptom| WORDS.symptom.get(symptom))
                .any(|languages| languages.values().any(begins)))
}

/// Returns the names that a message speaks of and that nothing here has, whatever part they have in it: nobody may say that all is well
/// while one of them was not looked at.
#[must_use]
pub fn strangers(message: &Message, inventory: &Inventory) -> Vec<UnknownEnd> {
    let estate = Estate::new(inventory);
    let skipped = message.words_of_options();
    let mut words: BTreeSet<String> = BTreeSet::new();
    for clause in &message.clauses {
        let says_nothing = clause.is_history
            || clause.is_guess && clause.symptoms.is_empty()
            || clause.is_healthy && !clause.is_trouble();
        if says_nothing {
            continue;
        }
        let all = super::token::tokens(&clause.folded);
        let named = mention::read(clause, &estate, &skipped, false);
        for (at, token) in all.iter().enumerate() {
            let counts = match form(token, clause, &estate, &skipped) {
                Some(Form::Numbered) => clause.is_trouble() || clause.is_ping || !named.ports.is_empty(),
                Some(Form::Plain) => at == 0 && is_subject(token, clause) || is_object(token, clause),
                Some(Form::Dotted | Form::Compound) | None => false,
            };
            let is_read = named.mentions.iter().any(|mention| {
                mention.start < token.end
                    && token.start < mention.end
                    && !matches!(mention.what, What::Role(..))
            });
            if counts && !is_read {
                words.insert(token.text.to_owned());
            }
        }
    }
    let end = |name: String| {
        let nearest = estate.nearest(&name);
        UnknownEnd::Name { name, nearest, is_public: false }
    };
    words.into_iter().map(end).collect()
}

/// Tells whether a word stands right behind what says that something is not reached: `cannot reach nexus`.
fn is_object(token: &Token<'_>, clause: &Clause) -> bool {
    let before = clause.folded.get(..token.start).unwrap_or_default();
    let passes = |word: &str| WORDS.direction.filler.hold(word) || WORDS.direction.to.hold(word);
    WORDS.symptom.get(&Symptom::Unreachable).is_some_and(|languages| {
        languages.values().any(|phrases| {
            phrases
                .find_all(before)
                .last()
                .and_then(|place| before.get(place.end..))
                .is_some_and(|between| between.split_whitespace().all(passes))
        })
    })
}

fn overlaps(token: &Token<'_>, mentions: &[Mention]) -> bool {
    mentions.iter().any(|mention| mention.start < token.end && token.start < mention.end)
}

/// Returns the form of a word that may be the name of something that is not here.
fn form(token: &Token<'_>, clause: &Clause, estate: &Estate<'_>, skipped: &[String]) -> Option<Form> {
    let word = token.text;
    let is_ascii = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let starts = word.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if token.kind != Kind::Word
        || !is_ascii
        || !starts
        || word.split('.').any(|label| label.is_empty() || label.len() > MAX_LABEL)
        || skipped.iter().any(|known| known == word)
        || is_group(word)
        || estate.knows(word)
        || is_term(word)
        || is_ticket(token, clause)
        || is_drawn(word)
    {
        return None;
    }
    let has_digit = word.bytes().any(|byte| byte.is_ascii_digit());
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    if word.contains('.') {
        let last = word.rsplit('.').next().unwrap_or_default();
        let is_zone = last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic());
        return (is_zone && !FILES.contains(&last)).then_some(Form::Dotted);
    }
    let parts: Vec<&str> = word.split(['-', '_']).filter(|part| !part.is_empty()).collect();
    if has_digit {
        return (letters > 1 || parts.len() > 1).then_some(Form::Numbered);
    }
    if parts.len() > 1 {
        let is_name = parts.iter().any(|part| !KNOWN.contains(*part) || role_of_part(part).is_some());
        return (is_name && !KNOWN.contains(word)).then_some(Form::Compound);
    }
    (letters > 2 && !KNOWN.contains(word)).then_some(Form::Plain)
}

/// Tells whether a word is a term of the trade with a number: `ipv4`, `tls-1.2`, `rfc-1918`, `sev1`.
fn is_term(word: &str) -> bool {
    let first: &str = word.split(|char: char| !char.is_ascii_alphabetic()).next().unwrap_or_default();
    let rest = word.strip_prefix(first).unwrap_or_default();
    let has_digit = rest.bytes().any(|byte| byte.is_ascii_digit());
    // `java-app-3` is a name.
    let is_number = rest.bytes().filter(u8::is_ascii_alphabetic).count() < 2;
    // `v1beta1` is a version, whatever follows.
    let is_version = first == "v";
    has_digit
        && (is_number || is_version)
        && (TERMS.contains(&first)
            || SHORT_TERMS.contains(&first)
            || WORDS.number.not_before.hold(first)
            || WORDS.number.port_before.hold(first))
}

/// Tells whether a word is written as tickets are, in a text that has small letters, too: `NET-4711`.
fn is_ticket(token: &Token<'_>, clause: &Clause) -> bool {
    let at = clause.folded.get(..token.start).map_or(0, |before| before.chars().count());
    let length = token.text.chars().count();
    let written: String = clause.text.chars().skip(at).take(length).collect();
    let is_numbered = |text: &str| {
        text.split_once('-').is_some_and(|(list, number)| {
            list.len() > 1
                && list.bytes().all(|byte| byte.is_ascii_uppercase())
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    let has_small = clause.text.chars().any(char::is_lowercase);
    let list = token.text.split('-').next().unwrap_or_default();
    has_small && is_numbered(&written) && role_of_part(list).is_none()
}

/// Tells whether a program drew a word: letters and digits take turns, as in digests and ids of requests.
fn is_drawn(word: &str) -> bool {
    let turns = word
        .as_bytes()
        .windows(2)
        .filter(|pair| {
            matches!(pair, [one, next] if one.is_ascii_digit() != next.is_ascii_digit() && one.is_ascii_alphanumeric() && next.is_ascii_alphanumeric())
        })
        .count();
    turns > 3 || word.len() > 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}
