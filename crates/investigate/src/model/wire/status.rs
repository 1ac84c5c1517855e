//! What a provider's error means: its status, its body, and when to come back.

use std::time::Duration;

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;

use crate::model::ModelError;
use ghost_base::Timestamp;
use ghost_shell::redact;

/// The most that is read of the body of an error.
pub(super) const MAX_ERROR_BODY_BYTES: usize = 32 << 10;

/// The most that is repeated of it.
const MAX_ERROR_CHARS: usize = 600;

/// Nobody is waited for longer than this, whatever it asks.
const MAX_PAUSE: Duration = Duration::from_secs(3600);

/// What an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Too many requests or tokens; it passes.
    RateLimited,
    /// Overloaded or broken; it passes.
    Unavailable,
    /// The key, what it may do, or what it has left to spend.
    Unauthorized,
    /// More than the window holds.
    TooLong,
    /// A wrong request.
    Rejected,
    /// No error that the documentation knows.
    Unreadable,
}

/// Whether asking again can help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    /// It cannot.
    No,
    /// It can, after a pause of our choice.
    Soon,
    /// It can, after the pause that the provider asked for.
    After(Duration),
}

/// An error, and whether asking again can help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The error that the caller gets in the end.
    pub(crate) error: ModelError,
    /// Whether asking again can help.
    pub(crate) again: Again,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        let again = match &error {
            ModelError::RateLimited { retry_after: Some(pause), .. } => Again::After(*pause),
            ModelError::RateLimited { retry_after: None, .. }
            | ModelError::Unavailable { .. }
            | ModelError::Timeout { .. } => Again::Soon,
            ModelError::Unauthorized { .. }
            | ModelError::TooLong { .. }
            | ModelError::Rejected { .. }
            | ModelError::Unreadable { .. }
            | ModelError::ScriptOver { .. } => Again::No,
        };
        Self { error, again }
    }
}

impl Class {
    /// Reads a status, for whatever the provider's own words do not decide.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            429 => Self::RateLimited,
            408 | 409 | 425 | 500..=599 => Self::Unavailable,
            401..=403 => Self::Unauthorized,
            413 => Self::TooLong,
            300..=499 => Self::Rejected,
            _ => Self::Unreadable,
        }
    }

    /// Makes the error.
    ///
    /// `what` was redacted before; `pause` is what the provider asked for.
    pub(crate) fn failed(self, provider: &str, what: String, pause: Option<Duration>) -> Failed {
        let provider = provider.to_owned();
        let error = match self {
            Self::RateLimited => ModelError::RateLimited { provider, retry_after: pause },
            Self::Unavailable => ModelError::Unavailable { provider, what },
            Self::Unauthorized => ModelError::Unauthorized { provider, what },
            Self::TooLong => ModelError::TooLong { provider },
            Self::Rejected => ModelError::Rejected { provider, what },
            Self::Unreadable => ModelError::Unreadable { provider, what },
        };
        let mut failed = Failed::from(error);
        if let (Again::Soon, Some(pause)) = (failed.again, pause) {
            failed.again = Again::After(pause);
        }
        failed
    }
}

/// Reads when to come back: `retry-after-ms`, `retry-after` in seconds or as a date.
///
/// A date counts from the server's own `date`, where it sent one, so that two clocks need not agree.
pub(super) fn pause<'a>(header: impl Fn(&str) -> Option<&'a str>, now: Timestamp) -> Option<Duration> {
    let number = |name: &str, unit: f64| {
        let number: f64 = header(name)?.trim().parse().ok()?;
        (number.is_finite() && number >= 0.0).then(|| Duration::from_secs_f64((number * unit).min(1e9)))
    };
    let date = |name: &str| OffsetDateTime::parse(header(name)?.trim(), &Rfc2822).ok();
    let until_date = || {
        let now = date("date").map_or(now.as_millis() / 1000, OffsetDateTime::unix_timestamp);
        let left = date("retry-after")?.unix_timestamp().saturating_sub(now);
        Some(Duration::from_secs(u64::try_from(left).unwrap_or(0)))
    };
    let pause = number("retry-after-ms", 0.001).or_else(|| number("retry-after", 1.0)).or_else(until_date);
    pause.map(|pause| pause.min(MAX_PAUSE))
}

/// Says in one short line what a provider answered, without secrets and without control characters.
///
/// `body` is cut already. Every provider puts its words into `error.message`; what is no JSON is described instead of
/// repeated where it is a page.
pub(super) fn words(status: u16, body: &str, secret: Option<&str>) -> String {
    let json: Option<Value> = serde_json::from_str(body).ok();
    let said = json.as_ref().and_then(|json| {
        // Some answer with a list of one error.
        let json = json.get(0).unwrap_or(json);
        let error = json.get("error").unwrap_or(json);
        error.as_str().or_else(|| error.get("message")?.as_str()).map(str::to_owned)
    });
    let said = match said {
        Some(said) => said,
        None if body.trim_start().starts_with('<') => "a page of HTML".to_owned(),
        None => body.to_owned(),
    };
    let said = clean(&said, secret);
    if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}, {said}") }
}

