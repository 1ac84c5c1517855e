//! Numbers and times as people write them.

/// Returns a whole number with commas.
pub(crate) fn whole(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with its noun, in the plural where there are several.
pub(super) fn several(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", whole(number), if number == 1 { "" } else { "s" })
}

/// Returns a number of evidence: whole ones with commas, others with as many digits as matter.
pub(super) fn figure(number: f64) -> String {
    if number.fract() == 0.0 && (0.0..1e15).contains(&number) {
        return whole(number as u64);
    }
    format!("{number:.3}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns bytes in the unit that suits them.
pub(super) fn bytes(bytes: u64) -> String {
    let (scaled, unit) = match bytes {
        0..10_000 => return format!("{} bytes", whole(bytes)),
        10_000..1_000_000 => (bytes as f64 / 1e3, "kB"),
        1_000_000..1_000_000_000 => (bytes as f64 / 1e6, "MB"),
        1_000_000_000.. => (bytes as f64 / 1e9, "GB"),
    };
    format!("{scaled:.1} {unit}")
}

/// Returns a span of seconds in the unit that suits it.
pub(super) fn span(seconds: f64) -> String {
    if seconds >= 7200.0 {
        format!("{:.1} h", seconds / 3600.0)
    } else if seconds >= 180.0 {
        format!("{:.1} min", seconds / 60.0)
    } else if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else {
        let ms = seconds * 1e3;
        let digits = if ms >= 10.0 { 10.0 } else { 1000.0 };
        format!("{} ms", figure((ms * digits).round() / digits))
    }
}

/// Returns a count with its noun.
pub(super) fn of(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", whole(count), if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(figure(2381.0), "2,381");
        assert_eq!(figure(1.63), "1.63");
        assert_eq!(bytes(206_699_496), "206.7 MB");
        assert_eq!(bytes(9886), "9,886 bytes");
        assert_eq!(
            (span(20.706), span(0.0421), span(400.0), span(36_000.0)),
            ("20.7 s".to_owned(), "42.1 ms".to_owned(), "6.7 min".to_owned(), "10.0 h".to_owned())
        );
        assert_eq!(
            (of(1, "packet", "packets"), of(1000, "packet", "packets")),
            ("1 packet".to_owned(), "1,000 packets".to_owned())
        );
    }
}
