//! When people say that it began, and which time they ask about.

use super::fold::fold;
use ghost_base::Timestamp;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Words behind which stands when something began.
const SINCE: [&str; 22] = [
    "started",
    "started at",
    "began",
    "began at",
    "since about",
    "since around",
    "starting at",
    "beginning at",
    "since",
    "seit",
    "desde",
    "depuis",
    "sinds",
    "dal",
    "dalle",
    "od",
    "с",
    "from",
    "as of",
    "ab",
    "siden",
    "sedan",
];

/// Words behind which stands how long it lasts.
const FOR: [&str; 12] = [
    "for",
    "for the last",
    "for the past",
    "in the last",
    "in the past",
    "over the last",
    "within the last",
    "last",
    "past",
    "seit",
    "desde hace",
    "depuis",
];

/// Units of time by how they begin, the longest first.
const UNITS: [(&str, i64); 12] = [
    ("minut", MINUTE),
    ("mins", MINUTE),
    ("min", MINUTE),
    ("hours", HOUR),
    ("hour", HOUR),
    ("hrs", HOUR),
    ("stunde", HOUR),
    ("heure", HOUR),
    ("hora", HOUR),
    ("days", DAY),
    ("day", DAY),
    ("tag", DAY),
];

/// The time that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// From then on.
    pub from: Timestamp,
    /// Until then.
    pub until: Timestamp,
}

/// Before a time of day, they say that it still worked then, or that something else happened.
const NO_FAILURE: [&str; 12] =
    ["until", "till", "til", "bis", "hasta", "worked", "works", "fine", "ok", "window", "before", "between"];

/// Returns when it failed first, by people's words; `None` where they do not say. Times of day are UTC, and the last such one counts.
/// Where nothing says since when, the first time of day that is named is when it was seen.
#[must_use]
pub fn first_failure(text: &str, now: Timestamp) -> Option<Timestamp> {
    let folded = fold(text);
    let words = words(&folded);
    let mut found: Option<Timestamp> = None;
    for at in 0..words.len() {
        let rest = words.get(at..).unwrap_or_default();
        let after = |all: &[&str]| all.iter().find_map(|phrase| behind(rest, phrase));
        let said = after(&SINCE)
            .and_then(|rest| clock(rest.first()?, now).or_else(|| midnight(rest.first()?, now)))
            .or_else(|| after(&FOR).and_then(length).map(|length| back(now, length)))
            .or_else(|| ago(rest, now));
        // Who says two times says when the first of them failed.
        found = match (found, said) {
            (Some(known), Some(said)) => Some(known.min(said)),
            (known, said) => known.or(said),
        };
    }
    let named = |(at, word): (usize, &&str)| {
        let before = words.get(at.saturating_sub(2)..at).unwrap_or_default();
        let is_other = before.iter().any(|word| NO_FAILURE.contains(word));
        clock(word, now).filter(|_| !is_other)
    };
    found.or_else(|| words.iter().enumerate().filter_map(named).min())
}

/// Returns the time that a question is about; `None` where it does not say.
#[must_use]
pub fn window(text: &str, now: Timestamp) -> Option<Window> {
    let folded = fold(text);
    let words = words(&folded);
    let today = now.as_millis().div_euclid(DAY) * DAY;
    let span = |from: i64, until: i64| {
        let until = until.min(now.as_millis());
        (from <= until)
            .then(|| Window { from: Timestamp::from_millis(from), until: Timestamp::from_millis(until) })
    };
    for at in 0..words.len() {
        let rest = words.get(at..).unwrap_or_default();
        if let Some([from, joint, until, ..]) = behind(rest, "between").or_else(|| behind(rest, "from"))
            && ["and", "to", "until", "und", "bis"].contains(joint)
            && let (Some(from), Some(until)) = (hour(from, now), hour(until, now))
        {
            // "Between 23:00 and 2:00" goes over midnight.
            let from = if from > until { back(from, DAY) } else { from };
            return Some(Window { from, until });
        }
        let named: [(&str, i64, i64); 9] = [
            ("last night", today - 6 * HOUR, today + 8 * HOUR),
            ("overnight", today - 6 * HOUR, today + 8 * HOUR),
            ("tonight", today - 6 * HOUR, today + 8 * HOUR),
            ("letzte nacht", today - 6 * HOUR, today + 8 * HOUR),
            ("yesterday", today - DAY, today),
            ("gestern", today - DAY, today),
            ("this morning", today, today + 12 * HOUR),
            ("today", today, today + DAY),
            ("heute", today, today + DAY),
        ];
        if let Some((_, from, until)) = named.iter().find(|(phrase, ..)| behind(rest, phrase).is_some()) {
            return span(*from, *until);
        }
    }
    let since = first_failure(text, now)?;
    Some(Window { from: since, until: now })
}

