//! Addresses of metadata services, in every spelling that a resolver understands.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::policy::Block;

/// An address of a web resource, as far as the judge needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// The scheme in lower case, empty where none stood there.
    pub(super) scheme: String,
    /// What stands between the scheme and the path, as it was written.
    pub(super) authority: String,
    /// The host after decoding, in lower case.
    pub(super) host: String,
    /// The rest, decoded, in lower case.
    pub(super) path: String,
    /// The path without a query, as it was written.
    pub(super) written_path: String,
}

impl Url {
    /// Parses an address as curl does; any text is an address.
    pub(super) fn parse(text: &str) -> Self {
        let (scheme, rest) = split_scheme(text);
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let host = authority.rsplit('@').next().unwrap_or_default();
        let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
            Some((inside, _)) => inside,
            None => host.split(':').next().unwrap_or_default(),
        };
        Self {
            scheme: scheme.to_ascii_lowercase(),
            authority: authority.to_owned(),
            host: plain_host(host),
            path: decode(path).to_ascii_lowercase(),
            written_path: path.split(['?', '#']).next().unwrap_or_default().to_owned(),
        }
    }

    /// Tells whether the answer to a request for this path is a credential.
    pub(super) fn asks_for_credential(&self, block: &Block) -> bool {
        block.metadata_words.iter().any(|word| self.path.contains(word.as_str()))
    }

    /// Tells whether only a metadata service has this path.
    pub(super) fn is_metadata_page(&self, block: &Block) -> bool {
        block.metadata_pages.iter().any(|page| self.path.contains(page.as_str()))
    }
}

/// Parts the scheme off. Curl takes `http:/host` and `http:///host` for `http://host`.
fn split_scheme(text: &str) -> (&str, &str) {
    if let Some((scheme, rest)) = text.split_once("://") {
        return (scheme, rest.trim_start_matches('/'));
    }
    let (scheme, rest) = text.split_once(':').unwrap_or(("", text));
    let named = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    if named { (scheme, rest.trim_start_matches('/')) } else { ("", text) }
}

/// Tells whether a host is a metadata service, however its name or address is spelled.
pub(super) fn is_metadata(host: &str, block: &Block) -> bool {
    let host = plain_host(host.trim_start_matches('[').trim_end_matches(']'));
    if block.metadata_hosts.contains(&host) {
        return true;
    }
    if let Some(address) = read_address(&host) {
        return is_metadata_address(address, block);
    }
    let pinned_argv =
        block.telling_domains.iter().find_map(|domain| host.strip_suffix(domain.as_str())?.strip_suffix('.'));
    pinned_argv.is_some_and(|name| mapped_addresses(name).any(|address| is_metadata_address(address, block)))
}

/// Reads an address in every spelling that the C library takes, without its zone.
fn read_address(host: &str) -> Option<IpAddr> {
    let plain = host.split('%').next().unwrap_or_default();
    plain.parse::<Ipv6Addr>().map(IpAddr::V6).ok().or_else(|| parse_v4(host).map(IpAddr::V4))
}

fn is_metadata_address(address: IpAddr, block: &Block) -> bool {
    let listed = |address: IpAddr| block.metadata_addresses.contains(&address);
    let v4 = |address: Ipv4Addr| address.is_link_local() || listed(IpAddr::V4(address));
    match address {
        IpAddr::V4(address) => v4(address),
        IpAddr::V6(inside) => listed(address) || carried(inside).into_iter().flatten().any(v4),
    }
}

/// Lists the IPv4 addresses that an IPv6 address leads to, by each form that embeds one in it.
fn carried(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    let octets = address.octets();
    let at = |start: usize| {
        octets
            .get(start..start + 4)
            .and_then(<[u8]>::first_chunk)
            .map(|bytes: &[u8; 4]| Ipv4Addr::from(*bytes))
    };
    match address.segments() {
        // Compatible, mapped, translated, and the prefix of NAT64 that everybody knows.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0, 0, 0, 0, 0xffff, 0, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => {
            [at(12), None]
        }
        // NAT64 of a site: the last four octets, or those around the octet that has to be nought.
        [0x64, 0xff9b, 1, ..] => {
            let around = match octets {
                [_, _, _, _, _, _, a, b, _, c, d, ..] => Some(Ipv4Addr::new(a, b, c, d)),
            };
            [at(12), around]
        }
        // 6to4.
        [0x2002, ..] => [at(2), None],
        // Teredo turns every bit of the caller's address; the server's stands as it is.
        [0x2001, 0, ..] => [at(12).map(|turned| Ipv4Addr::from(!u32::from(turned))), at(4)],
        // ISATAP.
        [.., 0 | 0x200, 0x5efe, _, _] => [at(12), None],
        _ => [None, None],
    }
}

