//! A folded text, cut into words, addresses, numbers and arrows.

use std::net::{IpAddr, Ipv4Addr};

use super::Protocol;
use super::vocabulary::WORDS;

/// Something that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token<'a> {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Its letters.
    pub(super) text: &'a str,
    pub(super) kind: Kind<'a>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    Word,
    /// A number by itself.
    Number(u64),
    /// Several ports, as in `8000-8003`.
    Range(u16, u16),
    /// A time, a date, a version: nothing that is judged.
    Other,
    /// An address, perhaps with a port.
    Address(IpAddr, Option<u16>),
    /// A name, perhaps of a URL, with a port.
    Host(&'a str, Option<u16>),
    /// `tcp/8443`.
    Port(Option<Protocol>, u16),
    /// `->`; the caller stands before it.
    Arrow,
    /// `<-`; the caller stands behind it.
    BackArrow,
}

const ARROWS: [(&str, bool); 14] = [
    ("-->", true),
    ("->", true),
    ("=>", true),
    ("~>", true),
    ("→", true),
    ("⇒", true),
    ("➡", true),
    ("➜", true),
    (">>", true),
    ("<--", false),
    ("<-", false),
    ("<=", false),
    ("←", false),
    ("⇐", false),
];

/// Endings of files, where a colon stands before a line and no port.
const FILES: [&str; 22] = [
    "java", "py", "go", "js", "ts", "rs", "c", "cc", "cpp", "cs", "h", "rb", "php", "kt", "scala", "sh",
    "yml", "yaml", "conf", "log", "xml", "ex",
];

/// Cuts a folded text.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let Some(char) = rest.chars().next() else { break };
        let arrow = ARROWS.iter().find(|(sign, _)| rest.starts_with(sign));
        if let Some((sign, ahead)) = arrow {
            let kind = if *ahead { Kind::Arrow } else { Kind::BackArrow };
            found.push(Token { start: at, end: at + sign.len(), text: sign, kind });
            at += sign.len();
        } else if char == '>' && rest.get(1..).is_some_and(|next| next.starts_with(' ')) {
            found.push(Token { start: at, end: at + 1, text: ">", kind: Kind::Arrow });
            at += 1;
        } else if is_latin(char) {
            let end = at + run(rest);
            push(&mut found, text, at, end);
            at = end;
        } else if char.is_alphanumeric() {
            let length: usize = rest
                .chars()
                .take_while(|char| !is_latin(*char) && (char.is_alphanumeric() || is_mark(*char)))
                .map(char::len_utf8)
                .sum();
            let word = rest.get(..length).unwrap_or_default();
            found.push(Token { start: at, end: at + length, text: word, kind: Kind::Word });
            at += length;
        } else {
            at += char.len_utf8();
        }
    }
    found
}

/// Letters of names and numbers; those of other scripts end a name.
fn is_latin(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

/// Vowel signs and the like, which belong to the word that they stand in.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{0300}'..='\u{036f}' | '\u{0900}'..='\u{0dff}' | '\u{0e00}'..='\u{0e7f}' | 'ー')
}

/// Returns the length of a name, an address or a URL.
fn run(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if is_latin(char) {
            end = at + 1;
        } else if char == ':' && text.get(at..).is_some_and(|rest| rest.starts_with("://")) && at > 1 {
            let ends =
                |char: char| char.is_whitespace() || "<>\"'|)],;^{}".contains(char) || !char.is_ascii();
            let rest = text.get(at..).unwrap_or_default();
            let url = rest.split(ends).next().unwrap_or_default();
            return at + url.trim_end_matches(['.', ':', '?', '!']).len();
        } else if !("._-/:@".contains(char)
            && next.is_some_and(|next| is_latin(next) || (char == ':' && next == ':')))
        {
            break;
        }
    }
    end
}

fn push<'a>(found: &mut Vec<Token<'a>>, text: &'a str, start: usize, end: usize) {
    let Some(word) = text.get(start..end) else { return };
    if let Some(kind) = known(word) {
        found.push(Token { start, end, text: word, kind });
        return;
    }
    // `a/b` and `a@b` are two words, `user@host` the host.
    let Some(cut) = word.find(['/', '@']) else {
        found.push(Token { start, end, text: word, kind: Kind::Word });
        return;
    };
    if word.as_bytes().get(cut) == Some(&b'/') {
        push(found, text, start, start + cut);
    }
    push(found, text, start + cut + 1, end);
}

