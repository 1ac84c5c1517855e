//! Prefixes as people and `az` write them.

use std::net::IpAddr;

use ipnet::IpNet;

/// Reads a prefix or a bare address; bits behind the prefix are masked off.
///
/// IPv4 addresses written as IPv6 ones (`::ffff:10.0.0.0/104`) are none: nothing says which packets they would match.
#[must_use]
pub fn parse_prefix(text: &str) -> Option<IpNet> {
    let text = text.trim();
    let address =
        |text: &str| text.parse().ok().filter(|address: &IpAddr| address.to_canonical() == *address);
    let Some((first, length)) = text.split_once('/') else {
        return address(text).map(IpNet::from);
    };
    let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = digits.then(|| length.parse().ok()).flatten()?;
    Some(IpNet::new(address(first)?, length).ok()?.trunc())
}

/// Tells whether a text has the form of a service tag's name, such as `Storage.WestEurope`.
#[must_use]
pub fn is_tag(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(parse_prefix(text).map(|prefix| prefix.to_string()).as_deref(), expected, "{text}");
    }

    #[test]
    fn host_bits_are_masked_and_a_bare_address_is_a_host() {
        check("10.9.1.77/16", Some("10.9.0.0/16"));
        check(" 10.0.0.5 ", Some("10.0.0.5/32"));
        check("2001:db8::1/32", Some("2001:db8::/32"));
        check("::1", Some("::1/128"));
    }

    #[test]
    fn what_is_no_prefix_is_none() {
        for text in [
            "",
            "/",
            "10.0.0.0/",
            "10.0.0.0/33",
            "10.0.0.0/+8",
            "10.300.0.0/16",
            "10.0.0/8",
            "::/129",
            "a/8",
            "::ffff:10.0.0.0/104",
            "::ffff:10.0.0.1",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn a_tag_is_distinguished_from_a_broken_prefix() {
        assert!(is_tag("Storage.WestEurope") && is_tag("1AzureTag"));
        assert!(!is_tag("10.300.0.0") && !is_tag("Storage/8") && !is_tag("") && !is_tag("a b"));
    }
}
