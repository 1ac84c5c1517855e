//! Addresses of metadata services, in every spelling that a resolver understands.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::shell::policy::Block;

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
}

impl Url {
    /// Takes an address apart the way curl does; anything at all is an address.
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
        }
    }

    /// Tells whether the answer to a request for this path is a credential.
    pub(super) fn asks_for_credential(&self, block: &Block) -> bool {
        block.metadata_words.iter().any(|word| self.path.contains(word.as_str()))
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

/// Tells whether a host is a metadata service.
pub(super) fn is_metadata(host: &str, block: &Block) -> bool {
    let host = plain_host(host.trim_start_matches('[').trim_end_matches(']'));
    if block.metadata_hosts.contains(&host) {
        return true;
    }
    match host.split('%').next().unwrap_or_default().parse::<Ipv6Addr>() {
        Ok(address) => is_metadata_v6(address),
        Err(_) => parse_v4(&host).is_some_and(is_metadata_v4),
    }
}

fn is_metadata_v4(address: Ipv4Addr) -> bool {
    address.is_link_local() || address == Ipv4Addr::new(168, 63, 129, 16)
}

fn is_metadata_v6(address: Ipv6Addr) -> bool {
    let embedded = {
        let [.., a, b, c, d] = address.octets();
        Ipv4Addr::new(a, b, c, d)
    };
    let carries = match address.segments() {
        // IPv4-compatible, IPv4-mapped, and the well-known prefix of NAT64.
        [0, 0, 0, 0, 0, 0 | 0xffff, ..] | [0x64, 0xff9b, 0, 0, 0, 0, ..] => true,
        _ => false,
    };
    let fixed = [
        Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
        Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    ];
    fixed.contains(&address) || (carries && is_metadata_v4(embedded))
}

/// Reads an IPv4 address the way the C library does: one to four parts, decimal, octal or hexadecimal.
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

fn decode(text: &str) -> String {
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
pub(in crate::shell) fn parse_address(host: &str) -> Option<IpAddr> {
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
    use super::*;
    use crate::shell::Policy;

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
}
