//! Which numbers are ports, and which words stand for one.

use crate::symptom_text::token::Token;

/// Words that stand for a port.
const SERVICES: [(&str, u16); 37] = [
    ("postgres", 5432),
    ("postgresql", 5432),
    ("redis", 6379),
    ("mysql", 3306),
    ("mariadb", 3306),
    ("mssql", 1433),
    ("sqlserver", 1433),
    ("mongodb", 27017),
    ("mongo", 27017),
    ("cassandra", 9042),
    ("elasticsearch", 9200),
    ("opensearch", 9200),
    ("kafka", 9092),
    ("rabbitmq", 5672),
    ("amqp", 5672),
    ("memcached", 11211),
    ("etcd", 2379),
    ("ssh", 22),
    ("sftp", 22),
    ("scp", 22),
    ("rdp", 3389),
    ("winrm", 5985),
    ("https", 443),
    ("http", 80),
    ("ldap", 389),
    ("ldaps", 636),
    ("smb", 445),
    ("smtp", 25),
    ("dns", 53),
    ("resolve", 53),
    ("resolves", 53),
    ("resolver", 53),
    ("ntp", 123),
    ("iperf", 5001),
    ("iperf2", 5001),
    ("iperf3", 5201),
    ("prometheus", 9090),
];

/// Words behind a number that make something else of it, in several languages.
const UNITS: [&str; 46] = [
    "minutes", "minute", "min", "mins", "minuten", "minutos", "hours", "hour", "h", "stunden", "horas",
    "heures", "seconds", "second", "sec", "secs", "s", "ms", "us", "sekunden", "segundos", "days", "day",
    "tage", "dias", "weeks", "times", "mal", "veces", "bytes", "byte", "kb", "mb", "gb", "tb", "kbit",
    "mbit", "gbit", "mbps", "gbps", "kbps", "percent", "prozent", "calls", "packets", "requests",
];

/// Words before a number that make a port of it.
const BEFORE: [&str; 14] = [
    "port",
    "ports",
    "puerto",
    "puertos",
    "porta",
    "porto",
    "porte",
    "tcp",
    "udp",
    "listens",
    "listening",
    "lauscht",
    "escucha",
    "anschluss",
];

/// Words before a number that make something else of it.
const NOT_BEFORE: [&str; 10] =
    ["mtu", "priority", "prio", "vlan", "asn", "ticket", "incident", "case", "size", "version"];

/// Returns the ports, in order.
pub(super) fn ports(tokens: &[Token<'_>]) -> Vec<u16> {
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        // What works is not what it is about.
        let next = tokens.get(at + 1).map(|next| next.text.to_ascii_lowercase());
        if next.is_some_and(|next| {
            ["works", "work", "geht", "funktioniert", "funciona", "fonctionne"].contains(&next.as_str())
        }) {
            continue;
        }
        let lower = token.text.to_ascii_lowercase();
        let service = SERVICES.iter().find(|(word, _)| *word == lower).map(|(_, port)| *port);
        // `iperf` with a port of its own means that one.
        let own = |port: &u16| {
            *port == 5001
                && tokens.iter().any(|other| stands_alone(other).is_some_and(|n| (5000..5300).contains(&n)))
        };
        let port = token.behind_colon().or_else(|| token.beside_protocol());
        let port = port.or_else(|| service.filter(|port| !own(port))).or_else(|| bare(tokens, at));
        found.extend(port);
    }
    found
}

fn stands_alone(token: &Token<'_>) -> Option<u16> {
    token.text.parse().ok().filter(|port| *port > 0 && token.tail.is_empty() | !token.tail.contains('%'))
}

/// Returns the port that a number by itself is.
fn bare(tokens: &[Token<'_>], at: usize) -> Option<u16> {
    let token = tokens.get(at)?;
    let port = stands_alone(token)?;
    let word =
        |at: Option<usize>| at.and_then(|at| tokens.get(at)).map(|token| token.text.to_ascii_lowercase());
    let (before, after) = (word(at.checked_sub(1)), word(at.checked_add(1)));
    let among =
        |word: &Option<String>, list: &[&str]| word.as_deref().is_some_and(|word| list.contains(&word));
    if among(&before, &BEFORE) {
        return Some(port);
    }
    // A list of ports: `ports 80, 443 and 8080`.
    let earlier = at.checked_sub(1).is_some_and(|before| bare(tokens, before).is_some())
        || (among(&before, &["and", "or", "und", "oder", "y", "et", "e", "i"])
            && at.checked_sub(2).is_some_and(|before| bare(tokens, before).is_some()));
    // `8000 times out` counts nothing.
    let times_out = among(&after, &["times"]) && among(&word(at.checked_add(2)), &["out"]);
    let has_unit = among(&after, &UNITS) && !times_out;
    let is_counted = token.tail.contains('%') || has_unit || among(&before, &NOT_BEFORE);
    let is_year = (1990..2100).contains(&port);
    let is_usual = port >= 1024 || SERVICES.iter().any(|(_, known)| *known == port);
    ((is_usual || earlier) && !is_counted && !is_year).then_some(port)
}
