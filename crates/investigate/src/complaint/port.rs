//! Which numbers are ports, and which words stand for one.

use super::Protocol;
use super::message::folded;
use super::token::{Kind, Token, tokens};
use super::vocabulary::WORDS;

/// A port that stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PortMention {
    /// The token that it stands in.
    pub(super) token: usize,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    pub(super) port: u16,
    pub(super) protocol: Protocol,
    /// It belongs to the name or the address in the same token or right before it.
    pub(super) is_bound: bool,
    /// A word that stands for it, as `https`, and no number.
    pub(super) is_word: bool,
}

/// Returns the protocol that a port has where nobody says another.
pub(super) fn usual_protocol(port: u16) -> Protocol {
    if WORDS.services.udp.contains(&port) { Protocol::Udp } else { Protocol::Tcp }
}

/// Returns the ports of somebody's words, in order.
pub(crate) fn ports_named(text: &str) -> Vec<(Protocol, u16)> {
    let folded = folded(text);
    ports(&folded, &tokens(&folded)).into_iter().map(|mention| (mention.protocol, mention.port)).collect()
}

/// Returns the ports of a clause, in order.
pub(super) fn ports(text: &str, tokens: &[Token<'_>]) -> Vec<PortMention> {
    let mut found: Vec<PortMention> = Vec::new();
    let spoken = |protocol: Protocol| {
        let word = protocol.as_str();
        tokens.iter().any(|token| token.text == word)
    };
    for (at, token) in tokens.iter().enumerate() {
        let mention = |port: u16, protocol: Option<Protocol>, is_bound: bool, is_word: bool| {
            let usual = if spoken(Protocol::Udp) && !spoken(Protocol::Tcp) {
                Protocol::Udp
            } else {
                usual_protocol(port)
            };
            let protocol = protocol.unwrap_or(usual);
            PortMention { token: at, start: token.start, end: token.end, port, protocol, is_bound, is_word }
        };
        match &token.kind {
            Kind::Address(_, Some(port)) | Kind::Host(_, Some(port)) => {
                found.push(mention(*port, None, true, false));
            }
            Kind::Port(protocol, port) => found.push(mention(*port, *protocol, false, false)),
            Kind::Range(from, to) if wants_port(text, tokens, at) => {
                found.extend((*from..=*to).map(|port| mention(port, None, false, false)));
            }
            Kind::Number(number) => {
                let earlier = found.last().is_some_and(|last| {
                    !last.is_word && text.get(last.end..token.start).is_some_and(is_list)
                });
                if let Some(port) = number_port(text, tokens, at, *number, earlier) {
                    let is_bound =
                        at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|before| {
                            matches!(before.kind, Kind::Address(..))
                                && text
                                    .get(before.end..token.start)
                                    .is_some_and(|between| between.trim().is_empty())
                        });
                    found.push(mention(port, None, is_bound, false));
                }
            }
            Kind::Word => {
                let next = tokens.get(at + 1).map(|next| &next.kind);
                // `HTTP 502`, `HTTP/1.1`, `ssh: connect to …`: a status, a version, a program.
                let is_status = matches!(next, Some(Kind::Number(number)) if WORDS.number.errors.iter().any(|error| u64::from(*error) == *number))
                    || text
                        .get(token.end..)
                        .is_some_and(|behind| ["/1", "/2", ":"].iter().any(|sign| behind.starts_with(sign)));
                if let Some(port) = WORDS.services.ports.get(token.text).filter(|_| !is_status) {
                    found.push(mention(*port, None, false, true));
                }
            }
            Kind::Range(..)
            | Kind::Other
            | Kind::Address(..)
            | Kind::Host(..)
            | Kind::Arrow
            | Kind::BackArrow => {}
        }
    }
    without_words_that_a_number_explains(found, tokens)
}

