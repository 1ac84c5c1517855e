//! A rule as `iptables-save` prints it.

use super::rule::{Does, Told};
use crate::suspect::name::plain;
use ghost_inspect::netfilter::Part;

/// Matches that are about floods and oddities: what they stop is no ordinary traffic.
const WARY: [&str; 6] = ["hashlimit", "connlimit", "recent", "pkttype", "addrtype", "rpfilter"];

/// Reads the options of a rule.
pub(super) fn told(parts: &[Part]) -> Told {
    let mut told = Told::default();
    let mut aside = false;
    for part in parts {
        let first = part.values.first().map_or("", |text| text.as_str());
        match part.name.as_str() {
            "-j" | "-g" => match first {
                "DROP" => told.does = Does::Drop,
                "REJECT" | "TARPIT" => told.does = Does::Reject,
                other => told.leads = Some(other.to_owned()),
            },
            // Words of the target and a remark demand nothing.
            "--comment" | "--reject-with" | "-m" | "-c" | "--set-counters" => {}
            "-p" => {
                if !part.negated && !matches!(first, "all" | "0") {
                    told.protocol = Some(plain(&first.to_ascii_lowercase()));
                }
                told.demands |= !matches!(first, "all" | "0");
            }
            "--dport" | "--dports" | "--destination-port" | "--destination-ports" | "--ports" => {
                if !part.negated {
                    told.ports = ports(first);
                }
                told.demands = true;
            }
            "--sport" | "--sports" | "--source-port" | "--source-ports" => {
                if !part.negated && told.ports.is_empty() {
                    told.ports = ports(first);
                }
                told.demands = true;
            }
            "-s" => {
                if !part.negated {
                    told.sources = first.split(',').map(bare).collect();
                }
                aside |= loopback(first) && !part.negated;
                told.demands = true;
            }
            "-d" => {
                aside |= loopback(first) && !part.negated;
                told.demands = true;
            }
            "-i" | "-o" => {
                aside |= first == "lo" && !part.negated;
                told.device = true;
                told.demands = true;
            }
            "--match-set" => {
                told.set = Some(first.to_owned());
                told.demands = true;
            }
            "--ctstate" | "--state" => {
                aside |= first.eq_ignore_ascii_case("INVALID") && !part.negated;
                told.demands = true;
            }
            // Odd flags belong to scans; `! --syn` beside NEW to connections that nobody opened.
            "--tcp-flags" | "--tcp-option" | "-f" | "--fragment" => {
                aside = true;
                told.demands = true;
            }
            "--syn" => {
                aside |= part.negated;
                told.demands = true;
            }
            _ => {
                aside |= part.module.as_deref().is_some_and(|module| WARY.contains(&module));
                told.demands |= !part.name.starts_with("--reject");
            }
        }
    }
    told.sane = aside;
    told
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
