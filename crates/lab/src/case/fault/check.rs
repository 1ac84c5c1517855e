//! Whether words of a case file can be what they stand for. Nothing else keeps a word from being read by a shell.

use std::net::IpAddr;
use std::time::Duration;

use crate::case::problem::Problem;

fn wrong(field: &str, value: &str, hint: &str) -> Problem {
    let shown: String = value.chars().filter(|char| !char.is_control()).take(80).collect();
    Problem::new(format!("`{field}` is `{shown}`"), hint)
}

fn made_of(value: &str, longest: usize, others: &str) -> bool {
    !value.is_empty()
        && value.len() <= longest
        && value.chars().all(|char| char.is_ascii_alphanumeric() || others.contains(char))
}

/// The name of a resource.
pub(in crate::case) fn name(field: &str, value: &str) -> Option<Problem> {
    let first = value.starts_with(|char: char| char.is_ascii_alphanumeric());
    (!first || !made_of(value, 80, "_.-")).then(|| {
        wrong(
            field,
            value,
            "a name has 1 to 80 letters, digits, `_`, `.` and `-`, and begins with a letter or digit",
        )
    })
}

pub(in crate::case) fn machine(field: &str, value: &str) -> Option<Problem> {
    name(field, value)
}

/// A subnet.
pub(in crate::case) fn vnet(field: &str, value: &str) -> Option<Problem> {
    let good = value
        .split_once('/')
        .is_some_and(|(vnet, subnet)| name(field, vnet).is_none() && name(field, subnet).is_none());
    (!good).then(|| wrong(field, value, "a subnet is written VNET/SUBNET, as in forensics-vnet/default"))
}

/// The name of a security group, table or the like.
pub(in crate::case) fn group(field: &str, value: &str) -> Option<Problem> {
    name(field, value)
}

/// The name of a storage account.
pub(in crate::case) fn account(field: &str, value: &str) -> Option<Problem> {
    let good = (3..=24).contains(&value.len())
        && value.chars().all(|char| char.is_ascii_lowercase() || char.is_ascii_digit());
    (!good).then(|| wrong(field, value, "a storage account has 3 to 24 small letters and digits"))
}

/// A prefix, an address, a service tag or `*`.
pub(super) fn place(field: &str, value: &str) -> Option<Problem> {
    let tag = value.starts_with(|char: char| char.is_ascii_alphabetic()) && made_of(value, 80, ".");
    (value != "*" && !tag && prefix(field, value).is_some())
        .then(|| wrong(field, value, "write a prefix such as 10.0.1.0/24, an address, a service tag or *"))
}

/// A prefix or an address.
pub(in crate::case) fn prefix(field: &str, value: &str) -> Option<Problem> {
    let (network, length) = value.split_once('/').unwrap_or((value, "0"));
    let good = network.parse::<IpAddr>().is_ok_and(|address| {
        let longest = if address.is_ipv4() { 32 } else { 128 };
        length.parse::<u8>().is_ok_and(|length| length <= longest)
            && length.len() <= 3
            && !length.starts_with('+')
    });
    (!good).then(|| wrong(field, value, "write a prefix such as 10.0.1.0/24, or an address"))
}

/// An address of a family.
pub(in crate::case) fn address(field: &str, value: &str, ipv6: bool) -> Option<Problem> {
    let host = value.split('/').next().unwrap_or_default();
    let fits =
        prefix(field, value).is_none() && host.parse::<IpAddr>().is_ok_and(|found| found.is_ipv6() == ipv6);
    let family = if ipv6 { "IPv6" } else { "IPv4" };
    (!fits)
        .then(|| wrong(field, value, &format!("an {family} address or prefix is expected, as `family` says")))
}

/// A port or a range of them.
pub(in crate::case) fn ports(field: &str, value: &str) -> Option<Problem> {
    let number = |text: &str| {
        text.chars().all(|char| char.is_ascii_digit()).then(|| text.parse::<u16>().ok()).flatten()
    };
    let good = match value.split_once('-') {
        Some((from, to)) => number(from).zip(number(to)).is_some_and(|(from, to)| from <= to),
        None => number(value).is_some(),
    };
    (!good).then(|| wrong(field, value, "write a port from 0 to 65535, or a range such as 8000-8099"))
}

/// A port that somebody can listen on.
pub(in crate::case) fn port(field: &str, value: u16) -> Option<Problem> {
    (value == 0).then(|| wrong(field, "0", "a port is a number from 1 to 65535"))
}

/// A share of a hundred.
pub(in crate::case) fn percent(field: &str, value: f64) -> Option<Problem> {
    (!(0.0..=100.0).contains(&value))
        .then(|| wrong(field, &value.to_string(), "a share is a number from 0 to 100"))
}