/// Returns what a word is that is more than a word.
fn known(word: &str) -> Option<Kind<'_>> {
    if let Some((scheme, rest)) = word.split_once("://") {
        return Some(url(scheme, rest));
    }
    if word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(word.parse().map_or(Kind::Other, Kind::Number));
    }
    if is_time(word) || is_date(word) {
        return Some(Kind::Other);
    }
    if let Ok(address) = word.parse::<IpAddr>() {
        return Some(Kind::Address(address, None));
    }
    address(word).or_else(|| range(word)).or_else(|| port(word)).or_else(|| host(word))
}

fn url<'a>(scheme: &str, rest: &'a str) -> Kind<'a> {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let usual = || {
        let scheme = scheme.rsplit(['+', ':']).next().unwrap_or_default();
        WORDS.services.ports.get(scheme).copied()
    };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => (host, port.parse().ok()),
        _ => (authority, usual()),
    };
    match host.parse() {
        Ok(address) => Kind::Address(address, port),
        Err(_) if host.is_empty() => Kind::Other,
        Err(_) => Kind::Host(host, port),
    }
}

/// `10.0.0.1:80`, `10.0.0.1:80/path`, `10.0.0.1/24`, `10.0.0.1/path`, `10.0.0.1.80` of tcpdump.
fn address(word: &str) -> Option<Kind<'_>> {
    let digits = word.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(word.len());
    let (head, rest) = word.split_at_checked(digits)?;
    let Ok(address) = head.parse::<Ipv4Addr>() else {
        let (before, last) = head.rsplit_once('.')?;
        let address = before.parse::<Ipv4Addr>().ok()?;
        return rest.is_empty().then(|| Kind::Address(IpAddr::V4(address), last.parse().ok()));
    };
    let address = IpAddr::V4(address);
    if let Some(rest) = rest.strip_prefix(':') {
        let port = rest.split(['/', ':']).next().unwrap_or_default();
        return Some(Kind::Address(address, port.parse().ok().filter(|port| *port > 0)));
    }
    if let Some(rest) = rest.strip_prefix('/') {
        return match rest.parse::<u16>() {
            Ok(32) => Some(Kind::Address(address, None)),
            Ok(0..32) => Some(Kind::Other),
            Ok(port) => Some(Kind::Address(address, Some(port))),
            Err(_) => Some(Kind::Address(address, None)),
        };
    }
    rest.starts_with('-').then_some(Kind::Address(address, None))
}

fn range(word: &str) -> Option<Kind<'_>> {
    let (from, to) = word.split_once('-')?;
    let (from, to) = (from.parse::<u16>().ok()?, to.parse::<u16>().ok()?);
    Some(if from >= 20 && from < to && to - from < 16 { Kind::Range(from, to) } else { Kind::Other })
}

/// `tcp/80`, `80/tcp`, `tcp:80`, `tcp80`, `port:80`.
fn port(word: &str) -> Option<Kind<'_>> {
    let letters = word.find(|char: char| char.is_ascii_digit())?;
    let (head, tail) = word.split_at_checked(letters)?;
    if let (Ok(port), head) = (tail.parse::<u16>(), head.trim_end_matches(['/', ':', '-', '_']))
        && port > 0
    {
        return match head {
            "tcp" => Some(Kind::Port(Some(Protocol::Tcp), port)),
            "udp" => Some(Kind::Port(Some(Protocol::Udp), port)),
            "port" | "ports" | "puerto" | "porta" | "dport" => Some(Kind::Port(None, port)),
            _ => None,
        };
    }
    let (number, protocol) = word.split_once(['/', '-', ':'])?;
    let port = number.parse().ok().filter(|port| *port > 0)?;
    match protocol {
        "tcp" => Some(Kind::Port(Some(Protocol::Tcp), port)),
        "udp" => Some(Kind::Port(Some(Protocol::Udp), port)),
        _ => None,
    }
}

