//! The lines of a long text that say what fails.

/// Words of lines that say so, in the logs and clients of the field.
const SIGNS: &[&str] = &[
    "refused",
    "timed out",
    "timeout",
    "unreachable",
    "no route",
    "cannot connect",
    "can't connect",
    "could not connect",
    "failed to connect",
    "connection reset",
    "reset by peer",
    "no such host",
    "name resolution",
    "nxdomain",
    "servfail",
    "dial tcp",
    "connect to",
    "i/o timeout",
    "etimedout",
    "econnrefused",
    "ehostunreach",
    "enetunreach",
    "packet loss",
    "100% loss",
    "host is down",
    "failed",
    "error",
    "unhealthy",
    "denied",
];

/// Returns a text, or of one that is longer than `most` bytes the lines that say what fails, the last ones first wanted, in order.
#[must_use]
pub(in crate::bot) fn excerpt(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let says = |line: &&str| {
        let small = line.to_lowercase();
        SIGNS.iter().any(|sign| small.contains(sign))
    };
    let mut kept: Vec<&str> = Vec::new();
    let mut bytes = 0;
    for line in text.lines().rev().filter(says) {
        // A log repeats itself.
        if kept.iter().any(|known| same(known, line)) {
            continue;
        }
        if bytes + line.len() > most {
            break;
        }
        bytes += line.len() + 1;
        kept.push(line);
    }
    if kept.is_empty() {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        return text.get(..end).unwrap_or_default().to_owned();
    }
    kept.reverse();
    kept.join("\n")
}

/// Two lines are the same if they differ in their digits alone, as times and counters do, and name the same ends.
fn same(one: &str, other: &str) -> bool {
    let behind = |line: &str| -> String {
        let words = line.split_whitespace().filter(|word| !is_moment(word));
        words.collect::<Vec<_>>().join(" ")
    };
    behind(one) == behind(other)
}

fn is_moment(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let shape = |char: char| char.is_ascii_digit() || "[]:.,-+TZ()".contains(char);
    digits > 0
        && word.chars().all(shape)
        && (word.matches(':').count() > 1 || word.matches('-').count() > 1 || digits == word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_log_the_lines_that_fail_are_kept_once() {
        let mut log: Vec<String> =
            (0..500).map(|at| format!("2026-11-30T10:00:{:02}Z info request {at} served", at % 60)).collect();
        log.insert(
            250,
            "2026-11-30T10:00:07Z error dial tcp 10.0.0.5:5432: connect: connection refused".to_owned(),
        );
        log.insert(
            300,
            "2026-11-30T10:00:09Z error dial tcp 10.0.0.5:5432: connect: connection refused".to_owned(),
        );
        let kept = excerpt(&log.join("\n"), 2_000);
        assert_eq!(kept.lines().count(), 1, "{kept}");
        assert!(kept.contains("10.0.0.5:5432"));
        assert_eq!(excerpt("short", 10), "short");
        assert_eq!(excerpt(&"ä".repeat(100), 9), "ääää");
    }
}
