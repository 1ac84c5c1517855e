//! Classes of `htb`, and filters of `u32`, `matchall` and `flower`.

use std::net::Ipv4Addr;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Class {
    pub(super) device: String,
    pub(super) id: String,
    pub(super) parent: String,
    pub(super) rate: f64,
    pub(super) ceil: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filter {
    pub(super) device: String,
    pub(super) parent: String,
    pub(super) protocol: String,
    pub(super) preference: u32,
    pub(super) kind: String,
    pub(super) flow: Option<String>,
    /// Comparisons of `u32`: value, mask, offset.
    pub(super) keys: Vec<(u32, u32, u32)>,
    /// Keys of `flower`.
    pub(super) names: Vec<(String, String)>,
}

/// Reads `match ip dport 22 0xffff` and its relatives, behind `match`; returns how many words it took.
pub(super) fn key(words: &[String]) -> Option<((u32, u32, u32), usize)> {
    let word = |at: usize| words.get(at).map(String::as_str);
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    };
    let hex = |text: &str| u32::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    match (word(0)?, word(1)?) {
        ("ip", field @ ("sport" | "dport")) => {
            let (port, mask) = (number(word(2)?)? & 0xffff, hex(word(3)?)? & 0xffff);
            let shift = if field == "sport" { 16 } else { 0 };
            Some((((port & mask) << shift, mask << shift, 20), 4))
        }
        ("ip", "protocol") => {
            let (protocol, mask) = (number(word(2)?)? & 0xff, hex(word(3)?)? & 0xff);
            Some((((protocol & mask) << 16, mask << 16, 8), 4))
        }
        ("ip", field @ ("src" | "dst")) => {
            let text = word(2)?;
            let (address, length) = text.split_once('/').unwrap_or((text, "32"));
            let address: Ipv4Addr = address.parse().ok()?;
            let length: u32 = length.parse().ok().filter(|length| *length <= 32)?;
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            Some(((u32::from(address) & mask, mask, if field == "src" { 12 } else { 16 }), 3))
        }
        ("u32", value) => {
            let (value, mask) = (number(value)?, hex(word(2)?)?);
            if word(3) != Some("at") {
                return Some(((value & mask, mask, 0), 3));
            }
            Some(((value & mask, mask, number(word(4)?)?), 5))
        }
        _ => None,
    }
}
