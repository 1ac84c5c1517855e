//! Words as they stand in a text, without what is written around them.

use std::net::IpAddr;

use crate::symptom_text::Protocol;

/// The longest word that may be a name.
const LONGEST_NAME: usize = 80;
/// How the sessions begin under which things are kept.
const KEPT: [&str; 7] = ["fw_", "eni_", "pm_", "pmeter_", "pipe_", "nsg_", "rt_"];

/// A word, and the one behind it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// What a unit or a sign right behind it says, as in `20%`.
    pub(super) tail: &'a str,
}

/// Cuts a text into words.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let inside = |char: char| char.is_alphanumeric() || "._-/:@".contains(char);
    let parts = text.split(|char: char| !(inside(char) || char == '%')).filter(|part| !part.is_empty());
    parts
        .filter_map(|part| {
            let text = part.trim_matches(|char: char| !char.is_alphanumeric());
            let at = part.find(text)?;
            let tail = part.get(at + text.len()..).unwrap_or_default();
            (!text.is_empty()).then_some(Token { text, tail })
        })
        .collect()
}

impl Token<'_> {
    /// Returns the address that it is, or begins with.
    pub(super) fn address(&self) -> Option<IpAddr> {
        if let Ok(address) = self.text.parse() {
            return Some(address);
        }
        let (before, _) = self.text.split_once(['/', ':'])?;
        before.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4)
    }

    /// Returns the port of `10.0.0.1:8080` and `name:8080`.
    pub(super) fn behind_colon(&self) -> Option<u16> {
        let (before, after) = self.text.rsplit_once(':')?;
        // `14:02` is a time.
        let is_name = before.chars().any(|char| !char.is_ascii_digit());
        let plain = is_name && !before.contains(':') && !before.contains('/');
        after.parse().ok().filter(|port| plain && *port > 0)
    }

    /// Returns the port of `tcp/8080` and `8080/tcp`.
    pub(super) fn beside_protocol(&self) -> Option<u16> {
        let (before, after) = self.text.split_once('/')?;
        let number = match (protocol(before), protocol(after)) {
            (Some(_), None) => after,
            (None, Some(_)) => before,
            (Some(_), Some(_)) | (None, None) => return None,
        };
        number.parse().ok().filter(|port| *port > 0)
    }

    pub(super) fn protocol(&self) -> Option<Protocol> {
        let mut parts = self.text.split('/');
        parts.find_map(protocol)
    }

    /// Tells whether it names a session under which something was kept.
    pub(super) fn is_kept(&self, speaks_of_baseline: bool) -> bool {
        let plain = self.text.chars().all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '-');
        let known = KEPT
            .iter()
            .any(|start| self.text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start)));
        plain && self.text.len() <= 64 && (known || (speaks_of_baseline && self.text.contains('_')))
    }

    /// Tells whether it may be the name of something.
    pub(super) fn is_name(&self) -> bool {
        let plain = |char: char| char.is_ascii_alphanumeric() || "._-".contains(char);
        self.text.len() >= 2
            && self.text.len() <= LONGEST_NAME
            && self.text.chars().all(plain)
            && self.text.chars().any(|char| char.is_ascii_alphabetic())
    }
}

fn protocol(word: &str) -> Option<Protocol> {
    match word.to_ascii_lowercase().as_str() {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        "icmp" | "ping" | "pings" | "pinging" => Some(Protocol::Icmp),
        _ => None,
    }
}