/// Lists the addresses that a name below such a domain may say: `x.10.0.0.1`, `x-10-0-0-1`, `0a000001`, `fd00-ec2--254`.
fn mapped_addresses(name: &str) -> impl Iterator<Item = IpAddr> {
    let labels: Vec<&str> = name.split('.').collect();
    let dotted: Vec<String> = labels.windows(4).map(|four| four.join(".")).collect();
    let dashed: Vec<String> = labels
        .iter()
        .flat_map(|label| {
            let parts: Vec<&str> = label.split('-').collect();
            parts.windows(4).map(|four| four.join(".")).collect::<Vec<_>>()
        })
        .collect();
    // The first label of four that are dotted may have words in front: `web-169.254.169.254`.
    let short = dotted
        .iter()
        .filter_map(|four| four.split_once('-').map(|(_, rest)| rest.to_owned()))
        .collect::<Vec<_>>();
    let hex = |label: &str| {
        let digits = label.rsplit('-').next().unwrap_or_default();
        (digits.len() == 8).then(|| u32::from_str_radix(digits, 16).ok()).flatten().map(Ipv4Addr::from)
    };
    let hexed: Vec<IpAddr> = labels.iter().filter_map(|label| hex(label)).map(IpAddr::V4).collect();
    let sixes: Vec<IpAddr> = labels
        .iter()
        .filter_map(|label| label.replace('-', ":").parse::<Ipv6Addr>().ok())
        .map(IpAddr::V6)
        .collect();
    let fours: Vec<IpAddr> = dotted
        .iter()
        .chain(&dashed)
        .chain(&short)
        .filter_map(|text| text.parse::<Ipv4Addr>().ok())
        .map(IpAddr::V4)
        .collect();
    fours.into_iter().chain(hexed).chain(sixes)
}

/// Reads an IPv4 address as the C library does: one to four parts, decimal, octal or hexadecimal.
fn parse_v4(host: &str) -> Option<Ipv4Addr> {
    let mut parts = Vec::with_capacity(4);
    for part in host.split('.') {
        let value = match part.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok()?,
            None if part.starts_with('+') => return None,
            None => part.parse().ok()?,
        };
        parts.push(value);
    }
    let (last, front) = parts.split_last()?;
    if front.len() > 3 || front.iter().any(|part| *part > 255) {
        return None;
    }
    let room = 32 - 8 * u32::try_from(front.len()).ok()?;
    if *last >= 1_u64 << room {
        return None;
    }
    let high = front.iter().enumerate().map(|(at, part)| part << (24 - 8 * at)).sum::<u64>();
    Some(Ipv4Addr::from(u32::try_from(high | last).ok()?))
}

/// Decodes `%41`, folds wide letters and digits to plain ones, drops the final dot.
fn plain_host(host: &str) -> String {
    let decoded = decode(host);
    let folded: String = decoded
        .chars()
        .filter_map(|char| match u32::from(char) {
            code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0),
            code @ 0x1d7ce..=0x1d7ff => char::from_digit((code - 0x1d7ce) % 10, 10),
            0x3002 | 0xff61 => Some('.'),
            0xad | 0x200b..=0x200f | 0x2060 | 0xfeff => None,
            _ => Some(char),
        })
        .collect();
    folded.trim_end_matches('.').to_ascii_lowercase()
}

