//! Figures as `tc` prints them: times, rates, shares.

/// Reads a time (`100ms`, `49us`, `2.25s`) in milliseconds.
pub(super) fn milliseconds(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let scale = match unit {
        "s" | "sec" | "secs" => 1e3,
        "ms" | "msec" | "msecs" => 1.0,
        "us" | "usec" | "usecs" => 1e-3,
        "ns" | "nsec" | "nsecs" => 1e-6,
        _ => return None,
    };
    Some(number * scale)
}

/// Reads a rate (`5Mbit`, `64Kbit`, `1500bit`, `8Kibit`, `1MBps`) in bits a second.
pub(super) fn bits_per_second(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    let (prefix, scale) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 1.0),
        None => (unit.strip_suffix("bps").or_else(|| unit.strip_suffix("Bps"))?, 8.0),
    };
    let prefix = match prefix {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" | "m" => 1e6,
        "G" | "g" => 1e9,
        "T" | "t" => 1e12,
        "Ki" => 1024.0,
        "Mi" => 1024.0 * 1024.0,
        "Gi" => 1024.0 * 1024.0 * 1024.0,
        "Ti" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number * prefix * scale)
}

/// Reads a share (`5%`) in percent.
pub(super) fn percent(text: &str) -> Option<f64> {
    finite(text.strip_suffix('%')?)
}

/// Reads a number as `tc` prints those of classes: `0x10` and `10` are both sixteen.
pub(super) fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

fn split(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = text.split_at_checked(end)?;
    Some((finite(number)?, unit))
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_in_every_unit() {
        assert_eq!(milliseconds("100ms"), Some(100.0));
        assert_eq!(milliseconds("100.0ms"), Some(100.0));
        assert_eq!(milliseconds("2.25s"), Some(2250.0));
        assert_eq!(milliseconds("500us"), Some(0.5));
        for odd in ["", "ms", "5", "5 parsecs", "5%", "1e999s"] {
            assert_eq!(milliseconds(odd), None, "{odd}");
        }
    }

    #[test]
    fn rates_are_bits_whatever_is_printed() {
        assert_eq!(bits_per_second("5Mbit"), Some(5e6));
        assert_eq!(bits_per_second("1500Kbit"), Some(1.5e6));
        assert_eq!(bits_per_second("8bit"), Some(8.0));
        assert_eq!(bits_per_second("1Kibit"), Some(1024.0));
        assert_eq!(bits_per_second("1Mbps"), Some(8e6));
        assert_eq!(bits_per_second("1Xbit"), None);
    }
}
