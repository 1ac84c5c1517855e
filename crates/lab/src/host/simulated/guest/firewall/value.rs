//! Values of options, as the tools tell them again.

use std::net::IpAddr;

use super::module::Kind;
use super::refusal::Refusal;

const SERVICES: [(&str, u16); 22] = [
    ("ssh", 22),
    ("http", 80),
    ("https", 443),
    ("domain", 53),
    ("smtp", 25),
    ("ftp", 21),
    ("telnet", 23),
    ("ntp", 123),
    ("snmp", 161),
    ("ldap", 389),
    ("imap2", 143),
    ("imaps", 993),
    ("pop3", 110),
    ("pop3s", 995),
    ("mysql", 3306),
    ("postgresql", 5432),
    ("redis", 6379),
    ("http-alt", 8080),
    ("ms-wbt-server", 3389),
    ("syslog", 514),
    ("bootps", 67),
    ("bootpc", 68),
];

pub(super) fn service(port: &str) -> Option<&'static str> {
    SERVICES.iter().find(|(_, number)| number.to_string() == port).map(|(name, _)| *name)
}

const PROTOCOLS: [(&str, u8); 12] = [
    ("all", 0),
    ("icmp", 1),
    ("tcp", 6),
    ("udp", 17),
    ("gre", 47),
    ("esp", 50),
    ("ah", 51),
    ("ipv6-icmp", 58),
    ("icmpv6", 58),
    ("sctp", 132),
    ("udplite", 136),
    ("dccp", 33),
];

/// Returns a protocol by the name that is printed; nothing inside where it is every protocol.
pub(super) fn protocol(text: &str) -> Result<Option<String>, Refusal> {
    let lower = text.to_ascii_lowercase();
    let found = PROTOCOLS.iter().find(|(name, number)| *name == lower || number.to_string() == lower);
    match found {
        Some((_, 0)) => Ok(None),
        Some((_, 58)) => Ok(Some("ipv6-icmp".to_owned())),
        Some((name, _)) => Ok(Some((*name).to_owned())),
        None => match lower.parse::<u8>() {
            Ok(number) => Ok(Some(number.to_string())),
            Err(_) => Err(Refusal::usage(format!("unknown protocol \"{text}\" specified"))),
        },
    }
}

/// Returns a prefix as it is printed: with its length, without the bits behind it; nothing inside where it is everything.
pub(super) fn prefix(text: &str, six: bool) -> Result<Option<String>, Refusal> {
    let wrong = || Refusal::usage(format!("host/network `{text}' not found"));
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: IpAddr = match address {
        "localhost" if !six => IpAddr::from([127, 0, 0, 1]),
        "0" if !six => IpAddr::from([0, 0, 0, 0]),
        address => address.parse().map_err(|_| wrong())?,
    };
    if address.is_ipv6() != six {
        return Err(wrong());
    }
    let width: u32 = if six { 128 } else { 32 };
    let length = match length {
        None => width,
        Some(mask) if mask.contains('.') => {
            let mask: std::net::Ipv4Addr =
                mask.parse().map_err(|_| Refusal::usage(format!("invalid mask `{mask}' specified")))?;
            u32::from(mask).leading_ones()
        }
        Some(length) => length
            .parse()
            .ok()
            .filter(|length| *length <= width)
            .ok_or_else(|| Refusal::usage(format!("invalid mask `{length}' specified")))?,
    };
    if length == 0 {
        return Ok(None);
    }
    let address = match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            IpAddr::from(std::net::Ipv4Addr::from(u32::from(address) & mask))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            IpAddr::from(std::net::Ipv6Addr::from(u128::from(address) & mask))
        }
    };
    Ok(Some(format!("{address}/{length}")))
}

/// Writes a text in quotes, if a shell would need them.
pub(super) fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain {
        return text.to_owned();
    }
    let mut out = String::from("\"");
    for char in text.chars() {
        if matches!(char, '"' | '\\' | '\'') {
            out.push('\\');
        }
        out.push(char);
    }
    out.push('"');
    out
}

