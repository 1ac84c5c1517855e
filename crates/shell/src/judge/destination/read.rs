//! The hosts in one word.

use super::filter;
use crate::judge::address::{Url, parse_address};
use crate::policy::Reading;

/// Returns the hosts in a word.
pub(super) fn hosts(reading: Reading, word: &str) -> Vec<String> {
    let one = |host: &str| vec![host.to_owned()];
    match reading {
        Reading::None => Vec::new(),
        Reading::Host => word.split(',').map(|host| unbracketed(host).to_owned()).collect(),
        Reading::Name => named(word),
        Reading::NameOfIpv4 if word.parse::<std::net::Ipv6Addr>().is_ok() => one(word),
        Reading::NameOfIpv4 => named(word),
        Reading::Interface => interface(word),
        Reading::End => one(before_port(word)),
        Reading::Url => one(&host_of(word)),
        Reading::Resolve => resolve(word),
        Reading::ConnectTo => {
            let parts = parts(word);
            [0, 2].iter().filter_map(|at| parts.get(*at)).map(|host| unbracketed(host).to_owned()).collect()
        }
        Reading::Question => question(word),
        Reading::SocketFilter => filter::of_sockets(word),
        Reading::SocketAddress => {
            word.split_once('@').map_or_else(Vec::new, |(_, end)| named(before_port(end)))
        }
        Reading::PacketFilter => filter::of_packets(word),
        Reading::DisplayFilter => filter::of_display(word),
    }
}

/// Returns a word where it is a name: an address is nothing that is looked up.
pub(super) fn named(word: &str) -> Vec<String> {
    let host = unbracketed(word);
    let address = host.split('/').next().unwrap_or_default();
    if host.is_empty() || host == "*" || parse_address(address).is_some() {
        return Vec::new();
    }
    vec![host.to_owned()]
}

/// Returns what is a name and no interface: `host!NAME`, or a word with dots that ends in no number as a VLAN does.
fn interface(word: &str) -> Vec<String> {
    if let Some((kind, host)) = word.split_once('!') {
        return if kind == "if" { Vec::new() } else { named(host) };
    }
    let last = word.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    let is_vlan = last.bytes().all(|byte| byte.is_ascii_digit());
    if word.contains('.') && !is_vlan { named(word) } else { Vec::new() }
}

pub(super) fn unbracketed(host: &str) -> &str {
    host.strip_prefix('[').map_or(host, |host| host.trim_end_matches(']'))
}

/// Parts a port off. What has more colons than one is an address by itself.
pub(super) fn before_port(end: &str) -> &str {
    if let Some((inside, _)) = end.strip_prefix('[').and_then(|end| end.split_once(']')) {
        return inside;
    }
    match end.split_once(':') {
        Some((host, port)) if !port.contains(':') => host,
        _ => end,
    }
}

/// Returns the host of an address as it stands there; decoded where that is another one.
fn host_of(address: &str) -> String {
    let url = Url::parse(address);
    let host = before_port(url.authority.rsplit('@').next().unwrap_or_default());
    if host.eq_ignore_ascii_case(&url.host) { host.to_owned() } else { url.host }
}

/// Splits at colons outside of brackets.
fn parts(word: &str) -> Vec<&str> {
    let mut inside = false;
    word.split(|char: char| {
        match char {
            '[' => inside = true,
            ']' => inside = false,
            _ => {}
        }
        char == ':' && !inside
    })
    .collect()
}

fn resolve(word: &str) -> Vec<String> {
    let word = word.trim_start_matches(['+', '-']);
    let parts = parts(word);
    let host = parts.first().copied().filter(|host| *host != "*");
    let addresses = parts.get(2..).unwrap_or_default().join(":");
    let addresses = addresses.split(',').map(|address| unbracketed(address).to_owned());
    host.map(|host| unbracketed(host).to_owned()).into_iter().chain(addresses).collect()
}

/// Types and classes of records, which dig takes among names.
const RECORDS: &str = "A AAAA AFSDB ANY APL AXFR CAA CDNSKEY CDS CERT CH CNAME CSYNC DHCID DLV DNAME DNSKEY DS EUI48 EUI64 \
    HINFO HIP HS HTTPS IN IPSECKEY IXFR KEY KX LOC MX NAPTR NS NSEC NSEC3 NSEC3PARAM OPENPGPKEY PTR RP \
    RRSIG SIG SMIMEA SOA SPF SRV SSHFP SVCB TA TLSA TXT URI WKS ZONEMD";

fn question(word: &str) -> Vec<String> {
    if let Some(server) = word.strip_prefix('@') {
        return vec![unbracketed(server).to_owned()];
    }
    if let Some(switch) = word.strip_prefix('+') {
        // The domain is put behind the name that is asked for. dig takes its switches shortened and in any case.
        let Some((name, value)) = switch.split_once('=') else { return Vec::new() };
        let name = name.to_ascii_lowercase();
        let is_domain = !name.is_empty() && "domain".starts_with(name.strip_prefix("no").unwrap_or(&name));
        return if is_domain { vec![value.to_owned()] } else { Vec::new() };
    }
    let upper = word.to_ascii_uppercase();
    let numbered = |kind: &str| {
        upper
            .strip_prefix(kind)
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_record = is_among(&upper, RECORDS) || ["TYPE", "CLASS", "IXFR="].into_iter().any(numbered);
    if is_record { Vec::new() } else { vec![word.to_owned()] }
}

/// Tells whether a word is one of those in a list, which blanks part.
pub(super) fn is_among(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
