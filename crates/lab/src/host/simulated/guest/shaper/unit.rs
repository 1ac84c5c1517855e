//! Times, rates and sizes, as `tc` reads and tells them.

/// Reads a time in microseconds: `100ms`, `1s`, `50us`, `20`.
pub(super) fn time(text: &str) -> Option<f64> {
    let split = text.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let factor = match unit {
        "s" | "sec" | "secs" => 1e6,
        "ms" | "msec" | "msecs" => 1e3,
        "us" | "usec" | "usecs" | "" => 1.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|number| *number >= 0.0 && *number < 1e6).map(|number| number * factor)
}

/// Tells microseconds as `tc` does.
pub(super) fn format_time(micros: f64) -> String {
    let short = |number: f64| {
        let text = format!("{number:.3}");
        let text = text.trim_end_matches('0').trim_end_matches('.').to_owned();
        // Three significant digits are printed.
        format_general(text.parse().unwrap_or(number))
    };
    if micros >= 1e6 {
        format!("{}s", short(micros / 1e6))
    } else if micros >= 1e3 {
        format!("{}ms", short(micros / 1e3))
    } else {
        format!("{}us", micros.round())
    }
}

/// Writes a number with at most three digits, as C's `%.3g`.
pub(super) fn format_general(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let magnitude = number.abs().log10().floor();
    let digits = (2.0 - magnitude).clamp(0.0, 9.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and 9")]
    let text = format!("{number:.*}", digits as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Reads a rate in bits a second: `5mbit`, `1gbit`, `100kbps` (bytes), `1000` (bits).
pub(super) fn rate(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let split = lower.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(lower.len());
    let (digits, unit) = lower.split_at(split);
    let factor = match unit {
        "" | "bit" => 1.0,
        "kbit" | "k" => 1e3,
        "mbit" | "m" => 1e6,
        "gbit" | "g" => 1e9,
        "tbit" => 1e12,
        "bps" => 8.0,
        "kbps" => 8e3,
        "mbps" => 8e6,
        "gbps" => 8e9,
        "kibit" => 1024.0,
        "mibit" => 1024.0 * 1024.0,
        _ => return None,
    };
    digits.parse::<f64>().ok().filter(|number| *number > 0.0 && *number < 1e13).map(|number| number * factor)
}

/// Tells a rate as `tc` does.
pub(super) fn format_rate(bits: f64) -> String {
    for (unit, factor) in [("Gbit", 1e9), ("Mbit", 1e6), ("Kbit", 1e3)] {
        if bits >= factor && (bits / (factor / 1e3)) % 1e3 == 0.0 {
            return format!("{}{unit}", bits / factor);
        }
    }
    format!("{bits}bit")
}

/// Reads a size in bytes: `20kb`, `32kbit`, `1500`.
pub(super) fn size(text: &str) -> Option<f64> {
    let lower = text.to_ascii_lowercase();
    let split = lower.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(lower.len());
    let (digits, unit) = lower.split_at(split);
    let factor = match unit {
        "" | "b" => 1.0,
        "k" | "kb" => 1024.0,
        "m" | "mb" => 1024.0 * 1024.0,
        "g" | "gb" => 1024.0 * 1024.0 * 1024.0,
        "bit" => 0.125,
        "kbit" => 128.0,
        "mbit" => 128.0 * 1024.0,
        "gbit" => 128.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    digits
        .parse::<f64>()
        .ok()
        .filter(|number| *number >= 0.0 && *number < 1e12)
        .map(|number| (number * factor).trunc())
}

/// Tells a size as `tc` does.
pub(super) fn format_size(bytes: f64) -> String {
    let kilo = bytes / 1024.0;
    let mega = kilo / 1024.0;
    if bytes >= 1024.0 * 1024.0 && (mega - mega.round()).abs() < 1e-3 {
        format!("{}Mb", mega.round())
    } else if bytes >= 1024.0 && (kilo - kilo.round()).abs() < 1e-2 {
        format!("{}Kb", kilo.round())
    } else {
        format!("{bytes}b")
    }
}

/// Reads a share: `5%`, `0.5%`, `5`.
pub(super) fn share(text: &str) -> Option<f64> {
    let number = text.trim_end_matches('%').parse::<f64>().ok()?;
    (0.0..=100.0).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_printed_as_tc_prints_them() {
        assert_eq!(time("100ms").map(format_time).as_deref(), Some("100ms"));
        assert_eq!(time("1.5ms").map(format_time).as_deref(), Some("1.5ms"));
        assert_eq!(time("50us").map(format_time).as_deref(), Some("50us"));
        assert_eq!(time("2s").map(format_time).as_deref(), Some("2s"));
        assert_eq!(rate("5mbit").map(format_rate).as_deref(), Some("5Mbit"));
        assert_eq!(rate("1500kbit").map(format_rate).as_deref(), Some("1500Kbit"));
        assert_eq!(size("20kb").map(format_size).as_deref(), Some("20Kb"));
        assert_eq!(size("32kbit").map(format_size).as_deref(), Some("4Kb"));
        assert_eq!(size("1600").map(format_size).as_deref(), Some("1600b"));
        assert!(
            time("5parsecs").is_none()
                && rate("x").is_none()
                && size("-1").is_none()
                && share("101%").is_none()
        );
    }
}