/// A network device.
pub(in crate::case) fn interface(field: &str, value: &str) -> Option<Problem> {
    (!made_of(value, 15, "_.-"))
        .then(|| wrong(field, value, "a device has 1 to 15 letters, digits, `_`, `.` and `-`, as in eth0"))
}

/// A chain or a table of a packet filter.
pub(in crate::case) fn chain(field: &str, value: &str) -> Option<Problem> {
    let first = value.starts_with(|char: char| char.is_ascii_alphabetic());
    (!first || !made_of(value, 28, "_-")).then(|| {
        wrong(field, value, "a chain has 1 to 28 letters, digits, `_` and `-`, and begins with a letter")
    })
}

/// Words of a rule, as they would be typed.
pub(in crate::case) fn words(field: &str, value: &str) -> Option<Problem> {
    let good = value.len() <= 1_000
        && value.split(' ').all(|word| word == "!" || word.is_empty() || made_of(word, 200, "_.:,/=+@%-"));
    (!good).then(|| {
        wrong(
            field,
            value,
            "words of a rule have letters, digits and _ . : , / = + @ % - only, or are a single !",
        )
    })
}

/// A rate, as `tc` reads it.
pub(in crate::case) fn rate(field: &str, value: &str) -> Option<Problem> {
    let units = ["bit", "kbit", "mbit", "gbit", "bps", "kbps", "mbps", "gbps"];
    (!measured(value, &units)).then(|| wrong(field, value, "write a rate such as 5mbit or 100kbit"))
}

/// A size, as `tc` reads it.
pub(in crate::case) fn size(field: &str, value: &str) -> Option<Problem> {
    let units = ["b", "k", "kb", "m", "mb", "kbit", "mbit"];
    (!measured(value, &units)).then(|| wrong(field, value, "write a size such as 20kb or 1600b"))
}

/// A short time, as `tc` reads it.
pub(in crate::case) fn duration(field: &str, value: &str) -> Option<Problem> {
    let good = measured(value, &["us", "ms", "s"]);
    (!good).then(|| wrong(field, value, "write a time such as 100ms, 1.5ms, 250us or 2s"))
}

fn measured(value: &str, units: &[&str]) -> bool {
    let end = value.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(value.len());
    let Some((number, unit)) = value.split_at_checked(end) else { return false };
    let number = number.parse::<f64>().is_ok_and(|number| number > 0.0 && number < 1e9);
    number && value.len() <= 20 && units.contains(&unit)
}

/// How long ago something was: `90m`, `26h`, `3d`.
pub(in crate::case) fn instant(value: &str) -> Option<Duration> {
    let unit = match value.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return None,
    };
    let number: u64 =
        value.get(..value.len() - 1)?.parse().ok().filter(|number| (1..=100_000).contains(number))?;
    Some(Duration::from_secs(number * unit))
}

/// The address of a server.
pub(in crate::case) fn server(field: &str, value: IpAddr) -> Option<Problem> {
    (value.is_unspecified() || value.is_multicast())
        .then(|| wrong(field, &value.to_string(), "write the address of one station"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_that_a_shell_would_read_passes() {
        for word in [
            "a;b", "$(id)", "`id`", "a|b", "a&b", "a>b", "a'b", "a\"b", "a\nb", "a\\b", "a*", "a b;c", "~x",
            "{a}",
        ] {
            assert!(words("words", word).is_some(), "{word}");
            assert!(name("name", word).is_some() && chain("chain", word).is_some(), "{word}");
            assert!(interface("device", word).is_some() && rate("rate", word).is_some(), "{word}");
            assert!(duration("delay", word).is_some() && size("burst", word).is_some(), "{word}");
        }
        assert!(words("words", "! -s 10.0.0.0/8 -m conntrack --ctstate NEW,RELATED").is_none());
    }

    #[test]
    fn what_is_in_range_passes_and_what_is_not_does_not() {
        assert!(ports("ports", "80-90").is_none() && ports("ports", "65535").is_none());
        assert!(
            ports("ports", "90-80").is_some()
                && ports("ports", "65536").is_some()
                && ports("ports", "+1").is_some()
        );
        assert!(prefix("prefix", "10.0.1.5/32").is_none() && prefix("prefix", "2001:db8::/64").is_none());
        assert!(prefix("prefix", "10.0.1.5/33").is_some() && prefix("prefix", "10.0.1/24").is_some());
        assert!(
            address("source", "2001:db8::1", false).is_some()
                && address("source", "2001:db8::1", true).is_none()
        );
        assert!(
            percent("loss", 100.0).is_none()
                && percent("loss", f64::NAN).is_some()
                && percent("loss", -1.0).is_some()
        );
        assert_eq!(instant("26h"), Some(Duration::from_secs(26 * 3_600)));
        assert_eq!(
            (instant("h"), instant("0h"), instant("é"), instant("9999999999999d")),
            (None, None, None, None)
        );
        assert!(duration("delay", "100ms").is_none() && duration("delay", "0ms").is_some());
    }
}
