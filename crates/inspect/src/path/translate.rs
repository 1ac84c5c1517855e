//! Translation of addresses and ports by a machine's packet filter.

use std::net::IpAddr;

use super::flow::Wire;
use crate::netfilter::{Body, Hook, Json, Part, Rule};

/// What a rule makes of a packet's ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Translation {
    /// The packet goes to another address or port.
    Destination {
        /// The address; absent where it is the machine's own.
        address: Option<IpAddr>,
        /// Whether the address becomes the machine's own.
        own: bool,
        /// The port, where it changes.
        port: Option<u16>,
    },
    /// The packet comes from another address; absent where it is that of the device by which it leaves.
    Source(Option<IpAddr>),
    /// Something that is not known.
    Unknown(String),
}

const DESTINATION: [&str; 3] = ["DNAT", "REDIRECT", "NETMAP"];
const SOURCE: [&str; 2] = ["SNAT", "MASQUERADE"];

fn target(parts: &[Part]) -> Option<&str> {
    let part = parts.iter().find(|part| part.name.as_str() == "-j")?;
    part.values.first().map(|text| text.as_str())
}

/// Tells whether a rule translates.
pub(super) fn translates(rule: &Rule) -> bool {
    match &rule.body {
        Body::Save(parts) => {
            target(parts).is_some_and(|name| DESTINATION.contains(&name) || SOURCE.contains(&name))
        }
        Body::Nft(expressions) => expressions.iter().any(|expression| {
            let names = ["dnat", "redirect", "snat", "masquerade"];
            names.iter().any(|name| expression.get(name).is_some())
                || expression
                    .get("xt")
                    .and_then(|xt| xt.get("name"))
                    .and_then(Json::as_str)
                    .is_some_and(|name| DESTINATION.contains(&name) || SOURCE.contains(&name))
        }),
    }
}

/// Finds what the rules that a packet met make of it: the first that translates its ends at this hook.
pub(super) fn translation(matched: &[Rule], hook: Hook, wire: &Wire) -> Option<Translation> {
    let destination = matches!(hook, Hook::Prerouting | Hook::Output);
    let source = matches!(hook, Hook::Postrouting | Hook::Input);
    let found = matched.iter().filter(|rule| translates(rule)).find_map(|rule| match &rule.body {
        Body::Save(parts) => save(parts),
        Body::Nft(expressions) => expressions.iter().find_map(nft),
    })?;
    let fits = match &found {
        Translation::Destination { .. } => destination,
        Translation::Source(_) => source,
        Translation::Unknown(_) => true,
    };
    let nothing = matches!(&found, Translation::Destination { address, own: false, port }
        if address.is_none_or(|address| address == wire.dst) && port.is_none_or(|port| Some(port) == wire.dport));
    (fits && !nothing).then_some(found)
}

fn save(parts: &[Part]) -> Option<Translation> {
    let name = target(parts)?;
    let option = |wanted: &str| {
        let part = parts.iter().find(|part| part.name.as_str() == wanted)?;
        part.values.first().map(|text| text.as_str())
    };
    let unknown = |text: &str| Translation::Unknown(format!("`{text}` leaves open where to"));
    Some(match name {
        "REDIRECT" => match option("--to-ports") {
            None => Translation::Destination { address: None, own: true, port: None },
            Some(text) => match text.parse() {
                Ok(port) => Translation::Destination { address: None, own: true, port: Some(port) },
                Err(_) => unknown(text),
            },
        },
        "DNAT" => {
            let text = option("--to-destination").unwrap_or_default();
            end(text).map_or_else(
                || unknown(text),
                |(address, port)| Translation::Destination { address, own: false, port },
            )
        }
        "SNAT" => {
            let text = option("--to-source").unwrap_or_default();
            end(text).map_or_else(|| unknown(text), |(address, _)| Translation::Source(address))
        }
        "MASQUERADE" => Translation::Source(None),
        _ => unknown(name),
    })
}

/// Reads `10.0.0.5:8080`, `10.0.0.5`, `:8080` and `[fd00::5]:8080`; a range says too little.
fn end(text: &str) -> Option<(Option<IpAddr>, Option<u16>)> {
    if let Ok(address) = text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        return Some((Some(address), None));
    }
    let (address, port) = text.rsplit_once(':')?;
    let port = port.parse().ok()?;
    if address.is_empty() {
        return Some((None, Some(port)));
    }
    let address = address.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    Some((Some(address), Some(port)))
}

fn nft(expression: &Json) -> Option<Translation> {
    let address = |body: &Json| match body.get("addr") {
        None => Some(None),
        Some(value) => value.as_str().and_then(|text| text.parse::<IpAddr>().ok()).map(Some),
    };
    let port = |body: &Json| match body.get("port") {
        None => Some(None),
        Some(value) => value.as_u64().and_then(|port| u16::try_from(port).ok()).map(Some),
    };
    let open = || Translation::Unknown("a map says where to".to_owned());
    if let Some(body) = expression.get("dnat") {
        let both = address(body).zip(port(body));
        return Some(both.map_or_else(open, |(address, port)| Translation::Destination {
            address,
            own: false,
            port,
        }));
    }
    if let Some(body) = expression.get("redirect") {
        return Some(port(body).map_or_else(open, |port| Translation::Destination {
            address: None,
            own: true,
            port,
        }));
    }
    if let Some(body) = expression.get("snat") {
        return Some(address(body).map_or_else(open, Translation::Source));
    }
    if expression.get("masquerade").is_some() {
        return Some(Translation::Source(None));
    }
    expression.get("xt").map(|_| Translation::Unknown("`nft -j` hides where to".to_owned()))
}
