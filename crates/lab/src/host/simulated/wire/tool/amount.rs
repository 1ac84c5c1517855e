//! Amounts and rates as iperf writes them.

use super::iperf::float;
use ghost_base::Timestamp;

/// Writes an amount of bytes.
pub(super) fn transfer(bytes: u64, format: Option<char>) -> String {
    let amount = float(bytes);
    let (value, unit) = match format {
        Some('k' | 'K') => (amount / 1024.0, "KBytes"),
        Some('m' | 'M') => (amount / 1_048_576.0, "MBytes"),
        Some('g' | 'G') => (amount / 1_073_741_824.0, "GBytes"),
        Some('b' | 'B') => (amount, "Bytes"),
        _ if amount >= 1_073_741_824.0 => (amount / 1_073_741_824.0, "GBytes"),
        _ if amount >= 1_048_576.0 => (amount / 1_048_576.0, "MBytes"),
        _ if amount >= 1_024.0 => (amount / 1024.0, "KBytes"),
        _ => (amount, "Bytes"),
    };
    format!("{} {unit}", digits(value))
}

/// Writes a rate of bits.
pub(super) fn rate(bits: f64, format: Option<char>) -> String {
    let (value, unit) = match format {
        Some('k') => (bits / 1e3, "Kbits/sec"),
        Some('m') => (bits / 1e6, "Mbits/sec"),
        Some('g') => (bits / 1e9, "Gbits/sec"),
        Some('b') => (bits, "bits/sec"),
        Some('K') => (bits / 8.0 / 1_024.0, "KBytes/sec"),
        Some('M') => (bits / 8.0 / 1_048_576.0, "MBytes/sec"),
        Some('G') => (bits / 8.0 / 1_073_741_824.0, "GBytes/sec"),
        _ if bits >= 1e9 => (bits / 1e9, "Gbits/sec"),
        _ if bits >= 1e6 => (bits / 1e6, "Mbits/sec"),
        _ if bits >= 1e3 => (bits / 1e3, "Kbits/sec"),
        _ => (bits, "bits/sec"),
    };
    format!("{} {unit}", digits(value))
}

/// Three digits that matter, in four places.
fn digits(value: f64) -> String {
    match value {
        _ if value < 9.995 => format!("{value:4.2}"),
        _ if value < 99.95 => format!("{value:4.1}"),
        _ => format!("{value:4.0}"),
    }
}

/// Reads an amount, as in `10M`, `1.5g`, `20971520`.
pub(super) fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|char: char| char.is_ascii_alphabetic());
    let factor = match text.get(digits.len()..)?.to_ascii_lowercase().as_str() {
        "" => 1.0,
        "k" => 1_024.0,
        "m" => 1_048_576.0,
        "g" => 1_073_741_824.0,
        _ => return None,
    };
    let value: f64 = digits.parse().ok()?;
    (value.is_finite() && value > 0.0).then(|| super::iperf::whole((value * factor).min(1e13)).max(1))
}

/// A moment as digits, as in `20261122080457`.
pub(super) fn moment(now: Timestamp) -> String {
    let digits: String = now.to_string().chars().filter(char::is_ascii_digit).take(14).collect();
    digits
}
