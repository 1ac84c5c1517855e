//! A rule as `iptables-save` prints it.

use super::rule::{Does, RuleEffect};
use crate::suspect::supported::plain;
use ghost_inspect::netfilter::Part;

/// Matches that are about floods and oddities: what they stop is no ordinary traffic.
const WARY: [&str; 6] = ["hashlimit", "connlimit", "recent", "pkttype", "addrtype", "rpfilter"];

/// Reads the options of a rule.
pub(super) fn effect(parts: &[Part]) -> RuleEffect {
    let mut effect = RuleEffect::default();
    let mut aside = false;
    for part in parts {
        let first = part.values.first().map_or("", |text| text.as_str());
        match part.name.as_str() {
            "-j" | "-g" => match first {
                "DROP" => effect.does = Does::Drop,
                "REJECT" | "TARPIT" => effect.does = Does::Reject,
                other => effect.leads = Some(other.to_owned()),
            },
            // Words of the target and a remark demand nothing.
            "--comment" | "--reject-with" | "-m" | "-c" | "--set-counters" => {}
            "-p" => {
                if !part.negated && !matches!(first, "all" | "0") {
                    effect.protocol = Some(plain(&first.to_ascii_lowercase()));
                }
                effect.demands |= !matches!(first, "all" | "0");
            }
            "--dport" | "--dports" | "--destination-port" | "--destination-ports" | "--ports" => {
                if !part.negated {
                    effect.ports = ports(first);
                }
                effect.demands = true;
            }
            "--sport" | "--sports" | "--source-port" | "--source-ports" => {
                if !part.negated && effect.ports.is_empty() {
                    effect.ports = ports(first);
                }
                effect.demands = true;
            }
            "-s" => {
                if !part.negated {
                    effect.sources = first.split(',').map(bare).collect();
                }
                aside |= loopback(first) && !part.negated;
                effect.demands = true;
            }
            "-d" => {
                aside |= loopback(first) && !part.negated;
                effect.demands = true;
            }
            "-i" | "-o" => {
                aside |= first == "lo" && !part.negated;
                effect.device = true;
                effect.demands = true;
            }
            "--match-set" => {
                effect.set = Some(first.to_owned());
                effect.demands = true;
            }
            "--ctstate" | "--state" => {
                aside |= first.eq_ignore_ascii_case("INVALID") && !part.negated;
                effect.demands = true;
            }
            // Odd flags belong to scans; `! --syn` beside NEW to connections that nobody opened.
            "--tcp-flags" | "--tcp-option" | "-f" | "--fragment" => {
                aside = true;
                effect.demands = true;
            }
            "--syn" => {
                aside |= part.negated;
                effect.demands = true;
            }
            _ => {
                aside |= part.module.as_deref().is_some_and(|module| WARY.contains(&module));
                effect.demands |= !part.name.starts_with("--reject");
            }
        }
    }
    effect.sane = aside;
    effect
}

fn loopback(text: &str) -> bool {
    text.starts_with("127.") || text == "::1" || text == "::1/128"
}

/// Returns an address without the length of its prefix where that is the whole address.
pub(super) fn bare(text: &str) -> String {
    match text.split_once('/') {
        Some((address, "32" | "128" | "255.255.255.255")) => plain(address),
        Some(_) | None => plain_prefix(text),
    }
}

fn plain_prefix(text: &str) -> String {
    text.split('/').map(plain).collect::<Vec<_>>().join("/")
}

fn ports(text: &str) -> Vec<String> {
    text.split(',').map(|port| plain(&port.replace(':', "-"))).collect()
}