pub(super) fn decode(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut out = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let pair = text
            .get(at + 1..at + 3)
            .filter(|_| byte == b'%')
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match pair {
            Some(value) => {
                out.push(value);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads an address in every spelling that a resolver understands, without the name of an interface.
pub(crate) fn parse_address(host: &str) -> Option<IpAddr> {
    let host = plain_host(host.trim_start_matches('[').trim_end_matches(']'));
    let six = host.split('%').next().unwrap_or_default().parse::<Ipv6Addr>().map(IpAddr::from);
    six.ok().or_else(|| parse_v4(&host).map(IpAddr::from)).map(|address| address.to_canonical())
}

/// Parses an address literal, for callers that need to know whether a host is one.
pub(super) fn is_literal(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Policy;

    #[test]
    fn a_metadata_service_is_known_in_every_spelling() {
        let block = &Policy::builtin().unwrap().block;
        for host in [
            "169.254.169.254",
            "0xA9FEA9FE",
            "2852039166",
            "0251.0376.0251.0376",
            "169.254.43518",
            "169.16689662",
            "169.254.169.254.",
            "[::ffff:169.254.169.254]",
            "::ffff:a9fe:a9fe",
            "fd00:ec2::254",
            "168.63.129.16",
            "Metadata.Google.Internal.",
            "169%2e254.169.254",
            "１６９.254.169.254",
            "169.254.0.1",
            "64:ff9b::a9fe:a9fe",
            "[fe80::1%25eth0]x",
        ] {
            let expected = !host.starts_with("[fe80");
            assert_eq!(is_metadata(host, block), expected, "{host}");
        }
        for host in [
            "10.0.0.5",
            "169.253.169.254",
            "example.com",
            "1.2.3.4.5",
            "999999999999",
            "::1",
            "",
            "metadata.example",
        ] {
            assert!(!is_metadata(host, block), "{host}");
        }
    }

    #[test]
    fn an_address_is_taken_apart_as_curl_does() {
        let url = Url::parse("HTTP://u:p@[::1]:80/a%2Fb?c");
        assert_eq!((url.scheme.as_str(), url.host.as_str(), url.path.as_str()), ("http", "::1", "/a/b?c"));
        assert_eq!(Url::parse("example.com/x").host, "example.com");
        assert_eq!(Url::parse("example.com:80/x").host, "example.com");
        for text in ["http:/10.0.0.5/x", "http:///10.0.0.5/x", "HTTPS:10.0.0.5/x", "http://x\\@10.0.0.5/x"] {
            assert_eq!(Url::parse(text).host, "10.0.0.5", "{text}");
        }
    }

    /// Writes an IPv4 address in every form that is read as it.
    fn spellings(address: Ipv4Addr) -> Vec<String> {
        let [a, b, c, d] = address.octets();
        let whole = u32::from(address);
        let (high, low) = (whole >> 16, whole & 0xffff);
        let (turned_high, turned_low) = (!whole >> 16, !whole & 0xffff);
        vec![
            address.to_string(),
            format!("{address}."),
            whole.to_string(),
            format!("0x{whole:X}"),
            format!("0{whole:o}"),
            format!("{a}.{}", whole & 0x00ff_ffff),
            format!("{a}.{b}.{low}"),
            format!("0{a:o}.0x{b:x}.{c}.0{d:o}"),
            format!("{a}%2e{b}.{c}.{d}"),
            format!("[::ffff:{address}]"),
            format!("::{address}"),
            format!("::ffff:0:{high:x}:{low:x}"),
            format!("64:ff9b::{high:x}:{low:x}"),
            format!("64:ff9b:1::{high:x}:{low:x}"),
            format!("64:ff9b:1:{high:x}:{c:x}:{d:02x}00::"),
            format!("2002:{high:x}:{low:x}::1"),
            format!("2001:0:1:1:0:1:{turned_high:x}:{turned_low:x}"),
            format!("fd00::5efe:{high:x}:{low:x}"),
            format!("{address}.nip.io"),
            format!("web.{address}.sslip.io"),
            format!("web-{address}.nip.io"),
            format!("{a}-{b}-{c}-{d}.sslip.io"),
            format!("a-{a}-{b}-{c}-{d}.x.NIP.io."),
            format!("{whole:08x}.nip.io"),
            format!("web-{whole:08x}.nip.io"),
        ]
    }

    fn of_service() -> impl Strategy<Value = Ipv4Addr> {
        let listed = ["168.63.129.16", "100.100.100.200", "192.0.0.192", "169.254.169.254"];
        prop_oneof![
            prop::sample::select(listed.to_vec()).prop_map(|text| text.parse().unwrap()),
            any::<(u8, u8)>().prop_map(|(c, d)| Ipv4Addr::new(169, 254, c, d)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_spelling_hides_a_metadata_service(address in of_service()) {
            let block = &Policy::builtin().unwrap().block;
            for host in spellings(address) {
                prop_assert!(is_metadata(&host, block), "{host}");
            }
        }

        #[test]
        fn no_spelling_makes_a_private_address_a_metadata_service(b in 1_u8.., c in 1_u8.., d in 1_u8..) {
            let block = &Policy::builtin().unwrap().block;
            for host in spellings(Ipv4Addr::new(10, b, c, d)) {
                prop_assert!(!is_metadata(&host, block), "{host}");
            }
        }

        /// No host makes the judge stop.
        #[test]
        fn every_host_has_an_answer(host in "[0-9a-fx.:%\\[\\]-]{0,40}(\\.nip\\.io)?") {
            let _ = is_metadata(&host, &Policy::builtin().unwrap().block);
        }
    }

    #[test]
    fn the_names_and_the_ipv6_addresses_of_services_are_known() {
        let block = &Policy::builtin().unwrap().block;
        for host in [
            "instance-data",
            "METADATA.google.internal.",
            "fd00:ec2::23",
            "[fd00:ec2::254]",
            "fd00-ec2--254.sslip.io",
            "fe80::a9fe:a9fe%eth0",
        ] {
            assert!(is_metadata(host, block), "{host}");
        }
        for host in
            ["nip.io", "10.0.0.5.nip.io", "fd00::1", "instance-data.example", "169.254.169.254.example"]
        {
            assert!(!is_metadata(host, block), "{host}");
        }
    }
}