/// Returns the words of a text, without what stands around them.
fn words(text: &str) -> Vec<&str> {
    let around = |char: char| !char.is_alphanumeric();
    text.split_whitespace().map(|word| word.trim_matches(around)).filter(|word| !word.is_empty()).collect()
}

/// Returns what stands behind a phrase, where the words begin with it.
fn behind<'a, 'w>(words: &'w [&'a str], phrase: &str) -> Option<&'w [&'a str]> {
    let mut rest = words;
    for wanted in phrase.split(' ') {
        let (first, behind) = rest.split_first()?;
        if *first != wanted {
            return None;
        }
        rest = behind;
    }
    Some(rest)
}

/// Reads `14:02`, `7:30pm`, `02:30:11`: the last such time before now.
fn clock(word: &str, now: Timestamp) -> Option<Timestamp> {
    let word = word.trim_end_matches('z').trim_end_matches("uhr").trim_end_matches('h');
    let (word, shift) = match (word.strip_suffix("pm"), word.strip_suffix("am")) {
        (Some(word), _) => (word, 12),
        (None, Some(word)) => (word, 0),
        (None, None) => (word, 0),
    };
    let mut parts = word.split(':');
    let hours: i64 = digits(parts.next()?)?;
    let minutes: i64 = digits(parts.next()?).filter(|minutes| *minutes < 60)?;
    let hours = if shift == 12 && hours < 12 { hours + 12 } else { hours };
    (hours < 24).then(|| last(hours * HOUR + minutes * MINUTE, now))
}

/// Reads an hour alone, as well: `1`, `3am`.
fn hour(word: &str, now: Timestamp) -> Option<Timestamp> {
    clock(word, now).or_else(|| {
        let (bare, shift) = match word.strip_suffix("pm") {
            Some(bare) => (bare, 12),
            None => (word.strip_suffix("am").unwrap_or(word), 0),
        };
        let hours = digits(bare)?;
        let hours = if shift == 12 && hours < 12 { hours + 12 } else { hours };
        (hours < 24).then(|| last(hours * HOUR, now))
    })
}

fn midnight(word: &str, now: Timestamp) -> Option<Timestamp> {
    ["midnight", "mitternacht", "medianoche", "minuit"].contains(&word).then(|| last(0, now))
}