fn port(text: &str) -> Result<String, Refusal> {
    let one = |text: &str| -> Result<u16, Refusal> {
        let named = SERVICES.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
        named
            .or_else(|| text.parse().ok())
            .ok_or_else(|| Refusal::usage(format!("invalid port/service `{text}' specified")))
    };
    match text.split_once(':') {
        Some((from, to)) => {
            let from = if from.is_empty() { 0 } else { one(from)? };
            let to = if to.is_empty() { u16::MAX } else { one(to)? };
            if from > to {
                return Err(Refusal::usage("invalid portrange (min > max)"));
            }
            Ok(if from == to { from.to_string() } else { format!("{from}:{to}") })
        }
        None => one(text).map(|port| port.to_string()),
    }
}

pub(super) const ICMP: [(&str, &str); 12] = [
    ("any", "any"),
    ("echo-reply", "0"),
    ("destination-unreachable", "3"),
    ("host-unreachable", "3/1"),
    ("port-unreachable", "3/3"),
    ("fragmentation-needed", "3/4"),
    ("redirect", "5"),
    ("echo-request", "8"),
    ("router-advertisement", "9"),
    ("time-exceeded", "11"),
    ("timestamp-request", "13"),
    ("timestamp-reply", "14"),
];

const ICMP6: [(&str, &str); 10] = [
    ("destination-unreachable", "1"),
    ("packet-too-big", "2"),
    ("time-exceeded", "3"),
    ("echo-request", "128"),
    ("echo-reply", "129"),
    ("router-solicitation", "133"),
    ("router-advertisement", "134"),
    ("neighbour-solicitation", "135"),
    ("neighbor-solicitation", "135"),
    ("neighbour-advertisement", "136"),
];

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Returns the values of an option as they are printed.
pub(super) fn normal(name: &str, kind: Kind, given: &[String], six: bool) -> Result<Vec<String>, Refusal> {
    let text = given.first().map_or("", String::as_str);
    let bad = || {
        Refusal::usage(format!(
            "{}: Bad value for \"{name}\" option: \"{text}\"",
            name.trim_start_matches('-')
        ))
    };
    let one = |text: String| Ok(vec![text]);
    match kind {
        Kind::Flag => Ok(Vec::new()),
        Kind::Word | Kind::Text | Kind::Two => Ok(given.to_vec()),
        Kind::Number => text.parse::<u32>().map_err(|_| bad()).and_then(|number| one(number.to_string())),
        Kind::Upper => one(text.to_ascii_uppercase()),
        Kind::Port => port(text).and_then(one),
        Kind::Ports => {
            let all: Result<Vec<String>, Refusal> = text.split(',').map(port).collect();
            let all = all?;
            if all.len() > 15 {
                return Err(Refusal::usage("too many ports specified"));
            }
            one(all.join(","))
        }
        Kind::States => {
            const ORDER: [&str; 7] =
                ["INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED", "SNAT", "DNAT"];
            let asked: Vec<String> = text.split(',').map(str::to_ascii_uppercase).collect();
            if let Some(wrong) = asked.iter().find(|state| !ORDER.contains(&state.as_str())) {
                return Err(Refusal::usage(format!("Bad ctstate \"{wrong}\"")));
            }
            let names: Vec<&str> =
                ORDER.into_iter().filter(|state| asked.iter().any(|own| own == state)).collect();
            one(names.join(","))
        }
        Kind::Mark | Kind::SetMark => {
            let (mark, mask) = text.split_once('/').map_or((text, None), |(mark, mask)| (mark, Some(mask)));
            let mark = number(mark).ok_or_else(bad)?;
            let mask = mask.map(|mask| number(mask).ok_or_else(bad)).transpose()?.unwrap_or(u32::MAX);
            let (mark, mask) = match name {
                "--set-mark" => (mark, mask | mark),
                "--or-mark" => (mark, mark),
                "--and-mark" => (0, !mark),
                "--xor-mark" => (mark, 0),
                _ => (mark, mask),
            };
            let text = if kind == Kind::SetMark || mask != u32::MAX {
                format!("0x{mark:x}/0x{mask:x}")
            } else {
                format!("0x{mark:x}")
            };
            one(text)
        }
        Kind::Rate => {
            let (count, unit) = text.split_once('/').unwrap_or((text, "sec"));
            let unit = [("second", "sec"), ("minute", "min"), ("hour", "hour"), ("day", "day")]
                .into_iter()
                .find(|(long, _)| !unit.is_empty() && long.starts_with(unit))
                .map(|(_, short)| short)
                .ok_or_else(|| Refusal::usage(format!("bad rate \"{text}\"'")))?;
            let count: u32 = count
                .parse()
                .ok()
                .filter(|count| *count > 0)
                .ok_or_else(|| Refusal::usage(format!("bad rate \"{text}\"'")))?;
            one(format!("{count}/{unit}"))
        }
        Kind::Burst => text.parse::<u32>().map_err(|_| bad()).and_then(|number| one(number.to_string())),
        Kind::IcmpType => {
            let names: &[(&str, &str)] = if six { &ICMP6 } else { &ICMP };
            if let Some((_, number)) = names.iter().find(|(name, _)| *name == text) {
                return one((*number).to_owned());
            }
            let whole = text.split('/').all(|part| part.parse::<u8>().is_ok());
            if whole {
                one(text.to_owned())
            } else {
                Err(Refusal::usage(format!("Unknown ICMP type `{text}'")))
            }
        }
        Kind::Chance => {
            let chance: f64 =
                text.parse().ok().filter(|chance| (0.0..=1.0).contains(chance)).ok_or_else(bad)?;
            // The kernel keeps it in 31 bits.
            let kept = (chance * 2_147_483_648.0).round() / 2_147_483_648.0;
            one(format!("{kept:.11}"))
        }
        Kind::Flags => {
            const ORDER: [&str; 6] = ["FIN", "SYN", "RST", "PSH", "ACK", "URG"];
            let canonical = |text: &str| -> Result<String, Refusal> {
                if text == "NONE" {
                    return Ok(text.to_owned());
                }
                if text == "ALL" {
                    return Ok(ORDER.join(","));
                }
                let asked: Vec<&str> = text.split(',').collect();
                if let Some(wrong) = asked.iter().find(|flag| !ORDER.contains(flag)) {
                    return Err(Refusal::usage(format!("Unknown TCP flag `{wrong}'")));
                }
                Ok(ORDER.into_iter().filter(|flag| asked.contains(flag)).collect::<Vec<_>>().join(","))
            };
            given.iter().map(|text| canonical(text)).collect()
        }
        Kind::Syn => Ok(vec!["FIN,SYN,RST,ACK".to_owned(), "SYN".to_owned()]),
        Kind::User => one(match text {
            "root" => "0".to_owned(),
            "azureuser" => "1000".to_owned(),
            "nobody" => "65534".to_owned(),
            text if text.split('-').all(|part| part.parse::<u32>().is_ok()) => text.to_owned(),
            _ => return Err(bad()),
        }),
        Kind::RejectWith => {
            let known: &[&str] = if six {
                &[
                    "icmp6-no-route",
                    "icmp6-adm-prohibited",
                    "icmp6-addr-unreachable",
                    "icmp6-port-unreachable",
                    "tcp-reset",
                ]
            } else {
                &[
                    "icmp-net-unreachable",
                    "icmp-host-unreachable",
                    "icmp-port-unreachable",
                    "icmp-proto-unreachable",
                    "icmp-net-prohibited",
                    "icmp-host-prohibited",
                    "icmp-admin-prohibited",
                    "tcp-reset",
                ]
            };
            if known.contains(&text) {
                one(text.to_owned())
            } else {
                Err(Refusal::usage(format!("unknown reject type \"{text}\"")))
            }
        }
        Kind::LogLevel => {
            const LEVELS: [&str; 8] =
                ["emerg", "alert", "crit", "error", "warning", "notice", "info", "debug"];
            let at =
                LEVELS.iter().position(|level| *level == text || level.starts_with(text) && text.len() > 2);
            let level = at.or_else(|| text.parse().ok().filter(|level| *level < 8)).ok_or_else(bad)?;
            one(level.to_string())
        }
    }
}
