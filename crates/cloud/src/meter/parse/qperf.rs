//! `qperf`: the line `latency = 8.51 us`.

use super::tool::{ParseError, number, shown};

/// Units of time, and how many microseconds each has. The micro sign and the Greek letter are two characters.
const UNITS: [(&str, f64); 6] =
    [("ns", 1e-3), ("us", 1.0), ("\u{b5}s", 1.0), ("\u{3bc}s", 1.0), ("ms", 1e3), ("sec", 1e6)];

/// Returns the latency in microseconds: that of `tcp_lat` where several tests ran, else the first.
pub(super) fn latency(text: &str) -> Result<f64, ParseError> {
    let mut test = "";
    let mut found: Option<(bool, f64)> = None;
    let mut failed = None;
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.contains(char::is_whitespace)) {
            test = name;
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            failed = failed.or_else(|| failure(line));
            continue;
        };
        if name.trim() != "latency" {
            continue;
        }
        let micros = micros(value).ok_or_else(|| ParseError::Unreadable(shown(line)))?;
        let asked = test == "tcp_lat";
        if found.is_none_or(|(known, _)| asked && !known) {
            found = Some((asked, micros));
        }
    }
    match (found, failed) {
        (Some((_, micros)), _) => Ok(micros),
        (None, Some(line)) => Err(ParseError::Failed(line)),
        (None, None) if text.contains("bits/sec") => Err(ParseError::Foreign("iperf")),
        (None, None) => Err(ParseError::Missing("a latency")),
    }
}

fn micros(value: &str) -> Option<f64> {
    let value = value.trim();
    let end = value.find(|char: char| !char.is_ascii_digit() && !matches!(char, '.' | ','))?;
    let (figure, unit) = value.split_at_checked(end)?;
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit.trim_start())?;
    let micros = number(figure)? * factor;
    micros.is_finite().then_some(micros)
}

/// Returns a line in which the tool says that it failed.
fn failure(line: &str) -> Option<String> {
    const WORDS: [&str; 9] =
        ["failed", "could not", "timed out", "refused", "unable", "error", "cannot", "no route", "not found"];
    let lower = line.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word)).then(|| shown(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_becomes_microseconds() {
        for (value, expected) in [
            ("250 ns", 0.25),
            ("8.51 us", 8.51),
            ("85.3 µs", 85.3),
            ("85.3 μs", 85.3),
            ("7.43 ms", 7_430.0),
            ("1 sec", 1e6),
            ("1,204 us", 1_204.0),
            ("55.2us", 55.2),
        ] {
            let read = latency(&format!("tcp_lat:\n    latency  =  {value}\n")).unwrap();
            assert!((read - expected).abs() < 1e-6, "{value}: {read}");
        }
    }

    #[test]
    fn a_line_without_spaces_is_read() {
        assert_eq!(latency("tcp_lat:\nlatency=55.2us\n"), Ok(55.2));
    }

    #[test]
    fn the_latency_of_tcp_counts_where_several_tests_ran() {
        let text = "udp_lat:\n  latency = 17 us\ntcp_lat:\n  latency = 19 us\n";
        assert_eq!(latency(text), Ok(19.0));
    }

    #[test]
    fn half_a_line_is_no_latency() {
        for value in ["12.3.4 us", "8.51", "8.51 apples", "", "-1 us", "8.51 us us", "8 .5 us"] {
            let text = format!("tcp_lat:\n    latency  =  {value}\n");
            assert!(matches!(latency(&text), Err(ParseError::Unreadable(_))), "{value}");
        }
    }

    #[test]
    fn what_the_tool_says_of_itself_is_reported() {
        let text = "tcp_lat:\n10.99.0.9: failed to connect\n";
        assert_eq!(latency(text), Err(ParseError::Failed("10.99.0.9: failed to connect".to_owned())));
        assert_eq!(
            latency("[SUM] 0.0-10.0 sec 1.0 GBytes 9.94 Gbits/sec"),
            Err(ParseError::Foreign("iperf"))
        );
    }
}