/// Reads one or two digits.
fn digits(text: &str) -> Option<i64> {
    let fits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

/// Returns the last moment of that time of day, before now.
fn last(of_day: i64, now: Timestamp) -> Timestamp {
    let today = now.as_millis().div_euclid(DAY) * DAY + of_day;
    Timestamp::from_millis(if today > now.as_millis() { today - DAY } else { today })
}

/// Reads `20 minutes`, `2h`.
fn length(words: &[&str]) -> Option<i64> {
    let first = words.first()?;
    let end = first.find(|char: char| !char.is_ascii_digit()).unwrap_or(first.len());
    let (number, unit) = first.split_at_checked(end)?;
    let number: i64 = match *first {
        "an" | "a" | "one" | "einer" | "una" | "une" => 1,
        _ => number.parse().ok().filter(|number| (1..1000).contains(number))?,
    };
    let unit = if unit.is_empty() || *first == "an" || *first == "a" || first.len() > 3 && end == 0 {
        words.get(1)?
    } else {
        unit
    };
    let known = UNITS.iter().find(|(begin, _)| unit.starts_with(begin)).map(|(_, length)| *length);
    let short = [("m", MINUTE), ("h", HOUR), ("d", DAY)];
    let known = known.or_else(|| short.iter().find(|(own, _)| *own == unit).map(|(_, length)| *length));
    number.checked_mul(known?)
}

/// Reads `20 minutes ago`, `vor 20 minuten`.
fn ago(words: &[&str], now: Timestamp) -> Option<Timestamp> {
    let length_behind = |words: &[&str]| length(words).map(|length| back(now, length));
    if let Some(rest) =
        behind(words, "vor").or_else(|| behind(words, "hace")).or_else(|| behind(words, "il y a"))
    {
        return length_behind(rest);
    }
    let is_ago = words.iter().take(3).skip(1).any(|word| *word == "ago");
    is_ago.then(|| length_behind(words)).flatten()
}

fn back(at: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_sub(millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2025-06-02T09:31:00Z.
    const NOW: Timestamp = Timestamp::from_millis(1_748_856_660_000);

    #[track_caller]
    fn failed(text: &str, expected: Option<&str>) {
        let found =
            first_failure(text, NOW).map(|at| at.to_string().get(..16).unwrap_or_default().to_owned());
        assert_eq!(found.as_deref(), expected, "{text}");
    }

    #[test]
    fn people_say_when_it_began() {
        failed("web-1 cannot reach db-1 on 5432 since 09:15", Some("2025-06-02T09:15"));
        failed("web-1 -> db-1:5432 timeouts since 14:02.", Some("2025-06-01T14:02"));
        failed("web-1 kommt seit 22:45 nicht mehr auf db-1", Some("2025-06-01T22:45"));
        failed("down since 02:30 UTC", Some("2025-06-02T02:30"));
        failed("dead since midnight", Some("2025-06-02T00:00"));
        failed("broken for 20 minutes now", Some("2025-06-02T09:11"));
        failed("it has failed for the last 2 hours", Some("2025-06-02T07:31"));
        failed("it broke 15 minutes ago", Some("2025-06-02T09:16"));
        failed("seit 2 Stunden tot", Some("2025-06-02T07:31"));
        failed("since 09:15, worse since 09:25", Some("2025-06-02T09:15"));
        failed("started 7:30, last night fine, bad again", Some("2025-06-02T07:30"));
        failed("09:02 https://10.0.0.4:8443/login hangs", Some("2025-06-02T09:02"));
        failed("it worked until 08:00", None);
    }

    #[test]
    fn numbers_are_no_times() {
        for text in [
            "web-1 cannot reach db-1 on 5432",
            "since yesterday",
            "10.0.0.4:5432 unreachable for web-1",
            "wait for 3 retries",
            "timed out after 130234 ms",
            "since 5432",
            "",
        ] {
            failed(text, None);
        }
    }

    #[test]
    fn a_question_names_its_time() {
        let asked = |text: &str| {
            window(text, NOW).map(|window| {
                let short = |at: Timestamp| at.to_string().get(5..16).unwrap_or_default().to_owned();
                (short(window.from), short(window.until))
            })
        };
        let pair = |from: &str, until: &str| Some((from.to_owned(), until.to_owned()));
        assert_eq!(asked("who changed the NSG of web-1 last night?"), pair("06-01T18:00", "06-02T08:00"));
        assert_eq!(asked("what changed in prod between 1 and 3?"), pair("06-02T01:00", "06-02T03:00"));
        assert_eq!(asked("what changed between 23:00 and 02:00?"), pair("06-01T23:00", "06-02T02:00"));
        assert_eq!(asked("who deleted the rule yesterday?"), pair("06-01T00:00", "06-02T00:00"));
        assert_eq!(asked("what changed in the last 3 hours?"), pair("06-02T06:31", "06-02T09:31"));
        assert_eq!(asked("what changed today"), pair("06-02T00:00", "06-02T09:31"));
        assert_eq!(asked("who changed the NSG?"), None);
    }
}