/// `name:80`, `name:80/path`.
fn host(word: &str) -> Option<Kind<'_>> {
    let (name, rest) = word.split_once(':')?;
    let number = rest.split(['/', ':']).next().unwrap_or_default();
    let name = name.rsplit('@').next().unwrap_or_default();
    let ending = name.rsplit('.').next().unwrap_or_default();
    if name.contains('.') && FILES.contains(&ending) {
        return Some(Kind::Other);
    }
    let port = number.parse::<u16>().ok().filter(|port| *port > 0)?;
    if !name.bytes().any(|byte| byte.is_ascii_alphabetic()) {
        return Some(Kind::Other);
    }
    if WORDS.number.not_before.hold(name) {
        return Some(Kind::Other);
    }
    if WORDS.number.port_before.hold(name) {
        return Some(Kind::Port(None, port));
    }
    Some(Kind::Host(name, Some(port)))
}

fn is_time(word: &str) -> bool {
    let mut parts = word.split(':');
    let (Some(hour), Some(minute)) = (parts.next(), parts.next()) else { return false };
    let below = |part: &str, most: u8| part.len() <= 2 && part.parse::<u8>().is_ok_and(|value| value < most);
    below(hour, 25) && minute.len() == 2 && below(minute, 60)
}

/// Dates, versions, fractions: numbers with signs between them that are no address.
fn is_date(word: &str) -> bool {
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts = |sign: char| word.split(sign).count();
    let all = |sign: char| word.split(sign).all(is_part);
    let is_day = |part: &str| part.parse::<u16>().is_ok_and(|number| number < 32);
    (all('/') && (parts('/') > 2 || word.split('/').all(is_day)))
        || (all('-') && parts('-') > 2)
        || (all('.') && (parts('.') == 2 || parts('.') == 3))
        || word
            .split_once('t')
            .is_some_and(|(day, time)| day.contains('-') && is_date(day) && time.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<Kind<'_>> {
        tokens(text).into_iter().map(|token| token.kind).collect()
    }

    fn address(text: &str, port: Option<u16>) -> Kind<'_> {
        Kind::Address(text.parse().unwrap(), port)
    }

    #[test]
    fn an_address_is_read_with_the_port_behind_its_last_colon() {
        assert_eq!(kinds("10.0.3.10:5432:"), [address("10.0.3.10", Some(5432))]);
        assert_eq!(kinds("https://10.0.1.5:8443/login?id=77"), [address("10.0.1.5", Some(8443))]);
        assert_eq!(kinds("https://10.0.1.5/"), [address("10.0.1.5", Some(443))]);
        assert_eq!(kinds("http://db-1.corp:7070/x"), [Kind::Host("db-1.corp", Some(7070))]);
        assert_eq!(kinds("10.0.1.5.8443"), [address("10.0.1.5", Some(8443))]);
        assert_eq!(kinds("fd00::1"), [address("fd00::1", None)]);
    }

    #[test]
    fn times_dates_versions_and_lines_of_code_are_none() {
        for text in
            ["14:02", "02:30:11", "2026/11/23", "2026-11-23", "1.5", "1.2.3", "Net.java:672", "10.0.0.0/8"]
        {
            assert_eq!(kinds(text), [Kind::Other], "{text}");
        }
    }

    #[test]
    fn names_end_where_another_script_begins_and_arrows_cut_them() {
        let words: Vec<&str> =
            tokens("hr-web-3からdb-1の8443番 a->b:80 x/y").into_iter().map(|token| token.text).collect();
        assert_eq!(words, ["hr-web-3", "から", "db-1", "の", "8443", "番", "a", "->", "b:80", "x", "y"]);
    }

    #[test]
    fn a_port_may_stand_beside_its_protocol() {
        for text in ["tcp/8443", "8443/tcp", "tcp:8443", "tcp8443"] {
            assert_eq!(kinds(text), [Kind::Port(Some(Protocol::Tcp), 8443)], "{text}");
        }
        assert_eq!(kinds("port:8443"), [Kind::Port(None, 8443)]);
        assert_eq!(kinds("8000-8003"), [Kind::Range(8000, 8003)]);
    }
}