/// Takes secrets, line ends and length out of words of others.
pub(super) fn clean(text: &str, secret: Option<&str>) -> String {
    let text = match secret.filter(|secret| !secret.is_empty()) {
        Some(secret) => text.replace(secret, "[secret]"),
        None => text.to_owned(),
    };
    let text = redact(&text).into_string();
    let words: Vec<_> = text.split(|char: char| char.is_whitespace() || char.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_ERROR_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1994-11-06 08:49:37 UTC.
    const NOW: Timestamp = Timestamp::from_millis(784_111_777_000);

    fn at(headers: &[(&str, &str)]) -> Option<Duration> {
        pause(|name| headers.iter().find(|(key, _)| *key == name).map(|(_, value)| *value), NOW)
    }

    #[test]
    fn a_pause_comes_in_seconds() {
        assert_eq!(at(&[("retry-after", "20")]), Some(Duration::from_secs(20)));
        assert_eq!(at(&[("retry-after", " 1.5 ")]), Some(Duration::from_millis(1500)));
        assert_eq!(at(&[("retry-after", "0")]), Some(Duration::ZERO));
    }

    #[test]
    fn milliseconds_are_more_precise_and_win() {
        let both = [("retry-after", "2"), ("retry-after-ms", "1250")];
        assert_eq!(at(&both), Some(Duration::from_millis(1250)));
    }

    #[test]
    fn a_pause_comes_as_a_date() {
        let until = ("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(at(&[until]), Some(Duration::from_secs(30)));
        assert_eq!(
            at(&[until, ("date", "Sun, 06 Nov 1994 08:50:00 GMT")]),
            Some(Duration::from_secs(7)),
            "the server's clock counts"
        );
        assert_eq!(at(&[("retry-after", "Sun, 06 Nov 1994 07:00:00 GMT")]), Some(Duration::ZERO));
    }

    #[test]
    fn an_endless_pause_is_bounded() {
        for endless in ["999999999", "1e300", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            assert_eq!(at(&[("retry-after", endless)]), Some(MAX_PAUSE), "{endless}");
        }
    }

    #[test]
    fn nonsense_is_no_pause() {
        for nonsense in ["", "soon", "-1", "NaN", "inf", "Sun, 99 Nov 1994 08:50:07 GMT"] {
            assert_eq!(at(&[("retry-after", nonsense)]), None, "{nonsense}");
        }
    }

    #[test]
    fn a_status_has_a_class() {
        let classes = [
            (429, Class::RateLimited),
            (500, Class::Unavailable),
            (503, Class::Unavailable),
            (529, Class::Unavailable),
            (401, Class::Unauthorized),
            (403, Class::Unauthorized),
            (413, Class::TooLong),
            (400, Class::Rejected),
            (404, Class::Rejected),
            (302, Class::Rejected),
            (200, Class::Unreadable),
        ];
        for (status, class) in classes {
            assert_eq!(Class::of_status(status), class, "{status}");
        }
    }

    #[test]
    fn asking_again_follows_the_class_and_the_pause() {
        let second = Some(Duration::from_secs(1));
        let again = |class: Class, pause| class.failed("openai", String::new(), pause).again;
        assert_eq!(again(Class::RateLimited, None), Again::Soon);
        assert_eq!(again(Class::RateLimited, second), Again::After(Duration::from_secs(1)));
        assert_eq!(again(Class::Unavailable, second), Again::After(Duration::from_secs(1)));
        assert_eq!(again(Class::Unauthorized, second), Again::No);
        assert_eq!(again(Class::Rejected, second), Again::No);
    }

    #[test]
    fn the_words_of_an_error_are_short_and_clean() {
        let body = r#"{"type":"error","error":{"type":"x","message":"wrong\n field"}}"#;
        assert_eq!(words(400, body, None), "HTTP 400, wrong field");
        assert_eq!(words(400, r#"[{"error":{"message":"in a list"}}]"#, None), "HTTP 400, in a list");
        assert_eq!(words(400, r#"{"error":"only text"}"#, None), "HTTP 400, only text");
        assert_eq!(words(502, "<html><body>Bad gateway</body></html>", None), "HTTP 502, a page of HTML");
        assert_eq!(words(500, "", None), "HTTP 500");
        assert_eq!(words(500, "upstream \u{1b}[31mfailed", None), "HTTP 500, upstream [31mfailed");
        assert!(words(500, &"word ".repeat(900), None).chars().count() < MAX_ERROR_CHARS + 20);
    }

    #[test]
    fn a_key_that_comes_back_in_an_error_is_hidden() {
        let body = r#"{"error":{"message":"Incorrect API key: plain-word-key-9"}}"#;
        assert_eq!(words(401, body, Some("plain-word-key-9")), "HTTP 401, Incorrect API key: [secret]");
    }
}
