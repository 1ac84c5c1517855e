//! `iperf` version 2: the last line of all streams together, or the last line of each, added up.

use std::collections::BTreeMap;

use super::tool::{ParseError, number, shown};

/// Prefixes of a rate, and how many gigabits one such bit is. The tool counts rates in thousands, of bytes too.
const PREFIXES: [(&str, f64); 6] = [("", 1e-9), ("K", 1e-6), ("M", 1e-3), ("G", 1.0), ("T", 1e3), ("P", 1e6)];

/// Returns the throughput in gigabits a second.
pub(super) fn throughput(text: &str) -> Result<f64, ParseError> {
    let mut sum = None;
    let mut streams = BTreeMap::new();
    for line in text.lines().map(str::trim) {
        if let Some(failed) = failure(line) {
            return Err(failed);
        }
        let Some((name, rest)) = line.strip_prefix('[').and_then(|rest| rest.split_once(']')) else {
            continue;
        };
        // Lines about connections have a bracket too; an interval is what tells a measurement.
        if !rest.split_whitespace().any(|word| word == "sec" || word.ends_with("/sec")) {
            continue;
        }
        let rate = rate(rest).ok_or_else(|| ParseError::Unreadable(shown(line)))?;
        let name = name.trim();
        if name == "SUM" || name.strip_prefix("SUM-").is_some_and(|streams| streams.parse::<u32>().is_ok()) {
            sum = Some(rate);
        } else {
            streams.insert(name.trim_start_matches('*').to_owned(), rate);
        }
    }
    match (sum, streams.is_empty()) {
        (Some(rate), _) => Ok(rate),
        (None, false) => Ok(streams.values().sum()),
        (None, true) if text.contains("latency") || text.contains("tcp_lat") => {
            Err(ParseError::Foreign("qperf"))
        }
        (None, true) => Err(ParseError::Missing("a throughput")),
    }
}

/// Reads ` 0.0-10.0 sec  1.10 GBytes   400 Mbits/sec …` to its rate.
fn rate(rest: &str) -> Option<f64> {
    let (interval, after) = rest.split_once(" sec")?;
    let (from, to) = interval.split_once('-')?;
    let (from, to) = (number(from.trim())?, number(to.trim())?);
    let mut words = after.split_whitespace();
    let (moved, _, figure, unit) = (words.next()?, words.next()?, words.next()?, words.next()?);
    number(moved)?;
    let gigabits = per_second(figure, unit)?;
    (from <= to && gigabits.is_finite()).then_some(gigabits)
}

fn per_second(figure: &str, unit: &str) -> Option<f64> {
    let unit = unit.strip_suffix("/sec")?;
    let (prefix, bits) = unit
        .strip_suffix("bits")
        .map(|prefix| (prefix, 1.0))
        .or_else(|| unit.strip_suffix("Bytes").map(|prefix| (prefix, 8.0)))?;
    let (_, factor) = PREFIXES.iter().find(|(name, _)| *name == prefix)?;
    Some(number(figure)? * bits * factor)
}

/// Tells whether a line tells that this run is none: a connection that failed, or another program.
fn failure(line: &str) -> Option<ParseError> {
    const WORDS: [&str; 7] = [
        "connect failed",
        "connection refused",
        "connection timed out",
        "no route to host",
        "network is unreachable",
        "connection reset",
        "unable to connect",
    ];
    let lower = line.to_lowercase();
    if WORDS.iter().any(|word| lower.contains(word)) {
        return Some(ParseError::Failed(shown(line)));
    }
    let third =
        lower.starts_with("iperf3") || lower == "iperf done." || lower.starts_with("connecting to host ");
    third.then_some(ParseError::Foreign("iperf3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(text: &str, expected: f64) {
        let read = throughput(text).unwrap();
        assert!((read - expected).abs() < 1e-9, "{text}: {read}");
    }

    #[test]
    fn the_last_line_of_all_streams_counts() {
        close(
            "[SUM] 0.0- 1.0 sec 1 GBytes 9.00 Gbits/sec\n[SUM] 0.0- 2.0 sec 2 GBytes 7.00 Gbits/sec\n",
            7.0,
        );
        close("[SUM-8] 0.0000-10.0180 sec  21.5 GBytes  18.4 Gbits/sec\r\n", 18.4);
    }

    #[test]
    fn without_one_the_last_of_every_stream_is_added_up() {
        let text = "[  3] 0.0- 5.0 sec 1 GBytes 300 Mbits/sec\n[  3] 0.0-10.0 sec 1 GBytes 400 Mbits/sec\n[  4] 0.0-10.0 sec 1 GBytes 500 Mbits/sec\n";
        close(text, 0.9);
    }

    #[test]
    fn every_unit_becomes_gigabits() {
        for (rate, expected) in [
            ("0.000 bits/sec", 0.0),
            ("775 Kbits/sec", 0.000_775),
            ("1.1 GBytes/sec", 8.8),
            ("1.20 Tbits/sec", 1_200.0),
            ("64 Bytes/sec", 5.12e-7),
        ] {
            close(&format!("[SUM] 0.0-10.0 sec  1.0 GBytes  {rate}\n"), expected);
        }
    }

    #[test]
    fn a_failed_connection_spoils_the_run() {
        let text = "tcp connect failed: Connection refused\n[SUM] 0.0-10.0 sec 1.0 GBytes 9.94 Gbits/sec\n";
        assert!(matches!(throughput(text), Err(ParseError::Failed(_))));
        assert_eq!(throughput("tcp_lat:\n    latency  =  8.51 us\n"), Err(ParseError::Foreign("qperf")));
    }

    #[test]
    fn half_a_line_is_no_throughput() {
        for rest in [
            "0.0-10.0 sec  1.16 GBytes  1..0 Gbits/sec",
            "0.0-10.0 sec",
            "0.0-10.0 sec 1 GBytes 9.9",
            "10.0-0.0 sec 1 GBytes 1 Gbits/sec",
            "0.0-10.0 sec 1 GBytes 1 Xbits/sec",
            "x-10.0 sec 1 GBytes 1 Gbits/sec",
        ] {
            assert!(
                matches!(throughput(&format!("[SUM] {rest}\n")), Err(ParseError::Unreadable(_))),
                "{rest}"
            );
        }
    }
}
