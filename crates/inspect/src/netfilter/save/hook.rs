//! What names mean by themselves: the chains that are built in, and the family of an option.

use crate::netfilter::ruleset::{Base, Part};

/// Where the kernel calls the chains that are built in.
pub(super) fn base(table: &str, chain: &str) -> Option<Base> {
    let hook = match chain {
        "PREROUTING" => "prerouting",
        "INPUT" => "input",
        "FORWARD" => "forward",
        "OUTPUT" => "output",
        "POSTROUTING" => "postrouting",
        _ => return None,
    };
    let (kind, priority) = match (table, hook) {
        ("raw", "prerouting" | "output") => ("filter", -300),
        ("mangle", "output") => ("route", -150),
        ("mangle", _) => ("filter", -150),
        ("nat", "prerouting" | "output") => ("nat", -100),
        ("nat", "input" | "postrouting") => ("nat", 100),
        ("filter", "input" | "forward" | "output") => ("filter", 0),
        ("security", "input" | "forward" | "output") => ("filter", 50),
        _ => return None,
    };
    Some(Base { kind: kind.to_owned(), hook: hook.to_owned(), priority, device: None })
}

/// What an option says about the family.
pub(super) fn family_of(part: &Part) -> Option<bool> {
    let value = part.values.first()?;
    match part.name.as_str() {
        "-s" | "-d" => Some(value.contains(':')),
        "--src-range" | "--dst-range" | "--to-source" | "--to-destination" if value.contains("::") => {
            Some(true)
        }
        "-p" if matches!(value.as_str(), "ipv6-icmp" | "icmpv6") => Some(true),
        "-p" if value == "icmp" => Some(false),
        "--icmpv6-type" => Some(true),
        "--icmp-type" => Some(false),
        "--reject-with" if value.starts_with("icmp6") => Some(true),
        "--reject-with" if value.starts_with("icmp-") => Some(false),
        _ => None,
    }
}