/// `PostgreSQL on 5433` means the number; `https … 8443` too.
fn without_words_that_a_number_explains(found: Vec<PortMention>, tokens: &[Token<'_>]) -> Vec<PortMention> {
    let numbers: Vec<PortMention> = found.iter().filter(|port| !port.is_word).copied().collect();
    let is_weak = |port: &PortMention| {
        tokens.get(port.token).is_some_and(|token| WORDS.services.weak.iter().any(|weak| weak == token.text))
    };
    let mut kept: Vec<PortMention> = Vec::new();
    for port in found {
        let beside = numbers.iter().any(|number| number.token > port.token && number.token - port.token <= 3);
        let same = numbers.iter().any(|number| number.port == port.port);
        if port.is_word && (same || (!numbers.is_empty() && (is_weak(&port) || beside))) {
            continue;
        }
        kept.push(port);
    }
    kept
}

/// `80, 443 and 8080`.
fn is_list(between: &str) -> bool {
    if between.trim().is_empty() {
        return false;
    }
    let between = between.trim_matches(|char: char| char.is_whitespace() || ",/&+)(".contains(char));
    between.is_empty()
        || WORDS.boundary.and.hold(between)
        || ["or", "oder", "o", "ou", "lub", "или", "、", "和", "と"].contains(&between)
}

/// Tells whether a word before or behind says that a number is a port.
fn wants_port(text: &str, tokens: &[Token<'_>], at: usize) -> bool {
    let Some(token) = tokens.get(at) else { return false };
    let before = text.get(..token.start).unwrap_or_default();
    let before = before.trim_end_matches(|char: char| " =:\"'#([#".contains(char) && char != '#');
    let behind = text.get(token.end..).unwrap_or_default();
    WORDS.number.port_before.end(before)
        || WORDS.number.port_behind.begin(behind.trim_start_matches([' ', '.', '-']))
}

fn number_port(text: &str, tokens: &[Token<'_>], at: usize, number: u64, is_listed: bool) -> Option<u16> {
    let port = u16::try_from(number).ok().filter(|port| *port > 0)?;
    let token = tokens.get(at)?;
    if token.text.starts_with('0') {
        return None;
    }
    if wants_port(text, tokens, at) {
        return Some(port);
    }
    let before = text.get(..token.start).unwrap_or_default();
    let behind = text.get(token.end..).unwrap_or_default();
    let sign = before.chars().next_back().unwrap_or(' ');
    // `:5432` in a log.
    if sign == ':'
        && !before.trim_end_matches(':').ends_with(|char: char| char.is_ascii_digit())
        && !before.ends_with("::")
    {
        return Some(port);
    }
    if "#*$-+~<>=@_.\\".contains(sign) || behind.starts_with(['%', '#', '$', '°', '€']) {
        return None;
    }
    // `/items/4711` is a path, `db-1/5432` and `80/443` are not.
    let is_own =
        |before: &Token<'_>| super::clause::is_end_like(before) || matches!(before.kind, Kind::Number(_));
    if sign == '/' && !at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(is_own) {
        return None;
    }
    // `-w 3`, `--max-time 20`: the word before is an option; `nc HOST 9092` has the host before.
    let last = before.trim_end();
    let words: Vec<&str> = last.split_whitespace().collect();
    if words.last().is_some_and(|word| word.starts_with('-') && word.len() > 1) {
        return None;
    }
    // `telnet 10.0.1.5 8080`
    let follows_end = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|end| {
        matches!(end.kind, Kind::Address(_, None))
            && text.get(end.end..token.start).is_some_and(|between| between.trim().is_empty())
    });
    if follows_end && !is_counted(behind) {
        return Some(port);
    }
    let is_error = WORDS.number.errors.contains(&port);
    let word_before = last.trim_end_matches([':', '=', '"', '\'']);
    // `on 5432 packets get lost`, but not `on 40 servers`.
    let is_place = port >= 1024 && [" on", " auf", " sur"].iter().any(|word| last.ends_with(word));
    if is_error || (is_counted(behind) && !is_place) || WORDS.number.not_before.end(word_before) {
        return None;
    }
    let is_service = WORDS.services.ports.values().any(|known| *known == port)
        || WORDS.role.values().any(|role| role.ports.contains(&port))
        || [53, 179, 587, 465, 636, 990, 995, 993, 873, 548, 514, 515].contains(&port);
    let is_year = (1990..2100).contains(&port);
    ((port >= 1024 && !is_year) || is_service || is_listed).then_some(port)
}

/// `97 users`, `30 min`, `5%`, but not `8000 times out`.
fn is_counted(behind: &str) -> bool {
    let next = behind.trim_start_matches([' ', '-', '\u{a0}']);
    if next.starts_with("times out") || next.starts_with("times-out") {
        return false;
    }
    let word = next.split_whitespace().next().unwrap_or_default();
    let word = word.trim_end_matches(|char: char| ".,;:!?)".contains(char));
    WORDS.number.units.hold(word) || (!word.is_ascii() && WORDS.number.units.begin(next))
}

#[cfg(test)]
mod tests {
    use super::super::fold::fold;
    use super::super::token::tokens;
    use super::*;

    fn read(text: &str) -> Vec<u16> {
        let text = fold(text);
        ports(&text, &tokens(&text)).into_iter().map(|port| port.port).collect()
    }

    #[test]
    fn ports_of_every_spelling() {
        for (text, expected) in [
            ("db-1:5432", vec![5432]),
            ("https://10.0.1.5:8443/login?id=77", vec![8443]),
            ("https://10.0.1.5/login", vec![443]),
            ("http://shop.internal", vec![80]),
            ("tcp/8443 and 53/udp", vec![8443, 53]),
            ("port 8443", vec![8443]),
            ("Port: 22", vec![22]),
            ("8443番ポートに", vec![8443]),
            ("8443 号端口", vec![8443]),
            ("端口8443", vec![8443]),
            ("5432번 포트", vec![5432]),
            ("на порту 5432", vec![5432]),
            ("puertos 80, 443 y 8080", vec![80, 443, 8080]),
            ("dial tcp 10.0.3.10:5432: i/o timeout", vec![5432]),
            ("dial tcp :5432: i/o timeout", vec![5432]),
            ("nc -vz -w 3 10.39.2.4 9092", vec![9092]),
            ("telnet 10.39.2.4 81", vec![81]),
            ("ssh: connect to host 10.0.1.5 port 22: Connection timed out", vec![22]),
            (
                "curl: (28) Failed to connect to db-1 port 8443 after 130234 ms: Couldn't connect to server",
                vec![8443],
            ),
            ("curl: (7) Failed to connect to db-1 port 80: Connection refused", vec![80]),
            (
                "upstream timed out (110: Connection timed out) while connecting to upstream, upstream: \"http://10.0.2.10:7070/x\"",
                vec![7070],
            ),
            ("Error 110 connecting to 10.0.3.40:6379. Connection timed out.", vec![6379]),
            ("HTTPConnectionPool(host='10.0.2.10', port=8080): Max retries exceeded [Errno 111]", vec![8080]),
            ("connection to server at \"10.0.3.10\", port 5432 failed: Connection timed out", vec![5432]),
            ("(2003, \"Can't connect to MySQL server on '10.0.3.10:3306' (110)\")", vec![3306]),
            ("MongoServerSelectionError: connect ETIMEDOUT 10.0.3.10:27017", vec![27017]),
            ("java.net.ConnectException at java.base/sun.nio.ch.Net.pollConnect(Net.java:672)", vec![]),
            (
                "Connection to 10.0.3.10:5432 refused. Check that the hostname and port are correct",
                vec![5432],
            ),
            ("mysql on db-1 is dead (3306)", vec![3306]),
            ("mysql on db-1 is dead", vec![3306]),
            ("Redis on 6380", vec![6380]),
            ("the https api on 8443", vec![8443]),
            ("RDP or SSH", vec![3389, 22]),
            ("5432 dead", vec![5432]),
            ("8000 times out", vec![8000]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_are_no_ports() {
        for text in [
            "since 14:02, at 02:30 UTC, 22:45",
            "Ref INC0106033 CHG0042 KB5017 sev2 P1",
            "ticket 4711, incident 8123",
            "97 users affected, 40 customers",
            "gives 504 since 10:00, 502 bad gateway, HTTP 503",
            "took 130234 ms, 3000 ms, 5000 requests, 1500 bytes",
            "errno 111, error 10060, (110: Connection timed out), exit code 255",
            "nc -w 3",
            "in 2026, 20 % of 4000 calls",
            "2026/11/23 14:02:11 [error] 1234#0: *5678 connect() failed",
            "MTU 9000",
        ] {
            assert_eq!(read(text), [] as [u16; 0], "{text}");
        }
    }
}
