//! A rule in the language of `nft` as the expressions that `nft -j` prints for it.
//!
//! Goes in: the words of one rule. Comes out: its expressions, where all of them are among those below. Never: a guess; a word that is
//! not understood makes the whole rule not known.

use std::net::IpAddr;

use serde_json::{Value, json};

/// What a packet is asked for, and how its answer is written.
#[derive(Clone, Copy)]
enum Kind {
    Address,
    Number,
    /// A word: a device, a protocol, a type of ICMP.
    Word,
    State,
}

/// Reads the words of a rule.
///
/// # Errors
/// Names the word that is not understood.
pub(super) fn expressions(words: &[String]) -> Result<Vec<Value>, String> {
    let text = words.join(" ").replace('{', " { ").replace('}', " } ").replace(',', " , ");
    if text.contains(['\n', '\r', ';', '\'']) {
        return Err("its words cannot stand in a line".to_owned());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (mut rest, mut found) = (words.as_slice(), Vec::new());
    while !rest.is_empty() {
        let (expression, left) = one(rest)?;
        found.push(expression);
        rest = left;
    }
    if found.is_empty() { Err("it holds no rule".to_owned()) } else { Ok(found) }
}

/// Reads the first expression; returns it and the words behind it.
fn one<'a>(words: &'a [&'a str]) -> Result<(Value, &'a [&'a str]), String> {
    let unknown = || format!("`{}` is not known", words.first().copied().unwrap_or_default());
    let payload = |protocol: &str, field: &str| json!({"payload": {"protocol": protocol, "field": field}});
    match words {
        [verdict @ ("accept" | "drop" | "return" | "continue"), rest @ ..] => {
            Ok((json!({ *verdict: null }), rest))
        }
        ["counter", rest @ ..] => Ok((json!({"counter": {"packets": 0, "bytes": 0}}), rest)),
        ["log", rest @ ..] if rest.first() != Some(&"prefix") => Ok((json!({"log": null}), rest)),
        ["reject", "with", kind @ ("icmp" | "icmpv6" | "icmpx"), code, rest @ ..] => {
            Ok((json!({"reject": {"type": kind, "expr": code}}), rest))
        }
        ["reject", "with", "tcp", "reset", rest @ ..] => Ok((json!({"reject": {"type": "tcp reset"}}), rest)),
        ["reject", rest @ ..] if rest.first() != Some(&"with") => Ok((json!({"reject": null}), rest)),
        [verb @ ("jump" | "goto"), target, rest @ ..] => Ok((json!({ *verb: {"target": target}}), rest)),
        [protocol @ ("ip" | "ip6"), field @ ("saddr" | "daddr"), rest @ ..] => {
            matched(payload(protocol, field), Kind::Address, rest)
        }
        ["ip", "protocol", rest @ ..] => matched(payload("ip", "protocol"), Kind::Word, rest),
        [protocol @ ("tcp" | "udp" | "sctp"), field @ ("dport" | "sport"), rest @ ..] => {
            matched(payload(protocol, field), Kind::Number, rest)
        }
        [protocol @ ("icmp" | "icmpv6"), "type", rest @ ..] => {
            matched(payload(protocol, "type"), Kind::Word, rest)
        }
        ["meta", key @ ("iifname" | "oifname" | "iif" | "oif" | "l4proto"), rest @ ..]
        | [key @ ("iifname" | "oifname" | "iif" | "oif"), rest @ ..] => {
            matched(json!({"meta": {"key": key}}), Kind::Word, rest)
        }
        ["ct", "state", rest @ ..] => matched(json!({"ct": {"key": "state"}}), Kind::State, rest),
        _ => Err(unknown()),
    }
}

/// Reads what something is compared with.
fn matched<'a>(left: Value, kind: Kind, words: &'a [&'a str]) -> Result<(Value, &'a [&'a str]), String> {
    let (said, words) = match words {
        [op @ ("==" | "!="), rest @ ..] => (Some(*op), rest),
        rest => (None, rest),
    };
    let usual = if matches!(kind, Kind::State) { "in" } else { "==" };
    let (right, is_set, rest) = match words {
        ["{", rest @ ..] => {
            let end = rest.iter().position(|word| *word == "}").ok_or("a set has no end")?;
            let (inside, behind) = rest.split_at(end);
            let members = inside.split(|word| *word == ",").map(|member| match member {
                [word] => value(kind, word),
                _ => Err("a set holds something that is not known".to_owned()),
            });
            let members = members.collect::<Result<Vec<_>, _>>()?;
            (json!({"set": members}), true, behind.get(1..).unwrap_or_default())
        }
        // Several states are one value.
        [first, rest @ ..] => {
            let mut all = vec![value(kind, first)?];
            let mut rest = rest;
            while let ([",", next, behind @ ..], Kind::State) = (rest, kind) {
                all.push(value(kind, next)?);
                rest = behind;
            }
            let only = if all.len() == 1 { all.pop() } else { None };
            (only.unwrap_or(Value::Array(all)), false, rest)
        }
        [] => return Err("it ends in the middle of a comparison".to_owned()),
    };
    let op = said.unwrap_or(if is_set { "==" } else { usual });
    Ok((json!({"match": {"op": op, "left": left, "right": right}}), rest))
}

fn value(kind: Kind, word: &str) -> Result<Value, String> {
    let unknown = || format!("`{word}` is not known");
    match kind {
        Kind::Address => address(word).ok_or_else(unknown),
        Kind::Number => match word.split_once('-') {
            Some((from, to)) => {
                let (from, to) = (from.parse::<u16>().ok(), to.parse::<u16>().ok());
                let range = from.zip(to).filter(|(from, to)| from <= to);
                range.map(|(from, to)| json!({"range": [from, to]})).ok_or_else(unknown)
            }
            // Names of services stand for numbers that another file says.
            None => word.parse::<u16>().map(Value::from).map_err(|_| unknown()),
        },
        Kind::Word => {
            let bare = word.trim_matches('"');
            let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '@');
            let fits = !bare.is_empty() && bare.chars().all(is_plain);
            fits.then(|| json!(bare)).ok_or_else(unknown)
        }
        Kind::State => {
            let known = ["established", "related", "new", "invalid", "untracked"].contains(&word);
            known.then(|| json!(word)).ok_or_else(unknown)
        }
    }
}

fn address(word: &str) -> Option<Value> {
    let plain = |text: &str| text.parse::<IpAddr>().ok().map(|_| json!(text));
    if let Some((from, to)) = word.split_once('-') {
        let ends: (IpAddr, IpAddr) = (from.parse().ok()?, to.parse().ok()?);
        let is_range = ends.0.is_ipv4() == ends.1.is_ipv4() && ends.0 <= ends.1;
        return is_range.then(|| json!({"range": [from, to]}));
    }
    let Some((own, length)) = word.split_once('/') else { return plain(word) };
    let net: ipnet::IpNet = word.parse().ok()?;
    let whole = net.prefix_len() == net.max_prefix_len();
    let length: u8 = length.parse().ok()?;
    if whole { plain(own) } else { Some(json!({"prefix": {"addr": net.trunc().addr(), "len": length}})) }
}
